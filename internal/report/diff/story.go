package diff

import (
	"math"
	"slices"

	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/report/waits"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/wait"
)

// labels are events in the words of a sentence; others are called by their names.
var labels = map[string]string{
	"cpu-cycles": "cycles", "cpu-clock": "CPU time", "task-clock": "CPU time", "on-cpu": "CPU time", "off-cpu": "time off the CPU",
	"branch-misses": "branch misses", "cache-misses": "cache misses", "cache-references": "cache references", "context-switches": "context switches",
	"page-faults": "page faults", "cpu-migrations": "migrations", "duration_time": "time", "Ir": "instructions",
}

// singular are labels of which there is one.
var singular = map[string]bool{"CPU time": true, "time off the CPU": true, "time": true}

// isCost reports whether an event is what users mean by cost.
func isCost(event string) bool {
	name, _ := run.SplitEvent(run.CanonicalEvent(event))
	return slices.Contains([]string{"cpu-cycles", "cpu-clock", "task-clock", "on-cpu", "Ir"}, name)
}

// Label is the event in words.
func (e *Event) Label() string {
	name, modifiers := run.SplitEvent(run.CanonicalEvent(e.Name))
	label, ok := labels[name]
	switch {
	case !ok:
		return text.Printable(e.Name)
	case modifiers == "u":
		return label + " in user space"
	case modifiers == "k":
		return label + " in the kernel"
	}
	return label
}

// per says of what costs are.
func (e *Event) per() string {
	switch n := &e.Normalization; n.Mode {
	case PerWork:
		return "per operation (" + text.Printable(n.By) + ")"
	case PerReference:
		return "relative to the " + text.Printable(n.By)
	}
	return "per run"
}

// tell makes the story of what is known so far.
func (d *Document) tell() *story.Story {
	f := &story.Facts{Margin: d.Design.Margin}
	for i := range d.Events {
		if isCost(d.Events[i].Name) {
			f.Events = append(f.Events, d.storyEvent(&d.Events[i]))
		}
	}
	for i := range d.Events {
		if !isCost(d.Events[i].Name) {
			f.Events = append(f.Events, d.storyEvent(&d.Events[i]))
		}
	}
	f.Waits = d.storyWaits()
	if d.Leads != nil {
		f.HowToDecide = d.Leads.needs()
	}
	return story.Tell(f)
}

func (d *Document) storyEvent(e *Event) story.Event {
	name, _ := run.SplitEvent(e.Name)
	out := story.Event{
		Label: e.Label(), Plural: !singular[e.Label()], Per: e.per(), CPU: isCost(e.Name), Waiting: name == "off-cpu",
		Total: storyChange(e, &e.Total, story.About{Kind: story.Total, Event: e.Name}, ""), Withheld: e.Withheld, NoTotal: e.NoTotal,
	}
	out.Total.Share = false // the total is no share
	if e.Uniform != nil {
		out.Uniform = e.Uniform.Sentence()
	}
	for i := range e.Functions {
		f := &e.Functions[i]
		if f.Shift < 0 {
			out.Parts = append(out.Parts, storyChange(e, &f.Self, about(f), storyName(f)))
		}
	}
	for i := range e.Shifts {
		s := &e.Shifts[i]
		c := storyChange(e, &s.Net, story.About{Kind: story.Shift, Event: e.Name, Name: s.CallerName, DSO: e.Functions[s.Caller].DSO}, "what moved under "+s.CallerName)
		c.Parts = s.PartNames
		out.Parts = append(out.Parts, c)
	}
	kinds := map[run.GroupBy]story.Kind{run.ByCategory: story.Category, run.ByThread: story.Thread}
	for i := range e.Groups {
		kind, ok := kinds[e.Groups[i].By]
		for j := 0; ok && j < len(e.Groups[i].Rows); j++ {
			r := &e.Groups[i].Rows[j]
			out.Parts = append(out.Parts, storyChange(e, &r.Self, story.About{Kind: kind, Event: e.Name, Name: r.Name}, r.Name))
		}
	}
	for _, i := range e.Explained {
		f := &e.Functions[i]
		c := storyChange(e, &f.Total, about(f), storyName(f))
		c.Inclusive = true
		out.Explained = append(out.Explained, c)
	}
	return out
}

