package html

import (
	"math"

	"profdiff/internal/report/diff"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// Schema names the form of the block called meta.
const Schema = "profdiff.report/v1"

// A meta is what the first screen is made from, what the script needs to know at once,
// and what other programs may look at.
type meta struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	// Tool made the data, and DrawnBy the page, if that is another.
	Tool     string      `json:"tool"`
	DrawnBy  string      `json:"drawn_by,omitempty"`
	Title    string      `json:"title"`
	Base     string      `json:"base"`
	Head     string      `json:"head"`
	Verdict  metaVerdict `json:"verdict"`
	Also     []metaFact  `json:"also"`
	Warnings []string    `json:"warnings"`
	Budgets  []Budget    `json:"budgets"`
	// Cards is nil in pages of versions that did not keep those and budgets.
	Cards []Card `json:"cards"`
	// Metrics and Remarks are absent if none were compared.
	Metrics []Metric `json:"metrics,omitempty"`
	Remarks []string `json:"remarks,omitempty"`
	// Waiting is absent if nothing waited, and in pages of versions that did not tell it.
	Waiting *Waiting `json:"waiting,omitempty"`
	// Main is the event that the page is about, an index in Events. Waterfall and Flame are of it;
	// they are absent if nothing of it was decided, and in pages of versions that did not draw them.
	Main      int            `json:"main,omitempty"`
	Waterfall *metaWaterfall `json:"waterfall,omitempty"`
	Flame     *metaFlame     `json:"flame,omitempty"`
	Events    []metaEvent    `json:"events"`
	Blocks    []string       `json:"blocks"`
}

type metaVerdict struct {
	Outcome  verdict.Verdict `json:"outcome"`
	Sentence string          `json:"sentence"`
	Ground   []string        `json:"ground"`
	// Word, About and More are absent in pages of versions that did not tell a story.
	Word  string           `json:"word,omitempty"`
	About *story.About     `json:"about,omitempty"`
	More  []story.Sentence `json:"more,omitempty"`
}

type metaFact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type metaEvent struct {
	Name      string     `json:"name"`
	Unit      string     `json:"unit"`
	Per       string     `json:"per"`
	Share     bool       `json:"share"`
	Single    bool       `json:"single"`
	Devices   bool       `json:"devices,omitempty"` // what is repeated are devices and not runs
	OffCPU    bool       `json:"off_cpu"`
	Amount    bool       `json:"amount,omitempty"` // is counted and no time: less of it is not faster
	Withheld  string     `json:"withheld"`
	How       []string   `json:"how"`
	Total     jsonChange `json:"total"`
	Functions int        `json:"functions"`
	Tested    int        `json:"tested"` // functions
	Frames    int        `json:"frames"`
	AllFrames int        `json:"all_frames"` // before pruning
	Least     float64    `json:"least"`
	// By is what Grew and Shrank are of, "" for functions. They are the first of so many in all.
	By        string      `json:"by,omitempty"`
	Grew      []metaMover `json:"grew"`
	GrewInAll int         `json:"grew_in_all"`
	// LessFirst is set if the strongest lead is of what shrank.
	LessFirst   bool        `json:"less_first,omitempty"`
	Shrank      []metaMover `json:"shrank"`
	ShrankInAll int         `json:"shrank_in_all"`
}

type metaMover struct {
	Name string `json:"name"`
	DSO  string `json:"dso"`
	Note string `json:"note,omitempty"`
	// Function is whose card says more, Name if it is "".
	Function string `json:"function,omitempty"`
	// Why is what is known beside.
	Why []metaReason `json:"why,omitempty"`
	jsonChange
}

// A jsonChange is a Change. Ratio and ends of its interval are null where they are not
// finite.
type jsonChange struct {
	Base       float64         `json:"base"`
	Head       float64         `json:"head"`
	NBase      int64           `json:"base_samples"`
	NHead      int64           `json:"head_samples"`
	Ratio      *float64        `json:"ratio"`
	Lo         *float64        `json:"lo"`
	Hi         *float64        `json:"hi"`
	Verdict    verdict.Verdict `json:"verdict"` // "" if it was not tested
	Adjusted   float64         `json:"adjusted_p"`
	RunsNeeded int             `json:"runs_needed"`
	BaseRuns   []float64       `json:"base_runs,omitempty"`
	HeadRuns   []float64       `json:"head_runs,omitempty"`
}

func amount(event, unit string, shares bool) bool {
	return diff.Measure(event, unit, shares) == verdict.Amount
}

