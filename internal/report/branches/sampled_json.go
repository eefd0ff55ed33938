package branches

import (
	"fmt"

	"profdiff/internal/branch"
)

// A PMU is what one PMU counted in the whole recording. Cores of different
// kinds have PMUs of their own and are never added up.
type PMU struct {
	PMU          string   `json:"pmu"`    // "" if there is one kind of core
	Source       string   `json:"source"` // samples, counters, or the file or tool of the totals
	Misses       *Amount  `json:"misses"`
	Branches     *Amount  `json:"branches"`
	Instructions *Amount  `json:"instructions"`
	Cycles       *Amount  `json:"cycles"`
	Rate         *Ratio   `json:"rate"` // misses per branch
	MPKI         *Ratio   `json:"mpki"`
	Refused      []string `json:"refused"` // why there is no rate or mpki, though both events are there
}

// A Amount is how often something happened.
type Amount struct {
	Event   string    `json:"event"` // "" where the totals have it
	Value   float64   `json:"value"`
	CI      []float64 `json:"ci"` // null if it was counted
	Samples int64     `json:"samples"`
	NEff    float64   `json:"n_eff"`
}

// A Ratio is a ratio of two amounts. If no miss was sampled the value is null,
// and the end of the interval an upper bound. The interval is null if both were counted.
type Ratio struct {
	Value *float64  `json:"value"`
	CI    []float64 `json:"ci"`
}

// A Attribution says for how many samples of misses branches are named:
// in = named + the sum of unnamed + unmapped.
type Attribution struct {
	In       int64            `json:"in"`
	Named    int64            `json:"named"`
	Exact    int64            `json:"exact"`   // of those named, samples that are at the branch
	Unnamed  map[string]int64 `json:"unnamed"` // by reason
	Unmapped int64            `json:"unmapped"`
	Skid     []float64        `json:"skid"` // part of samples that are 0, 1, … instructions behind the branch; null if there are no candidates
}

// A Function is a function that samples are in, or all code of a DSO without
// names.
type Function struct {
	PMU          string           `json:"pmu"`
	DSO          string           `json:"dso"`
	BuildID      string           `json:"build_id"`
	Function     string           `json:"function"`
	File         string           `json:"file"`
	Line         int64            `json:"line"`
	Misses       *Amount          `json:"misses"`
	Branches     *Amount          `json:"branches"`
	Instructions *Amount          `json:"instructions"`
	Cycles       *Amount          `json:"cycles"`
	MissShare    *float64         `json:"miss_share"`
	Rate         *Ratio           `json:"rate"` // misses per branch, of samples in the function
	MPKI         *Ratio           `json:"mpki"`
	CyclesLost   []float64        `json:"cycles_lost"`
	Named        int64            `json:"named"` // samples of misses with branches
	Unnamed      map[string]int64 `json:"unnamed"`
}

// A Block is a basic block that samples of misses are in, without attribution.
type Block struct {
	PMU      string  `json:"pmu"`
	DSO      string  `json:"dso"`
	BuildID  string  `json:"build_id"`
	Function string  `json:"function"`
	Start    string  `json:"start"` // address in the symbol table
	End      string  `json:"end"`
	Misses   *Amount `json:"misses"`
	Branches *Amount `json:"branches"`
	Rate     *Ratio  `json:"rate"`
}

// A Sampled counts the samples that a row of imprecise samples is made from.
type Sampled struct {
	Exclusive        float64 `json:"exclusive"` // misses of samples without another candidate
	Shared           float64 `json:"shared"`    // parts of the samples of others, by how likely each candidate is
	ExclusiveSamples int64   `json:"exclusive_samples"`
	SharedSamples    int64   `json:"shared_samples"`
}

// A Candidate is another branch that a row may be of.
type Candidate struct {
	Address  string  `json:"address"`
	Kind     string  `json:"kind"`
	Function string  `json:"function"`
	Offset   *uint64 `json:"offset"`
	File     string  `json:"file"`
	Line     int64   `json:"line"`
	Part     float64 `json:"part"`    // how likely it is, on average over the samples of the row
	Grouped  bool    `json:"grouped"` // it has the same samples and is part of the row
}

