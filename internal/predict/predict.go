package predict

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/core"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/interpret"
)

// A Simulator runs llvm-mca. [llvm.Toolchain] is one.
type Simulator interface {
	Simulate(ctx context.Context, opt llvm.Options, regions []llvm.Region) ([]llvm.Simulation, error)
}

// A Side is a loop before or after a change.
type Side struct {
	Name  string
	Code  *flow.Code
	Loop  int // of the root of Code, -1 for all of it once
	Rates Rates
	// Work is how much is done in one iteration.
	Work float64
	// Calls are the functions that are called from the loop and were not followed, those with
	// most samples first.
	Calls []Call

	heat   Heat    // by instruction, nil if it is not known
	charge *charge // what Calls take, nil if it is not known
}

// A Call is a function that is called from a loop, whose code was not followed.
type Call struct {
	Name string
	// Share is the part of the loop's samples that is in it and in what it calls, Samples how
	// many these are. Both are 0 if they are not known.
	Share   float64
	Samples int64
	Lost    bool // stacks do not say that the loop called it
}

// A Pair is a loop before and after.
type Pair struct {
	Name       string
	Unit       string // of work, what one is
	Base, Head *Side
	Source     Source    // the weaker of the sides' rates
	Measured   *Interval // speed-up, nil if it was not measured
	MeasuredBy string
	// Recorded is set if Measured is of the runs that the prediction is about.
	Recorded bool
	// Partial names the function of which Measured lacks calls, as stacks lost their callers;
	// "" if it compares what is predicted.
	Partial string
	// ProgramShare is the share of the base's run that is in the loop, nil if unknown.
	ProgramShare *float64
	// ShareErr is the standard error of ProgramShare, by its number of samples.
	ShareErr float64
	// Rest is how many times as long all that is not in the loop took in head, by the samples,
	// 0 if that is not known.
	Rest  float64
	Flags []string
	// Unrecorded is set if nothing was recorded: what is known of branches the user gives.
	Unrecorded bool

	sameWork bool // the recordings are of as much work, as counted iterations say
}

// An Interval is a value with its interval: of 90 % if it is predicted, of 95 % if it was
// measured.
type Interval struct{ Value, Lo, Hi float64 }

// Cycles is what a unit of work takes on one side, predicted.
type Cycles struct {
	// Total is the sum of Issue, Dependency, Taken, Misses and Called.
	Total float64
	// Issue is what the execution units and the width of the core take, Dependency what
	// instructions wait for each other beyond that, Taken what the front end takes for
	// taken branches beyond that, Misses what mispredicted branches cost.
	Issue, Dependency, Taken, Misses float64
	// Called is what functions take that the loop calls and that were not followed, by their
	// samples.
	Called float64
	// Lo and Hi are the least and the most that Total may be: over the seeds and places of
	// the code, and with what the front end and the memory may add.
	Lo, Hi float64

	Instructions, TakenBranches, DataBranches float64 // executed per unit of work
	Mispredicted                              float64 // branches per unit of work
	MissCost                                  float64 // cycles each
	// MCA is what llvm-mca says of the trace with LLVM's own model and all its errors,
	// Throughput what it says without dependencies: no branch is mispredicted and no front
	// end limits it.
	MCA, Throughput float64
	Unmodelled      float64 // share of instructions that LLVM's model does not know
	// Repaired is what was simulated as something else, by class.
	Repaired []Repaired
	Flags    []string

	missed map[flow.Site]float64 // mispredictions per unit by branch
	doubts []doubt
	bounds []float64 // cycles with the least and the most that rates may be
}

// A BreakEven says from how many mispredictions on the side without branches is faster.
type BreakEven struct {
	Base bool // the base side has the branches
	// Misses is per unit of work, Rate per execution of the branches that data decide; 0
	// if the side without branches is as fast even if none is mispredicted. The
	// prediction was made with MeasuredMisses and MeasuredRate.
	Misses, Rate                 float64
	MeasuredMisses, MeasuredRate float64
	// Lo and Hi are the rates between which neither side wins: the interval of the
	// speed-up at such a rate has 1 in it.
	Lo, Hi  float64
	Cost    float64 // of a misprediction, in cycles
	Verdict BreakEvenVerdict
}

