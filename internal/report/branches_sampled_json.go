package report

import (
	"fmt"

	"profdiff/internal/branch"
)

// A BranchesPMU is what one PMU counted in the whole recording. Cores of different
// kinds have PMUs of their own and are never added up.
type BranchesPMU struct {
	PMU          string          `json:"pmu"`    // "" if there is one kind of core
	Source       string          `json:"source"` // samples, counters, or the file or tool of the totals
	Misses       *BranchesAmount `json:"misses"`
	Branches     *BranchesAmount `json:"branches"`
	Instructions *BranchesAmount `json:"instructions"`
	Cycles       *BranchesAmount `json:"cycles"`
	Rate         *BranchesRatio  `json:"rate"` // misses per branch
	MPKI         *BranchesRatio  `json:"mpki"`
	Refused      []string        `json:"refused"` // why there is no rate or mpki, though both events are there
}

// A BranchesAmount is how often something happened.
type BranchesAmount struct {
	Event   string    `json:"event"` // "" where the totals have it
	Value   float64   `json:"value"`
	CI      []float64 `json:"ci"` // null if it was counted
	Samples int64     `json:"samples"`
	NEff    float64   `json:"n_eff"`
}

// A BranchesRatio is a ratio of two amounts. If no miss was sampled the value is null,
// and the end of the interval an upper bound. The interval is null if both were counted.
type BranchesRatio struct {
	Value *float64  `json:"value"`
	CI    []float64 `json:"ci"`
}

// A BranchesAttribution says for how many samples of misses branches are named:
// in = named + the sum of unnamed + unmapped.
type BranchesAttribution struct {
	In       int64            `json:"in"`
	Named    int64            `json:"named"`
	Exact    int64            `json:"exact"`   // of those named, samples that are at the branch
	Unnamed  map[string]int64 `json:"unnamed"` // by reason
	Unmapped int64            `json:"unmapped"`
	Skid     []float64        `json:"skid"` // part of samples that are 0, 1, … instructions behind the branch; null if there are no candidates
}

// A BranchesFunction is a function that samples are in, or all code of a DSO without
// names.
type BranchesFunction struct {
	PMU          string           `json:"pmu"`
	DSO          string           `json:"dso"`
	BuildID      string           `json:"build_id"`
	Function     string           `json:"function"`
	File         string           `json:"file"`
	Line         int64            `json:"line"`
	Misses       *BranchesAmount  `json:"misses"`
	Branches     *BranchesAmount  `json:"branches"`
	Instructions *BranchesAmount  `json:"instructions"`
	Cycles       *BranchesAmount  `json:"cycles"`
	MissShare    *float64         `json:"miss_share"`
	Rate         *BranchesRatio   `json:"rate"` // misses per branch, of samples in the function
	MPKI         *BranchesRatio   `json:"mpki"`
	CyclesLost   []float64        `json:"cycles_lost"`
	Named        int64            `json:"named"` // samples of misses with branches
	Unnamed      map[string]int64 `json:"unnamed"`
}

// A BranchesBlock is a basic block that samples of misses are in, without attribution.
type BranchesBlock struct {
	PMU      string          `json:"pmu"`
	DSO      string          `json:"dso"`
	BuildID  string          `json:"build_id"`
	Function string          `json:"function"`
	Start    string          `json:"start"` // address in the symbol table
	End      string          `json:"end"`
	Misses   *BranchesAmount `json:"misses"`
	Branches *BranchesAmount `json:"branches"`
	Rate     *BranchesRatio  `json:"rate"`
}

// A BranchesSampled counts the samples that a row of imprecise samples is made from.
type BranchesSampled struct {
	Exclusive        float64 `json:"exclusive"` // misses of samples without another candidate
	Shared           float64 `json:"shared"`    // parts of those of others, by how likely each candidate is
	ExclusiveSamples int64   `json:"exclusive_samples"`
	SharedSamples    int64   `json:"shared_samples"`
}

// A BranchesCandidate is another branch that a row may be of.
type BranchesCandidate struct {
	Address  string  `json:"address"`
	Kind     string  `json:"kind"`
	Function string  `json:"function"`
	Offset   *uint64 `json:"offset"`
	File     string  `json:"file"`
	Line     int64   `json:"line"`
	Part     float64 `json:"part"`    // how likely it is, on average over the samples of the row
	Grouped  bool    `json:"grouped"` // it has the same samples and is part of the row
}

