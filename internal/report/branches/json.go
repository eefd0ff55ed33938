// Package branches writes what recordings say of their branches, of one recording and of
// two sides: as text, JSON, listings, pprof profiles and profiles for LLVM.
//
//  1. Rows come in the order of what their misses cost, and are cut off at the limit or where
//     there are too few misses to say anything.
//  2. What is not known is "-", or bounds; it is never zero.
//  3. Profiles for LLVM put branches at their lines and discriminators, relative to the start
//     of the function ("Text format" in SampleProfReader.h of LLVM).
//
// The JSON forms are documented by branches.schema.json and branches_diff.schema.json.
package branches

import (
	"cmp"
	"fmt"
	"io"

	"profdiff/internal/branch"
	"profdiff/internal/report/text"
)

// Schema is the first field of what branches prints as JSON.
const Schema = "profdiff.branches/v1"

// A Document is what branches prints as JSON. null is unknown; intervals are
// 95 %, or null for what was counted.
type Document struct {
	Schema     string  `json:"schema"`
	Tier       string  `json:"tier"` // S, A, B, C or D
	Input      Input   `json:"input"`
	Events     []Event `json:"events"`
	Prediction Known   `json:"prediction"`
	Unit       string  `json:"unit"` // of executed, taken, not_taken and misses: executions or entries
	FirstIndex int     `json:"first_index"`
	Samples    Account `json:"samples"`
	Entries    Account `json:"entries"`
	Ranges     Ranges  `json:"ranges"`
	MissCost   *Cost   `json:"miss_cost"`
	Totals     Totals  `json:"totals"`
	// Attribution, Functions and Blocks are of samples of single addresses and counters.
	Attribution *Attribution `json:"attribution"`
	Functions   []Function   `json:"functions"`
	Blocks      []Block      `json:"blocks"`
	Branches    []Branch     `json:"branches"`
	Advice      string       `json:"advice"` // on all branches together
	Hidden      int          `json:"hidden"` // branches with too few misses to be listed
	Warnings    []string     `json:"warnings"`
}

// A Input is the recording.
type Input struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Tool   string `json:"tool"`
	Arch   string `json:"arch"`
	CPU    string `json:"cpu"`
}

// A Event is an event of the recording.
type Event struct {
	Name    string  `json:"name"`
	Counts  string  `json:"counts"`
	Samples int64   `json:"samples"`
	Weight  float64 `json:"weight"`
	Period  uint64  `json:"period"` // 0 if it varies
	Precise bool    `json:"precise"`
	// Unplaced is what a simulation counted at no place, beside the weight.
	Unplaced float64 `json:"unplaced"`
	Rates    bool    `json:"rates"` // are made from the stacks of this event
}

// Known says whether the recording tells which branches were mispredicted.
type Known struct {
	Known  bool   `json:"known"`
	Reason string `json:"reason"` // why not
}

// A Account is in = used + the sum of dropped.
type Account struct {
	In      int64            `json:"in"`
	Used    int64            `json:"used"`
	Dropped map[string]int64 `json:"dropped"`
	Lost    int64            `json:"lost"`
}

// Ranges counts stretches of code between two branches.
type Ranges struct {
	Decoded int64 `json:"decoded"`
	Broken  int64 `json:"broken"`
	NoCode  int64 `json:"no_code"`
}

// A Cost is how many cycles a miss costs.
type Cost struct {
	Lo       float64 `json:"lo"`
	Centre   float64 `json:"centre"`
	Hi       float64 `json:"hi"`
	Measured bool    `json:"measured"`
	Source   string  `json:"source"`
}

// Totals are counts of the whole recording.
type Totals struct {
	MispredictedEntries *int64   `json:"mispredicted_entries"`
	Instructions        *float64 `json:"instructions"`
	Cycles              *float64 `json:"cycles"`
	// PMUs are the totals of samples of single addresses, counters and perf stat.
	PMUs []PMU `json:"pmus"`
}

