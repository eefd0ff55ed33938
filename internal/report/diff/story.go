package diff

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/report/waits"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
	"profdiff/internal/wait"
)

// labels are events in the words of a sentence; others are called by their names.
var labels = map[string]string{
	"cpu-cycles": "cycles", "cpu-clock": "CPU time", "task-clock": "CPU time", "on-cpu": "CPU time", "off-cpu": "time off the CPU",
	"branch-misses": "branch misses", "cache-misses": "cache misses", "cache-references": "cache references", "context-switches": "context switches",
	"page-faults": "page faults", "cpu-migrations": "migrations", "duration_time": "time",
	// Of timelines and dumps.
	"slices": "time in slices", "async-slices": "time in asynchronous slices", "delay": "time blocked", "stack-dumps": "stack dumps",
	// Of profilers of programs in Go and Java.
	"cpu": "CPU time", "wall": "wall-clock time", "lock": "time waiting for monitors", "park": "time parked", "native-lock": "time waiting for native locks", "in-native": "time in native methods",
	"inuse_space": "bytes in use", "inuse_objects": "objects in use", "alloc_space": "bytes allocated", "alloc_objects": "objects allocated",
	"alloc": "bytes allocated", "alloc-tlab": "bytes allocated by TLAB", "live": "bytes alive", "nativemem": "bytes of malloc", "nativemem-live": "bytes of malloc that were not freed",
	"goroutine": "goroutines", "threadcreate": "threads created",
	// Of Callgrind and Cachegrind.
	"Ir": "instructions", "Dr": "data reads", "Dw": "data writes", "I1mr": "misses of instructions in L1", "D1mr": "read misses in L1", "D1mw": "write misses in L1",
	"ILmr": "misses of instructions in the last cache", "DLmr": "read misses in the last cache", "DLmw": "write misses in the last cache",
	"Bc": "conditional branches", "Bcm": "mispredicted conditional branches", "Bi": "indirect branches", "Bim": "mispredicted indirect branches",
}

// singular are labels of which there is one.
var singular = map[string]bool{
	"CPU time": true, "time off the CPU": true, "time": true, "time in slices": true, "time in asynchronous slices": true, "time blocked": true,
	"wall-clock time": true, "time waiting for monitors": true, "time parked": true, "time waiting for native locks": true, "time in native methods": true,
}

// isPlural reports whether a label is, as far as one that is a name tells.
func isPlural(label string) bool {
	label = strings.TrimSuffix(strings.TrimSuffix(label, inUser), inKernel)
	return !singular[label] && (strings.HasSuffix(label, "s") || slices.Contains(slices.Collect(maps.Values(labels)), label))
}

// What labels of events of one mode of the CPU end in.
const inUser, inKernel = " in user space", " in the kernel"

// IsCost reports whether an event is what users mean by cost.
func IsCost(event string) bool {
	name, _ := run.SplitEvent(run.CanonicalEvent(event))
	return slices.Contains([]string{"cpu-cycles", "cpu-clock", "task-clock", "cpu", "on-cpu", "Ir"}, name)
}

// Label is the event in words.
func (e *Event) Label() string {
	name, modifiers := run.SplitEvent(run.CanonicalEvent(e.Name))
	label, ok := labels[name]
	switch {
	case !ok:
		return text.Printable(e.Name)
	case modifiers == "u":
		return label + inUser
	case modifiers == "k":
		return label + inKernel
	}
	return label
}

// per says of what costs are, and what an operation is.
func (e *Event) per() (per, of string) {
	switch n := &e.Normalization; n.Mode {
	case PerWork:
		if n.Per != "" {
			return "per " + n.Per, ""
		}
		return "per operation", text.Printable(n.By)
	case PerReference:
		return "relative to the " + text.Printable(n.By), ""
	}
	return "per " + cmp.Or(e.Normalization.Per, "run"), ""
}

// tell makes the story of what is known so far.
func (d *Document) tell() *story.Story {
	f := &story.Facts{Margin: d.Design.Margin}
	for i := range d.Events {
		if IsCost(d.Events[i].Name) {
			f.Events = append(f.Events, d.storyEvent(&d.Events[i]))
		}
	}
	for i := range d.Events {
		if !IsCost(d.Events[i].Name) {
			f.Events = append(f.Events, d.storyEvent(&d.Events[i]))
		}
	}
	f.Waits = d.storyWaits(f.Events)
	if d.Design.Fleet != nil {
		f.Untested = d.untested()
	}
	if d.Leads != nil {
		f.HowToDecide = d.Leads.needs()
	}
	return story.Tell(f)
}

func (d *Document) storyEvent(e *Event) story.Event {
	name, _ := run.SplitEvent(e.Name)
	per, of := e.per()
	out := story.Event{
		Label: e.Label(), Plural: isPlural(e.Label()), Per: per, Of: of, Time: run.IsTime(e.Name, e.Unit), CPU: IsCost(e.Name), Waiting: name == "off-cpu",
		Total: storyChange(e, &e.Total, story.About{Kind: story.Total, Event: e.Name}, ""), Withheld: e.Withheld, NoTotal: e.NoTotal,
	}
	out.Total.Share = false // the total is no share
	for _, advice := range []string{adviceOfWindow, adviceOfWork} {
		if why, ok := strings.CutSuffix(out.NoTotal, "; "+advice); ok {
			out.NoTotal, out.Advice = why, advice
		}
	}
	if e.Uniform != nil {
		out.Uniform = e.Uniform.Sentence()
	}
	out.Parts = make([]story.Change, 0, len(e.Functions)+len(e.Shifts)) // there may be many
	for i := range e.Functions {
		if f := &e.Functions[i]; f.Shift < 0 {
			out.Parts = append(out.Parts, storyFunction(e, f))
		}
	}
	for i := range e.Shifts {
		out.Parts = append(out.Parts, storyShift(e, &e.Shifts[i]))
	}
	kinds := map[run.GroupBy]story.Kind{run.ByCategory: story.Category, run.ByThread: story.Thread}
	for i := range e.Groups {
		kind, ok := kinds[e.Groups[i].By]
		for j := 0; ok && j < len(e.Groups[i].Rows); j++ {
			r := &e.Groups[i].Rows[j]
			c := storyChange(e, &r.Self, story.About{Kind: kind, Event: e.Name, Name: r.Name}, r.Name)
			c.Plain = kind == story.Category && plain[r.Name]
			out.Parts = append(out.Parts, c)
		}
	}
	for _, i := range e.Explained {
		f := &e.Functions[i]
		c := storyChange(e, &f.Total, about(f), storyName(f.Name))
		c.Inclusive = true
		out.Explained = append(out.Explained, c)
	}
	return out
}

