package branch

import (
	"cmp"
	"fmt"
	"slices"

	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
)

// A sampledRecording is what samples are of, when all have been read.
type sampledRecording struct {
	file     *perffile.File
	opt      *Options
	binaries *Binaries
	z        *symbolizer.Symbolizer
	kernel   *perfsession.DSO
	stats    *perfsession.Stats
	unwanted int64 // samples of events that are not to be read
}

// sampledTable turns the samples of single addresses into a table.
type sampledTable struct {
	*sampledRecording
	t       *Table
	s       *sampler
	counted map[int]counterTotal

	places []located // by index in sampler.places
	// walkers are of files with code.
	walkers map[*binary]*Walker
	// functions are rows by PMU, file and name.
	functions map[functionKey]*functionRow
	order     []*functionRow
	sets      []*roleSet
}

// A located is where a place is.
type located struct {
	done         bool
	dso, buildID string
	name, file   string
	line         int64
	start        uint64 // of the function in the symbol table, 0 if it is not known
	vaddr        uint64 // in the symbol table
	inlined      []symbolizer.Frame
	mapped       bool

	unnamed string // why branches cannot be named, "" if they can
	walker  *Walker
	addr    uint64 // in the file, for walker
}

type functionKey struct {
	set                int
	dso, buildID, name string
}

// A functionRow is a Function while it is being counted.
type functionRow struct {
	Function
	set     int
	tallies [roles]tally
	pairs   [roles]pairSums // misses to each
}

// A roleSet is an eventSet with what was sampled.
type roleSet struct {
	eventSet
	index   int
	tallies [roles]tally
	// k turns weights into counts of the recording, 0 if the event has no weights.
	k       [roles]float64
	running [roles]float64 // 0 is unknown
	refused [roles]string  // why there is no ratio with the event
	totals  Totals
	cost    *Cost
}

// tierOf says what a recording without branch stacks can be read as: it has samples of
// misses, or counters of them with samples of others.
func (s *sampler) tierOf(file *perffile.File, opt *Options) (tier Tier, ok bool) {
	sampled, asked, precise := false, false, true
	for i := range file.Attrs {
		a := &file.Attrs[i]
		if !opt.wanted(a.Name) || attrCounts(a, &file.Info) != CountsMisses {
			continue
		}
		asked = asked || hasSamples(a)
		if i < len(s.events) && len(s.events[i].samples) > 0 {
			sampled = true
			precise = precise && a.Flags.PreciseIP() > 0
		}
	}
	if sampled {
		if precise {
			return TierPrecise, true
		}
		return TierSampled, true
	}
	for i := range s.counters.samples {
		for _, d := range s.counters.of(&s.counters.samples[i]) {
			if a := &file.Attrs[d.attr]; opt.wanted(a.Name) && attrCounts(a, &file.Info) == CountsMisses {
				return TierCounters, true
			}
		}
	}
	return TierSampled, asked && len(s.places) > 0
}

// hasSamples reports whether an event has samples of its own, beside being counted with
// those of another.
func hasSamples(a *perffile.Attr) bool {
	return a.Frequency() > 0 || a.FixedPeriod() > 0 && a.FixedPeriod() < 1<<62
}