// A Branch is a branch.
type Branch struct {
	DSO        string      `json:"dso"`
	BuildID    string      `json:"build_id"`
	Address    string      `json:"address"` // in the symbol table of the DSO, 0x…; "" if the confidence is line
	Function   string      `json:"function"`
	Offset     *uint64     `json:"offset"` // from the start of the function, in bytes
	File       string      `json:"file"`
	Line       int64       `json:"line"`
	Inlined    []Frame     `json:"inlined"` // innermost first, function last
	Kind       string      `json:"kind"`    // "" if unknown
	Executed   *float64    `json:"executed"`
	Taken      *float64    `json:"taken"`
	NotTaken   *float64    `json:"not_taken"`
	PTaken     *Estimate   `json:"p_taken"`
	MinP       *float64    `json:"min_p"`
	Misses     *float64    `json:"misses"`
	MissesCI   []float64   `json:"misses_ci"`
	MissShare  *float64    `json:"miss_share"`
	Rate       *float64    `json:"rate"` // misses per execution
	RateBounds []float64   `json:"rate_bounds"`
	CI         []float64   `json:"ci"`
	RateMethod string      `json:"rate_method"` // all, cycles, bounds or counted
	TakenRate  *Estimate   `json:"taken_rate"`  // misses per execution that was taken
	MPKI       *Estimate   `json:"mpki"`
	MissCost   *Cost       `json:"miss_cost"`
	CyclesLost []float64   `json:"cycles_lost"`
	Share      *float64    `json:"share"` // of all cycles, by the centre of the cost
	N          int64       `json:"n"`     // executions that the rates are made from
	NTaken     *int64      `json:"n_taken"`
	NMisses    *int64      `json:"n_misses"`
	Samples    int64       `json:"samples"`
	Entries    EntryCounts `json:"entries"`
	Targets    int         `json:"targets"`
	TopTarget  float64     `json:"top_target_share"`
	Classes    []string    `json:"classes"`
	PMU        string      `json:"pmu"`
	// Confidence is exact: the recording names the branch; line: only its line, with all
	// others there; high, medium or low: it is the likeliest of the candidates.
	Confidence     string      `json:"confidence"`
	Candidates     []Candidate `json:"candidates"`
	MoreCandidates int         `json:"more_candidates"` // that are not listed
	Sampled        *Sampled    `json:"sampled"`
	BreakEven      *float64    `json:"break_even"` // rate of misses from which code without the branch is faster
	Advice         *Advice     `json:"advice"`
}

// A Frame is a function at a branch.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int64  `json:"line"`
}

// A Estimate is a value with its interval.
type Estimate struct {
	Value float64   `json:"value"`
	CI    []float64 `json:"ci"`
}

// EntryCounts counts entries of stacks at any index.
type EntryCounts struct {
	Taken        int64  `json:"taken"`
	NotTaken     *int64 `json:"not_taken"`
	Mispredicted *int64 `json:"mispredicted"`
	Predicted    *int64 `json:"predicted"`
}

// WriteJSON writes a Document.
func WriteJSON(w io.Writer, t *branch.Table, opt Options) error {
	known := t.Unknown == ""
	stacks := cmp.Or(t.Stacks, new(branch.StackTable))
	d := Document{
		Schema: Schema, Tier: string(t.Tier),
		Input:  Input{Path: t.Name, Format: t.Format, Tool: t.Tool, Arch: t.Arch, CPU: t.CPU},
		Events: []Event{}, Prediction: Known{Known: known, Reason: t.Unknown},
		Unit: "entries", FirstIndex: stacks.FirstIndex,
		Samples: newAccount(&t.Samples), Entries: newAccount(&stacks.Entries),
		Ranges: Ranges(stacks.Ranges), Totals: Totals{Instructions: t.Instructions, Cycles: t.Cycles, PMUs: newPMUs(t)},
		Attribution: newAttribution(t.Sampled), Functions: newFunctions(t), Blocks: newBlocks(t),
		Branches: []Branch{}, Advice: t.Advice, Warnings: t.Warnings,
	}
	if t.Scaled {
		d.Unit = "executions"
	}
	if d.Warnings == nil {
		d.Warnings = []string{}
	}
	if known {
		d.MissCost = newCost(t.Cost)
		if t.Stacks != nil {
			d.Totals.MispredictedEntries = &t.Misses
		}
	}
	for i := range t.Events {
		e := &t.Events[i]
		d.Events = append(d.Events, Event{Name: e.Name, Counts: string(e.Counts), Samples: e.Samples, Weight: e.Weight, Period: e.Period, Precise: e.Precise, Unplaced: e.Unplaced, Rates: e.Rates})
	}
	rows := opt.shown(t)
	d.Hidden = len(t.Branches) - len(rows)
	for _, b := range rows {
		d.Branches = append(d.Branches, newBranch(b, known))
	}
	return text.WriteJSON(w, d)
}

