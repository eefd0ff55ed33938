// Package check writes whether budgets hold: as text, JSON, Markdown and the formats of CI
// systems, and what budget says of a budget file.
package check

import (
	"io"

	"profdiff/internal/budget"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
)

// Schema is the version of Document.
const Schema = "profdiff.check/v1"

// A Document is what check prints as JSON.
type Document struct {
	Schema  string  `json:"schema"`
	Outcome string  `json:"outcome"` // pass, warn, fail or inconclusive
	Blocks  bool    `json:"blocks"`  // an inconclusive outcome that the file does not let pass
	File    string  `json:"file"`
	Alpha   float64 `json:"alpha"` // chance of any wrong fail
	Tests   int     `json:"tests"` // hypotheses of the family
	Tool    string  `json:"tool"`
	// Look is which of two planned looks it is, null if one only is planned.
	Look *Look `json:"look"`
	// Budgets are in the order of the file.
	Budgets     []Budget    `json:"budgets"`
	Discoveries []Discovery `json:"discoveries"`
	Design      Design      `json:"design"`
	Notes       []string    `json:"notes"`
}

// A Look is one of two looks that the budget file plans.
type Look struct {
	Number int     `json:"number"` // 1 or 2
	Level  float64 `json:"level"`  // one-sided, of a single budget
	Open   bool    `json:"open"`   // more runs may settle what is inconclusive
}

// A Budget is the answer to one budget; the numbers are of the claim that decides.
type Budget struct {
	ID        string   `json:"id"`
	Verdict   string   `json:"verdict"`
	Marks     []string `json:"marks"` // waived, new, gone, missing, shifted, collapse, stale
	Reason    string   `json:"reason"`
	Owner     string   `json:"owner"`
	Waived    bool     `json:"waived"`
	Waiver    *Waiver  `json:"waiver"`
	Functions []string `json:"functions"`
	Location  Location `json:"location"`
	Line      int      `json:"line"` // in the budget file
	Notes     []string `json:"notes"`
	Claims    []Claim  `json:"claims"`
	Numbers
}

// Numbers are what the runs say of one limit.
type Numbers struct {
	// Estimate is a ratio of head to base if Kind is limit, else a value in Unit.
	Kind     string     `json:"kind"`
	What     string     `json:"what"`
	Unit     string     `json:"unit"`
	Estimate *float64   `json:"estimate"`
	CI       []*float64 `json:"ci"`
	Limit    *float64   `json:"limit"` // in the unit of the estimate
	Warn     *float64   `json:"warn_limit"`
	PHolm    *float64   `json:"p_holm"`
	P        *float64   `json:"p"`
	Method   string     `json:"method"`
	// RunsNeeded is the number of runs a side that would probably settle it, 0 if unknown.
	RunsNeeded  int      `json:"runs_needed"`
	Smallest    *float64 `json:"smallest_detectable"`
	Base        *float64 `json:"base"`
	Head        *float64 `json:"head"`
	RunsBase    int      `json:"runs_base"`
	RunsHead    int      `json:"runs_head"`
	SamplesBase int64    `json:"samples_base"`
	SamplesHead int64    `json:"samples_head"`
	Capped      bool     `json:"capped"` // can warn, not fail
}

// A Claim is one limit of a budget.
type Claim struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Numbers
}

// A Waiver raises a limit.
type Waiver struct {
	Ceiling string `json:"ceiling"`
	Until   string `json:"until"`
	Issue   string `json:"issue"`
	Reason  string `json:"reason"`
	By      string `json:"by"`
}

// A Location is where the heaviest function of a budget starts.
type Location struct {
	Function string `json:"function"`
	DSO      string `json:"dso"`
	File     string `json:"file"`
	Line     int64  `json:"line"` // 0 if unknown
}

// A Discovery is a function without a budget that costs more.
type Discovery struct {
	Name  string     `json:"name"`
	DSO   string     `json:"dso"`
	Event string     `json:"event"`
	Ratio *float64   `json:"ratio"`
	CI    []*float64 `json:"ci"`
	Q     float64    `json:"q"`
}