// finish fills in a table of a tier.
func (s *sampler) finish(t *Table, tier Tier, r *sampledRecording) error {
	f := &sampledTable{
		sampledRecording: r, t: t, s: s, counted: s.counters.totals(),
		places: make([]located, len(s.places)), walkers: make(map[*binary]*Walker), functions: make(map[functionKey]*functionRow),
	}
	t.Samples = Account{In: f.stats.Samples, Lost: f.stats.LostSamples()}
	t.Samples.drop(dropUnknownEvent, f.stats.UnknownEvent)
	t.Samples.drop(dropBadPeriod, f.stats.BadPeriod)
	t.Samples.drop(dropEvent, f.unwanted)
	t.Tier, t.Scaled = tier, true
	has := func(i int) bool {
		a := &f.file.Attrs[i]
		if tier == TierCounters {
			_, ok := f.counted[i]
			return ok // also the group of an event that was asked for
		}
		return f.opt.wanted(a.Name) && hasSamples(a)
	}
	sets, warnings := eventSets(f.file, has)
	t.Warnings = append(t.Warnings, warnings...)
	if t.Cost = f.opt.Cost; t.Cost == nil {
		var warning string
		if t.Cost, warning = f.opt.cost(f.file.Info.CPUID); warning != "" {
			f.warn("%s", warning)
		}
	}
	for i, s := range sets {
		r := &roleSet{eventSet: s, index: i, cost: t.Cost}
		if c := f.opt.costOfPMU(s.pmu); c != nil && f.opt.Cost == nil {
			r.cost = c
		}
		f.sets = append(f.sets, r)
	}
	for i := range f.file.Attrs {
		a := &f.file.Attrs[i]
		e := Event{Name: a.Name, Period: a.FixedPeriod(), Precise: a.Flags.PreciseIP() > 0, Counts: attrCounts(a, &f.file.Info)}
		if e.Period >= 1<<62 {
			e.Period = 0
		}
		if i < len(f.s.events) {
			for _, s := range f.s.events[i].samples {
				e.Samples++
				e.Weight += float64(s.weight)
			}
		}
		t.Events = append(t.Events, e)
	}
	var err error
	if tier == TierCounters {
		f.readCounters()
	} else {
		err = f.readSamples(f.stats.Lost)
	}
	if err != nil {
		return err
	}
	f.finishFunctions()
	for _, s := range f.sets {
		t.Totals = append(t.Totals, s.totals)
	}
	if len(f.sets) == 1 {
		if a := f.sets[0].totals.Instructions; a != nil {
			t.Instructions = new(a.Value)
		}
		if a := f.sets[0].totals.Cycles; a != nil {
			t.Cycles = new(a.Value)
		}
	}
	if len(f.s.cpus) > 1 && isArm(f.file.Info.Arch) && len(f.sets) == 1 && f.sets[0].pmu == "" && f.file.Info.Simpleperf() {
		t.Warnings = append(t.Warnings, fmt.Sprintf("samples are of %d CPUs and the recording does not say which are of one kind: the numbers are of all together", len(f.s.cpus)))
	}
	return nil
}

// locate finds where a place is, once.
func (f *sampledTable) locate(i int32) *located {
	l := &f.places[i]
	if l.done {
		return l
	}
	l.done = true
	p := &f.s.places[i]
	m := p.frame.Map
	l.dso, l.vaddr = "[unmapped]", p.frame.Addr
	l.mapped = m != nil
	if m != nil {
		l.dso, l.buildID, l.vaddr = m.DSO.Path, m.DSO.BuildID, p.key.rel
	} else if p.frame.Kernel {
		l.dso, l.mapped = perfsession.KernelPath, true
	}
	var sym symbolizer.Symbol
	if f.z != nil {
		sym = f.z.Symbolize(p.frame, f.kernel, 0)
		if sym.DSO != nil {
			l.dso, l.buildID, l.vaddr, l.mapped = sym.DSO.Path, sym.DSO.BuildID, sym.Vaddr, true
		}
		if n := len(sym.Frames); n > 0 {
			last := sym.Frames[n-1]
			l.name, l.start, l.inlined = last.Name, sym.Start, sym.Frames
			l.file, l.line = sym.Frames[0].File, sym.Frames[0].Line
		}
	}
	if m != nil && symbolizer.IsArchive(m.DSO.Path) {
		l.dso, l.buildID = f.binaries.place(m.DSO, p.key.rel)
	}
	switch {
	case !l.mapped:
		l.unnamed = "not mapped"
	case p.frame.Kernel || m.DSO.Kernel || p.frame.Guest:
		l.unnamed = "kernel code, which is not read"
	case sym.Execution == symbolizer.Interpreted:
		l.unnamed = "interpreted code"
	case sym.Execution == symbolizer.JIT || symbolizer.IsJITCache(m.DSO.Path):
		l.unnamed = "code compiled while the program ran"
	default:
		l.unnamed = f.findCode(l, m, p.key.rel)
	}
	return l
}