func newAmount(a *branch.Amount, event string) *Amount {
	if a == nil {
		return nil
	}
	out := &Amount{Event: event, Value: a.Value, Samples: a.Samples, NEff: a.Effective}
	if !a.Counted {
		out.CI = a.CI[:]
	}
	return out
}

func newRatio(r *branch.Ratio) *Ratio {
	if r == nil {
		return nil
	}
	out := &Ratio{Value: r.Value}
	if r.CI != nil {
		out.CI = r.CI[:]
	}
	return out
}

func newPMUs(t *branch.Table) []PMU {
	list := []PMU{}
	for i := range t.Totals {
		p := &t.Totals[i]
		out := PMU{
			PMU: p.PMU, Source: p.Source, Misses: newAmount(p.Misses, p.MissEvent), Branches: newAmount(p.Branches, p.BranchEvent),
			Instructions: newAmount(p.Instructions, p.InstructionEvent), Cycles: newAmount(p.Cycles, p.CycleEvent),
			Rate: newRatio(p.Rate), MPKI: newRatio(p.MPKI), Refused: []string{},
		}
		for _, why := range []string{p.RateRefused, p.MPKIRefused} {
			if why != "" {
				out.Refused = append(out.Refused, why)
			}
		}
		list = append(list, out)
	}
	return list
}

func newAttribution(t *branch.SampledTable) *Attribution {
	if t == nil {
		return nil
	}
	a := &t.Attribution
	out := &Attribution{In: a.In, Named: a.Named, Exact: a.Exact, Unnamed: counts(a.Unnamed), Unmapped: a.Unmapped}
	if a.Skid != nil {
		out.Skid = a.Skid
	}
	return out
}

// counts is a map that is never null.
func counts(m map[string]int64) map[string]int64 {
	if m == nil {
		return map[string]int64{}
	}
	return m
}

func newFunctions(t *branch.Table) []Function {
	list := []Function{}
	for i := range t.Functions() {
		f := &t.Functions()[i]
		out := Function{
			PMU: f.PMU, DSO: f.DSO, BuildID: f.BuildID, Function: f.Name, File: f.File, Line: f.Line,
			Misses: newAmount(&f.Misses, ""), Branches: newAmount(f.Branches, ""), Instructions: newAmount(f.Instructions, ""), Cycles: newAmount(f.Cycles, ""),
			MissShare: f.Share, Rate: newRatio(f.Rate), MPKI: newRatio(f.MPKI), Named: f.Named, Unnamed: counts(f.Unnamed),
		}
		if f.CyclesLost != nil {
			out.CyclesLost = f.CyclesLost[:]
		}
		list = append(list, out)
	}
	return list
}

func newBlocks(t *branch.Table) []Block {
	list := []Block{}
	for i := range t.Blocks() {
		b := &t.Blocks()[i]
		list = append(list, Block{
			PMU: b.PMU, DSO: b.DSO, BuildID: b.BuildID, Function: b.Function, Start: fmt.Sprintf("%#x", b.Start), End: fmt.Sprintf("%#x", b.End),
			Misses: newAmount(&b.Misses, ""), Branches: newAmount(&b.Branches, ""), Rate: newRatio(b.Rate),
		})
	}
	return list
}

// sampledBranch fills in what imprecise samples say of a branch.
func sampledBranch(out *Branch, b *branch.Branch) {
	out.PMU, out.Confidence = b.PMU, string(b.Known())
	s := b.Sampled
	if s == nil {
		return
	}
	out.MoreCandidates = s.MoreCandidates
	for i := range s.Candidates {
		c := &s.Candidates[i]
		out.Candidates = append(out.Candidates, Candidate{
			Address: fmt.Sprintf("%#x", c.Address), Kind: string(c.Kind), Function: c.Function, Offset: c.Offset,
			File: c.File, Line: c.Line, Part: c.Part, Grouped: c.Grouped,
		})
	}
	out.Sampled = &Sampled{Exclusive: s.Exclusive, Shared: s.Shared, ExclusiveSamples: s.ExclusiveSamples, SharedSamples: s.SharedSamples}
	out.NTaken = nil
}