// A BreakEvenVerdict says which side wins, if the interval of the speed-up does.
type BreakEvenVerdict string

// The verdicts.
const (
	AlwaysBranchless BreakEvenVerdict = "always"    // the side without branches wins even if none is mispredicted
	NeverBranchless  BreakEvenVerdict = "never"     // it loses even if half of all are
	AboveRate        BreakEvenVerdict = "above"     // it wins: more are mispredicted than it takes
	BelowRate        BreakEvenVerdict = "below"     // it loses
	Undecided        BreakEvenVerdict = "undecided" // either may win: the interval has 1 in it
	NoBranches       BreakEvenVerdict = "none"      // neither side has such branches
)

// A Winner is the side that takes fewer cycles.
type Winner string

// The winners.
const (
	WinnerBase Winner = "base"
	WinnerHead Winner = "head"
	WinnerNone Winner = "" // either may win
)

// Winner is the side that wins by a speed-up: neither while 1 is in the interval.
func (i Interval) Winner() Winner {
	switch {
	case i.Lo > 1:
		return WinnerHead
	case i.Hi < 1:
		return WinnerBase
	}
	return WinnerNone
}

// A Result is what is predicted of a pair.
type Result struct {
	Pair *Pair
	// Refused says why no cycles are predicted, "" if they are. Of the sides only
	// instructions and branches are known then, and Contention.
	Refused    string
	Contention [2]*Contention // of each side, nil if other cores decide nothing
	Base, Head Cycles
	Speedup    Interval // cycles of base over cycles of head
	Evidence   Evidence // of the speed-up
	Program    *Interval
	BreakEven  *BreakEven
	Flags      []string
	// Paths are the most frequent ways through each side, the first first, if the
	// frequencies of branches are not known, or if there is no loop. MorePaths says how many
	// others there are; AllPaths is set if there are no more than these.
	Paths     [2][]*Path
	MorePaths [2]int
	AllPaths  bool
	// Timelines are nil if they were not asked for.
	Timelines *[2]Timeline

	missCost float64 // of a misprediction on sides that have none, in cycles
}

// HeadRange is how many cycles an iteration of head takes at least and at most. If nothing
// is known of the branches, all iterations may go any one way.
func (r *Result) HeadRange() (lo, hi float64) {
	lo, hi = r.Head.Lo, r.Head.Hi
	for _, way := range r.Paths[1] {
		if way.Steady > 0 && !way.Listing {
			lo, hi = min(lo, way.Steady), max(hi, way.Steady)
		}
	}
	return lo, hi
}

// A Predictor predicts on one machine.
type Predictor struct {
	Tool    Simulator
	Machine *Machine
	// Seeds is the number of walks, 3 if it is 0.
	Seeds int
	// Paths is how many ways through a side are simulated where it is not known how often
	// each is gone: [ShownPaths] if it is 0, all that are found if it is below.
	Paths int
}

// A Prediction is what is predicted on one machine.
type Prediction struct {
	Machine *Machine
	Results []*Result
}

// Predicted is all that is predicted of pairs, with the ways through each and with timelines
// of the first so many, -1 for all.
func (p *Predictor) Predicted(ctx context.Context, pairs []*Pair, timelines int, heat [2]Heat) (*Prediction, error) {
	results, err := p.predict(ctx, pairs)
	if err != nil {
		return nil, err
	}
	predicted := slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return r.Refused != "" })
	if err := p.addPaths(ctx, predicted); err != nil {
		return nil, err
	}
	for i, r := range predicted {
		if timelines < 0 || i < timelines {
			if err := p.addTimelines(ctx, r, heat); err != nil {
				return nil, err
			}
		}
	}
	return &Prediction{Machine: p.Machine, Results: results}, nil
}

// Limits of walks.
const (
	coreSteps = 8000
	mcaSteps  = 4000
	mcaUnits  = 400
)

