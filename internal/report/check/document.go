// Package check is what a check says as it is written: one document, made once by [New], and what
// draws it as text, JSON, Markdown and the formats of CI systems. What budget says of a budget
// file is written, too.
//
//  1. [New] takes from an outcome what all forms show, budgets in the order of the file.
//  2. Forms of CI systems keep to the documents of these: JUnit's XML, SARIF 2.1.0, workflow
//     commands of GitHub, code quality and metrics of GitLab. Each has its limits on lengths
//     and numbers, within which a result is said in one line.
//  3. Names from recordings are escaped as each form asks for.
package check

import (
	"profdiff/internal/report/diff"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// Schema is the version of Document.
const Schema = "profdiff.check/v1"

// A Document is what check prints as JSON.
type Document struct {
	Schema  string          `json:"schema"`
	Outcome verdict.Verdict `json:"outcome"` // pass, warn, fail or inconclusive
	Decides string          `json:"decides"` // what decides the outcome, in words
	// Story is that, and what else changed most.
	Story  *story.Story `json:"story"`
	Blocks bool         `json:"blocks"` // an inconclusive outcome that the file does not let pass
	File   string       `json:"file"`
	Alpha  float64      `json:"alpha"` // chance of any wrong fail
	Tests  int          `json:"tests"` // hypotheses of the family
	Tool   string       `json:"tool"`
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
	ID        string          `json:"id"`
	Verdict   verdict.Verdict `json:"verdict"`
	Marks     []string        `json:"marks"` // waived, new, gone, missing, shifted, collapse, stale
	Reason    string          `json:"reason"`
	Owner     string          `json:"owner"`
	Waived    bool            `json:"waived"`
	Waiver    *Waiver         `json:"waiver"`
	Functions []string        `json:"functions"`
	Location  Location        `json:"location"`
	Line      int             `json:"line"` // in the budget file
	Notes     []string        `json:"notes"`
	Claims    []Claim         `json:"claims"`
	Numbers

	// Reasons are the parts of Reason, and Deciding is the claim that decides, nil if none
	// does.
	Reasons  []string `json:"-"`
	Deciding *Numbers `json:"-"`
	// Rule is the budget of the file; one may be for several functions.
	Rule string `json:"-"`
	// File is the budget file that Line is in, "" if it is that of the document.
	File string `json:"-"`
}

// Numbers are what the runs say of one limit.
type Numbers struct {
	// Estimate is a ratio of head to base if Kind is limit, else a value in Unit.
	Kind     string      `json:"kind"`
	Least    bool        `json:"least"` // less than the limit fails, as where higher values are better
	What     string      `json:"what"`
	Unit     string      `json:"unit"`
	Estimate text.Number `json:"estimate"`
	// CI is what the tests leave open of the estimate, and CIAlpha the one-sided levels of its
	// ends, at which they decide: it fails if the limit is below the interval, and
	// passes if it is not below the upper end.
	CI      []text.Number `json:"ci"`
	CIAlpha []float64     `json:"ci_alpha"`
	Limit   *float64      `json:"limit"` // in the unit of the estimate
	Warn    *float64      `json:"warn_limit"`
	PHolm   *float64      `json:"p_holm"`
	P       *float64      `json:"p"`
	Method  stats.Method  `json:"method"`
	// RunsNeeded is the number of runs a side that would probably settle it, 0 if unknown.
	RunsNeeded  int         `json:"runs_needed"`
	Smallest    text.Number `json:"smallest_detectable"`
	Base        text.Number `json:"base"`
	Head        text.Number `json:"head"`
	RunsBase    int         `json:"runs_base"`
	RunsHead    int         `json:"runs_head"`
	SamplesBase int64       `json:"samples_base"`
	SamplesHead int64       `json:"samples_head"`
	Capped      bool        `json:"capped"` // can warn, not fail

	// Range is CI, and Adjusted the p-value in its family.
	Range    text.Interval `json:"-"`
	Adjusted float64       `json:"-"`
	// FailText and WarnText are the limits as the file has them, "" if it has none.
	FailText, WarnText string `json:"-"`
	// Relative is set if the estimate is a ratio, Predicted if it was not measured.
	Relative, Predicted bool `json:"-"`
}

// A Claim is one limit of a budget.
type Claim struct {
	Verdict verdict.Verdict `json:"verdict"`
	Reason  string          `json:"reason"`
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
	Name  string        `json:"name"`
	DSO   string        `json:"dso"`
	Event string        `json:"event"`
	Ratio text.Number   `json:"ratio"`
	CI    text.Interval `json:"ci"`
	Q     float64       `json:"q"`
}

// Design says how the sides were recorded and compared.
type Design struct {
	verdict.Turns
	RunsBase      int       `json:"runs_base"`
	RunsHead      int       `json:"runs_head"`
	Devices       bool      `json:"devices,omitempty"` // these are devices of a fleet and not runs
	Normalization string    `json:"normalization"`
	Warnings      []string  `json:"warnings"`
	Base          diff.Side `json:"base"`
	Head          diff.Side `json:"head"`
}

// Count is the number of budgets with a verdict.
func (d *Document) Count(v verdict.Verdict) (n int) {
	for i := range d.Budgets {
		if d.Budgets[i].Verdict == v {
			n++
		}
	}
	return n
}
