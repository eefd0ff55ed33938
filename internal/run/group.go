package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// GroupBy says by what samples are summed.
type GroupBy string

const (
	ByFunction GroupBy = "function"
	ByFile     GroupBy = "file"
	ByDSO      GroupBy = "dso"
	// ByThread has the threads of a pool in one row, by [ThreadPool].
	ByThread GroupBy = "thread"
	// ByEachThread has a row for each name of a thread.
	ByEachThread GroupBy = "each thread"
	// ByProcess has the process that a thread is of, also for workers that the kernel
	// started for it, such as those of io_uring.
	ByProcess GroupBy = "process"
	// ByCategory is how package category groups; Group has no rows for it.
	ByCategory GroupBy = "category"
)

// ParseGroupBy checks the name of a GroupBy of a command.
func ParseGroupBy(name string) (GroupBy, error) {
	all := []GroupBy{ByFunction, ByFile, ByDSO, ByThread, ByProcess, ByCategory}
	if slices.Contains(all, GroupBy(name)) {
		return GroupBy(name), nil
	}
	return "", fmt.Errorf("cannot group by %q; known are %s", name, strings.Trim(fmt.Sprint(all), "[]"))
}

// A Sum adds up samples.
type Sum struct {
	Weight   int64
	Count    int64
	WeightSq float64
}

// Add adds the samples that x stands for.
func (s *Sum) Add(x *Sample) {
	s.Weight += x.Weight
	s.Count += x.Count
	s.WeightSq += x.WeightSq
}

// A Row is what one function, file, … costs.
type Row struct {
	// Name is what the row stands for. Of a function it does not have to be
	// unique: DSO tells functions of one name apart.
	Name string
	// SystemName, File and DSO are set in rows of functions only, DSO also in
	// those of DSOs.
	SystemName, File, DSO string
	Unknown               bool
	// Self is what was spent in it, Total also what its callees spent; a sample
	// counts once however often the function is on its stack.
	Self, Total []Sum // by event
}

// noStack stands for samples without a stack.
const noStack = "[no stack]"

// A rowKey identifies a row.
type rowKey struct{ name, dso string }

// Group sums the samples of all events. Rows are sorted by the self weight of the
// first event, largest first, then by name.
func (r *Run) Group(by GroupBy) []Row {
	g := grouper{r: r, ids: make(map[rowKey]int)}
	switch by {
	case ByCategory:
		return nil
	case ByThread, ByEachThread, ByProcess:
		g.byLabel(by)
	default:
		g.byFrame(by)
	}
	slices.SortFunc(g.rows, func(a, b Row) int {
		for e := range r.Events {
			if c := cmp.Or(-cmp.Compare(a.Self[e].Weight, b.Self[e].Weight), -cmp.Compare(a.Total[e].Weight, b.Total[e].Weight)); c != 0 {
				return c
			}
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.DSO, b.DSO))
	})
	return g.rows
}

// GroupSelf is [Run.Group] for those who need Self only, and in no order: it looks at no
// more than the innermost frame of each stack. Total is not filled in.
func (r *Run) GroupSelf(by GroupBy) []Row {
	g := grouper{r: r, ids: make(map[rowKey]int)}
	switch by {
	case ByCategory:
		return nil
	case ByThread, ByEachThread, ByProcess:
		g.byLabel(by)
	default:
		g.byLeaf(by)
	}
	return g.rows
}

type grouper struct {
	r    *Run
	ids  map[rowKey]int
	rows []Row
}

func (g *grouper) row(key rowKey, init func(*Row)) int {
	i, ok := g.ids[key]
	if !ok {
		i = len(g.rows)
		n := len(g.r.Events)
		sums := make([]Sum, 2*n)
		row := Row{Name: key.name, DSO: key.dso, Self: sums[:n:n], Total: sums[n:]}
		if init != nil {
			init(&row)
		}
		g.rows = append(g.rows, row)
		g.ids[key] = i
	}
	return i
}