// A work is one side on its way.
type work struct {
	side     *Side
	branches func(flow.Site) flow.Branch
	walks    []*flow.Trace
	seeds    int         // walks that are averaged; those after them only say what bounds of rates allow
	plans    []*plan     // of each walk, with llvm-mca's engine
	alone    *plan       // of what LLVM's own model is asked about
	first    int         // region
	sites    []flow.Site // of the last region, with the core's engine
	// chance is how likely comparisons are by the branches of the other side; doubted is
	// set if what is not known decides where the code stores.
	chance func(interpret.Comparison) (float64, bool)
	// unparsable are instructions that llvm-mca does not know, in all sides after which
	// they were found.
	unparsable int
	regions    []llvm.Region
	doubted    bool
}

// chances are the comparisons of the branches that data decide.
func (w *work) chances() (list []interpret.Chance) {
	g := w.side.Code.Root
	x := interpret.New(1, nil)
	x.Start(g, w.side.Loop)
	asked := x.Comparisons(w.walks[0], func(s flow.Site) bool {
		unit := -1
		if s.Graph == g {
			unit = w.side.Loop
		}
		return w.side.Rates.Source != SourceAssumed && !s.Graph.ExitOf(s.At, unit).Loop
	})
	for _, a := range asked {
		list = append(list, interpret.Chance{Comparison: a.Comparison, P: w.branches(a.Site).Taken})
	}
	return list
}

// predict predicts pairs. All code of all pairs is simulated at once by one llvm-mca.
func (p *Predictor) predict(ctx context.Context, pairs []*Pair) ([]*Result, error) {
	var regions []llvm.Region
	works := make([]*work, 0, 2*len(pairs))
	reasons := make([]string, len(pairs)) // why the cycles are not predicted
	for i, pair := range pairs {
		for _, side := range []*Side{pair.Base, pair.Head} {
			w, err := p.prepare(side)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.Name, err)
			}
			works = append(works, w)
		}
		base, head := works[2*i], works[2*i+1]
		if reasons[i] = refused(base.contention(), head.contention()); reasons[i] != "" {
			base.regions, head.regions = nil, nil
			continue
		}
		for _, w := range works[2*i:] {
			w.first = len(regions)
			regions = append(regions, w.regions...)
		}
		base.chance, head.chance = interpret.ChancesOf(head.chances()), interpret.ChancesOf(base.chances())
	}
	var simulations, alone []llvm.Simulation
	if len(regions) > 0 {
		var err error
		if simulations, err = p.simulate(ctx, works, regions); err != nil {
			return nil, err
		}
		if alone, err = p.alone(ctx, works); err != nil {
			return nil, err
		}
	}
	var results []*Result
	for i, pair := range pairs {
		if reasons[i] != "" {
			results = append(results, p.refusedResult(pair, reasons[i], works[2*i], works[2*i+1]))
			continue
		}
		var cycles [2]Cycles
		for k := range cycles {
			w := works[2*i+k]
			var err error
			cycles[k], err = p.finish(w, simulations[w.first:w.first+len(w.regions)], &alone[0])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.side.Name, err)
			}
			alone = alone[1:]
		}
		pair.charged(&cycles[0], &cycles[1])
		results = append(results, p.result(pair, cycles[0], cycles[1]))
	}
	return results, nil
}

// maxUnparsable is how many instructions of binaries llvm-mca may refuse.
const maxUnparsable = 20

// simulate simulates the regions of all sides. What of a binary llvm-mca cannot parse is
// replaced by a nop and counted; a listing has to be right.
func (p *Predictor) simulate(ctx context.Context, works []*work, regions []llvm.Region) ([]llvm.Simulation, error) {
	for range maxUnparsable {
		s, err := p.Tool.Simulate(ctx, p.Machine.options(), regions)
		var parse *llvm.ParseError
		if err == nil || !errors.As(err, &parse) {
			return s, err
		}
		w, in := instructionOf(parse, works)
		if in == nil {
			return nil, err
		}
		if in.Line > 0 && asm.SyncOf(p.Machine.Arch, in.Text) == asm.SyncNone {
			return nil, fmt.Errorf("%s: %w", w.side.Name, instError(in, parse))
		}
		leaveOut(regions, parse.Text)
		w.unparsable++
	}
	return nil, fmt.Errorf("llvm-mca does not know more than %d instructions of the code", maxUnparsable)
}

