package html

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"profdiff/internal/report/diff"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// heading is the event in words, at the start of a line. A name stays as it is.
func (e *Event) heading() string {
	if label := e.Label(); label != e.Name {
		return title(label)
	}
	return e.Name
}

// metric names what an event costs.
func (e *Event) metric() string {
	return e.heading() + " per " + cmp.Or(e.Per, "run")
}

// verdictOf is the story, and on what it rests: the runs, and why what was tested is not what
// the means of the first event show.
func (o *Options) verdictOf(c *diff.Document, e *Event) Verdict {
	v := Verdict{Ground: []string{ground(c)}}
	v.tell(c.Story, o)
	if said := apart(&e.Total); said != "" {
		v.Ground = append(v.Ground, said)
	}
	return v
}

// tell has a story as the verdict.
func (v *Verdict) tell(told *story.Story, o *Options) {
	v.Outcome, v.Word = told.Outcome, told.Word
	for i, s := range told.Sentences {
		s.Text = typesetNumbers(o.text(s.Text))
		if i == 0 {
			v.Sentence, v.About = strings.TrimSuffix(s.Text, "."), s.About
			continue
		}
		v.More = append(v.More, s)
	}
}

// leastApart is the logarithm of a factor by which two ratios visibly differ.
const leastApart = 0.005

// apart says why the ratio of the means that are shown is not the one that was tested, ""
// if they look alike.
func apart(c *diff.Change) string {
	means := c.Head / c.Base
	if !known(&c.CI) || !(means > 0) || math.IsInf(means, 1) || !(math.Abs(math.Log(means/float64(c.Ratio))) >= leastApart) {
		return ""
	}
	of := diff.Change{Base: c.Base, Head: c.Head, Ratio: text.Number(means)}
	return fmt.Sprintf("%s is the typical change from run to run, which is what was tested; the means beside it, which odd runs move, differ by %s.",
		relative(c), relative(&of))
}

func short(s string, limit int) string {
	r := []rune(text.Clean(s))
	if len(r) <= limit {
		return string(r)
	}
	return string(r[:limit*2/3]) + "…" + string(r[len(r)-limit/3:])
}

