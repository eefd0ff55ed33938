package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/slots"
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
	// started for it, as it does for io_uring.
	ByProcess GroupBy = "process"
	// ByState has what threads were doing: "Blocked", "Native", "S", "D".
	ByState GroupBy = "state"
	// ByCategory is how package category groups; Group has no rows for it.
	ByCategory GroupBy = "category"
	// ByLock has the locks that threads waited for, as package wait lists them; Group has no
	// rows for it.
	ByLock GroupBy = "lock"
)

// ParseGroupBy checks the name of a GroupBy of a command.
func ParseGroupBy(name string) (GroupBy, error) {
	all := []GroupBy{ByFunction, ByFile, ByDSO, ByThread, ByProcess, ByState, ByCategory, ByLock}
	if slices.Contains(all, GroupBy(name)) {
		return GroupBy(name), nil
	}
	return "", fmt.Errorf("cannot group by %q; known are %s", name, strings.Trim(fmt.Sprint(all), "[]"))
}

// A Row is what one function, file, … costs.
type Row struct {
	// Name is what the row stands for. Of a function it does not have to be
	// unique: DSO tells functions of one name apart.
	Name string
	// DSO is set in rows of functions and of DSOs.
	DSO string
	// Function is the first function of the name in the file, nil in other rows.
	Function *Function
	// Self is what was spent in it, Total also what its callees spent; a sample
	// counts once however often the function is on its stack.
	Self, Total []Sum // by event
}

// Unknown reports whether the row is of a function that stands for addresses without a name.
func (r *Row) Unknown() bool { return r.Function != nil && r.Function.Unknown }

// NoLabel stands for threads, processes and states that are not known.
const NoLabel = "[unknown]"

// noStack stands for samples without a stack.
const noStack = "[no stack]"

// A rowKey identifies a row.
type rowKey struct{ name, dso string }

// Group sums the samples of all events. Rows are sorted by the self weight of the
// first event, largest first, then by name.
func (r *Run) Group(by GroupBy) []Row {
	rows := r.group(by, true)
	slices.SortFunc(rows, func(a, b Row) int {
		for e := range r.Events {
			if c := cmp.Or(-cmp.Compare(a.Self[e].Weight, b.Self[e].Weight), -cmp.Compare(a.Total[e].Weight, b.Total[e].Weight)); c != 0 {
				return c
			}
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.DSO, b.DSO))
	})
	return rows
}

// GroupSelf is [Run.Group] for those who need Self only, and in no order: it looks at no
// more than the innermost frame of each stack. Total is not filled in.
func (r *Run) GroupSelf(by GroupBy) []Row { return r.group(by, false) }

// group sums samples; without total only what Self is made of.
func (r *Run) group(by GroupBy, total bool) []Row {
	g := grouper{r: r, by: by, total: total}
	switch by {
	case ByCategory, ByLock:
		return nil
	case ByThread, ByEachThread, ByProcess, ByState:
		g.labels()
	default:
		g.frames()
	}
	return g.rows
}

type grouper struct {
	r     *Run
	by    GroupBy
	total bool
	ids   slots.Table // of rows by their keys
	rows  []Row
}

// row is the index of the row of a key, of a function f if it is one.
func (g *grouper) row(key rowKey, f *Function) int32 {
	hash := slots.Hash(key)
	at, known := g.ids.Find(hash, func(i uint32) bool { return g.rows[i].Name == key.name && g.rows[i].DSO == key.dso })
	if !known {
		n := len(g.r.Events)
		sums := make([]Sum, 2*n)
		g.ids.Put(at, hash, len(g.rows))
		g.rows = append(g.rows, Row{Name: key.name, DSO: key.dso, Function: f, Self: sums[:n:n], Total: sums[n:]})
	}
	return int32(g.ids.Index(at))
}

// labels sums by what the samples are labelled with.
func (g *grouper) labels() {
	r := g.r
	of := make([]int32, len(r.Labels)) // row of each, +1
	for i := range r.Samples {
		s := &r.Samples[i]
		if of[s.Labels] == 0 {
			of[s.Labels] = g.row(rowKey{name: labelName(g.by, &r.Labels[s.Labels])}, nil) + 1
		}
		row := &g.rows[of[s.Labels]-1]
		row.Self[s.Event].Add(&s.Sum)
		row.Total[s.Event].Add(&s.Sum)
	}
}

// labelName is the name of the row for labels.
func labelName(by GroupBy, l *Labels) string {
	name := l.Thread
	switch by {
	case ByThread:
		name = ThreadPool(l.Thread)
	case ByProcess:
		// A recording that does not tell the name of the process may have the name of
		// the one thread it knows instead; workers are told apart by numbers only.
		if name = l.Process; isIOWorker(name) {
			name = ThreadPool(name)
		}
	case ByState:
		name = l.State
	}
	return cmp.Or(name, NoLabel)
}

