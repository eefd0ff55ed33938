// Package diff is a comparison as it is written: one document, made once by [New], and what
// draws it as text, JSON, CSV, Markdown, folded stacks and pprof.
//
//  1. New takes from a comparison what all outputs show.
//  2. What only some of them show, as call trees, lines and stacks, are parts: New computes
//     those that it is asked for.
//  3. Writers read nothing but the document, and compute nothing but what fits.
//
// The JSON form is documented by diff.schema.json.
package diff

import (
	"fmt"

	"profdiff/internal/align"
	"profdiff/internal/compare"
	"profdiff/internal/listing"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/source"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// Schema is the first field of what diff prints as JSON.
const Schema = "profdiff.diff/v1"

// A Document is what diff says, and as JSON what it prints. What has no name in JSON is for
// other outputs.
type Document struct {
	Schema string `json:"schema"`
	Base   Side   `json:"base"`
	Head   Side   `json:"head"`
	// Story is what happened, in one to three sentences.
	Story      *story.Story `json:"story"`
	Design     Design       `json:"design"`
	Events     []Event      `json:"events"`
	Functions  []Function   `json:"functions"`
	Shifts     []Shift      `json:"shifts"`
	Explained  []Row        `json:"explained"` // functions whose change with what they call says what happened
	Categories []Row        `json:"categories"`
	Threads    []Row        `json:"threads"`
	DSOs       []Row        `json:"dsos"`
	Metrics    []Metrics    `json:"metrics"`
	// Leads are there if there is one run a side.
	Leads *Leads `json:"leads"`
	// Waits say who waited for whom, absent if no recording tells.
	Waits *Waits `json:"waits,omitempty"`

	// Rates are of everything: instructions per cycle, and branch misses per 1,000
	// instructions, as far as events tell.
	Rates []Rate `json:"-"`
	// Until is the command line that records until the total is decided, with all arguments, for who
	// recorded it; "" with one run a side.
	Until string `json:"-"`
	// Stacks are a part.
	Stacks *Stacks `json:"-"`
	// Listings are the code of the functions that cost most, a part.
	Listings []listing.Listing `json:"-"`
	// Sources are the text of these and others, a part.
	Sources *Sources `json:"-"`
}

// Stacks are the call stacks of both sides.
type Stacks = compare.Stacks

// A Side is the recordings of one side.
type Side struct {
	// Commit is what was built and recorded, as git log --oneline names it, "" if unknown.
	Commit string `json:"commit,omitempty"`
	Runs   []Run  `json:"runs"`
}

// Name names a side by its commit and its recordings.
func (s *Side) Name() string {
	name := s.Runs[0].Path
	if len(s.Runs) > 1 {
		name = fmt.Sprintf("%d runs, %s … %s", len(s.Runs), s.Runs[0].Path, s.Runs[len(s.Runs)-1].Path)
	}
	if s.Commit == "" {
		return name
	}
	return text.Printable(s.Commit) + ": " + name
}

// A Run is one recording and what became of its samples.
type Run struct {
	Path       string `json:"path"`
	Format     string `json:"format"`
	RecordedAt string `json:"recorded_at"` // RFC 3339, "" if unknown
	DurationNS int64  `json:"duration_ns"`
	SamplesIn  int64  `json:"samples_in"`
	SamplesOut int64  `json:"samples_out"`
	Lost       int64  `json:"lost"`
	// Unwound is what became of stacks that were recorded as memory; absent if there are none.
	Unwound *run.Unwound `json:"unwound,omitempty"`
	// Warnings are what is wrong with it and what disturbed it; those of the design say the
	// same of all runs together.
	Warnings []string `json:"warnings"`

	Recording  run.Recording  `json:"-"`
	Accounting run.Accounting `json:"-"`
	Events     []run.Event    `json:"-"`
	// Builds are the binaries with most samples, and Digest is the SHA-256 of the input, ""
	// if unknown: a part.
	Builds []Build `json:"-"`
	Digest string  `json:"-"`
}

// A Build is a binary by its build ID.
type Build struct{ File, ID string }

// Design says how the comparison was made.
type Design struct {
	verdict.Turns
	// Stopped says how many pairs were recorded until it was decided, absent if it was a
	// number from the beginning.
	Stopped *Stopped `json:"stopped,omitempty"`
	// RunsBase and RunsHead are numbers of devices if Fleet is set.
	RunsBase int      `json:"runs_base"`
	RunsHead int      `json:"runs_head"`
	Fleet    *Fleet   `json:"fleet,omitempty"`
	Margin   float64  `json:"margin"` // relative change that does not matter
	Warnings []string `json:"warnings"`

	// FalseDiscovery is the share of false ones among the functions called changed, and
	// MinShare the share of the cost of both sides from which functions are tested.
	FalseDiscovery float64 `json:"-"`
	MinShare       float64 `json:"-"`
	// Focus is set if the user named functions.
	Focus bool `json:"-"`
	// Took says how long runs were, if that differs and is a result, else "".
	Took string `json:"-"`
}

// Stopped is what looks made of a recording that went on until something was decided.
type Stopped struct {
	Pairs int `json:"pairs"` // at the last look
	Cap   int `json:"cap"`   // that would have been recorded at most
}

// Normalization says what costs were divided by.
type Normalization struct {
	Mode   Mode          `json:"mode"`
	By     string        `json:"by"`
	Factor text.Number   `json:"factor"` // head's divisors over base's
	CI     text.Interval `json:"ci"`
	// Assumes says what has to be true for costs to be comparable, "" if work was counted.
	Assumes string `json:"assumes"`
	// Window says why the recordings are windows of time, "" if they are not.
	Window string `json:"window"`
	// Per is what costs of a fleet are per: profile, unit of work or second; "" of recordings.
	Per string `json:"per,omitempty"`
}

// Uniform says that all functions changed by one factor.
type Uniform struct {
	Functions int           `json:"functions"` // that have samples enough
	Factor    text.Number   `json:"factor"`    // head over base
	CI        text.Interval `json:"ci"`
	Spread    text.Number   `json:"spread"` // at most, standard deviation of the logarithm between functions
}

// Sentence says so in one.
func (u *Uniform) Sentence() string {
	return fmt.Sprintf("all %d functions cost ×%s %s and differ by at most %s (sd): the machine, the compiler, or the whole program",
		u.Functions, text.Ratio(float64(u.Factor)), u.CI.String(), text.RoughPercent(float64(u.Spread)))
}

// A Mode says what costs are divided by.
type Mode = compare.Mode

// The modes.
const (
	PerWork      = compare.Work      // by the work that each run did
	PerReference = compare.Reference // by what should not have changed
	OfTotal      = compare.Total     // by everything: costs are shares of it
	AsRecorded   = compare.None
)

// Total, Net and Self are changes that are embedded: in JSON their fields stand beside the
// other fields of an event, a shift or a row.
type (
	Total = Change
	Net   = Change
	Self  = Change
)

// An Event is the total of an event on both sides, and what belongs to it.
type Event struct {
	Name          string        `json:"event"`
	Unit          string        `json:"unit"`
	Normalization Normalization `json:"normalization"`
	Raw           Change        `json:"raw"`      // not normalized
	Withheld      string        `json:"withheld"` // why there are no verdicts, or ""
	NoTotal       string        `json:"no_total"` // why there is none on the total, or ""
	Uniform       *Uniform      `json:"uniform"`  // null if functions changed each by their own factor, or not
	Total

	// Functions and Shifts are the parts of Document.Functions and Document.Shifts that are
	// in this event.
	Functions []Function `json:"-"`
	Shifts    []Shift    `json:"-"`
	Groups    []Group    `json:"-"`
	// Explained are indices in Functions: few that explain the change with what they call.
	Explained []int `json:"-"`
	// Bursts is set if samples of a function come in bursts.
	Bursts bool `json:"-"`
	// Waterfall is nil if no change is decided.
	Waterfall *Waterfall `json:"-"`
	// What follows are parts.
	Lines     []Line         `json:"-"` // by absolute change
	HotLines  []Line         `json:"-"` // the heaviest of each function
	Times     *Times         `json:"-"` // nil if the inputs do not tell
	Tree      *Tree          `json:"-"`
	Frames    Frames         `json:"-"`
	Neighbors []Neighborhood `json:"-"`
}

// Shares reports whether costs are parts of the total, from 0 to 1.
func (e *Event) Shares() bool { return e.Normalization.Mode == OfTotal }

// Single reports whether there is one run a side, whose intervals know sampling noise only.
func (e *Event) Single() bool { return e.Total.Method.Single() }

// Measure is what the event measures: time, or an amount.
func (e *Event) Measure() verdict.Measure { return Measure(e.Name, e.Unit, e.Shares()) }

// Measure is what an event measures, by its name, its unit and whether its costs are shares.
func Measure(event, unit string, shares bool) verdict.Measure {
	return compare.Measure(event, unit, shares)
}

// A Function is a function in one event.
type Function struct {
	Name       string  `json:"name"`
	BaseName   string  `json:"base_name"` // "" if the function is new
	DSO        string  `json:"dso"`
	BaseDSO    string  `json:"base_dso"`
	Match      string  `json:"match"`
	Confidence float64 `json:"confidence"`
	Reason     string  `json:"reason"`
	Parts      []Part  `json:"parts"` // what became one function, or what one became
	Event      string  `json:"event"`
	InShift    *int    `json:"shift"` // index in shifts, or null
	// Why is what is known beside, what explains most first.
	Why   []Reason `json:"why,omitempty"`
	Self  Change   `json:"self"`
	Total Change   `json:"total"`

	// Shift is an index in Event.Shifts, or -1.
	Shift int `json:"-"`
	// Focus is set if the user named the function.
	Focus bool `json:"-"`
	// Calls are how often the function was called before and after, in the unit of costs; 0 if that was
	// not counted.
	Calls [2]float64 `json:"-"`
	// Elsewhere is set if the function is a lead that is stronger in another event, and told there.
	Elsewhere bool `json:"-"`
}

// A Part is a function that one of the other side was split into, or was merged from: means
// over runs, samples summed. The verdict is on all parts together.
type Part struct {
	Side         string  `json:"side"` // base or head
	Name         string  `json:"name"`
	DSO          string  `json:"dso"`
	Self         float64 `json:"self"`
	Total        float64 `json:"total"`
	SelfSamples  int64   `json:"self_samples"`
	TotalSamples int64   `json:"total_samples"`
}

// The sides of a part.
const (
	baseSide = "base"
	headSide = "head"
)

// Cost is what the part costs itself, or with what it calls, on both sides: it is of one.
func (p *Part) Cost(total bool) (base, head float64, samples int64) {
	cost, samples := p.Self, p.SelfSamples
	if total {
		cost, samples = p.Total, p.TotalSamples
	}
	if p.Side == baseSide {
		return cost, 0, samples
	}
	return 0, cost, samples
}

// Sides are the names of the function on both sides, several where it has parts there.
func (f *Function) Sides() (base, head []string) {
	for i := range f.Parts {
		if p := &f.Parts[i]; p.Side == baseSide {
			base = append(base, p.Name)
		} else {
			head = append(head, p.Name)
		}
	}
	if len(base) == 0 && f.BaseName != "" {
		base = []string{f.BaseName}
	}
	if len(head) == 0 {
		head = []string{f.Name}
	}
	return base, head
}

// A Shift is cost that moved between functions under one caller.
type Shift struct {
	Event      string   `json:"event"`
	CallerName string   `json:"caller"`
	PartNames  []string `json:"parts"`
	Net
	Caller int   `json:"-"` // index in Event.Functions
	Parts  []int `json:"-"` // likewise
}

// A Row is a category, thread or file in one event, self weight, or a function with what it
// calls.
type Row struct {
	Name     string `json:"name"`
	BaseName string `json:"base_name"` // "" if it is new
	Event    string `json:"event"`
	Self
}

// Label names both sides of what base calls otherwise.
func (r *Row) Label() string { return bothNames(r.BaseName, r.Name) }

func bothNames(base, head string) string {
	if base == "" || head == "" || base == head {
		return head
	}
	return base + " → " + head
}

// File is the file that has the function, of both sides if it is called otherwise in base.
// What moved from another file is no such function.
func (f *Function) File() string {
	if f.Match == string(align.Moved) && f.Confidence < 1 {
		return f.DSO
	}
	return bothNames(f.BaseDSO, f.DSO)
}

// A Group is the cost by threads, files, …
type Group struct {
	By   run.GroupBy
	Rows []Row
}

// Metrics are several events of one function side by side; the first is for everything
// and has no name.
type Metrics struct {
	Name             string      `json:"name"`
	DSO              string      `json:"dso"`
	DeltaCycles      text.Number `json:"delta_cycles"`
	FromInstructions text.Number `json:"delta_cycles_from_instructions"`
	FromIPC          text.Number `json:"delta_cycles_from_ipc"`
	IPCBase          text.Number `json:"ipc_base"`
	IPCHead          text.Number `json:"ipc_head"`
	MPKIBase         text.Number `json:"mpki_base"`
	MPKIHead         text.Number `json:"mpki_head"`

	// Changes are by event, nil for events without samples of the function.
	Changes []*Change `json:"-"`
	Focus   bool      `json:"-"`
	// Rates is set if there are cycles and instructions.
	Rates bool `json:"-"`
}

// A Rate is one event per another on both sides.
type Rate struct {
	Kind RateKind
	// Change has no samples. It is tested between runs if there are several on each side.
	Change
}

// A RateKind says what a rate is of.
type RateKind uint8

// The rates.
const (
	IPC  RateKind = iota // instructions per cycle
	MPKI                 // branch misses per 1,000 instructions
)

// A Line is a source line of a function: self cost.
type Line struct {
	Function int // index in Event.Functions
	// File is the base name of the source file. BaseLine and HeadLine are 0 if the side
	// has no samples there, or the line is not known.
	File               string
	BaseLine, HeadLine int64
	Self               Change
	// Text is the line in the source of head, or of base if head does not have it, "" if that
	// was not asked for.
	Text source.Text
	// BaseAt and HeadAt are where the function is.
	BaseAt, HeadAt compare.Source
}

// Name is file:line of head, with base's line where it is another.
func (l *Line) Name() string {
	switch {
	case l.HeadLine == 0 && l.BaseLine == 0:
		return "[no line]"
	case l.HeadLine == 0:
		return fmt.Sprintf("%s:%d", l.File, l.BaseLine)
	case l.BaseLine == 0 || l.BaseLine == l.HeadLine:
		return fmt.Sprintf("%s:%d", l.File, l.HeadLine)
	}
	return fmt.Sprintf("%s:%d (was %d)", l.File, l.HeadLine, l.BaseLine)
}

// A Tree is the paths of a call tree that cost enough to be shown.
type Tree struct {
	Nodes []TreeNode // in preorder, the root first
	// Hidden is the number of subtrees that were left out, all below MinShare.
	Hidden   int
	MinShare float64
}

// A TreeNode is a function along one path, with what is below it.
type TreeNode struct {
	Depth      int
	Function   int // index in Event.Functions, -1 for the root
	Base, Head float64
	Ratio      text.Number
	CI         text.Interval
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
	// Thread is the thread that has more than half of a frame, an index in Threads, -1 if none has. There
	// is none if there is one thread, or a pool of them.
	Thread  []int32
	Threads []string
	// All is how many frames there were, Least the share of the total of a side that
	// each of those left out was below; 0 if none were.
	All   int
	Least float64
}

// Times say when costs were spent.
type Times struct {
	*compare.Times
	// Frames are by frame of Stacks an index in Event.Frames.
	Frames []int32
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

// A Neighborhood is a function with its direct callers and callees.
type Neighborhood struct {
	Function         int // index in Event.Functions
	Callers, Callees []Neighbor
}

// A Neighbor is a caller or a callee: what is spent in and below their direct calls.
type Neighbor struct {
	// Function is an index in Event.Functions; -1 as a caller means that the function is
	// outermost.
	Function int
	Calls    Change
}

// A Change is a normalized cost on both sides: means over runs, samples summed.
type Change struct {
	Base  float64 `json:"base"`
	Head  float64 `json:"head"`
	Delta float64 `json:"delta"`
	// Ratio is head over base as the test estimates it, null where it is not finite;
	// an absent bound of the interval is null.
	Ratio text.Number   `json:"ratio"`
	CI    text.Interval `json:"ci"`
	// Repeated is the interval at the level of the last look, where looks that were planned
	// gave the verdict.
	Repeated *text.Interval  `json:"repeated,omitempty"`
	Method   stats.Method    `json:"method"`
	P        float64         `json:"p"`
	Q        text.Number     `json:"q"`      // in a family of what was found
	PHolm    text.Number     `json:"p_holm"` // in a family of what was declared
	Verdict  verdict.Verdict `json:"verdict"`
	Capped   bool            `json:"capped"` // enough to warn, not to prove
	// Lead is less or more where one run a side shows a change beyond sampling noise, and
	// Distance how far beyond, in standard deviations, null where there are more runs.
	Lead        verdict.Lead `json:"lead"`
	Distance    text.Number  `json:"distance"`
	RunsNeeded  int          `json:"runs_needed"`
	Smallest    text.Number  `json:"smallest_detectable"`
	WithinNoise bool         `json:"within_noise"`
	BaseSamples int64        `json:"base_samples"`
	HeadSamples int64        `json:"head_samples"`
	BaseNEff    float64      `json:"base_n_eff"`
	HeadNEff    float64      `json:"head_n_eff"`
	// BaseDevices and HeadDevices are how many devices of a fleet have any of it.
	BaseDevices int64 `json:"base_devices,omitempty"`
	HeadDevices int64 `json:"head_devices,omitempty"`
	// Untested says why a function of a fleet was not tested.
	Untested string `json:"untested,omitempty"`

	// Tested is set if the change is part of a family of tests, and Adjusted is its p-value
	// there.
	Tested   bool    `json:"-"`
	Adjusted float64 `json:"-"`
	// Withheld is set if the verdict was taken back.
	Withheld bool `json:"-"`
	// Few is set if one run a side has few samples of it.
	Few bool `json:"-"`
	// BaseRuns and HeadRuns are the costs of each run, a part.
	BaseRuns []float64 `json:"-"`
	HeadRuns []float64 `json:"-"`
}

// Text is the verdict for a table, see [verdict.Finding.Text].
func (c *Change) Text(of verdict.Measure) string {
	f := verdict.Finding{
		Method: c.Method, CI: stats.Interval(c.CI), Tested: c.Tested, Verdict: c.Verdict, RunsNeeded: c.RunsNeeded,
		Adjusted: c.Adjusted, Declared: c.PHolm.Known(), Withheld: c.Withheld, Repeated: (*stats.Interval)(c.Repeated),
		Lead: c.Lead, Distance: float64(c.Distance),
	}
	return f.Text(of)
}
