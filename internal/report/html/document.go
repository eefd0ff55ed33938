// Package html writes results as one HTML file that needs no network: a first screen
// that reads without scripts and style sheets and prints on one page, and behind it
// tables, flame graphs and listings.
//
// A [Document] has sections, any of which may be absent. [FromComparison] and
// [FromBranches] make documents, [Write] writes them. All text of a document is taken to
// be hostile: names come from recordings. A page is a function of its blocks, which are
// data: [Read] reads a page, so that it can be written again.
package html

import "profdiff/internal/listing"

// A Document is a report. Sections that are nil or empty are left out.
type Document struct {
	// Title says what the report is of.
	Title string
	// Base and Head name the sides. Head is "" if there is one only.
	Base, Head string
	// Tool is the program that writes the report, with its version.
	Tool string
	// Verdict is the answer in one sentence.
	Verdict Verdict
	// Also are the answers of further sections, by their names.
	Also []Fact
	// Warnings say why numbers deserve less trust.
	Warnings []string
	Budgets  []Budget
	Cards    []Card
	// Events are those compared, the one to look at first in front.
	Events []Event
	// Listings are the machine code of functions on both sides.
	Listings []listing.Listing
	Branches *Branches
	Pipeline *Pipeline
	// Runs are the recordings of base, then those of head.
	Runs []Run
	// Facts are what else there is to know of how the report was made.
	Facts []Fact
}

// An Outcome is how a verdict is marked, beside its words.
type Outcome string

// The outcomes, those of budgets first.
const (
	Pass         Outcome = "pass"
	Warn         Outcome = "warn"
	Fail         Outcome = "fail"
	Improved     Outcome = "improved"
	Regressed    Outcome = "regressed"
	Unchanged    Outcome = "unchanged"
	Inconclusive Outcome = "inconclusive"
	// Info is for results that are no comparison.
	Info Outcome = "info"
)

// mark is what an outcome looks like without color.
func (o Outcome) mark() string {
	switch o {
	case Pass:
		return "✓"
	case Fail:
		return "✗"
	case Warn:
		return "!"
	case Improved:
		return "▼"
	case Regressed:
		return "▲"
	case Unchanged:
		return "="
	case Inconclusive:
		return "?"
	}
	return ""
}

// word names an outcome in the verdict.
func (o Outcome) word() string {
	switch o {
	case Pass:
		return "Pass"
	case Fail:
		return "Fail"
	case Warn:
		return "Warning"
	case Improved:
		return "Improved"
	case Regressed:
		return "Regressed"
	case Unchanged:
		return "Unchanged"
	case Inconclusive:
		return "Not decidable"
	}
	return ""
}

// A Verdict is the answer of a report.
type Verdict struct {
	Outcome Outcome
	// Sentence has the metric, its change, the interval and the budget.
	Sentence string
	// Ground are further sentences: on what the verdict rests.
	Ground []string
}

// A Budget is a limit and what was measured.
type Budget struct {
	Name     string  `json:"name"`
	Limit    string  `json:"limit"`
	Measured string  `json:"measured"`
	Interval string  `json:"interval"`
	Outcome  Outcome `json:"outcome"`
	// Reason is further text, such as how many runs would decide.
	Reason string `json:"reason"`
}

// A Card is a number of the first screen.
type Card struct {
	Name string `json:"name"`
	// Base and Head are values with their units. Head is "" if there is one value.
	Base    string  `json:"base"`
	Head    string  `json:"head"`
	Change  string  `json:"change"` // "−17.7 % [−18.6, −16.9]"
	Outcome Outcome `json:"outcome"`
	Note    string  `json:"note"` // what the value is of, or why it has no interval
}

// A Change is a cost on both sides.
type Change struct {
	Base, Head               float64 // means over runs
	BaseSamples, HeadSamples int64   // sums over runs
	// Ratio is head over base, with its 95 % interval. Hi is +Inf if it has no upper
	// end. Lo 0 and Hi +Inf say that nothing is known.
	Ratio, Lo, Hi float64
	// Tested is set if the change was part of a family of tests: Verdict and Adjusted,
	// a p-value, are set then.
	Tested   bool
	Verdict  Outcome
	Adjusted float64
	// RunsNeeded would probably settle an inconclusive change, 0 if unknown.
	RunsNeeded int
	// BaseRuns and HeadRuns are the values of each run, nil if they are not known.
	BaseRuns, HeadRuns []float64
}