// isIOWorker reports whether a thread is one that the kernel started to do a process's
// io_uring requests: see io_wq_worker and io_sq_thread in io_uring/ of Linux.
func isIOWorker(thread string) bool {
	return strings.HasPrefix(thread, "iou-wrk-") || strings.HasPrefix(thread, "iou-sqp-")
}

// frames sums by what the frames are in.
func (g *grouper) frames() {
	r := g.r
	if g.by == ByFunction {
		g.rows = make([]Row, 0, len(r.Functions))
	}
	var of rowsAt
	var leaves []int32 // rows of the innermost functions, +1
	if g.total {
		// Of functions of one name, the row shows the one of the first location.
		of = g.locations()
	} else {
		leaves = make([]int32, len(r.Locations))
	}
	leafRow := func(location uint32) int32 {
		if g.total {
			return of.at(location)[0]
		}
		if leaves[location] == 0 {
			l := &r.Locations[location]
			leaves[location] = g.frameRow(l, l.Lines[0]) + 1
		}
		return leaves[location] - 1
	}
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Stack == 0 {
			row := &g.rows[g.row(rowKey{name: noStack}, nil)]
			row.Self[s.Event].Add(&s.Sum)
			row.Total[s.Event].Add(&s.Sum)
			continue
		}
		g.rows[leafRow(r.Stacks.Location(s.Stack))].Self[s.Event].Add(&s.Sum)
	}
	if g.total {
		g.totals(&of)
	}
	// Locations that no sample has any more, by a filter, leave empty rows.
	g.rows = slices.DeleteFunc(g.rows, func(row Row) bool {
		return g.total && !slices.ContainsFunc(row.Total, func(t Sum) bool { return t.Count != 0 || t.Weight != 0 })
	})
}

// totals adds to each row what its stacks and their callees spent, where the row is not
// among the callers already. It takes a step for each stack, not for each frame of each sample: stacks
// may be deep. of has the rows of locations.
func (g *grouper) totals(of *rowsAt) {
	r := g.r
	var tree Callees
	tree.Reset(&r.Stacks)
	below := make([]Sum, r.Stacks.Len()) // what a stack and its callees spent
	within := make([]int32, len(g.rows)) // how often a row is on the path
	for event := range r.Events {
		clear(below)
		for i := range r.Samples {
			if s := &r.Samples[i]; int(s.Event) == event {
				below[s.Stack].Add(&s.Sum)
			}
		}
		// Parents precede their children.
		for id := len(below) - 1; id > 0; id-- {
			below[r.Stacks.Parent(StackID(id))].Add(&below[id])
		}
		tree.Walk(func(id StackID) bool {
			for _, row := range of.at(r.Stacks.Location(id)) {
				if within[row]++; within[row] == 1 {
					g.rows[row].Total[event].Add(&below[id])
				}
			}
			return true
		}, func(id StackID) {
			for _, row := range of.at(r.Stacks.Location(id)) {
				within[row]--
			}
		})
	}
}

// rowsAt are the rows that locations count for: one for each function there, innermost first, or the first of them.
type rowsAt struct {
	start []int32 // by location, and the end of the last
	list  []int32
}

func (o *rowsAt) at(location uint32) []int32 { return o.list[o.start[location]:o.start[location+1]] }

func (g *grouper) locations() rowsAt {
	r := g.r
	of := rowsAt{start: make([]int32, 0, len(r.Locations)+1), list: make([]int32, 0, len(r.Locations))}
	for i := range r.Locations {
		l := &r.Locations[i]
		of.start = append(of.start, int32(len(of.list)))
		lines := l.Lines
		if g.by == ByDSO {
			lines = lines[:1]
		}
		for _, line := range lines {
			of.list = append(of.list, g.frameRow(l, line))
		}
	}
	of.start = append(of.start, int32(len(of.list)))
	return of
}

func (g *grouper) frameRow(l *Location, line Line) int32 {
	m := &g.r.Mappings[l.Mapping]
	f := &g.r.Functions[line.Function]
	switch g.by {
	case ByDSO:
		name := cmp.Or(m.File, "[unknown]")
		return g.row(rowKey{name: name, dso: name}, nil)
	case ByFile:
		return g.row(rowKey{name: cmp.Or(f.File, "[unknown]")}, nil)
	}
	return g.row(rowKey{name: f.Name, dso: m.File}, f)
}
