package samples

import (
	"cmp"
	"fmt"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/branch/counters"
	"profdiff/internal/branch/estimate"
	"profdiff/internal/branch/events"
	"profdiff/internal/branch/skid"
	"profdiff/internal/objects"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
)

// A Recording is what samples are of, when all have been read.
type Recording struct {
	File       *perffile.File
	Options    *branch.Options
	Code       *code.Files
	Symbolizer *symbolizer.Symbolizer
	Kernel     *perfsession.DSO
	Stats      *perfsession.Stats
	Unwanted   int64 // samples of events that are not to be read
}

// table turns the samples of single addresses into a table.
type table struct {
	*Recording
	t       *branch.Table
	s       *Sampler
	counted map[int]counters.Total

	places []located // by index in sampler.places
	// walkers are of files with code.
	walkers map[*code.File]*skid.Walker
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
	walker  *skid.Walker
	addr    uint64 // in the file, for walker
}

type functionKey struct {
	set                int
	dso, buildID, name string
}

// A functionRow is a Function while it is being counted.
type functionRow struct {
	branch.Function
	set     int
	tallies [events.Roles]estimate.Tally
	pairs   [events.Roles]estimate.Pairs // misses to each
}

// A roleSet is an eventSet with what was sampled.
type roleSet struct {
	events.Set
	index   int
	tallies [events.Roles]estimate.Tally
	// k turns weights into counts of the recording, 0 if the event has no weights.
	k       [events.Roles]float64
	running [events.Roles]float64 // 0 is unknown
	refused [events.Roles]string  // why there is no ratio with the event
	totals  branch.Totals
	cost    *branch.Cost
}

// Tier says what a recording without branch stacks can be read as: it has samples of
// misses, or counters of them with samples of others.
func (s *Sampler) Tier(file *perffile.File, opt *branch.Options) (tier branch.Tier, ok bool) {
	sampled, asked, precise := false, false, true
	for i := range file.Attrs {
		a := &file.Attrs[i]
		if !opt.Wanted(a.Name) || events.CountsOf(a, &file.Info) != branch.CountsMisses {
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
			return branch.TierPrecise, true
		}
		return branch.TierSampled, true
	}
	for i := range s.Counters.Samples {
		for _, d := range s.Counters.Of(&s.Counters.Samples[i]) {
			if a := &file.Attrs[d.Attr]; opt.Wanted(a.Name) && events.CountsOf(a, &file.Info) == branch.CountsMisses {
				return branch.TierCounters, true
			}
		}
	}
	return branch.TierSampled, asked && len(s.places) > 0
}

// hasSamples reports whether an event has samples of its own, beside being counted in
// samples of another event.
func hasSamples(a *perffile.Attr) bool {
	return a.Frequency() > 0 || a.FixedPeriod() > 0 && a.FixedPeriod() < 1<<62
}