// Design says how the sides were recorded and compared.
type Design struct {
	Order         string    `json:"order"` // interleaved, blocked or unknown
	RunsBase      int       `json:"runs_base"`
	RunsHead      int       `json:"runs_head"`
	Normalization string    `json:"normalization"`
	Warnings      []string  `json:"warnings"`
	Base          diff.Side `json:"base"`
	Head          diff.Side `json:"head"`
}

// WriteJSON writes an outcome as a Document. tool names the program and version.
func WriteJSON(w io.Writer, o *budget.Outcome, tool string) error {
	d := Document{
		Schema: Schema, Outcome: string(o.Verdict), Blocks: o.Blocks, File: o.File, Alpha: o.Alpha, Tests: o.Tests, Tool: tool,
		Budgets: []Budget{}, Discoveries: []Discovery{}, Notes: append([]string{}, o.Notes...),
		Design: Design{
			Order: string(o.Design.Order), RunsBase: o.Design.RunsBase, RunsHead: o.Design.RunsHead,
			Normalization: o.Design.Normalization, Warnings: append([]string{}, o.Design.Warnings...),
			Base: diff.NewSide(o.Design.Base), Head: diff.NewSide(o.Design.Head),
		},
	}
	if o.Look != stats.OnlyLook {
		d.Look = &Look{int(o.Look), text.Significant(o.Look.Level(o.Alpha)), o.Open()}
	}
	for i := range o.Results {
		d.Budgets = append(d.Budgets, newBudget(&o.Results[i]))
	}
	for _, x := range o.Discoveries {
		d.Discoveries = append(d.Discoveries, Discovery{x.Name, x.DSO, x.Event, text.Finite(x.Ratio), text.FinitePair(x.CI.Lo, x.CI.Hi), text.Significant(x.Q)})
	}
	return text.WriteJSON(w, d)
}

func newBudget(r *budget.Result) Budget {
	b := Budget{
		ID: r.ID, Verdict: string(r.Verdict), Marks: []string{}, Owner: r.Owner, Waived: r.Has(budget.Waived),
		Functions: append([]string{}, r.Functions...), Line: r.Position.Line, Notes: append([]string{}, r.Notes...), Claims: []Claim{},
		Location: Location{r.Location.Function, r.Location.DSO, r.Location.File, r.Location.Line},
		Numbers:  Numbers{CI: []*float64{}},
	}
	for _, m := range r.Marks {
		b.Marks = append(b.Marks, string(m))
	}
	for i, reason := range r.Reasons {
		if i > 0 {
			b.Reason += "; "
		}
		b.Reason += reason
	}
	if w := r.Waiver; w != nil {
		b.Waiver = &Waiver{w.Ceiling.String(), w.Until.String(), w.Issue, w.Reason, w.By}
	}
	for _, c := range r.Claims {
		n := newNumbers(c)
		b.Claims = append(b.Claims, Claim{string(c.Verdict), c.Reason, n})
		if c == r.Deciding {
			b.Numbers = n
		}
	}
	return b
}

func newNumbers(c *budget.Claim) Numbers {
	n := Numbers{
		Kind: string(c.Kind), What: c.What, Unit: c.Unit, Estimate: text.Finite(c.Value), CI: text.FinitePair(c.CI.Lo, c.CI.Hi),
		Method: string(c.Method), RunsNeeded: c.RunsNeeded, Smallest: text.Finite(c.Smallest), Base: text.Finite(c.Base), Head: text.Finite(c.Head),
		RunsBase: c.RunsBase, RunsHead: c.RunsHead, SamplesBase: c.SamplesBase, SamplesHead: c.SamplesHead, Capped: c.Capped,
		Limit: c.Fail, Warn: c.Warn,
	}
	if c.Fail != nil && c.Method != "" {
		p, adjusted := text.Significant(c.P), text.Significant(c.Adjusted)
		n.P, n.PHolm = &p, &adjusted
	}
	return n
}
