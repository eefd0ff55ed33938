package budget

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// A Proof says whether budgets can fail and whether they stay silent: with a regression of
// twice the limit injected into head a budget must fail, and with the runs of one side
// split in two, in the order in which they were recorded, none may.
type Proof struct {
	Injections []Injection
	Replays    []Replay
}

// An Injection is one budget with a regression injected.
type Injection struct {
	ID string
	// What was injected, "" if nothing could be, for which Reason is.
	What    string
	Verdict verdict.Verdict
	Reason  string
	Claim   *Claim
}

// Red reports whether the budget failed.
func (i *Injection) Red() bool { return i.Verdict == verdict.Fail }

// A Replay is the runs of one side against each other.
type Replay struct {
	Side string // base or head
	Runs int    // of each half
	// Failed are budgets that fail, of Tested ones.
	Failed []string
	Tested int
	Reason string // why nothing was replayed, "" if it was
}

// green reports whether no budget failed.
func (r *Replay) green() bool { return r.Reason == "" && len(r.Failed) == 0 }

// Holds reports whether all was shown that can be.
func (p *Proof) Holds() bool {
	return !slices.ContainsFunc(p.Injections, func(i Injection) bool { return !i.Red() }) &&
		!slices.ContainsFunc(p.Replays, func(r Replay) bool { return len(r.Failed) > 0 }) && len(p.Injections) > 0
}

// Prove injects a regression into each budget in turn, and replays each side against
// itself.
func (f *File) Prove(in *Inputs) (*Proof, error) {
	p := &Proof{}
	if _, err := f.Check(in); err != nil {
		return nil, err
	}
	for i := range f.Budgets {
		if b := &f.Budgets[i]; b.canFail() {
			x, err := f.inject(in, b)
			if err != nil {
				return nil, err
			}
			p.Injections = append(p.Injections, *x)
		}
	}
	for side, runs := range [][]*run.Run{in.Base, in.Head} {
		if len(runs) == 0 {
			continue
		}
		r, err := f.replay(in, runs, []string{"base", "head"}[side])
		if err != nil {
			return nil, err
		}
		p.Replays = append(p.Replays, *r)
	}
	return p, nil
}

// canFail reports whether the budget has a limit that fails.
func (b *Budget) canFail() bool { return (&Result{Budget: b}).canFail() }

// inject makes head cost twice the limit more in what one budget counts, and checks.
func (f *File) inject(in *Inputs, b *Budget) (*Injection, error) {
	x := &Injection{ID: b.ID, Verdict: verdict.Inconclusive}
	changed := *in
	switch {
	case b.MCA != nil || b.BranchCost != "":
		x.Reason = "nothing is injected into predictions and branches"
		return x, nil
	case b.Samples != "":
		what, ok := f.injectValues(&changed, b)
		if !ok {
			x.Reason = "no values"
			return x, nil
		}
		x.What = what
	case b.Max != nil && b.Max.Fail != nil && b.Max.unit() == Samples && (b.Limit == nil || b.Limit.Fail == nil):
		x.Reason = "nothing is injected where the limit is no samples: any sample fails"
		x.Verdict = verdict.Fail
		return x, nil
	default:
		factor, err := f.factor(in, b)
		if err != nil {
			return nil, err
		}
		if !(factor > 1) || math.IsInf(factor, 0) {
			x.Reason = "head has no cost to inject into"
			return x, nil
		}
		x.What = fmt.Sprintf("%+.3g%%", 100*(factor-1))
		changed.Head = f.injectRuns(in, b, factor)
	}
	o, err := f.Check(&changed)
	if err != nil {
		return nil, err
	}
	// Of budgets of each function, one that fails is enough.
	for i := range o.Results {
		r := &o.Results[i]
		if r.Budget.ID == b.ID && (x.Claim == nil || r.Verdict.Outranks(x.Verdict)) {
			x.Verdict, x.Claim, x.Reason = r.Verdict, r.Deciding, ""
			if len(r.Reasons) > 0 {
				x.Reason = r.Reasons[0]
			}
		}
	}
	return x, nil
}

// factor is by how much the cost of a budget in head has to grow: to twice the limit above
// base, or to twice an absolute limit.
func (f *File) factor(in *Inputs, b *Budget) (float64, error) {
	o, err := f.Check(in)
	if err != nil {
		return 0, err
	}
	factor := 0.0
	for i := range o.Results {
		if o.Results[i].Budget.ID != b.ID {
			continue
		}
		for _, c := range o.Results[i].Claims {
			if c.Fail == nil || !(c.Head > 0) {
				continue
			}
			need := 1 + 2*math.Abs(*c.Fail-1)
			if !c.Relative() {
				need = 2 * *c.Fail / c.Head
				if c.Unit == "percent" && *c.Fail < 0.5 && b.Rate.Of == "" {
					// What is added is added to the total, too.
					s := 2 * *c.Fail
					need = s / (1 - s) * (1 - c.Head) / c.Head
				}
			}
			if factor == 0 || need < factor {
				factor = need
			}
		}
	}
	return factor, nil
}