// Finish fills in a table of a tier.
func (s *Sampler) Finish(t *branch.Table, tier branch.Tier, r *Recording) error {
	f := &table{
		Recording: r, t: t, s: s, counted: s.Counters.Totals(),
		places: make([]located, len(s.places)), walkers: make(map[*code.File]*skid.Walker), functions: make(map[functionKey]*functionRow),
	}
	t.Samples = branch.Account{In: f.Stats.Samples, Lost: f.Stats.LostSamples()}
	t.Samples.Drop(branch.DropUnknownEvent, f.Stats.UnknownEvent)
	t.Samples.Drop(branch.DropBadPeriod, f.Stats.BadPeriod)
	t.Samples.Drop(branch.DropEvent, f.Unwanted)
	t.Tier, t.Scaled = tier, true
	t.Sampled = &branch.SampledTable{Attribution: branch.Attribution{Unnamed: make(map[string]int64)}}
	has := func(i int) bool {
		a := &f.File.Attrs[i]
		if tier == branch.TierCounters {
			_, ok := f.counted[i]
			return ok // also the group of an event that was asked for
		}
		return f.Options.Wanted(a.Name) && hasSamples(a)
	}
	sets, warnings := events.Sets(f.File, has)
	t.Warnings = append(t.Warnings, warnings...)
	if t.Cost = f.Options.Cost; t.Cost == nil {
		var warning string
		if t.Cost, warning = f.Options.CostOn(f.File.Info.CPUID); warning != "" {
			f.warn("%s", warning)
		}
	}
	for i, s := range sets {
		r := &roleSet{Set: s, index: i, cost: t.Cost}
		if c := f.Options.CostOfPMU(s.PMU); c != nil && f.Options.Cost == nil {
			r.cost = c
		}
		f.sets = append(f.sets, r)
	}
	for i := range f.File.Attrs {
		a := &f.File.Attrs[i]
		e := branch.Event{Name: a.Name, Period: a.FixedPeriod(), Precise: a.Flags.PreciseIP() > 0, Counts: events.CountsOf(a, &f.File.Info)}
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
	if tier == branch.TierCounters {
		f.readCounters()
	} else {
		err = f.readSamples(f.Stats.Lost)
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
	if len(f.s.cpus) > 1 && events.IsArm(f.File.Info.Arch) && len(f.sets) == 1 && f.sets[0].PMU == "" && f.File.Info.Simpleperf() {
		t.Warnings = append(t.Warnings, fmt.Sprintf("samples are of %d CPUs and the recording does not say which are of one kind: the numbers are of all together", len(f.s.cpus)))
	}
	return nil
}

// locate finds where a place is, once.
func (f *table) locate(i int32) *located {
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
		l.dso, l.buildID, l.vaddr = m.DSO.Path, m.DSO.BuildID, p.key.Rel
	} else if p.frame.Kernel {
		l.dso, l.mapped = perfsession.KernelPath, true
	}
	var sym symbolizer.Symbol
	if f.Symbolizer != nil {
		sym = f.Symbolizer.Symbolize(p.frame, f.Kernel, 0)
		if sym.DSO != nil {
			l.dso, l.buildID, l.vaddr, l.mapped = sym.DSO.Path, sym.DSO.BuildID, sym.Vaddr, true
		}
		if n := len(sym.Frames); n > 0 {
			last := sym.Frames[n-1]
			l.name, l.start, l.inlined = last.Name, sym.Start, sym.Frames
			l.file, l.line = sym.Frames[0].File, sym.Frames[0].Line
		}
	}
	if m != nil && objects.IsArchive(m.DSO.Path) {
		l.dso, l.buildID = f.Code.NameOf(m.DSO, p.key.Rel)
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
		l.unnamed = f.findCode(l, m, p.key.Rel)
	}
	return l
}

// findCode finds the code of a place, or says why there is none.
func (f *table) findCode(l *located, m *perfsession.Mapping, rel uint64) string {
	b := f.Code.Find(m.DSO, rel)
	if b == nil {
		return cmp.Or(f.Code.Why[m.DSO.ID], "no binary")
	}
	var ok bool
	if l.addr, ok = b.Vaddr(rel); !ok {
		return "not in the binary"
	}
	l.walker = f.walkers[b]
	if l.walker == nil {
		l.walker = skid.NewWalker(b.Code)
		f.walkers[b] = l.walker
	}
	if _, err := l.walker.Flow(l.addr); err != nil {
		l.walker = nil
		return "no function known"
	}
	return ""
}

// function returns the row of the function of a place.
func (f *table) function(set *roleSet, i int32) *functionRow {
	l := f.locate(i)
	key := functionKey{set.index, l.dso, l.buildID, l.name}
	row := f.functions[key]
	if row == nil {
		row = &functionRow{set: set.index}
		row.PMU, row.DSO, row.BuildID, row.Name = set.PMU, l.dso, l.buildID, l.name
		for r := range row.tallies {
			row.tallies[r].Unitless = set.tallies[r].Unit()
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
func (f *table) finishFunctions() {
	for _, row := range f.order {
		s := f.sets[row.set]
		fn := &row.Function
		m := row.tallies[events.Misses].Scaled(s.k[events.Misses])
		fn.Misses = m.Amount()
		amount := func(r events.Role) *branch.Amount {
			if s.k[r] == 0 {
				return nil
			}
			a := row.tallies[r].Scaled(s.k[r]).Amount()
			return &a
		}
		fn.Branches, fn.Instructions, fn.Cycles = amount(events.Branches), amount(events.Instructions), amount(events.Cycles)
		ratio := func(r events.Role, factor float64) *branch.Ratio {
			switch {
			case s.k[r] == 0 || s.refused[r] != "":
				return nil
			case f.t.Tier == branch.TierCounters:
				return row.pairs[r].Ratio(factor)
			}
			return estimate.RatioOf(m, row.tallies[r].Scaled(s.k[r]), factor)
		}
		if r := ratio(events.Branches, 1); r.Enough() {
			fn.Rate = r
		}
		if r := ratio(events.Instructions, 1000); r.Enough() {
			fn.MPKI = r
		}
		if all := s.totals.Misses; all != nil && all.Value > 0 {
			fn.Share = new(fn.Misses.Value / all.Value)
		}
		fn.Enough = fn.Misses.Samples >= branch.MinMisses
		if f.t.Tier == branch.TierCounters {
			fn.Enough = row.pairs[events.Misses].N >= branch.MinMisses
		}
		if s.cost != nil && fn.Enough {
			fn.CyclesLost = &[2]float64{fn.Misses.CI[0] * s.cost.Lo, fn.Misses.CI[1] * s.cost.Hi}
			fn.Centre = fn.Misses.Value * s.cost.Centre
		}
		f.t.Sampled.Functions = append(f.t.Sampled.Functions, *fn)
	}
	slices.SortFunc(f.t.Sampled.Functions, func(a, b branch.Function) int {
		return cmp.Or(
			-cmp.Compare(a.Centre, b.Centre), -cmp.Compare(a.Misses.Value, b.Misses.Value), -cmp.Compare(amountValue(a.Cycles), amountValue(b.Cycles)),
			cmp.Compare(a.DSO, b.DSO), cmp.Compare(a.BuildID, b.BuildID), cmp.Compare(a.Name, b.Name), cmp.Compare(a.PMU, b.PMU),
		)
	})
}

func amountValue(a *branch.Amount) float64 {
	if a == nil {
		return 0
	}
	return a.Value
}