func toJSON(c *diff.Change) jsonChange {
	j := jsonChange{
		Base: round(c.Base, maxDigits), Head: round(c.Head, maxDigits), NBase: c.BaseSamples, NHead: c.HeadSamples,
		Ratio: finite(float64(c.Ratio)), Lo: finite(c.CI.Lo), Hi: finite(c.CI.Hi), RunsNeeded: c.RunsNeeded,
		BaseRuns: rounded(c.BaseRuns), HeadRuns: rounded(c.HeadRuns),
	}
	if c.Tested {
		j.Verdict, j.Adjusted = outcome(c), round(c.Adjusted, 4)
	}
	return j
}

// change is what toJSON was given, as far as the first screen shows it.
func (j *jsonChange) change() *diff.Change {
	number := func(v *float64, missing float64) float64 {
		if v == nil {
			return missing
		}
		return *v
	}
	c := &diff.Change{
		Base: j.Base, Head: j.Head, BaseSamples: j.NBase, HeadSamples: j.NHead,
		Ratio: text.Number(number(j.Ratio, math.NaN())), CI: text.Interval{Lo: number(j.Lo, 0), Hi: number(j.Hi, math.Inf(1))},
		Tested: j.Verdict != "", Verdict: verdict.Verdict(j.Verdict), Adjusted: j.Adjusted, RunsNeeded: j.RunsNeeded,
	}
	if j.Ratio == nil && (decided(c) || c.Base == 0 && c.Head > 0) {
		c.Ratio = text.Number(math.Inf(1)) // no number would decide nothing
	}
	return c
}

func metaOf(d *Document, blocks []block) *meta {
	m := &meta{
		Schema: Schema, Tool: d.Tool, Title: d.Title, Base: d.Base, Head: d.Head,
		Verdict: metaVerdict{d.Verdict.Outcome, d.Verdict.Sentence, list(d.Verdict.Ground), d.Verdict.Word, nil, d.Verdict.More},
		Also:    []metaFact{}, Warnings: list(d.Warnings), Budgets: list(d.Budgets), Cards: list(d.Cards),
		Metrics: d.Metrics, Remarks: d.Remarks, Waiting: d.Waiting, Events: []metaEvent{}, Blocks: []string{},
	}
	if about := d.Verdict.About; about.Kind != "" {
		m.Verdict.About = &about
	}
	for _, f := range d.Also {
		m.Also = append(m.Also, metaFact(f))
	}
	for i := range d.Events {
		m.Events = append(m.Events, metaEventOf(&d.Events[i]))
	}
	if len(d.Events) > 0 {
		m.Main = d.main()
		e := &d.Events[m.Main]
		m.Waterfall, m.Flame = waterfallOf(e), flameOf(e)
	}
	for _, b := range blocks {
		m.Blocks = append(m.Blocks, b.name)
	}
	// What is put together here may be longer than its parts.
	cleanAll(m, d.clean())
	return m
}

func metaEventOf(e *Event) metaEvent {
	m := metaEvent{
		Name: e.Name, Unit: e.Unit, Per: e.Per, Share: e.Share, Single: e.Single, Devices: e.Total.Method == stats.Clusters, OffCPU: e.OffCPU, Amount: amount(e.Name, e.Unit, e.Share), Withheld: e.Withheld, How: list(e.How),
		Total: toJSON(&e.Total), Functions: len(e.Functions), Frames: len(e.Frames.Level), AllFrames: e.Frames.All, Least: e.Frames.Least,
	}
	for i := range e.Functions {
		if e.Functions[i].Self.Tested {
			m.Tested++
		}
	}
	by, grew, shrank := e.movers()
	if by != run.ByFunction && len(grew)+len(shrank) > 0 {
		m.By = string(by)
	}
	first := func(all []mover) []metaMover {
		out := []metaMover{}
		all = e.heavy(all)
		for _, x := range all[:min(len(all), maxMovers)] {
			row := metaMover{Name: x.name, Note: x.note, jsonChange: toJSON(x.change)}
			if x.function >= 0 {
				f := &e.Functions[x.function]
				row.DSO, row.Why = f.DSO, reasonsOf(f)
				if f.Name != x.name {
					row.Function = f.Name
				}
			}
			row.BaseRuns, row.HeadRuns = nil, nil
			out = append(out, row)
		}
		return out
	}
	if e.Single && len(grew) > 0 && len(shrank) > 0 {
		m.LessFirst = shrank[0].change.Strength().Compare(grew[0].change.Strength()) < 0
	}
	m.Grew, m.GrewInAll = first(grew), len(grew)
	m.Shrank, m.ShrankInAll = first(shrank), len(shrank)
	return m
}

// event is what of an event its numbers are written by.
func (m *metaEvent) event() *Event {
	return &Event{
		Event: &diff.Event{Name: m.Name, Unit: m.Unit, Withheld: m.Withheld, Total: *m.Total.change()},
		Per:   m.Per, Share: m.Share, Single: m.Single, OffCPU: m.OffCPU,
	}
}

// list is never nil: JSON has an array for it.
func list[T any](s []T) []T { return append([]T{}, s...) }
