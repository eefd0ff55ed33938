package story

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// What is worth telling.
const (
	leastPart     = 0.005 // share of the total by which a part has to change it
	leastSamples  = 20    // of a part, both sides
	leastAgainst  = 0.05  // of the headline's change: what goes the other way
	leastAmount   = 0.10  // by which an amount has to change to lead where time does not
	leastWait     = 0.001 // of the total of a side, for a wait
	mostSentences = 3
	mostParts     = 3 // that explain
	most          = 0.5
	nearlyAll     = 0.8
	mostLeads     = 2
)

// Tell makes a story of facts.
func Tell(f *Facts) *Story {
	t := teller{f}
	s := t.tell()
	s.Sentences = s.Sentences[:min(len(s.Sentences), mostSentences)]
	for i := range s.Sentences {
		s.Sentences[i].Text = sentence(s.Sentences[i].Text)
	}
	return s
}

// sentence starts as one, if it does not start with a name, and ends as one.
func sentence(s string) string {
	return text.Printable(strings.TrimSuffix(s, ".")) + "."
}

type teller struct{ *Facts }

func decided(c *Change) bool { return c.Verdict.Changed() }

// worth reports whether a part of an event is large enough to be told.
func (e *Event) worth(c *Change) bool {
	if c.Samples >= 0 && c.Samples < leastSamples {
		return false
	}
	whole := max(e.Total.Base, e.Total.Head)
	if c.Share {
		whole = 1
	}
	return math.Abs(c.Head-c.Base) >= leastPart*whole
}

// parts are those of an event that are decided and worth telling, largest change first.
func (e *Event) parts(of func(*Change) bool) (list []*Change) {
	for i := range e.Parts {
		if c := &e.Parts[i]; decided(c) && e.worth(c) && of(c) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *Change) int { return -cmp.Compare(math.Abs(a.Head-a.Base), math.Abs(b.Head-b.Base)) })
	return list
}

func isCode(c *Change) bool { return c.Kind == Function || c.Kind == Shift }

func isGroup(c *Change) bool { return c.Kind == Category || c.Kind == Thread }

// tell chooses the headline and what follows.
func (t *teller) tell() *Story {
	if len(t.Events) > 0 && t.Events[0].Total.Single {
		return t.leads()
	}
	cpu, wait := t.cpu(), t.wait()
	switch {
	case cpu != nil && decided(&cpu.Total) && (wait == nil || math.Abs(cpu.Total.Head-cpu.Total.Base) >= math.Abs(wait.Head-wait.Base)):
		return t.ofTotal(cpu)
	case wait != nil:
		return t.ofWait(wait)
	}
	for _, pick := range []func(*Event) bool{
		func(e *Event) bool { return e.Total.Measure == verdict.Time },
		func(e *Event) bool {
			return math.Abs(e.Total.Ratio-1) >= leastAmount || cpu == nil || cpu.Total.Verdict != verdict.Unchanged
		},
	} {
		for i := range t.Events {
			if e := &t.Events[i]; decided(&e.Total) && pick(e) {
				return t.ofTotal(e)
			}
		}
		for i := range t.Events {
			if e := &t.Events[i]; pick(e) && (e.Total.Verdict != verdict.Unchanged || cpu == nil) && !e.Waiting {
				if s := t.ofParts(e); s != nil {
					return s
				}
			}
		}
	}
	return t.undecided()
}

// cpu is the event that users mean by cost, the first if none is.
func (t *teller) cpu() *Event {
	for i := range t.Events {
		if t.Events[i].CPU {
			return &t.Events[i]
		}
	}
	if len(t.Events) == 0 {
		return nil
	}
	return &t.Events[0]
}

// wait is the decided wait that weighs most: those of main threads first.
func (t *teller) wait() *Waiting {
	var best *Waiting
	for i := range t.Waits {
		w := &t.Waits[i]
		if !decided(&w.Change) {
			continue
		}
		if best == nil || w.Main && !best.Main || w.Main == best.Main && math.Abs(w.Head-w.Base) > math.Abs(best.Head-best.Base) {
			best = w
		}
	}
	return best
}

func story(outcome verdict.Verdict, of verdict.Measure) *Story {
	switch outcome { // gone and new are words of parts
	case verdict.Removed:
		outcome = verdict.Improved
	case verdict.New:
		outcome = verdict.Regressed
	}
	return &Story{Outcome: outcome, Word: outcome.Word(of)}
}

