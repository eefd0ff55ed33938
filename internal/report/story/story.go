// Package story says in one to three sentences what a comparison shows: the answer to what the
// recordings are about, not to the event that stands first.
//
//  1. What may be told are changes: totals of events, their parts (functions, categories, threads,
//     cost shifts), waits of threads for others, and metrics. Each has a verdict, which comes from
//     package verdict; nothing is decided here.
//  2. Decided is what is faster, slower, less, more, better, worse, gone or new. A part is told
//     only if it changed the total by half a per cent or more, and if it has samples enough: tiny
//     counts are no news.
//  3. The headline is the first of these that is decided: the total of the event that is meant by
//     cost, or the wait of a thread for another, whichever is larger in time; another total of
//     time; a metric; a part of a time; the total of an amount, a part of that. A wait of a main
//     thread comes before others: that is what people wait for. Where nothing tells of CPU time, as
//     in traces, a wait that makes up most of all of them comes before their sum.
//  4. What the user named is told before all else. A total beats its parts, and parts explain it: those that go the same way, largest first,
//     until they make up most of it. Functions that explain a change with what they call come
//     before what functions cost themselves.
//  5. Where only parts are decided, the largest gives the word, unless what goes the other way is
//     half as large or more: then the total cannot be told.
//  6. What contradicts the headline is said: the largest part that goes the other way, another
//     total that does.
//  7. Where a wait or an amount leads, the next sentence says what CPU time does, though that be
//     nothing.
//  8. If nothing is decided, but the total is: the same. If neither: it cannot be told yet, by how
//     much sides differ, where most, and what would decide. A reason why verdicts are withheld is
//     said once.
//  9. One run a side gives leads, in words, and never a verdict: of what several events tell, the
//     strongest. What a simulator counted is exact and has verdicts without intervals.
//  10. A ratio beyond a hundred is told by both numbers: "from 6 to 298.5 k".
package story

import (
	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// A Story is what happened.
type Story struct {
	// Outcome is the headline's, Word as people read it.
	Outcome   verdict.Verdict `json:"outcome"`
	Word      string          `json:"word"`
	Sentences []Sentence      `json:"sentences"`
}

// Texts are the sentences.
func (s *Story) Texts() (list []string) {
	for _, x := range s.Sentences {
		list = append(list, x.Text)
	}
	return list
}

// A Sentence is one, without a newline, with what it is about.
type Sentence struct {
	Text  string `json:"text"`
	About About  `json:"about"`
}

// About is what a sentence leads a reader to. Event, Name and DSO are as the recordings have
// them, "" where they are of no use.
type About struct {
	Kind  Kind   `json:"kind"`
	Event string `json:"event,omitempty"`
	Name  string `json:"name,omitempty"`
	DSO   string `json:"dso,omitempty"`
}

// A Kind says what is told.
type Kind string

// The kinds.
const (
	Total    Kind = "total" // of an event
	Function Kind = "function"
	Category Kind = "category"
	Thread   Kind = "thread"
	Wait     Kind = "wait" // of a thread for another
	Branch   Kind = "branch"
	Metric   Kind = "metric"
	Shift    Kind = "shift"   // cost that moved between functions
	Uniform  Kind = "uniform" // all functions changed by one factor
	Limit    Kind = "limit"   // of a budget
)

// A Change is what may be told.
type Change struct {
	About
	Measure verdict.Measure
	// Unit is that of Base and Head as in [text.Weight], Share is set if they are parts of a
	// whole, from 0 to 1, instead.
	Unit       string
	Share      bool
	Base, Head float64
	// Ratio and CI are head over base; Ratio is 0 for what is gone, infinite for what is new.
	Ratio   float64
	CI      text.Interval
	Verdict verdict.Verdict
	// Single is set if there is one run a side, Exact if a simulator counted, Capped if the
	// verdict is enough to warn and not to prove.
	Single, Exact, Capped bool
	verdict.Strength      // of a lead
	WithinNoise           bool
	// RunsNeeded is how many a side would probably decide, 0 if unknown.
	RunsNeeded int
	// Devices is set if these are devices and not runs.
	Devices bool
	// Samples are those of both sides, -1 if it was counted otherwise.
	Samples int64
	// Label is how it is called in a sentence.
	Label string
	// Inclusive is set for functions with what they call.
	Inclusive bool
	// Was says what became of a function: "hash_v1 is called hash_v2 now"; "" of most.
	Was string
	// From and To are what cost moved between, and Moved how much.
	From, To []string
	Moved    float64
	// Values is set for measured values, whose unit is as in [text.Amount]; Mean for their mean.
	Values, Mean bool
	// Plain is set for categories that say only what kind of code it is.
	Plain bool
	// Asked is set if the user named it.
	Asked bool
}

// An Event is one event of the recordings.
type Event struct {
	// Label is the event in words: CPU time, branch misses. Per says of what costs are: "per run",
	// "per operation". Of says what an operation is, or "".
	Label, Per, Of string
	// PartsAre what Parts are called, "" for functions.
	PartsAre string
	// Plural is set if the label is: cycles differ, CPU time differs.
	Plural bool
	// Time is set if it is one, CPU if it is the cost that users mean: CPU time, cycles; Waiting if
	// it is time off the CPU.
	Time, CPU, Waiting bool
	Total              Change
	// Withheld says why there are no verdicts, NoTotal why there is none on the total, or "", and
	// Advice what would give one.
	Withheld, NoTotal, Advice string
	// Uniform says that all functions changed by one factor, or "".
	Uniform string
	// Parts are functions by themselves, categories and threads; Explained are functions that
	// explain the change with what they call.
	Parts, Explained []Change
}

// A Waiting is a wait of one thread for others.
type Waiting struct {
	Change          // of the time that was waited
	Thread string   // that waits
	Main   bool     // it is the main one of its process
	For    []string // threads: the first waits for the second, which waits for the third
	Why    string   // for what, "" if unknown
	Event  int      // index in Facts.Events
	// Ended is set if head has none of it, Began if base has none.
	Ended, Began bool
}

// Facts are what a story is made of.
type Facts struct {
	// Events are in order, the one that is meant by cost first.
	Events  []Event
	Waits   []Waiting
	Metrics []Change
	Margin  float64
	// Untested says why nothing could be tested at all, and what would allow it; "" if something was.
	Untested string
	// HowToDecide says what would, if there is one run a side: "10 runs a side would probably decide".
	HowToDecide string
}