// leaveOut replaces a line by one that does nothing.
func leaveOut(regions []llvm.Region, text string) {
	for i := range regions {
		for k, line := range regions[i].Lines {
			if line == text {
				regions[i].Lines[k] = "nop"
			}
		}
	}
}

// alone simulates a walk of each side that is predicted on LLVM's own model, without repairs.
// Lines that cannot be parsed count as nothing.
func (p *Predictor) alone(ctx context.Context, works []*work) ([]llvm.Simulation, error) {
	var regions []llvm.Region
	for _, w := range works {
		if len(w.regions) > 0 {
			regions = append(regions, w.alone.regions[0])
		}
	}
	for range maxUnparsable {
		s, err := p.Tool.Simulate(ctx, p.Machine.drawing(), regions)
		var parse *llvm.ParseError
		if !errors.As(err, &parse) {
			return s, err
		}
		leaveOut(regions, parse.Text)
	}
	return nil, fmt.Errorf("llvm-mca does not know more than %d instructions of the code", maxUnparsable)
}

// instructionOf is the instruction that llvm-mca cannot parse.
func instructionOf(parse *llvm.ParseError, works []*work) (*work, *asm.Inst) {
	for _, w := range works {
		i := parse.Index - w.first
		if len(w.regions) == 0 || i < 0 || i >= len(w.regions) {
			continue
		}
		if i == len(w.regions)-1 && w.sites != nil && parse.Line < len(w.sites) {
			s := w.sites[parse.Line]
			return w, s.Inst()
		}
		for _, p := range w.plans {
			if i == 0 && parse.Line < len(p.source) {
				s := p.trace.Steps[p.source[parse.Line]]
				return w, s.Inst()
			}
			i -= len(p.regions)
		}
	}
	return nil, nil
}

func (p *Predictor) seeds() int {
	if p.Seeds > 0 {
		return p.Seeds
	}
	return 3
}

// prepare walks through a side and makes its regions.
func (p *Predictor) prepare(side *Side) (*work, error) {
	root := side.Code.Root
	if side.Loop >= len(root.Loops) {
		return nil, fmt.Errorf("there is no loop %d", side.Loop+1)
	}
	w := &work{side: side, branches: side.Rates.branches(side.Loop, root)}
	limits := flow.Limits{Steps: mcaSteps, Units: mcaUnits}
	if p.Machine.Core != nil {
		limits = flow.Limits{Steps: coreSteps, Units: coreSteps}
	}
	for seed := range p.seeds() {
		t := flow.Walk(side.Code, w.branches, uint64(seed+1), side.Loop, limits)
		if !t.Works() {
			return nil, errors.New("the loop is empty: it has nothing but branches")
		}
		w.walks = append(w.walks, t)
	}
	w.seeds = len(w.walks)
	w.walks = append(w.walks, w.atBounds(limits)...)
	if p.Machine.Core == nil {
		for i, t := range w.walks {
			plan := newPlan(p.Machine.Arch, t, fmt.Sprintf("%s, walk %d", side.Name, i+1))
			w.plans = append(w.plans, plan)
			w.regions = append(w.regions, plan.regions...)
		}
		w.alone = w.plans[0]
		return w, nil
	}
	short := flow.Walk(side.Code, func(s flow.Site) flow.Branch { b := w.branches(s); b.Miss = 0; return b }, 1, side.Loop, flow.Limits{Steps: mcaSteps / 2, Units: mcaUnits})
	w.alone = newPlan(p.Machine.Arch, short, side.Name)
	var region llvm.Region
	region, w.sites = core.Region(p.Machine.Arch, side.Name, w.walks)
	w.regions = append(w.regions, region)
	return w, nil
}