// decided reports whether a change was shown.
func (c *Change) decided() bool {
	return c.Tested && (c.Verdict == Improved || c.Verdict == Regressed)
}

// An Event is what was compared of one event.
type Event struct {
	Name, Unit string
	// Per is what costs are per: "operation", "run", or "" for shares.
	Per string
	// Share is set if costs are parts of the total, from 0 to 1.
	Share bool
	Total Change
	// How are lines on normalization and tests, and Withheld says why there are no
	// verdicts.
	How      []string
	Withheld string
	// Single is set if one run a side was recorded: nothing can be decided.
	Single    bool
	Functions []Function
	Shifts    []Shift
	Groups    []Group
	Lines     []Line
	Frames    Frames
	// OffCPU is set if the event is time in which threads did not run.
	OffCPU bool
}

// A Function is a function on both sides.
type Function struct {
	Name, DSO string
	// BaseName and BaseDSO are those of base, "" if the function is new.
	BaseName, BaseDSO string
	// Match is the rule by which both were found to be one, with a Confidence from 0
	// to 1 and a Reason.
	Match       string
	Confidence  float64
	Reason      string
	Self, Total Change
	// Shift is an index in Event.Shifts, or -1.
	Shift int
}

// A Shift is cost that moved between functions under one caller.
type Shift struct {
	Caller int   // index in Event.Functions
	Parts  []int // likewise
	Net    Change
}

// A Group is the cost by threads, categories, …
type Group struct {
	By   string // "thread", "category", "dso", "process"
	Rows []GroupRow
}

// A GroupRow is one thread, category, … on both sides.
type GroupRow struct {
	Name string
	Self Change
}

// A Line is a source line of a function: self cost.
type Line struct {
	Function int // index in Event.Functions
	File     string
	// BaseLine and HeadLine are 0 if the side has no samples there.
	BaseLine, HeadLine int64
	Self               Change
	// Text is the line in the source, "" if that was not asked for.
	Text string
}

// Frames are a call tree in preorder, callers before callees, by columns. The first is
// the root, which stands for everything.
type Frames struct {
	Level []int32
	// Function is an index in Event.Functions, -1 for the root; of a row that stands
	// for n frames that were left out it is -1-n.
	Function []int32
	// Base and Head are self costs.
	Base, Head []float64
	Flags      []FrameFlags
	// All is how many frames there were, Least the share of the total of a side that
	// each of those left out was below; 0 if none were.
	All   int
	Least float64
}

// FrameFlags say what is known of a frame.
type FrameFlags uint8

// The flags.
const (
	Grew     FrameFlags = 1 << iota // decided: the frame and what it calls cost more
	Shrank                          // decided: less
	OnlyHead                        // base does not have the path
	OnlyBase                        // head does not have the path
)

// A Run is a recording and what became of its samples.
type Run struct {
	Head                    bool // the side
	Name, Format, Tool      string
	Command                 string
	Machine, Kernel         string
	Start                   string // RFC 3339, "" if unknown
	At                      int64  // nanoseconds, for the order of runs; 0 if unknown
	DurationNS              int64
	In, Out, Filtered, Lost int64
	Dropped                 []Count
	UnknownShare            float64
	Truncated               int64
	Builds                  []string
	Digest                  string // SHA-256 of the input, "" if unknown
	Events                  []RunEvent
	Warnings                []string
}

// A RunEvent is the total of an event in a run.
type RunEvent struct {
	Name    string
	Samples int64
	Weight  float64
	Unit    string
	Lost    int64
}

// A Count is a number of things.
type Count struct {
	Name string
	N    int64
}

// A Fact is a line of what there is to know.
type Fact struct{ Name, Text string }