// injectRuns counts samples of a budget again, at random but the same ones at each call, so
// that its cost grows by a factor.
func (f *File) injectRuns(in *Inputs, b *Budget, factor float64) (list []*run.Run) {
	k := &check{file: f, in: in, event: f.Defaults.Event}
	if k.event == "" {
		k.event = in.Head[0].Events[0].Name
	}
	k.tally = newTally(nil, in.Head, nil, in.Categories, &f.Defaults.Exclude)
	x := k.target(b)
	m := k.tally.masks([]*target{x})
	categories := k.tally.sampleCategories([]*target{x})
	names := k.tally.categories.Names()
	rng := rand.New(rand.NewPCG(1, uint64(len(b.ID))))
	for i, r := range in.Head {
		c := counter{tally: k.tally, masks: m, targets: []*target{x}, side: 1, index: i, run: r, frames: &k.tally.frames[1][i]}
		c.lines()
		c.walk()
		c.labels()
		event, ok := r.EventIndex(x.events[0])
		copied := *r
		copied.Samples, copied.Events = slices.Clone(r.Samples), slices.Clone(r.Events)
		copied.Timeline = nil
		for j := range copied.Samples {
			s := &copied.Samples[j]
			if !ok || int(s.Event) != event || s.Count <= 0 || c.of(s.Stack, s.Labels) == 0 ||
				x.category != "" && names[categories[1][i][j]] != x.category {
				continue
			}
			before := *s
			addSamples(s, factor-1, rng, r.Events[event].Simulated)
			e := &copied.Events[event]
			e.Samples += s.Count - before.Count
			e.Weight += s.Weight - before.Weight
			e.WeightSq += s.WeightSq - before.WeightSq
		}
		list = append(list, &copied)
	}
	return list
}

// addSamples counts each sample again as often as times says, on average. What was counted
// and not sampled only weighs more.
func addSamples(s *run.Sample, times float64, rng *rand.Rand, simulated bool) {
	weight, square := s.Weight/s.Count, s.WeightSq/float64(s.Count)
	if simulated || s.Count > 1e6 {
		s.Weight += int64(float64(s.Weight) * times)
		s.WeightSq += s.WeightSq * times
		s.Count += int64(float64(s.Count) * times)
		return
	}
	for range s.Count {
		n := int64(times)
		if rng.Float64() < times-math.Floor(times) {
			n++
		}
		s.Weight += n * weight
		s.WeightSq += float64(n) * square
		s.Count += n
	}
}

// injectValues makes measured values larger.
func (f *File) injectValues(in *Inputs, b *Budget) (what string, ok bool) {
	s, ok := in.Streams[b.Samples]
	if !ok || len(s.Head) == 0 {
		return "", false
	}
	s = s.named(b.Samples)
	k := &check{file: f, in: in, tests: stats.New(verdict.Level)}
	x, err := k.statistic(b, s)
	if err != nil {
		return "", false
	}
	mean := x.of(stats.NewDistribution(s.Head))
	// A share over a deadline grows with the values, by how much is not known: they are doubled.
	factor := 2.0
	if b.Over == nil {
		factor = 0
		if b.Limit != nil && b.Limit.Fail != nil {
			factor = max(1+2*float64(*b.Limit.Fail), 0.01)
		}
		for _, m := range []struct {
			limit *Amount
			times float64
		}{{maxOf(b).Fail, 2}, {minOf(b).Fail, 0.5}} {
			if m.limit == nil {
				continue
			}
			if need := m.times * m.limit.Value * perUnit(m.limit, s) / mean; factor == 0 || math.Abs(math.Log(need)) < math.Abs(math.Log(factor)) {
				factor = need
			}
		}
	}
	head := make([][]float64, len(s.Head))
	for i, values := range s.Head {
		for _, v := range values {
			head[i] = append(head[i], v*factor)
		}
	}
	streams := make(map[string]Stream)
	maps.Copy(streams, in.Streams)
	s.Head = head
	streams[b.Samples] = s
	in.Streams = streams
	return fmt.Sprintf("%+.3g%%", 100*(factor-1)), true
}

// replay splits the runs of one side in two in ABBA order and checks one half against the
// other. The halves have fewer runs than the file requires, which is left out of account.
func (f *File) replay(in *Inputs, runs []*run.Run, side string) (*Replay, error) {
	r := &Replay{Side: side, Runs: len(runs) / 2}
	if r.Runs < verdict.LeastRuns {
		r.Reason = fmt.Sprintf("%d runs are too few to split, %d are needed", len(runs), 2*verdict.LeastRuns)
		return r, nil
	}
	var halves [2][]*run.Run
	for i, x := range recordedOrder(runs)[:2*r.Runs] {
		// A B B A …
		half := (i + 1) / 2 % 2
		halves[half] = append(halves[half], x)
	}
	replayed := *f
	// Waivers and absolute limits say nothing of noise.
	replayed.Waivers = nil
	replayed.Defaults.Require.Runs = min(f.Defaults.Require.Runs, r.Runs)
	replayed.Defaults.OnMissing = OnMissing(verdict.Warn)
	replayed.Budgets = nil
	for _, b := range f.Budgets {
		if b.Limit != nil && b.Samples == "" && b.MCA == nil && b.BranchCost == "" {
			b.Max = nil
			replayed.Budgets = append(replayed.Budgets, b)
		}
	}
	if len(replayed.Budgets) == 0 {
		r.Reason = "no limit is relative to base"
		return r, nil
	}
	if err := replayed.canFail(replayed.tests(), replayed.Defaults.Require.Runs); err != nil {
		r.Reason = fmt.Sprintf("%d budgets with %d runs a side can never fail", replayed.tests(), r.Runs)
		return r, nil
	}
	half := *in
	half.Base, half.Head = halves[0], halves[1]
	o, err := replayed.Check(&half)
	if err != nil {
		return nil, fmt.Errorf("%s against itself: %w", side, err)
	}
	r.Tested = len(o.Results)
	for i := range o.Results {
		if o.Results[i].Verdict == verdict.Fail {
			r.Failed = append(r.Failed, o.Results[i].ID)
		}
	}
	return r, nil
}

// recordedOrder are runs in the order in which they were recorded, or as given where that
// is not known.
func recordedOrder(runs []*run.Run) (list []*run.Run) {
	for _, i := range verdict.Recorded(compare.Moments(runs)) {
		list = append(list, runs[i])
	}
	return list
}