// ground says how many runs there are, in which order and of which machine.
func ground(c *diff.Document) string {
	if f := c.Design.Fleet; f != nil {
		return f.Ground() + "."
	}
	base, head := c.Design.RunsBase, c.Design.RunsHead
	s := fmt.Sprintf("%s before, %d after", plural(base, "run"), head)
	if base > 1 && head > 1 {
		switch c.Design.Order {
		case verdict.Interleaved:
			s += ", recorded in turns"
			if c.Design.Pairs > 0 {
				s += ": " + c.Design.Text
			}
		case verdict.Blocked:
			s += ", all of one side recorded before those of the other"
		default:
			s += ", recorded in unknown order"
		}
	}
	of := func(get func(*run.Recording) string) string {
		var list []string
		for _, r := range slices.Concat(c.Base.Runs, c.Head.Runs) {
			if v := get(&r.Recording); v != "" && !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
		return strings.Join(list, " and ")
	}
	switch m := of(func(r *run.Recording) string { return cmp.Or(r.Device, r.CPU) }); {
	case strings.HasPrefix(m, "simulated "): // by a program, which is no machine
		s += ", " + m
	case m != "":
		s += ", on " + m
	}
	if k := of(func(r *run.Recording) string { return r.Kernel }); k != "" {
		s += ", Linux " + k
	}
	return s + "."
}

// cards are the numbers of the first screen, as far as the events give them.
func cards(c *diff.Document, events []Event) []Card {
	var list []Card
	list = append(list, totalCard(&events[0]))
	for i := range events[1:] {
		e := &events[i+1]
		name, _ := run.SplitEvent(run.CanonicalEvent(e.Name))
		if name == "instructions" || e.OffCPU || decided(&e.Total) {
			list = append(list, totalCard(e))
		}
	}
	for i := range c.Rates {
		list = append(list, rateCard(&c.Rates[i]))
	}
	return append(list, quality(c))
}

// totalCard is the total of an event.
func totalCard(e *Event) Card {
	t := &e.Total
	card := Card{Name: e.metric(), Base: weight(t.Base, e.Unit), Head: weight(t.Head, e.Unit), Change: relative(t), Outcome: verdict.Inconclusive}
	if i := interval(t); i != "" {
		card.Change += " " + i
	}
	if t.Tested {
		card.Outcome = outcome(t)
	}
	switch {
	case e.Withheld != "" || e.NoTotal != "":
		card.Note = "verdict withheld"
	case e.Single:
		card.Note = "one run a side: no verdict"
	}
	return card
}

// rateCard is what a rate of everything does.
func rateCard(r *diff.Rate) Card {
	card := Card{Name: "Instructions per cycle", Base: digits(r.Base), Head: digits(r.Head), Outcome: Info}
	if r.Kind == diff.MPKI {
		card.Name = "Branch misses per 1,000 instructions"
	}
	if !r.Tested {
		card.Change = percent(float64(r.Ratio)) + thin + "%"
		card.Note = "one run a side: not tested"
		return card
	}
	card.Outcome = outcome(&r.Change)
	card.Change = relative(&r.Change) + " " + interval(&r.Change)
	card.Note = "between runs"
	return card
}

// Shares of samples and frames above which data is called poor.
const (
	poorLost    = 0.01
	poorUnknown = 0.10
	poorStacks  = 0.05
)

// quality says what part of the data is missing.
func quality(c *diff.Document) Card {
	var all run.Accounting
	derived := make(map[string]int64)
	for _, r := range slices.Concat(c.Base.Runs, c.Head.Runs) {
		all.Add(r.Accounting)
		for i := range r.Events {
			if e := &r.Events[i]; e.Derived && e.Samples > 0 {
				derived[e.Name] += e.Samples
			}
		}
	}
	card := Card{Name: qualityName, Base: "Good", Outcome: Info}
	parts := []string{share(all.LostShare()) + " lost"}
	if all.Frames > 0 {
		parts = append(parts, share(all.UnknownShare())+" of frames unknown")
	}
	stacks := part(float64(all.TruncatedStacks), float64(all.Out))
	if stacks > 0 {
		parts = append(parts, share(stacks)+" of stacks cut off")
	}
	if all.LostShare() > poorLost || all.UnknownShare() > poorUnknown || stacks > poorStacks {
		card.Base, card.Outcome = "Poor", verdict.Warn
	}
	if all.In == 0 {
		card.Base = "Counted"
		parts = []string{"no samples: a simulator counted all"}
	}
	card.Change = count(all.Out) + " samples"
	if all.Out == 0 && len(derived) > 0 {
		// Nothing that was sampled is compared, but what follows from it.
		var list []string
		for _, name := range slices.Sorted(maps.Keys(derived)) {
			list = append(list, count(derived[name])+" "+name)
		}
		card.Change = strings.Join(list, ", ") + " derived from " + count(all.In) + " samples"
	}
	card.Note = strings.Join(parts, ", ")
	return card
}

// run is a recording for the table of runs.
func (o *Options) run(r *diff.Run, head bool) Run {
	rec, acc := &r.Recording, &r.Accounting
	out := Run{
		Head: head, Name: o.name(r.Path), Format: rec.Format, Tool: rec.Tool, Command: o.program(rec),
		Machine: cmp.Or(rec.Device, rec.CPU), Kernel: rec.Kernel, DurationNS: rec.Duration.Nanoseconds(),
		In: acc.In, Out: acc.Out, Filtered: acc.Filtered, Lost: acc.Lost, UnknownShare: acc.UnknownShare(), Truncated: acc.TruncatedStacks,
	}
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, o.text(w))
	}
	switch {
	case !rec.Start.IsZero():
		out.Start = rec.Start.UTC().Format(time.RFC3339Nano)
		out.At = rec.Start.UnixNano()
	case rec.FirstSample > 0:
		out.At = int64(rec.FirstSample)
	}
	for reason, n := range acc.Dropped {
		out.Dropped = append(out.Dropped, Count{reason, n})
	}
	slices.SortFunc(out.Dropped, func(a, b Count) int { return strings.Compare(a.Name, b.Name) })
	for i := range r.Events {
		e := &r.Events[i]
		out.Events = append(out.Events, RunEvent{e.Name, e.Samples, float64(e.Weight), e.Unit, e.Lost})
	}
	for _, b := range r.Builds {
		out.Builds = append(out.Builds, path.Base(o.name(b.File))+" "+b.ID)
	}
	out.Digest = r.Digest
	return out
}

// facts say how the report was made.
func facts(c *diff.Document, d *Document) []Fact {
	list := []Fact{
		{"Order of recording", c.Design.Text},
		{"Runs took", cmp.Or(c.Design.Took, "about the same time, or it is not known")},
		{"Margin that does not matter", shortPercent(c.Design.Margin)},
		{"False ones among functions called changed", "up to " + shortPercent(c.Design.FalseDiscovery)},
		{"Least share of a function that is tested", shortPercent(c.Design.MinShare)},
	}
	for i := range d.Events {
		e := &d.Events[i]
		for _, h := range e.How {
			list = append(list, Fact{e.Name, h})
		}
	}
	return list
}
