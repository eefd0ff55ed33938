// Package html writes results as one HTML file that needs no network: a first screen
// that reads without scripts and style sheets and prints on one page, and behind it
// tables, flame graphs and listings.
//
// A [Document] has sections, any of which may be absent. [FromComparison] and
// [FromBranches] make documents, [Write] writes them. All text of a document is taken to
// be hostile: names come from recordings. A page is a function of its blocks, which are
// data: [Read] reads a page, so that it can be written again.
//
//  1. A document is made of the documents of other outputs.
//  2. It is encoded as blocks: JSON, long lists by columns, compressed.
//  3. The first screen is drawn here, from the blocks alone.
//  4. The script in dist draws all else in the browser. A Content Security Policy names it by
//     its hash, and allows nothing else (https://www.w3.org/TR/CSP3).
package html

import (
	"slices"

	"profdiff/internal/listing"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/story"
	"profdiff/internal/verdict"
)

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
	// Metrics are measured values that were compared, and Remarks what is said of them.
	Metrics []Metric
	Remarks []string
	// Waiting is who waited for whom.
	Waiting *Waiting
	// Events were compared; the one to look at first is in front.
	Events []Event
	// Listings are the machine code of functions on both sides.
	Listings []listing.Listing
	// Sources are the text of functions on both sides.
	Sources  *diff.Sources
	Branches *Branches
	Pipeline *Pipeline
	// Runs are the recordings of base, then of head.
	Runs []Run
	// Facts are what else there is to know of how the report was made.
	Facts []Fact

	// options say what text may tell, and files are inputs, by which it may call them.
	options Options
	files   []string
}

// Info is the outcome of results that are no comparison.
const Info verdict.Verdict = "info"

// A Verdict is the answer of a report.
type Verdict struct {
	Outcome verdict.Verdict
	// Word is the outcome as people read it, "" for that which the outcome is called.
	Word string
	// Sentence has the metric, its change, the interval and the budget, without a point.
	Sentence string
	About    story.About // the sentence
	// More of the story, after the sentence.
	More []story.Sentence
	// Ground are further sentences: on what the verdict rests.
	Ground []string
}

// A Budget is a limit and what was measured.
type Budget struct {
	Name     string          `json:"name"`
	Limit    string          `json:"limit"`
	Measured string          `json:"measured"`
	Interval string          `json:"interval"`
	Outcome  verdict.Verdict `json:"outcome"`
	// Reason is further text, such as how many runs would decide.
	Reason string `json:"reason"`
}

// A Card is a number of the first screen.
type Card struct {
	Name string `json:"name"`
	// Base and Head are values with their units. Head is "" if there is one value.
	Base    string          `json:"base"`
	Head    string          `json:"head"`
	Change  string          `json:"change"` // "−17.7 % [−18.6, −16.9]"
	Outcome verdict.Verdict `json:"outcome"`
	Note    string          `json:"note"` // what the value is of, or why it has no interval
}

// decided reports whether a change was shown.
func decided(c *diff.Change) bool { return c.Tested && c.Verdict.Changed() }

// outcome is the verdict of a change, "" if it was not tested.
func outcome(c *diff.Change) verdict.Verdict {
	if !c.Tested {
		return ""
	}
	return c.Verdict
}

// An Event is what was compared of one event.
type Event struct {
	*diff.Event
	// Per is what costs are per: "operation" or "run".
	Per string
	// Share is set if costs are parts of the total, from 0 to 1.
	Share bool
	// How are lines on normalization and tests.
	How []string
	// Single is set if one run a side was recorded: nothing can be decided.
	Single bool
	// OffCPU is set if the event is time in which threads did not run.
	OffCPU bool
	// Frames are all frames of the event, or the heaviest of them.
	Frames diff.Frames
}

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

// main is the event that the page is about: the first of which the story tells that has something
// decided, or else any that has, or else that of the headline.
func (d *Document) main() int {
	for _, about := range d.Verdict.abouts() {
		if i := slices.IndexFunc(d.Events, func(e Event) bool { return e.Name == about.Event && e.Waterfall != nil }); i >= 0 {
			return i
		}
	}
	if i := slices.IndexFunc(d.Events, func(e Event) bool { return e.Waterfall != nil }); i >= 0 {
		return i
	}
	return max(0, slices.IndexFunc(d.Events, func(e Event) bool { return e.Name == d.Verdict.About.Event }))
}

// abouts are what the sentences lead to.
func (v *Verdict) abouts() []story.About {
	list := []story.About{v.About}
	for i := range v.More {
		list = append(list, v.More[i].About)
	}
	return list
}