// plain are the built-in categories that say only what kind of code it is.
var plain = map[string]bool{"native code": true, "kernel": true, "Java code": true, "JIT-compiled code": true, "Android runtime": true, "other system calls": true}

// storyFunction is a function by itself; one that the user named and that only calls others, with
// what it calls.
func storyFunction(e *Event, f *Function) story.Change {
	of, inclusive := &f.Self, false
	if f.Focus && f.Self.BaseSamples+f.Self.HeadSamples == 0 && f.Total.Tested {
		of, inclusive = &f.Total, true
	}
	c := storyChange(e, of, about(f), storyName(f.Name))
	c.Inclusive, c.Asked = inclusive, f.Focus
	switch base, head := f.Sides(); {
	case len(f.Parts) > 0:
		c.Label = f.became(storyName)
		c.Was = storyName(base[0]) + " was split into " + names(head)
		if len(base) > 1 {
			c.Was = names(base) + " became " + names(head)
		}
	case f.Match == string(align.Renamed) && f.BaseName != f.Name:
		c.Was = storyName(f.BaseName) + " is called " + storyName(f.Name) + " now"
	}
	return c
}

// names lists names in a sentence.
func names(list []string) string {
	var said []string
	for _, name := range list[:min(len(list), maxShiftParts)] {
		said = append(said, storyName(name))
	}
	if n := len(list) - len(said); n > 0 {
		said = append(said, fmt.Sprint(n, " more"))
	}
	return strings.Join(said, " and ")
}

// storyShift is cost that moved between functions: from those that cost less now to the others.
func storyShift(e *Event, s *Shift) story.Change {
	c := storyChange(e, &s.Net, story.About{Kind: story.Shift, Event: e.Name, Name: s.CallerName, DSO: e.Functions[s.Caller].DSO}, "what moved under "+storyName(s.CallerName))
	var up, down float64
	for _, p := range s.Parts {
		switch f := &e.Functions[p]; {
		case f.Self.Delta < 0:
			down -= f.Self.Delta
			c.From = append(c.From, storyName(f.Name))
		case f.Self.Delta > 0:
			up += f.Self.Delta
			c.To = append(c.To, storyName(f.Name))
		}
	}
	c.Moved = min(up, down)
	return c
}

func about(f *Function) story.About {
	return story.About{Kind: story.Function, Event: f.Event, Name: f.Name, DSO: f.DSO}
}

// maxStoryName is the width of a name in a sentence.
const maxStoryName = 60

func storyName(name string) string { return text.Elide(text.Printable(name), maxStoryName) }

func storyChange(e *Event, c *Change, a story.About, label string) story.Change {
	samples := c.BaseSamples + c.HeadSamples
	if samples == 0 {
		samples = -1
	}
	out := story.Change{
		About: a, Measure: e.Measure(), Unit: e.Unit, Share: e.Shares(), Base: c.Base, Head: c.Head, Ratio: float64(c.Ratio), CI: c.CI,
		Single: c.Method.Single(), Exact: c.Method == stats.Exact, Capped: c.Capped, Strength: c.Strength(),
		WithinNoise: c.WithinNoise, RunsNeeded: c.RunsNeeded, Devices: c.Method == stats.Clusters, Samples: samples, Label: label,
	}
	if c.Tested && !c.Withheld {
		out.Verdict = c.Verdict
	}
	return out
}

// leastOfFunction is the share of the time that is waited in a function that a chain of waits has to
// make up for the function to decide it.
const leastOfFunction = 0.5

// storyWaits are the waits for other threads, as runs differ in the time that is waited in the
// function where they wait: off the CPU, or where nothing tells of that, for locks.
func (d *Document) storyWaits(events []story.Event) (list []story.Waiting) {
	if d.Waits == nil {
		return nil
	}
	at := -1
	for _, waited := range []string{"off-cpu", "delay"} {
		if at < 0 {
			at = slices.IndexFunc(d.Events, func(e Event) bool { name, _ := run.SplitEvent(e.Name); return name == waited })
		}
	}
	if at < 0 {
		return nil
	}
	e := &d.Events[at]
	index := slices.IndexFunc(events, func(o story.Event) bool { return o.Total.Event == e.Name })
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
			Thread: text.Printable(first.Thread.Name), Main: first.Thread.Main, For: threads(c.Links[1:]), Why: text.Printable(first.Rule), Event: index,
			Ended: c.Head.Count == 0, Began: c.Base.Count == 0,
		}
		w.Measure = verdict.Time // who waits for a thread is as fast as that
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

// threads are the names of those of a chain.
func threads(links []wait.Link) (names []string) {
	for i := range links {
		names = append(names, text.Printable(links[i].Thread.Name))
	}
	return names
}