// finish makes the cycles of a side of its simulations, and of that on LLVM's own model.
func (p *Predictor) finish(w *work, s []llvm.Simulation, alone *llvm.Simulation) (Cycles, error) {
	var c Cycles
	var err error
	if p.Machine.Core == nil {
		c, err = p.finishMCA(w, s)
	} else {
		c = p.finishCore(w, &s[0])
	}
	if err != nil {
		return c, err
	}
	if c.MCA, err = w.alone.steady(alone); err != nil {
		return c, err
	}
	c.Throughput = alone.RThroughput / float64(len(w.alone.trace.Units))
	c.missed = make(map[flow.Site]float64)
	t := w.walks[0]
	units, foreseen := float64(len(t.Units))*w.side.Work, 0.0
	for i := range t.Steps {
		st := &t.Steps[i]
		if st.Miss {
			c.missed[st.Site] += 1 / units
			foreseen += w.branches(st.Site).Foreseen / units
		}
		if st.Inst().Kind == disasm.Conditional {
			unit := -1
			if st.Graph == w.side.Code.Root {
				unit = w.side.Loop
			}
			if !st.Graph.ExitOf(st.At, unit).Loop {
				c.DataBranches += 1 / units
			}
		}
	}
	c.may(CauseRates, c.Total-min(foreseen*w.side.Work*c.MissCost, c.Misses), c.Total)
	if w.doubted {
		c.may(CauseForwarding, c.Total, c.Total+memoryWait*(c.Total-c.Misses))
	}
	shared, names := w.shared()
	if shared > 0 {
		cost := min(shared/float64(len(t.Units))*c.MissCost, c.Misses)
		c.may(CauseRates, c.Total-cost*(1-1.0/sharedFactor), c.Total+cost*(sharedFactor-1))
		c.Flags = append(c.Flags, "what is known of branches in "+strings.Join(names, ", ")+" is of all its callers, not of this loop")
	}
	c.doubts = append(c.doubts, w.doubts(&c)...)
	c.scale(1 / w.side.Work)
	c.rareContention(w.contention())
	c.Flags = append(c.Flags, w.flags(&c)...)
	return c, nil
}

// scale turns cycles per iteration into cycles per unit of work.
func (c *Cycles) scale(f float64) {
	for _, v := range []*float64{&c.Total, &c.Issue, &c.Dependency, &c.Taken, &c.Misses, &c.Called, &c.Lo, &c.Hi, &c.Instructions, &c.TakenBranches, &c.Mispredicted, &c.MCA, &c.Throughput} {
		*v *= f
	}
}

// flags are conditions under which the numbers of a side deserve less trust.
func (w *work) flags(c *Cycles) (flags []string) {
	t := w.walks[0]
	root := w.side.Code.Root
	if f := w.side.callsFlag(float64(t.Calls) / float64(len(t.Units))); f != "" {
		flags = append(flags, f)
	}
	if t.Indirect > 0 {
		flags = append(flags, "where indirect jumps go is guessed")
	}
	if w.side.Loop >= 0 && root.Loops[w.side.Loop].Irreducible {
		flags = append(flags, "the loop has several entries")
	}
	if root.Incomplete != "" {
		flags = append(flags, "the control flow is incomplete: "+root.Incomplete)
	}
	flags = append(flags, w.ratesFlags()...)
	if w.unparsable > 0 {
		flags = append(flags, fmt.Sprintf("llvm-mca cannot parse %d instructions, which count as nothing", w.unparsable))
	}
	if w.doubted {
		flags = append(flags, memoryFlag)
	}
	if c.Unmodelled > 0 {
		flags = append(flags, fmt.Sprintf("LLVM's model does not know %.2g%% of the executed instructions", 100*c.Unmodelled))
	}
	return flags
}

// accesses says how the steps of a walk use memory, in a first and a second pass.
func (w *work) accesses(walk int) [][]interpret.Access {
	g := w.side.Code.Root
	x := interpret.New(uint64(walk+1), w.chance)
	x.Start(g, w.side.Loop)
	passes := [][]interpret.Access{x.Accesses(w.walks[walk]), x.Accesses(w.walks[walk])}
	w.doubted = w.doubted || x.Doubted && g.StoresByData(w.side.Loop)
	return passes
}

// finishMCA makes the cycles of llvm-mca's simulations of the walks.
func (p *Predictor) finishMCA(w *work, s []llvm.Simulation) (c Cycles, err error) {
	c.Lo = math.Inf(1)
	for i, plan := range w.plans {
		m, err := plan.measure(p.Machine, s[:len(plan.regions)])
		if err != nil {
			return c, err
		}
		chains := s[0]
		if i == 0 {
			c.Repaired = repairedOf(&chains, func(line int) flow.Site { return plan.trace.Steps[plan.source[line]].Site })
		}
		s = s[len(plan.regions):]
		base := max(m.base(p.Machine), plan.memoryChain(&chains, w.accesses(i)[1]))
		total := base
		if m.Misses > 0 {
			total = max(base, m.Missed)
		}
		c.add(w.weight(i), total, min(m.Issue, m.Trace), m.Trace, base, &m)
	}
	c.finishCost()
	return c, nil
}

