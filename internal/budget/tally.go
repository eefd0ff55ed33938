package budget

import (
	"math/bits"
	"slices"

	"profdiff/internal/category"
	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// A target is what one budget counts.
type target struct {
	budget *Budget
	*matcher
	self bool
	// only, if set, are the symbols of each side that are counted, instead of those whose
	// names match.
	only [2]map[int32]bool
	// events are those counted: the limited one, and for a rate also the one it is per.
	events []string

	// sums are by side, event and run.
	sums [2][2][]run.Sum
	// bursts are by side: how much more the samples of a single run vary than
	// independent ones.
	bursts *[2]float64
	// matched are the symbols of each side, and callers whether any is one that Under names.
	matched [2][]int32
	callers bool
}

// A symbol is a function as one side names it, with the label of its file, as in
// comparisons.
type symbol struct{ name, dso string }

// symbols are the functions that one side has, with what is known of each.
type symbols struct {
	ids  map[symbol]int32
	list []symbolFacts
}

type symbolFacts struct {
	symbol
	system, path string
	file         string // source
	line         int64  // where it starts, 0 if unknown
	unknown      bool
	self         int64 // samples of all events and runs
	row          int   // equal for the same function of both sides
	// apart are names that tell it apart from others, whether there are any or not.
	apart []string
	names []string
}

// A tally sums what targets count.
type tally struct {
	runs       [2][]*run.Run
	comparison *compare.Comparison // nil without base
	categories *category.Set
	symbols    [2]symbols
	rows       int
	frames     [2][]frames // by run
	excluded   [2][]bool   // by symbol: samples that end there count in no budget
	stored     *Stored     // base, if it was stored
}

// frames are the symbols at each location of a run, innermost first.
type frames struct {
	start []int32 // by location, and the end of the last
	list  []int32
}

func (f *frames) at(location uint32) []int32 { return f.list[f.start[location]:f.start[location+1]] }

func newTally(base, head []*run.Run, c *compare.Comparison, categories *category.Set, exclude *Exclude) *tally {
	t := &tally{runs: [2][]*run.Run{base, head}, comparison: c, categories: categories}
	if categories == nil {
		t.categories = category.Builtin()
	}
	for side, runs := range t.runs {
		t.symbols[side].ids = make(map[symbol]int32)
		for _, r := range runs {
			t.frames[side] = append(t.frames[side], t.intern(side, r))
		}
	}
	t.joinRows()
	t.exclude(exclude)
	return t
}

// intern finds the symbols of a run.
func (t *tally) intern(side int, r *run.Run) frames {
	s := &t.symbols[side]
	files := make([]string, len(r.Mappings))
	for i := range r.Mappings {
		files[i] = r.Mappings[i].Label()
	}
	// Most functions are in one mapping, so that a slot is enough.
	type slot struct{ mapping, id int32 }
	known := make([]slot, len(r.Functions))
	for i := range known {
		known[i].id = -1
	}
	f := frames{start: make([]int32, 0, len(r.Locations)+1)}
	for i := range r.Locations {
		l := &r.Locations[i]
		f.start = append(f.start, int32(len(f.list)))
		for _, line := range l.Lines {
			k := &known[line.Function]
			if k.id < 0 || k.mapping != int32(l.Mapping) {
				fn := &r.Functions[line.Function]
				key := symbol{fn.Name, files[l.Mapping]}
				id, ok := s.ids[key]
				if !ok {
					id = int32(len(s.list))
					s.ids[key] = id
					s.list = append(s.list, symbolFacts{
						symbol: key, system: fn.SystemName, path: r.Mappings[l.Mapping].File,
						file: fn.File, line: fn.StartLine, unknown: fn.Unknown, apart: fn.Spellings(),
					})
				}
				*k = slot{int32(l.Mapping), id}
			}
			f.list = append(f.list, k.id)
		}
	}
	f.start = append(f.start, int32(len(f.list)))
	for i := range r.Samples {
		if x := &r.Samples[i]; x.Stack != 0 {
			s.list[f.at(r.Stacks.Location(x.Stack))[0]].self += x.Count
		}
	}
	return f
}

// joinRows gives each symbol its row: the row of the comparison, or one by its name.
func (t *tally) joinRows() {
	byName := make(map[symbol]int)
	for side := range t.symbols {
		for i := range t.symbols[side].list {
			s := &t.symbols[side].list[i]
			s.names = append(spellings(s.name, s.system), s.apart...)
			s.row = -1
			if t.comparison != nil {
				s.row = t.comparison.Row(side == 1, s.name, s.dso)
			}
			if s.row < 0 {
				row, ok := byName[s.symbol]
				if !ok {
					row = len(byName)
					byName[s.symbol] = row
				}
				s.row = -2 - row
			}
		}
	}
	// Rows are numbers from 0.
	number := make(map[int]int)
	for side := range t.symbols {
		for i := range t.symbols[side].list {
			s := &t.symbols[side].list[i]
			row, ok := number[s.row]
			if !ok {
				row = len(number)
				number[s.row] = row
			}
			s.row = row
		}
	}
	t.rows = len(number)
}

func (t *tally) exclude(x *Exclude) {
	var functions []*pattern
	for _, text := range x.Functions {
		functions = append(functions, mustCompile(text, false))
	}
	for side := range t.symbols {
		list := t.symbols[side].list
		t.excluded[side] = make([]bool, len(list))
		for i := range list {
			s := &list[i]
			t.excluded[side][i] = slices.ContainsFunc(functions, func(p *pattern) bool { return p.match(s.names...) }) ||
				slices.ContainsFunc(x.DSO, func(glob string) bool { return dsoMatch(glob, s.path) })
		}
	}
}

// chunk is the number of targets that are counted at a time: each has a bit.
const chunk = 64

// count fills in the sums of targets.
func (t *tally) count(targets []*target) {
	for _, x := range targets {
		for side := range t.runs {
			for e := range x.events {
				x.sums[side][e] = make([]run.Sum, len(t.runs[side]))
			}
		}
	}
	categories := t.sampleCategories(targets)
	for list := range slices.Chunk(targets, chunk) {
		t.countChunk(list, categories)
	}
}

// sampleCategories are the categories of the samples of each run, if any target needs them.
func (t *tally) sampleCategories(targets []*target) (list [2][][]int) {
	if !slices.ContainsFunc(targets, func(x *target) bool { return x.category != "" }) {
		return list
	}
	for side, runs := range t.runs {
		for _, r := range runs {
			list[side] = append(list[side], t.categories.Of(r))
		}
	}
	return list
}

// A mask has a bit for each target of a chunk.
type mask uint64

// masks are what a chunk of targets goes by.
type masks struct {
	framed, self, freeUnder mask
	functions               [2][]mask // by symbol: name and file, or all where no name is asked for
	under                   [2][]mask // by symbol
}

func (t *tally) masks(list []*target) *masks {
	m := &masks{}
	rows := make([]mask, t.rows)
	var named mask
	for side := range t.symbols {
		m.functions[side] = make([]mask, len(t.symbols[side].list))
		m.under[side] = make([]mask, len(t.symbols[side].list))
	}
	for b, x := range list {
		bit := mask(1) << b
		if x.framed() {
			m.framed |= bit
		}
		if x.self {
			m.self |= bit
		}
		if x.matcher.under == nil {
			m.freeUnder |= bit
		}
		byName := len(x.functions) > 0
		for side := range t.symbols {
			for i := range t.symbols[side].list {
				s := &t.symbols[side].list[i]
				if x.matcher.under != nil && x.matcher.under.match(s.names...) {
					m.under[side][i] |= bit
					x.callers = true
				}
				switch {
				case x.only[side] != nil:
					if x.only[side][int32(i)] {
						m.functions[side][i] |= bit
					}
				case !byName:
					if x.dso == "" || dsoMatch(x.dso, s.path) {
						m.functions[side][i] |= bit
					}
				case (x.dso == "" || dsoMatch(x.dso, s.path)) && x.matchFunction(s.names):
					rows[s.row] |= bit
				}
			}
		}
		if byName && x.only[0] == nil {
			named |= bit
		}
	}
	// A function counts on both sides if either name matches.
	for side := range t.symbols {
		for i := range t.symbols[side].list {
			m.functions[side][i] |= rows[t.symbols[side].list[i].row] & named
		}
	}
	return m
}

func (t *tally) countChunk(list []*target, categories [2][][]int) {
	m := t.masks(list)
	for side, runs := range t.runs {
		seen := make([]mask, len(t.symbols[side].list)) // targets that count a symbol
		for i, r := range runs {
			c := counter{tally: t, masks: m, targets: list, side: side, index: i, run: r, frames: &t.frames[side][i]}
			c.lines()
			c.walk()
			c.labels()
			c.sum(categories[side])
			c.note(seen)
		}
		for b, x := range list {
			x.matched[side] = x.matched[side][:0]
			if !x.framed() {
				continue
			}
			for id, bits := range seen {
				if bits&(1<<b) != 0 {
					x.matched[side] = append(x.matched[side], int32(id))
				}
			}
		}
	}
	if len(t.runs[0]) == 1 && len(t.runs[1]) == 1 && (len(t.runs[0][0].Timeline) > 0 || t.stored != nil) && len(t.runs[1][0].Timeline) > 0 {
		t.addBursts(list, m)
	}
}

// A counter sums one run for a chunk of targets.
type counter struct {
	*tally
	*masks
	targets []*target
	side    int
	index   int
	run     *run.Run
	frames  *frames

	line   []mask // by frame: what targets the frame is counted for
	label  []mask // by labels
	leaf   []mask // by stack: the innermost frame is counted
	on     []mask // by stack: any frame is
	called []mask // by stack: some frame is what under names
}

// lines fills in what targets want each frame: function, file and source file.
func (c *counter) lines() {
	files := make(map[string]mask)
	var anyFile mask
	for b, x := range c.targets {
		if x.file == "" || x.only[c.side] != nil {
			anyFile |= 1 << b
		}
	}
	c.line = make([]mask, len(c.frames.list))
	for i := range c.run.Locations {
		from := c.frames.start[i]
		for j, line := range c.run.Locations[i].Lines {
			at := int(from) + j
			bits := c.masks.functions[c.side][c.frames.list[at]] & c.framed
			if bits&^anyFile != 0 {
				file := c.run.Functions[line.Function].File
				known, ok := files[file]
				if !ok {
					for b, x := range c.targets {
						if x.file != "" && fileMatch(x.file, file) {
							known |= 1 << b
						}
					}
					files[file] = known
				}
				bits &= anyFile | known
			}
			c.line[at] = bits
		}
	}
}

// walk fills in what targets want each stack. Parents precede their children.
func (c *counter) walk() {
	n := c.run.Stacks.Len()
	c.leaf, c.on, c.called = make([]mask, n), make([]mask, n), make([]mask, n)
	c.leaf[0], c.on[0] = ^c.framed, ^c.framed
	for id := run.StackID(1); int(id) < n; id++ {
		parent := c.run.Stacks.Parent(id)
		called, on := c.called[parent], c.on[parent]
		location := c.run.Stacks.Location(id)
		leaf := mask(0)
		for at := c.frames.start[location+1] - 1; at >= c.frames.start[location]; at-- {
			leaf = c.line[at] & (c.freeUnder | called)
			on |= leaf
			called |= c.masks.under[c.side][c.frames.list[at]]
		}
		c.leaf[id], c.on[id], c.called[id] = leaf|^c.framed, on, called
	}
}

func (c *counter) labels() {
	c.label = make([]mask, len(c.run.Labels))
	for i := range c.run.Labels {
		l := &c.run.Labels[i]
		for b, x := range c.targets {
			if (x.thread == "" || globMatch(x.thread, l.Thread)) && (x.process == "" || globMatch(x.process, l.Process)) {
				c.label[i] |= 1 << b
			}
		}
	}
}

// of are the targets that count what is on a stack under labels.
func (c *counter) of(stack run.StackID, labels uint32) mask {
	if stack != 0 && c.excluded[c.side][c.frames.at(c.run.Stacks.Location(stack))[0]] {
		return 0
	}
	return (c.leaf[stack]&c.self | c.on[stack]&^c.self) & c.label[labels]
}

func (c *counter) sum(categories [][]int) {
	events := c.eventMasks()
	var inCategory []mask // by category
	var anyCategory mask
	for b, x := range c.targets {
		if x.category == "" {
			anyCategory |= 1 << b
		}
	}
	if categories != nil {
		for _, name := range c.categories.Names() {
			bits := anyCategory
			for b, x := range c.targets {
				if x.category == name {
					bits |= 1 << b
				}
			}
			inCategory = append(inCategory, bits)
		}
	}
	for i := range c.run.Samples {
		x := &c.run.Samples[i]
		all := c.of(x.Stack, x.Labels)
		if categories != nil {
			all &= inCategory[categories[c.index][i]]
		}
		for e := range events {
			for bits2 := uint64(all & events[e][x.Event]); bits2 != 0; bits2 &= bits2 - 1 {
				c.targets[bits.TrailingZeros64(bits2)].sums[c.side][e][c.index].Add(&x.Sum)
			}
		}
	}
}

// eventMasks are the targets by which event they count as their first or second, and by
// event of the run.
func (c *counter) eventMasks() (events [2][]mask) {
	for e := range events {
		events[e] = make([]mask, len(c.run.Events))
		for b, x := range c.targets {
			if e < len(x.events) {
				if k, ok := c.run.EventIndex(x.events[e]); ok {
					events[e][k] |= 1 << b
				}
			}
		}
	}
	return events
}

// note adds the targets that count each symbol.
func (c *counter) note(seen []mask) {
	for at, id := range c.frames.list {
		seen[id] |= c.line[at]
	}
}

// addBursts finds how much more the samples of single runs vary than independent ones.
func (t *tally) addBursts(list []*target, m *masks) {
	var factors [2][]float64
	for side := range t.runs {
		r := t.runs[side][0]
		c := counter{tally: t, masks: m, targets: list, side: side, run: r, frames: &t.frames[side][0]}
		c.lines()
		c.walk()
		c.labels()
		events := c.eventMasks()[0]
		if side == 0 && t.stored != nil {
			factors[side] = t.storedBursts(list, &c, events)
			continue
		}
		samples := make([]int, len(r.Events))
		for i := range r.Timeline {
			samples[r.Timeline[i].Event]++
		}
		type sums struct {
			blocks [stats.PhiBlocks]float64
			weight float64
			square float64
		}
		add := func(s *sums, block int, w float64) {
			s.blocks[block] += w
			s.weight += w
			s.square += w * w
		}
		whole, part := make([]sums, len(r.Events)), make([]sums, len(list))
		n := make([]int, len(r.Events))
		for i := range r.Timeline {
			x := &r.Timeline[i]
			block := n[x.Event] * stats.PhiBlocks / samples[x.Event]
			n[x.Event]++
			add(&whole[x.Event], block, float64(x.Weight))
			for b := uint64(c.of(x.Stack, x.Labels) & events[x.Event]); b != 0; b &= b - 1 {
				add(&part[bits.TrailingZeros64(b)], block, float64(x.Weight))
			}
		}
		for b, x := range list {
			factor := 1.0
			k, ok := r.EventIndex(x.events[0])
			if p := &part[b]; ok && samples[k] >= 2*stats.PhiBlocks && p.weight > 0 && x.category == "" {
				factor = residualPhi(&p.blocks, &whole[k].blocks, p.weight, p.square, whole[k].weight, whole[k].square)
			}
			factors[side] = append(factors[side], factor)
		}
	}
	for b, x := range list {
		x.bursts = &[2]float64{factors[0][b], factors[1][b]}
	}
}

// storedBursts are the factors of targets in a run that was stored.
func (t *tally) storedBursts(list []*target, c *counter, events []mask) (factors []float64) {
	for b, x := range list {
		factor := 1.0
		if k, ok := c.run.EventIndex(x.events[0]); ok && x.category == "" {
			factor = t.stored.phi(k, func(i int) bool {
				s := &c.run.Samples[i]
				return c.of(s.Stack, s.Labels)&events[s.Event]&(1<<b) != 0
			})
		}
		factors = append(factors, factor)
	}
	return factors
}