// findCode finds the code of a place, or says why there is none.
func (f *sampledTable) findCode(l *located, m *perfsession.Mapping, rel uint64) string {
	b := f.binaries.find(m.DSO, rel)
	if b == nil {
		return cmp.Or(f.binaries.why[m.DSO.ID], "no binary")
	}
	var ok bool
	if l.addr, ok = b.vaddr(rel); !ok {
		return "not in the binary"
	}
	l.walker = f.walkers[b]
	if l.walker == nil {
		l.walker = NewWalker(b.code)
		f.walkers[b] = l.walker
	}
	if _, err := l.walker.function(l.addr); err != nil {
		l.walker = nil
		return "no function known"
	}
	return ""
}

// function returns the row of the function of a place.
func (f *sampledTable) function(set *roleSet, i int32) *functionRow {
	l := f.locate(i)
	key := functionKey{set.index, l.dso, l.buildID, l.name}
	row := f.functions[key]
	if row == nil {
		row = &functionRow{set: set.index}
		row.PMU, row.DSO, row.BuildID, row.Name = set.pmu, l.dso, l.buildID, l.name
		for r := range row.tallies {
			row.tallies[r].unitless = set.tallies[r].unit()
		}
		if n := len(l.inlined); n > 0 {
			row.File, row.Line = l.inlined[n-1].File, l.inlined[n-1].StartLine
		}
		f.functions[key] = row
		f.order = append(f.order, row)
	}
	return row
}

// finishFunctions makes the rows of functions.
func (f *sampledTable) finishFunctions() {
	for _, row := range f.order {
		s := f.sets[row.set]
		fn := &row.Function
		m := row.tallies[roleMisses].scaled(s.k[roleMisses])
		fn.Misses = m.amount()
		amount := func(r role) *Amount {
			if s.k[r] == 0 {
				return nil
			}
			a := row.tallies[r].scaled(s.k[r]).amount()
			return &a
		}
		fn.Branches, fn.Instructions, fn.Cycles = amount(roleBranches), amount(roleInstructions), amount(roleCycles)
		ratio := func(r role, factor float64) *Ratio {
			switch {
			case s.k[r] == 0 || s.refused[r] != "":
				return nil
			case f.t.Tier == TierCounters:
				return row.pairs[r].ratio(factor)
			}
			return ratioOf(m, row.tallies[r].scaled(s.k[r]), factor)
		}
		if r := ratio(roleBranches, 1); r.enough() {
			fn.Rate = r
		}
		if r := ratio(roleInstructions, 1000); r.enough() {
			fn.MPKI = r
		}
		if all := s.totals.Misses; all != nil && all.Value > 0 {
			fn.Share = new(fn.Misses.Value / all.Value)
		}
		fn.Enough = fn.Misses.Samples >= MinMisses
		if f.t.Tier == TierCounters {
			fn.Enough = row.pairs[roleMisses].n >= MinMisses
		}
		if s.cost != nil && fn.Enough {
			fn.CyclesLost = &[2]float64{fn.Misses.CI[0] * s.cost.Lo, fn.Misses.CI[1] * s.cost.Hi}
			fn.centre = fn.Misses.Value * s.cost.Centre
		}
		f.t.Functions = append(f.t.Functions, *fn)
	}
	slices.SortFunc(f.t.Functions, func(a, b Function) int {
		return cmp.Or(
			-cmp.Compare(a.centre, b.centre), -cmp.Compare(a.Misses.Value, b.Misses.Value), -cmp.Compare(amountValue(a.Cycles), amountValue(b.Cycles)),
			cmp.Compare(a.DSO, b.DSO), cmp.Compare(a.BuildID, b.BuildID), cmp.Compare(a.Name, b.Name), cmp.Compare(a.PMU, b.PMU),
		)
	})
}

func amountValue(a *Amount) float64 {
	if a == nil {
		return 0
	}
	return a.Value
}