// weight is that of a walk in the average, 0 if it only says what bounds allow.
func (w *work) weight(walk int) float64 {
	if walk >= w.seeds {
		return 0
	}
	return 1 / float64(w.seeds)
}

// add adds a walk with a weight, 0 if it only says what bounds of rates allow.
func (c *Cycles) add(weight, total, issue, dependency, base float64, m *walked) {
	c.Total += weight * total
	c.Issue += weight * issue
	c.Dependency += weight * (dependency - issue)
	c.Taken += weight * (base - dependency)
	c.Misses += weight * (total - base)
	if weight == 0 {
		c.bounds = append(c.bounds, total)
		return
	}
	c.Lo, c.Hi = min(c.Lo, total), max(c.Hi, total)
	c.Instructions += weight * m.Instructions
	c.TakenBranches += weight * m.Taken
	c.Mispredicted += weight * m.Misses
	c.Unmodelled += weight * m.Unmodelled
}

func (c *Cycles) finishCost() {
	c.may(CauseWalks, c.Lo, c.Hi)
	if len(c.bounds) > 0 {
		c.may(CauseRates, slices.Min(c.bounds), slices.Max(c.bounds))
	}
	if c.Mispredicted > 0 {
		c.MissCost = c.Misses / c.Mispredicted
	}
}

// finishCore makes the cycles of the model of the core, with llvm-mca's numbers of each
// instruction.
func (p *Predictor) finishCore(w *work, s *llvm.Simulation) (c Cycles) {
	model := p.Machine.Core
	timings := model.TimingsOf(p.Machine.Arch, w.sites, s)
	c.Repaired = repairedOf(s, func(line int) flow.Site { return w.sites[line] })
	unmodelled := make(map[flow.Site]bool)
	for _, u := range s.Unmodelled {
		if u.Index < len(w.sites) {
			unmodelled[w.sites[u.Index]] = true
		}
	}
	c.Lo = math.Inf(1)
	nested := w.side.nested()
	var split [2]float64
	var single float64
	for i, t := range w.walks {
		m := walked{Units: float64(len(t.Units))}
		for k := range t.Steps {
			if t.Steps[k].Taken {
				m.Taken++
			}
			if t.Steps[k].Miss {
				m.Misses++
			}
			if unmodelled[t.Steps[k].Site] {
				m.Unmodelled += 1 / float64(len(t.Steps))
			}
		}
		m.Taken /= m.Units
		m.Misses /= m.Units
		m.Instructions = float64(len(t.Steps)) / m.Units
		schedule := model.Schedule(t, timings, w.accesses(i), i, nested)
		cycles := func(c core.Costs) float64 { return schedule.Cycles(c) * m.Instructions }
		base := cycles(core.Costs{})
		total := base
		if m.Misses > 0 {
			total = max(base, cycles(core.Costs{Misses: true}))
		}
		if i == 0 {
			split[0] = min(base, cycles(core.Costs{Independent: true, Straight: true})) / base
			split[1] = max(split[0], min(base, cycles(core.Costs{Straight: true}))/base)
		}
		if m.Taken > 1 {
			// Two branches in a cycle are not always foreseen, which depends on addresses.
			single = max(single, cycles(core.Costs{Misses: m.Misses > 0, Single: true}))
		}
		issue, dependency := split[0]*base, split[1]*base
		c.add(w.weight(i), total, issue, dependency, base, &m)
	}
	c.finishCost()
	if single > 0 {
		c.may(CauseTaken, c.Total, single)
	}
	return c
}

// nested reports whether there are loops within the loop.
func (s *Side) nested() bool {
	for _, l := range s.Code.Root.Loops {
		if s.Loop >= 0 && l.Parent == s.Loop {
			return true
		}
	}
	return false
}