func about(f *Function) story.About {
	return story.About{Kind: story.Function, Event: f.Event, Name: f.Name, DSO: f.DSO}
}

// maxStoryName is the number of characters of a name in a sentence.
const maxStoryName = 60

func storyName(f *Function) string {
	if len(f.Parts) > 0 {
		return f.became(func(name string) string { return text.Shorten(name, maxStoryName) })
	}
	return text.Shorten(f.Name, maxStoryName)
}

func storyChange(e *Event, c *Change, a story.About, label string) story.Change {
	samples := c.BaseSamples + c.HeadSamples
	if samples == 0 {
		samples = -1
	}
	out := story.Change{
		About: a, Measure: e.Measure(), Unit: e.Unit, Share: e.Shares(), Base: c.Base, Head: c.Head, Ratio: float64(c.Ratio), CI: c.CI,
		Single: c.Method.Single(), Exact: c.Method == stats.Exact, Capped: c.Capped, Lead: c.Lead, Distance: float64(c.Distance),
		WithinNoise: c.WithinNoise, RunsNeeded: c.RunsNeeded, Samples: samples, Label: label,
	}
	if c.Tested && !c.Withheld {
		out.Verdict = c.Verdict
	}
	return out
}

// leastOfFunction is the share of the time off the CPU in a function that a chain of waits has to
// make up for the function to decide it.
const leastOfFunction = 0.5

// storyWaits are the waits for other threads of which the time off the CPU is decided in the
// function where they wait.
func (d *Document) storyWaits() (list []story.Waiting) {
	if d.Waits == nil {
		return nil
	}
	at := slices.IndexFunc(d.Events, func(e Event) bool { name, _ := run.SplitEvent(e.Name); return name == "off-cpu" })
	if at < 0 {
		return nil
	}
	e := &d.Events[at]
	for i := range d.Waits.Chains {
		c := &d.Waits.Chains[i]
		if len(c.Links) < 2 || c.Links[0].Blocked == nil || !c.Base.Known || !c.Head.Known {
			continue
		}
		first := &c.Links[0]
		j := slices.IndexFunc(e.Functions, func(f Function) bool { return f.Name == first.Blocked.Function || f.BaseName == first.Blocked.Function })
		if j < 0 {
			continue
		}
		f := &e.Functions[j]
		of := func(side *waits.Side, total, raw float64, runs int) bool {
			return total > 0 && raw > 0 && float64(side.TotalNS)/float64(max(1, runs))*e.scale() >= leastOfFunction*total
		}
		if !of(&c.Base, f.Total.Base, e.Raw.Base, d.Design.RunsBase) && !of(&c.Head, f.Total.Head, e.Raw.Head, d.Design.RunsHead) {
			continue
		}
		w := story.Waiting{
			Change: storyChange(e, &f.Total, story.About{Kind: story.Wait, Event: e.Name, Name: f.Name, DSO: f.DSO}, c.Of),
			Thread: text.Printable(first.Thread.Name), Main: first.Thread.Main, For: chainOf(c.Links[1:]), Why: text.Printable(first.Rule), Per: e.per(),
			Ended: c.Head.Count == 0, Began: c.Base.Count == 0,
		}
		if first.Rule == "lock" {
			w.Why = ""
		}
		list = append(list, w)
	}
	return list
}

// scale is what costs of a run are divided by: the work that was done in one.
func (e *Event) scale() float64 {
	if e.Normalization.Mode != PerWork || !(e.Raw.Base > 0) || math.IsNaN(e.Total.Base) {
		return 1
	}
	return e.Total.Base / e.Raw.Base
}

// chainOf names threads each of which waits for the next.
func chainOf(links []wait.Link) string {
	s := text.Printable(links[0].Thread.Name)
	for i := range links[1:] {
		s += ", which waits for " + text.Printable(links[i+1].Thread.Name)
	}
	return s
}