func (s *Story) say(a About, format string, args ...any) {
	s.Sentences = append(s.Sentences, Sentence{fmt.Sprintf(format, args...), a})
}

// ofTotal tells the total of an event, what explains it, and what contradicts it.
func (t *teller) ofTotal(e *Event) *Story {
	c := &e.Total
	s := story(c.Verdict, measureOf(c))
	s.say(c.About, "%s%s", e.total(), capped(c))
	if e.Uniform != "" {
		s.say(About{Kind: Uniform, Event: c.Event}, "%s", e.Uniform)
	} else {
		t.explain(s, e)
	}
	t.against(s, e)
	return s
}

// capped says that a verdict is enough to warn only.
func capped(c *Change) string {
	if c.Capped {
		return " (fewer than 4 runs a side: enough to warn, not to prove)"
	}
	return ""
}

// explain names the parts that make up the change of a total.
func (t *teller) explain(s *Story, e *Event) {
	c := &e.Total
	same := func(p *Change) bool { return p.less() == c.less() }
	list := e.parts(func(p *Change) bool { return isCode(p) && same(p) })
	var explained []*Change
	for i := range e.Explained {
		if p := &e.Explained[i]; same(p) && e.worth(p) {
			explained = append(explained, p)
		}
	}
	if len(explained) > 0 {
		list = explained
	}
	whole := math.Abs(c.Head - c.Base)
	var said []string
	sum := 0.0
	for _, p := range list[:min(len(list), mostParts)] {
		if sum >= nearlyAll*whole {
			break
		}
		said = append(said, p.brief())
		sum += math.Abs(p.Head - p.Base)
	}
	groups := e.parts(func(p *Change) bool {
		return p.Kind == Category && same(p) && math.Abs(p.Head-p.Base) < nearlyAll*max(c.Base, c.Head)
	})
	switch {
	case c.Share || len(said) == 0:
	case sum < most*whole && len(groups) > 0 && math.Abs(groups[0].Head-groups[0].Base) >= most*whole:
		s.say(groups[0].About, "Most of it is in %s", groups[0].brief())
	case sum >= most*whole:
		s.say(list[0].About, "Most of it is in %s", join(said))
	default:
		s.say(list[0].About, "The largest part of it is %s", said[0])
	}
}