func branchesAmount(a *branch.Amount, event string) *BranchesAmount {
	if a == nil {
		return nil
	}
	out := &BranchesAmount{Event: event, Value: a.Value, Samples: a.Samples, NEff: a.Effective}
	if !a.Counted {
		out.CI = a.CI[:]
	}
	return out
}

func branchesRatio(r *branch.Ratio) *BranchesRatio {
	if r == nil {
		return nil
	}
	out := &BranchesRatio{Value: r.Value}
	if r.CI != nil {
		out.CI = r.CI[:]
	}
	return out
}

func branchesPMUs(t *branch.Table) []BranchesPMU {
	list := []BranchesPMU{}
	for i := range t.Totals {
		p := &t.Totals[i]
		out := BranchesPMU{
			PMU: p.PMU, Source: p.Source, Misses: branchesAmount(p.Misses, p.MissEvent), Branches: branchesAmount(p.Branches, p.BranchEvent),
			Instructions: branchesAmount(p.Instructions, p.InstructionEvent), Cycles: branchesAmount(p.Cycles, p.CycleEvent),
			Rate: branchesRatio(p.Rate), MPKI: branchesRatio(p.MPKI), Refused: []string{},
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

func branchesAttribution(a *branch.Attribution) *BranchesAttribution {
	if a == nil {
		return nil
	}
	out := &BranchesAttribution{In: a.In, Named: a.Named, Exact: a.Exact, Unnamed: counts(a.Unnamed), Unmapped: a.Unmapped}
	if a.Skid != nil {
		out.Skid = a.Skid[:]
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

func branchesFunctions(t *branch.Table) []BranchesFunction {
	list := []BranchesFunction{}
	for i := range t.Functions {
		f := &t.Functions[i]
		out := BranchesFunction{
			PMU: f.PMU, DSO: f.DSO, BuildID: f.BuildID, Function: f.Name, File: f.File, Line: f.Line,
			Misses: branchesAmount(&f.Misses, ""), Branches: branchesAmount(f.Branches, ""), Instructions: branchesAmount(f.Instructions, ""), Cycles: branchesAmount(f.Cycles, ""),
			MissShare: f.Share, Rate: branchesRatio(f.Rate), MPKI: branchesRatio(f.MPKI), Named: f.Named, Unnamed: counts(f.Unnamed),
		}
		if f.CyclesLost != nil {
			out.CyclesLost = f.CyclesLost[:]
		}
		list = append(list, out)
	}
	return list
}

func branchesBlocks(t *branch.Table) []BranchesBlock {
	list := []BranchesBlock{}
	for i := range t.Blocks {
		b := &t.Blocks[i]
		list = append(list, BranchesBlock{
			PMU: b.PMU, DSO: b.DSO, BuildID: b.BuildID, Function: b.Function, Start: fmt.Sprintf("%#x", b.Start), End: fmt.Sprintf("%#x", b.End),
			Misses: branchesAmount(&b.Misses, ""), Branches: branchesAmount(&b.Branches, ""), Rate: branchesRatio(b.Rate),
		})
	}
	return list
}

// sampledBranch fills in what imprecise samples say of a branch.
func sampledBranch(out *BranchesBranch, b *branch.Branch) {
	out.PMU, out.Confidence, out.MoreCandidates = b.PMU, string(b.Known()), b.MoreCandidates
	for i := range b.Candidates {
		c := &b.Candidates[i]
		out.Candidates = append(out.Candidates, BranchesCandidate{
			Address: fmt.Sprintf("%#x", c.Address), Kind: string(c.Kind), Function: c.Function, Offset: c.Offset,
			File: c.File, Line: c.Line, Part: c.Part, Grouped: c.Grouped,
		})
	}
	if s := b.Sampled; s != nil {
		out.Sampled = &BranchesSampled{Exclusive: s.Exclusive, Shared: s.Shared, ExclusiveSamples: s.ExclusiveSamples, SharedSamples: s.SharedSamples}
		out.NTaken = nil
	}
}
