package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// A Line is a source line of a function on both sides: self weight. Lines are counted
// from where the function starts if that is known, so that code inserted above a function
// does not move them.
type Line struct {
	// Function is an index in Event.Functions.
	Function int
	// File is the base name of the source file, BaseLine and HeadLine are line
	// numbers in it, 0 if the side has no samples there or they are unknown.
	File               string
	BaseLine, HeadLine int64
	Self               Change
	// BaseAt and HeadAt are where the function is.
	BaseAt, HeadAt Source
}

// A Source is where a function is in source files: the path that debug information has, and the
// line in which the function starts, 0 if unknown.
type Source struct {
	Path  string
	Start int64
}

// Lines are the source lines of one event by absolute change; functions without line
// numbers have one for all of them. Heavy ones are tested as a family.
func (c *Comparison) Lines(event int) []Line { return c.LinesAbove(event, 0) }

// LinesAbove are the lines that have at least so much of the total of either side, from 0
// to 1. No more than Options.MinShare counts: the family stays the same. If the share is not
// 0, lines that are not tested have no interval either.
func (c *Comparison) LinesAbove(event int, share float64) []Line {
	e := &c.Events[event]
	share = min(share, c.Options.MinShare)
	byRow := make([]int, len(c.rows.rows))
	for i := range e.Functions {
		byRow[e.Functions[i].row] = i
	}
	whole := c.linesTotal(event)
	list, sums := c.collectLines(e, byRow, e.rowsAbove(share, whole))
	list, sums = heaviestLines(list, sums, share, whole)
	for i := range list {
		ch := &list[i].Self
		if *ch, _, _ = e.Normalization.measure(sums[i]); share == 0 || c.heavy(e, ch) {
			*ch = e.Normalization.newChange(e.tests, sums[i])
		} else {
			ch.Finding = verdict.Unknown(ch.Head / ch.Base)
		}
	}
	slices.SortFunc(list, func(a, b Line) int {
		return cmp.Or(-cmp.Compare(math.Abs(a.Self.Delta()), math.Abs(b.Self.Delta())), a.Function-b.Function,
			strings.Compare(a.File, b.File), cmp.Compare(a.HeadLine, b.HeadLine), cmp.Compare(a.BaseLine, b.BaseLine))
	})
	var family []*verdict.Finding
	for i := range list {
		if c.heavy(e, &list[i].Self) {
			family = append(family, &list[i].Self.Finding)
		}
	}
	c.Options.rule().Discovered(family)
	if e.Withheld != "" {
		for _, f := range family {
			f.Withhold()
		}
	}
	return list
}

// linePlace is what a line is told apart by.
type linePlace struct {
	row  int32
	file int32
	line int64 // from the start of the function, if known
}

// collectLines sums the samples of an event by line, of functions in rows that may have
// one. byRow has the index of each row's function.
func (c *Comparison) collectLines(e *Event, byRow []int, may []bool) (list []Line, sums []cost) {
	index := make(map[linePlace]int)
	files := map[string]int32{"": 0}
	add := func(s *side, rowOf []int32, at []int, head bool) {
		for i, r := range s.runs {
			known := make([]int32, len(r.Locations))  // in list, +1; -1 if it is left out
			fileOf := make([]int32, len(r.Functions)) // number of the file, +1
			for j := range r.Samples {
				sample := &r.Samples[j]
				if int(sample.Event) != at[i] || sample.Stack == 0 {
					continue
				}
				id := r.Stacks.Location(sample.Stack)
				line := r.Locations[id].Lines[0]
				if known[id] == 0 {
					key := linePlace{row: rowOf[s.paths[i].symbol[s.paths[i].of[sample.Stack]]]}
					if !may[key.row] {
						known[id] = -1
						continue
					}
					name := ""
					if fn := &r.Functions[line.Function]; line.Line > 0 {
						name = fn.File[strings.LastIndexByte(fn.File, '/')+1:]
						file := &fileOf[line.Function]
						if *file == 0 {
							n, ok := files[name]
							if !ok {
								n = int32(len(files))
								files[name] = n
							}
							*file = n + 1
						}
						key.file, key.line = *file-1, line.Line-fn.StartLine
					}
					k, ok := index[key]
					if !ok {
						k = len(list)
						index[key] = k
						list = append(list, Line{Function: byRow[key.row], File: name})
						sums = append(sums, newCost(len(c.Base), len(c.Head)))
					}
					known[id] = int32(k) + 1
				}
				k := known[id] - 1
				if k < 0 {
					continue
				}
				fn := &r.Functions[line.Function]
				if head {
					list[k].HeadLine, list[k].HeadAt = line.Line, Source{fn.File, fn.StartLine}
					sums[k].head[i].Add(&sample.Sum)
				} else {
					list[k].BaseLine, list[k].BaseAt = line.Line, Source{fn.File, fn.StartLine}
					sums[k].base[i].Add(&sample.Sum)
				}
			}
		}
	}
	add(c.base, c.rows.base, e.pair.base, false)
	add(c.head, c.rows.head, e.pair.head, true)
	return list, sums
}

// linesTotal is the weight of all lines of both sides: all samples that have a stack.
func (c *Comparison) linesTotal(event int) (whole [2]float64) {
	p := &c.Events[event].pair
	for side, at := range [][]int{p.base, p.head} {
		for i, r := range [][]*run.Run{c.Base, c.Head}[side] {
			for j := range r.Samples {
				if s := &r.Samples[j]; int(s.Event) == at[i] && s.Stack != 0 {
					whole[side] += float64(s.Weight)
				}
			}
		}
	}
	return whole
}

// rowsAbove are the rows that may have lines with a share of the total of either side.
func (e *Event) rowsAbove(share float64, whole [2]float64) []bool {
	may := make([]bool, len(e.costs.self))
	for i := range may {
		base, head := e.costs.self[i].weights()
		may[i] = share <= 0 || base >= share*whole[0] || head >= share*whole[1]
	}
	return may
}

// heaviestLines are those with at least a share of the total of either side.
func heaviestLines(list []Line, sums []cost, share float64, whole [2]float64) ([]Line, []cost) {
	if share <= 0 {
		return list, sums
	}
	n := 0
	for i := range list {
		if base, head := sums[i].weights(); base >= share*whole[0] || head >= share*whole[1] {
			list[n], sums[n] = list[i], sums[i]
			n++
		}
	}
	return list[:n], sums[:n]
}