// join lists: a, b and c.
func join(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// against says what contradicts the total of an event: another total, or a part of it.
func (t *teller) against(s *Story, e *Event) {
	c := &e.Total
	for i := range t.Events {
		if o := &t.Events[i]; o != e && decided(&o.Total) && !o.Waiting && (o.Total.less() != c.less()) {
			s.say(o.Total.About, "But %s", o.total())
			return
		}
	}
	if w := t.wait(); w != nil && w.less() != c.less() {
		s.say(w.About, "But %s", w.waits())
		return
	}
	list := e.parts(func(p *Change) bool { return isCode(p) && p.less() != c.less() })
	if len(list) > 0 && math.Abs(list[0].Head-list[0].Base) >= leastAgainst*math.Abs(c.Head-c.Base) {
		s.say(list[0].About, "Against it, %s", list[0].part(e))
	}
}

// ofWait tells a wait, and what CPU time and another total do.
func (t *teller) ofWait(w *Waiting) *Story {
	s := story(w.Verdict, verdict.Time)
	s.say(w.About, "%s", w.waits())
	for i := range t.Events {
		if e := &t.Events[i]; e.CPU {
			s.say(e.Total.About, "%s", t.status(e))
			break
		}
	}
	for i := range t.Events {
		if e := &t.Events[i]; !e.CPU && !e.Waiting && decided(&e.Total) {
			s.say(e.Total.About, "%s", e.total())
			break
		}
	}
	return s
}

// status says what the total of an event does, whatever that is.
func (t *teller) status(e *Event) string {
	switch {
	case decided(&e.Total):
		return e.total()
	case e.Total.Verdict == verdict.Unchanged:
		return e.same(t.Margin)
	case e.reason() != "":
		return fmt.Sprintf("%s %s %s no verdict: %s", e.Label, e.Per, e.verb("has", "have"), e.reason())
	}
	return e.undecided()
}

// reason says why the total has no verdict, or "".
func (e *Event) reason() string { return cmp.Or(e.NoTotal, e.Withheld) }

// ofParts tells what is decided in an event whose total is not, nil if nothing is.
func (t *teller) ofParts(e *Event) *Story {
	list := e.parts(isCode)
	if len(list) == 0 {
		list = e.parts(isGroup)
	}
	if len(list) == 0 {
		return nil
	}
	first := list[0]
	i := slices.IndexFunc(list, func(c *Change) bool { return c.less() != first.less() })
	s := story(first.Verdict, measureOf(first))
	if i > 0 && math.Abs(list[i].Head-list[i].Base) >= most*math.Abs(first.Head-first.Base) {
		s = story(verdict.Inconclusive, first.Measure)
	}
	s.say(first.About, "%s%s", first.part(e), capped(first))
	switch {
	case i > 0:
		s.say(list[i].About, "%s", list[i].part(e))
	case len(list) > 1:
		s.say(list[1].About, "%s", list[1].part(e))
	}
	s.say(e.Total.About, "%s", t.status(e))
	return s
}

// measureOf is the measure by which the headline's word is chosen: a share of the total is no
// time.
func measureOf(c *Change) verdict.Measure {
	if c.Share && c.Measure == verdict.Time {
		return verdict.Amount
	}
	return c.Measure
}

// undecided tells that nothing is decided, or that nothing changed.
func (t *teller) undecided() *Story {
	e := t.cpu()
	if e == nil {
		return story(verdict.Inconclusive, verdict.Time)
	}
	c := &e.Total
	if c.Verdict == verdict.Unchanged {
		s := story(verdict.Unchanged, c.Measure)
		s.say(c.About, "%s", e.same(t.Margin))
		t.inside(s, e)
		return s
	}
	s := story(verdict.Inconclusive, c.Measure)
	if why := e.reason(); why != "" {
		s.say(c.About, "%s %s %s by %s, but no verdict holds: %s", e.Label, e.Per, e.verb("differs", "differ"), c.signed(), why)
	} else {
		s.say(c.About, "%s", e.undecided())
	}
	if p := e.largest(); p != nil {
		s.say(p.About, "The largest difference is %s, %s", p.brief(), "which is not decided either"+p.needs())
	}
	return s
}

// inside says what is decided where the total stayed the same.
func (t *teller) inside(s *Story, e *Event) {
	if list := e.parts(isCode); len(list) > 0 {
		s.say(list[0].About, "Inside it, %s", list[0].part(e))
	}
}

// largest is the part with the largest difference that is not decided.
func (e *Event) largest() (best *Change) {
	for i := range e.Parts {
		c := &e.Parts[i]
		if isCode(c) && e.worth(c) && c.known() && (best == nil || math.Abs(c.Head-c.Base) > math.Abs(best.Head-best.Base)) {
			best = c
		}
	}
	return best
}

// leads tells what one run a side shows.
func (t *teller) leads() *Story {
	s := story(verdict.Inconclusive, verdict.Time)
	type lead struct {
		*Change
		e *Event
	}
	var list []lead
	for i := range t.Events {
		e := &t.Events[i]
		for j := range e.Parts {
			if c := &e.Parts[j]; c.Lead != verdict.NoLead && isCode(c) && e.worth(c) {
				list = append(list, lead{c, e})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b lead) int { return -cmp.Compare(a.Distance, b.Distance) })
	if e := t.cpu(); e != nil {
		noise := "beyond sampling noise"
		if e.Total.WithinNoise {
			noise = "within sampling noise"
		}
		s.say(e.Total.About, "With one run a side %s %s %s by %s, %s, which is %s", e.Label, e.Per, e.verb("differs", "differ"), e.Total.signed(), e.Total.fromTo(), noise)
	}
	var said []string
	for _, l := range list[:min(len(list), mostLeads)] {
		said = append(said, fmt.Sprintf("%s, %.1fσ from noise", l.part(l.e), l.Distance))
	}
	switch {
	case len(said) > 0:
		s.say(list[0].About, "The strongest leads: %s", strings.Join(said, "; "))
	case len(t.Events) > 0:
		s.say(t.Events[0].Total.About, "No function differs beyond sampling noise")
	}
	if t.HowToDecide != "" {
		s.say(About{Kind: Total}, "%s", t.HowToDecide)
	}
	return s
}