func newAccount(a *branch.Account) Account {
	out := Account{In: a.In, Used: a.Used, Dropped: a.Dropped, Lost: a.Lost}
	if out.Dropped == nil {
		out.Dropped = map[string]int64{}
	}
	return out
}

func newCost(c *branch.Cost) *Cost {
	if c == nil {
		return nil
	}
	return &Cost{Lo: c.Lo, Centre: c.Centre, Hi: c.Hi, Measured: c.Measured, Source: c.Source}
}

func newEstimate(e *branch.Estimate) *Estimate {
	if e == nil {
		return nil
	}
	return &Estimate{Value: e.Value, CI: []float64{e.Lo, e.Hi}}
}

func newBranch(b *branch.Branch, known bool) Branch {
	stacks := cmp.Or(b.Stacks, new(branch.StackCounts))
	out := Branch{
		DSO: b.DSO, BuildID: b.BuildID, Address: fmt.Sprintf("%#x", b.Address), Function: b.Function, Offset: b.Offset,
		File: b.File, Line: b.Line, Inlined: []Frame{}, Kind: string(b.Kind),
		Executed: b.Executed, Taken: b.Taken, NotTaken: b.NotTaken, PTaken: newEstimate(b.PTaken),
		Misses: b.Misses, MissShare: b.MissShare, TakenRate: newEstimate(b.TakenRate()), MPKI: newEstimate(b.MPKI),
		Share: b.Share, N: b.N, NTaken: &b.NTaken, Samples: b.Samples,
		Entries: EntryCounts{Taken: stacks.Taken, NotTaken: stacks.NotTaken},
		Targets: stacks.Targets, TopTarget: stacks.TopTarget, Classes: []string{}, Candidates: []Candidate{},
		BreakEven: b.BreakEven, Advice: newAdvice(b.Advice),
	}
	if p, ok := b.MinP(); ok {
		out.MinP = &p
	}
	if known {
		out.NMisses = &b.NMisses
		out.Entries.Mispredicted, out.Entries.Predicted = &stacks.Mispredicted, &stacks.Predicted
		out.MissCost = newCost(b.Cost)
	}
	if r := b.Rate; r != nil {
		out.Rate, out.RateBounds, out.CI, out.RateMethod = r.Value, r.Bounds[:], r.CI[:], string(r.Method)
	}
	if b.ByLine {
		out.Address = ""
	}
	if b.Rate != nil && b.Rate.Method == branch.Counted {
		out.CI = nil
		for _, e := range []*Estimate{out.PTaken, out.MPKI} {
			if e != nil {
				e.CI = nil
			}
		}
		if b.Taken == nil {
			out.NTaken = nil
		}
	}
	if b.MissesCI != nil {
		out.MissesCI = b.MissesCI[:]
	}
	if b.CyclesLost != nil {
		out.CyclesLost = b.CyclesLost[:]
	}
	sampledBranch(&out, b)
	for _, f := range b.Inlined {
		out.Inlined = append(out.Inlined, Frame{Function: f.Name, File: f.File, Line: f.Line})
	}
	for _, c := range b.Classes {
		out.Classes = append(out.Classes, string(c))
	}
	return out
}
