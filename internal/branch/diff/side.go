package diff

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/branch"
	"profdiff/internal/objects"
)

// A side is the runs before a change, or those after it.
type side struct {
	name   string
	tables []*branch.Table
	rows   []sideRow
	// functions are the functions that have branches. ofFunction lists the rows of each,
	// in the order of their places.
	functions  []align.Function
	ofFunction [][]int
}

// A sideRow is one branch in the runs of a side.
type sideRow struct {
	*branch.Branch                  // in the first run that has it
	runs           []*branch.Branch // by run, nil where it was not seen
	// misses and executions that the rates of all runs are made from.
	nMisses, n int64
	enough     bool
	function   int
}

// rowKey is a branch within a side, whose runs are of one build.
type rowKey struct {
	dso, buildID string
	pmu          string
	address      uint64
	function     string
	// Rows without an address are lines.
	file string
	line int64
	// again tells apart rows of one table that are the same otherwise.
	again int
}

func keyOf(b *branch.Branch) rowKey {
	k := rowKey{dso: b.DSO, buildID: objects.TrimBuildID(b.BuildID), pmu: b.PMU, address: b.Address, function: b.Function}
	if b.ByLine {
		k.file, k.line = b.File, b.Line
	}
	return k
}

func newSide(name string, tables []*branch.Table) *side {
	s := &side{name: name, tables: tables, rows: make([]sideRow, 0, len(tables[0].Branches))}
	at := make(map[rowKey]int, len(tables[0].Branches))
	for run, t := range tables {
		for i := range t.Branches {
			b := &t.Branches[i]
			key := keyOf(b)
			n, ok := at[key]
			for ok && s.rows[n].runs[run] != nil {
				key.again++
				n, ok = at[key]
			}
			if !ok {
				n = len(s.rows)
				at[key] = n
				s.rows = append(s.rows, sideRow{Branch: b, runs: make([]*branch.Branch, len(tables))})
			}
			r := &s.rows[n]
			r.runs[run] = b
			r.nMisses += b.NMisses
			r.n += b.N
			r.enough = r.enough || b.Enough
		}
	}
	for i := range s.rows {
		s.rows[i].enough = s.rows[i].enough || s.rows[i].nMisses >= branch.MinMisses
	}
	s.group()
	return s
}

// functionName is a function. Functions of one name in one file count as one: the lines of
// their branches tell these apart.
type functionName struct{ dso, name, system string }

// group finds the functions that have branches.
func (s *side) group() {
	at := make(map[functionName]int)
	var total float64
	for i := range s.rows {
		r := &s.rows[i]
		key := functionName{dso: path.Base(r.DSO), name: r.Function}
		if n := len(r.Inlined); n > 0 {
			key.system = r.Inlined[n-1].SystemName
		}
		f, ok := at[key]
		if !ok {
			f = len(s.functions)
			at[key] = f
			fn := align.Function{Name: key.name, SystemName: key.system, DSO: key.dso}
			if key.name == "" {
				fn.Name, fn.Unknown = unnamed(key.dso), true
			}
			s.functions = append(s.functions, fn)
			s.ofFunction = append(s.ofFunction, nil)
		}
		r.function = f
		s.ofFunction[f] = append(s.ofFunction[f], i)
		w := s.weight(i)
		s.functions[f].Weight += w
		total += w
		if n := len(r.Inlined); r.Line > 0 && n <= 1 {
			s.functions[f].Lines = append(s.functions[f].Lines, align.Line{Line: r.Line, Weight: w})
		}
	}
	for i := range s.functions {
		if total > 0 {
			s.functions[i].Weight /= total
		}
		slices.SortFunc(s.ofFunction[i], func(a, b int) int {
			x, y := &s.rows[a], &s.rows[b]
			return cmp.Or(
				strings.Compare(x.DSO, y.DSO), strings.Compare(x.BuildID, y.BuildID), cmp.Compare(x.Address, y.Address),
				strings.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line),
			)
		})
	}
}

// unnamed stands for the code of a DSO that has no names.
func unnamed(dso string) string {
	if strings.HasPrefix(dso, "[") {
		return dso
	}
	return "[" + dso + "]"
}

// weight is how many misses a row has, in all runs.
func (s *side) weight(i int) (w float64) {
	for _, b := range s.rows[i].runs {
		if b != nil && b.Misses != nil {
			w += *b.Misses
		}
	}
	return w
}

// byLine reports whether all branches of the side are lines.
func (s *side) byLine() bool {
	return len(s.rows) > 0 && !slices.ContainsFunc(s.rows, func(r sideRow) bool { return !r.ByLine })
}
