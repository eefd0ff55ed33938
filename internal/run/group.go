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
	ByThread   GroupBy = "thread"
	ByProcess  GroupBy = "process"
	ByCategory GroupBy = "category"
)

// ParseGroupBy checks a name of a GroupBy.
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

func (s *Sum) add(x *Sample) {
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

// A rowKey identifies a row.
type rowKey struct{ name, dso string }

// Group sums the samples of all events. Rows are sorted by the self weight of the
// first event, largest first, then by name.
func (r *Run) Group(by GroupBy) []Row {
	g := grouper{r: r, ids: make(map[rowKey]int)}
	switch by {
	case ByThread, ByProcess:
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
			l := &r.Labels[s.Labels]
			name := l.Thread
			if by == ByProcess {
				name = l.Process
			}
			if name == "" {
				name = "[unknown]"
			}
			of[s.Labels] = g.row(rowKey{name: name}, nil)
		}
		row := &g.rows[of[s.Labels]]
		row.Self[s.Event].add(s)
		row.Total[s.Event].add(s)
	}
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
				none = g.row(rowKey{name: "[no stack]"}, nil)
				seen = append(seen, make([]int, len(g.rows)-len(seen))...)
			}
			g.rows[none].Self[s.Event].add(s)
			g.rows[none].Total[s.Event].add(s)
			continue
		}
		g.rows[of[r.Stacks.Location(s.Stack)][0]].Self[s.Event].add(s)
		for id := s.Stack; id != 0; id = r.Stacks.Parent(id) {
			for _, row := range of[r.Stacks.Location(id)] {
				if seen[row] != i+1 {
					seen[row] = i + 1
					g.rows[row].Total[s.Event].add(s)
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

func (g *grouper) locationRows(by GroupBy, l *Location) []int {
	r := g.r
	m := &r.Mappings[l.Mapping]
	switch by {
	case ByDSO:
		name := m.File
		if name == "" {
			name = "[unknown]"
		}
		return []int{g.row(rowKey{name: name, dso: name}, nil)}
	case ByCategory:
		return []int{g.row(rowKey{name: m.Kind.String()}, nil)}
	}
	rows := make([]int, len(l.Lines))
	for i, line := range l.Lines {
		f := &r.Functions[line.Function]
		key := rowKey{name: f.Name, dso: m.File}
		if by == ByFile {
			key = rowKey{name: f.File}
			if f.File == "" {
				key.name = "[unknown]"
			}
		}
		rows[i] = g.row(key, func(row *Row) {
			if by == ByFunction {
				row.SystemName, row.File, row.Unknown = f.SystemName, f.File, f.Unknown
			}
		})
	}
	return rows
}