func (g *grouper) byLabel(by GroupBy) {
	r := g.r
	of := make([]int, len(r.Labels))
	for i := range of {
		of[i] = -1
	}
	for i := range r.Samples {
		s := &r.Samples[i]
		if of[s.Labels] < 0 {
			of[s.Labels] = g.row(rowKey{name: labelName(by, &r.Labels[s.Labels])}, nil)
		}
		row := &g.rows[of[s.Labels]]
		row.Self[s.Event].Add(s)
		row.Total[s.Event].Add(s)
	}
}

// labelName is the name of the row for labels.
func labelName(by GroupBy, l *Labels) string {
	name := l.Thread
	switch by {
	case ByThread:
		name = ThreadPool(l.Thread)
	case ByProcess:
		// A recording that does not tell the name of the process may have that of the
		// one thread it knows; workers are told apart by numbers only.
		if name = l.Process; isIOWorker(name) {
			name = ThreadPool(name)
		}
	}
	return cmp.Or(name, "[unknown]")
}

// isIOWorker reports whether a thread is one that the kernel started to do a process's
// io_uring requests: see io_wq_worker and io_sq_thread in io_uring/ of Linux.
func isIOWorker(thread string) bool {
	return strings.HasPrefix(thread, "iou-wrk-") || strings.HasPrefix(thread, "iou-sqp-")
}

// byFrame sums by what the frames are in.
func (g *grouper) byFrame(by GroupBy) {
	r := g.r
	// rows of each location, innermost function first
	of := make([][]int, len(r.Locations))
	for i := range r.Locations {
		of[i] = g.locationRows(by, &r.Locations[i])
	}
	seen := make([]int, len(g.rows)) // sample that saw the row last, +1
	none := -1
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Stack == 0 {
			if none < 0 {
				none = g.row(rowKey{name: noStack}, nil)
				seen = append(seen, make([]int, len(g.rows)-len(seen))...)
			}
			g.rows[none].Self[s.Event].Add(s)
			g.rows[none].Total[s.Event].Add(s)
			continue
		}
		g.rows[of[r.Stacks.Location(s.Stack)][0]].Self[s.Event].Add(s)
		for id := s.Stack; id != 0; id = r.Stacks.Parent(id) {
			for _, row := range of[r.Stacks.Location(id)] {
				if seen[row] != i+1 {
					seen[row] = i + 1
					g.rows[row].Total[s.Event].Add(s)
				}
			}
		}
	}
	// Locations that no sample has any more, by a filter, leave empty rows.
	g.rows = slices.DeleteFunc(g.rows, func(row Row) bool {
		for _, t := range row.Total {
			if t.Count != 0 || t.Weight != 0 {
				return false
			}
		}
		return true
	})
}

// byLeaf sums by what the innermost frames are in.
func (g *grouper) byLeaf(by GroupBy) {
	r := g.r
	of := make([]int, len(r.Locations)) // row of each location, +1
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Stack == 0 {
			g.rows[g.row(rowKey{name: noStack}, nil)].Self[s.Event].Add(s)
			continue
		}
		at := &of[r.Stacks.Location(s.Stack)]
		if *at == 0 {
			l := &r.Locations[r.Stacks.Location(s.Stack)]
			*at = g.frameRow(by, l, l.Lines[0]) + 1
		}
		g.rows[*at-1].Self[s.Event].Add(s)
	}
}

// locationRows are the rows of the functions at a location, innermost first.
func (g *grouper) locationRows(by GroupBy, l *Location) []int {
	if by == ByDSO {
		return []int{g.frameRow(by, l, Line{})}
	}
	rows := make([]int, len(l.Lines))
	for i, line := range l.Lines {
		rows[i] = g.frameRow(by, l, line)
	}
	return rows
}

func (g *grouper) frameRow(by GroupBy, l *Location, line Line) int {
	m := &g.r.Mappings[l.Mapping]
	f := &g.r.Functions[line.Function]
	switch by {
	case ByDSO:
		name := cmp.Or(m.File, "[unknown]")
		return g.row(rowKey{name: name, dso: name}, nil)
	case ByFile:
		return g.row(rowKey{name: cmp.Or(f.File, "[unknown]")}, nil)
	}
	return g.row(rowKey{name: f.Name, dso: m.File}, func(row *Row) {
		row.SystemName, row.File, row.Unknown = f.SystemName, f.File, f.Unknown
	})
}
