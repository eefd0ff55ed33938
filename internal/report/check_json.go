package report

import (
	"io"

	"profdiff/internal/budget"
	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// CheckSchema is the version of CheckDocument.
const CheckSchema = "profdiff.check/v1"

// A CheckDocument is what check prints as JSON.
type CheckDocument struct {
	Schema  string  `json:"schema"`
	Outcome string  `json:"outcome"` // pass, warn, fail or inconclusive
	Blocks  bool    `json:"blocks"`  // an inconclusive outcome that the file does not let pass
	File    string  `json:"file"`
	Alpha   float64 `json:"alpha"` // chance of any wrong fail
	Tests   int     `json:"tests"` // hypotheses of the family
	Tool    string  `json:"tool"`
	// Look is which of two planned looks it is, null if one only is planned.
	Look *CheckLook `json:"look"`
	// Budgets are in the order of the file.
	Budgets     []CheckBudget    `json:"budgets"`
	Discoveries []CheckDiscovery `json:"discoveries"`
	Design      CheckDesign      `json:"design"`
	Notes       []string         `json:"notes"`
}

// A CheckLook is one of two looks that the budget file plans.
type CheckLook struct {
	Number int     `json:"number"` // 1 or 2
	Level  float64 `json:"level"`  // one-sided, of a single budget
	Open   bool    `json:"open"`   // more runs may settle what is inconclusive
}

// A CheckBudget is the answer to one budget; the numbers are those of the claim that
// decides.
type CheckBudget struct {
	ID        string        `json:"id"`
	Verdict   string        `json:"verdict"`
	Marks     []string      `json:"marks"` // waived, new, gone, missing, shifted, collapse, stale
	Reason    string        `json:"reason"`
	Owner     string        `json:"owner"`
	Waived    bool          `json:"waived"`
	Waiver    *CheckWaiver  `json:"waiver"`
	Functions []string      `json:"functions"`
	Location  CheckLocation `json:"location"`
	Line      int           `json:"line"` // in the budget file
	Notes     []string      `json:"notes"`
	Claims    []CheckClaim  `json:"claims"`
	CheckNumbers
}

// CheckNumbers are what the runs say of one limit.
type CheckNumbers struct {
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

// A CheckClaim is one limit of a budget.
type CheckClaim struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	CheckNumbers
}

// A CheckWaiver raises a limit.
type CheckWaiver struct {
	Ceiling string `json:"ceiling"`
	Until   string `json:"until"`
	Issue   string `json:"issue"`
	Reason  string `json:"reason"`
	By      string `json:"by"`
}

// A CheckLocation is where the heaviest function of a budget starts.
type CheckLocation struct {
	Function string `json:"function"`
	DSO      string `json:"dso"`
	File     string `json:"file"`
	Line     int64  `json:"line"` // 0 if unknown
}

// A CheckDiscovery is a function without a budget that costs more.
type CheckDiscovery struct {
	Name  string     `json:"name"`
	DSO   string     `json:"dso"`
	Event string     `json:"event"`
	Ratio *float64   `json:"ratio"`
	CI    []*float64 `json:"ci"`
	Q     float64    `json:"q"`
}

// CheckDesign says how the sides were recorded and compared.
type CheckDesign struct {
	Order         string   `json:"order"` // interleaved, blocked or unknown
	RunsBase      int      `json:"runs_base"`
	RunsHead      int      `json:"runs_head"`
	Normalization string   `json:"normalization"`
	Warnings      []string `json:"warnings"`
	Base          DiffSide `json:"base"`
	Head          DiffSide `json:"head"`
}

// WriteCheckJSON writes an outcome as a CheckDocument. tool names the program and version.
func WriteCheckJSON(w io.Writer, o *budget.Outcome, tool string) error {
	d := CheckDocument{
		Schema: CheckSchema, Outcome: string(o.Verdict), Blocks: o.Blocks, File: o.File, Alpha: o.Alpha, Tests: o.Tests, Tool: tool,
		Budgets: []CheckBudget{}, Discoveries: []CheckDiscovery{}, Notes: append([]string{}, o.Notes...),
		Design: CheckDesign{
			Order: string(o.Design.Order), RunsBase: o.Design.RunsBase, RunsHead: o.Design.RunsHead,
			Normalization: o.Design.Normalization, Warnings: append([]string{}, o.Design.Warnings...),
			Base: side(o.Design.Base), Head: side(o.Design.Head),
		},
	}
	if o.Look != stats.OnlyLook {
		d.Look = &CheckLook{int(o.Look), significant(o.Look.Level(o.Alpha)), o.Open()}
	}
	for i := range o.Results {
		d.Budgets = append(d.Budgets, checkBudget(&o.Results[i]))
	}
	for _, x := range o.Discoveries {
		d.Discoveries = append(d.Discoveries, CheckDiscovery{x.Name, x.DSO, x.Event, finite(x.Ratio), interval(x.CI), significant(x.Q)})
	}
	return writeJSON(w, d)
}

// side is diffSide of a side that may be empty.
func side(runs []*run.Run) DiffSide {
	if len(runs) == 0 {
		return DiffSide{Runs: []DiffRun{}}
	}
	return diffSide(runs)
}

func checkBudget(r *budget.Result) CheckBudget {
	b := CheckBudget{
		ID: r.ID, Verdict: string(r.Verdict), Marks: []string{}, Owner: r.Owner, Waived: r.Has(budget.Waived),
		Functions: append([]string{}, r.Functions...), Line: r.Position.Line, Notes: append([]string{}, r.Notes...), Claims: []CheckClaim{},
		Location:     CheckLocation{r.Location.Function, r.Location.DSO, r.Location.File, r.Location.Line},
		CheckNumbers: CheckNumbers{CI: []*float64{}},
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
		b.Waiver = &CheckWaiver{w.Ceiling.String(), w.Until.String(), w.Issue, w.Reason, w.By}
	}
	for _, c := range r.Claims {
		n := checkNumbers(c)
		b.Claims = append(b.Claims, CheckClaim{string(c.Verdict), c.Reason, n})
		if c == r.Deciding {
			b.CheckNumbers = n
		}
	}
	return b
}

func checkNumbers(c *budget.Claim) CheckNumbers {
	n := CheckNumbers{
		Kind: string(c.Kind), What: c.What, Unit: c.Unit, Estimate: finite(c.Value), CI: interval(c.CI),
		Method: string(c.Method), RunsNeeded: c.RunsNeeded, Smallest: finite(c.Smallest), Base: finite(c.Base), Head: finite(c.Head),
		RunsBase: c.RunsBase, RunsHead: c.RunsHead, SamplesBase: c.SamplesBase, SamplesHead: c.SamplesHead, Capped: c.Capped,
		Limit: c.Fail, Warn: c.Warn,
	}
	if c.Fail != nil && c.Method != "" {
		p, adjusted := significant(c.P), significant(c.Holm)
		n.P, n.PHolm = &p, &adjusted
	}
	return n
}
