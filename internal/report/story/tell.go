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
	leastPart      = 0.005  // share of the total by which a part has to change it
	leastOfFleet   = 0.0005 // likewise, of what many devices show
	leastSamples   = 20     // of a part, both sides
	leastAgainst   = 0.05   // of the headline's change: what goes the other way
	leastAmount    = 0.10   // by which an amount has to change to lead where time does not
	leastStructure = 0.05   // of the total, for a function that was renamed, split or merged
	mostSentences  = 3
	mostParts      = 3 // that explain
	most           = 0.5
	nearlyAll      = 0.8
	mostLeads      = 2
)

// Tell makes a story of facts.
func Tell(f *Facts) *Story {
	t := teller{f}
	s := t.tell()
	s.Sentences = s.Sentences[:min(len(s.Sentences), mostSentences)]
	for i := range s.Sentences {
		said := &s.Sentences[i]
		said.Text = text.Printable(strings.TrimSuffix(said.Text, ".")) + "."
		if said.About.Kind == Total || said.About.Kind == Uniform {
			said.Text = capital(said.Text) // other sentences may start with a name
		}
	}
	return s
}

// capital starts a sentence. What is no plain word is a name, which stays.
func capital(s string) string {
	if first, _, _ := strings.Cut(s, " "); first == "" || strings.Trim(first, "abcdefghijklmnopqrstuvwxyz'") != "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
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
	if c.Devices {
		return math.Abs(c.Head-c.Base) >= leastOfFleet*whole
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

func isCode(c *Change) bool { return c.Kind == Function || c.Kind == Shift || c.Kind == Branch }

// partIs is what one of the parts of the event is.
func (e *Event) partIs() string { return cmp.Or(e.PartsAre, "function") }

func isGroup(c *Change) bool { return c.Kind == Category || c.Kind == Thread }

// tell chooses the headline and what follows.
func (t *teller) tell() *Story {
	if len(t.Events) > 0 && t.Events[0].Total.Single {
		return t.leads()
	}
	if t.Untested != "" {
		return t.untested()
	}
	if s := t.asked(); s != nil {
		return s
	}
	cpu, wait := t.cpu(), t.wait()
	switch {
	case cpu != nil && decided(&cpu.Total) && (wait == nil || !t.leadsBefore(wait, cpu)):
		return t.ofTotal(cpu)
	case wait != nil:
		return t.ofWait(wait)
	}
	for _, pick := range []func(*Event) bool{
		func(e *Event) bool { return e.Time },
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

// leadsBefore reports whether a wait says more than the total of an event: if it is larger than what
// CPU time does. Beside the sum of all waits that is known where nothing tells of CPU time, it has to
// make up most of it, or to be of a main thread.
func (t *teller) leadsBefore(w *Waiting, e *Event) bool {
	wait, total := math.Abs(w.Head-w.Base), math.Abs(e.Total.Head-e.Total.Base)
	if e.CPU {
		return wait > total
	}
	return w.Main || t.Events[w.Event].Total.Event != e.Total.Event || wait >= most*total
}

// asked tells the functions that the user named, nil if none has samples: those that are decided,
// else the one that differs most.
func (t *teller) asked() *Story {
	var first *Event
	var best *Change
	for i := range t.Events {
		e := &t.Events[i]
		named := slices.DeleteFunc(slices.Clone(e.Parts), func(c Change) bool { return !c.Asked })
		if len(named) == 0 {
			continue
		}
		e.Parts = named
		if s := t.ofParts(e); s != nil {
			return s
		}
		for j := range named {
			if c := &named[j]; best == nil || math.Abs(c.Head-c.Base) > math.Abs(best.Head-best.Base) {
				first, best = e, c
			}
		}
	}
	if best == nil {
		return nil
	}
	outcome := best.Verdict
	if outcome == "" {
		outcome = verdict.Inconclusive
	}
	s := story(outcome, best.Measure)
	if outcome == verdict.Unchanged {
		t.say(s, best.About, "%s is the same within %s: %s, %s", best.name(), text.RoughPercent(t.Margin), best.signed(), best.fromTo())
	} else {
		t.say(s, best.About, "%s can't be told apart yet: %s, %s%s", best.name(), best.signed(), best.fromTo(), best.needs())
	}
	t.say(s, first.Total.About, "%s", t.status(first))
	return s
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

// say adds a sentence. What an operation is, is said once.
func (t *teller) say(s *Story, a About, format string, args ...any) {
	said := Sentence{fmt.Sprintf(format, args...), a}
	s.Sentences = append(s.Sentences, said)
	for i := range t.Events {
		if e := &t.Events[i]; strings.Contains(said.Text, e.per()) {
			e.Of = ""
		}
	}
}

// ofTotal tells the total of an event, what explains it, and what contradicts it.
func (t *teller) ofTotal(e *Event) *Story {
	c := &e.Total
	s := story(c.Verdict, c.Measure)
	t.say(s, c.About, "%s%s", e.total(), capped(c))
	if e.Uniform != "" {
		t.say(s, About{Kind: Uniform, Event: c.Event}, "%s", e.Uniform)
	} else {
		t.explain(s, e)
	}
	t.against(s, e)
	if len(s.Sentences) < mostSentences && len(e.Explained) > 0 {
		t.themselves(s, e)
	}
	return s
}

// themselves names what changed by itself, where functions with what they call explain a total.
func (t *teller) themselves(s *Story, e *Event) {
	list := e.parts(func(p *Change) bool { return isCode(p) && p.less() == e.Total.less() })
	var said []string
	for _, p := range list[:min(len(list), 2)] {
		said = append(said, p.brief())
	}
	if len(said) > 0 {
		t.say(s, list[0].About, "By themselves, the largest are %s", join(said))
	}
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
	if len(list) == 0 {
		t.unexplained(s, e, same)
		return
	}
	if list[0].Share {
		return // shares of both sides do not add up to a change of the total
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
	together := ""
	if len(said) > 1 {
		together = "together "
	}
	if c.less() {
		sum = -sum
	}
	if math.Abs(sum) >= most*whole {
		amount := fmt.Sprintf("%s%s of %s", together, text.Delta(sum, c.Unit), text.Delta(c.Head-c.Base, c.Unit))
		if math.Abs(sum) > whole {
			amount = fmt.Sprintf("%s%s, all others %s", together, text.Delta(sum, c.Unit), text.Delta(c.Head-c.Base-sum, c.Unit))
		}
		t.say(s, list[0].About, "Most of it is %s: %s%s", join(said), amount, e.category(same, whole))
		return
	}
	t.say(s, list[0].About, "The largest part is %s: %s%s", said[0], text.Delta(list[0].Head-list[0].Base, c.Unit), e.category(same, whole))
}

// unexplained names the largest difference where no function is decided that could explain a total.
func (t *teller) unexplained(s *Story, e *Event, same func(*Change) bool) {
	if len(e.parts(isCode)) == 0 {
		if p := e.largest(isCode); p != nil {
			t.say(s, p.About, "No %s is decided; the largest difference is %s", e.partIs(), p.brief())
		}
		return
	}
	direction := "increase"
	if e.Total.less() {
		direction = "decrease"
	}
	if p := e.largest(func(c *Change) bool { return isCode(c) && same(c) }); p != nil {
		t.say(s, p.About, "No %s of a %s is decided; the largest is %s", direction, e.partIs(), p.brief())
	} else {
		t.say(s, e.Total.About, "No %s of a %s is decided", direction, e.partIs())
	}
}

// category names the category that makes up most of a change of a total, "" if none does that
// says more than which code it is.
func (e *Event) category(same func(*Change) bool, whole float64) string {
	groups := e.parts(func(p *Change) bool { return p.Kind == Category && same(p) && !p.Plain })
	if len(groups) == 0 || math.Abs(groups[0].Head-groups[0].Base) < most*whole {
		return ""
	}
	return fmt.Sprintf("; by category, %s %s", groups[0].Label, text.Delta(groups[0].Head-groups[0].Base, groups[0].Unit))
}

// join lists: a, b and c.
func join(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// against says what contradicts the total of an event: another total, the furthest from 1, a wait,
// or a part of it.
func (t *teller) against(s *Story, e *Event) {
	c := &e.Total
	var other *Event
	for i := range t.Events {
		o := &t.Events[i]
		if decided(&o.Total) && !o.Waiting && o.Total.less() != c.less() && (other == nil || o.Total.distance() > other.Total.distance()) {
			other = o
		}
	}
	if w := t.wait(); w != nil && w.less() != c.less() {
		t.say(s, w.About, "But %s", w.waits(&t.Events[w.Event]))
		return
	}
	if other != nil && !c.Exact {
		t.say(s, other.Total.About, "But %s", other.total())
		return
	}
	list := e.parts(func(p *Change) bool { return isCode(p) && p.less() != c.less() })
	for i := range e.Explained {
		if p := &e.Explained[i]; p.less() != c.less() && decided(p) && e.worth(p) && (len(list) == 0 || math.Abs(p.Head-p.Base) > math.Abs(list[0].Head-list[0].Base)) {
			list = []*Change{p}
		}
	}
	// What is spread over many functions has a name as a category only.
	groups := e.parts(func(p *Change) bool { return p.Kind == Category && !p.Plain && p.less() != c.less() })
	if len(groups) > 0 && (len(list) == 0 || math.Abs(groups[0].Head-groups[0].Base) >= 2*math.Abs(list[0].Head-list[0].Base)) {
		list = groups
	}
	if len(list) > 0 && math.Abs(list[0].Head-list[0].Base) >= leastAgainst*math.Abs(c.Head-c.Base) {
		t.say(s, list[0].About, "Against it, %s", list[0].part(e))
		return
	}
	if other != nil {
		t.say(s, other.Total.About, "But %s", other.total())
	}
}

// distance is how far a change is from none.
func (c *Change) distance() float64 { return math.Abs(math.Log(c.Ratio)) }

// ofWait tells a wait, and what CPU time and another total do.
func (t *teller) ofWait(w *Waiting) *Story {
	s := story(w.Verdict, verdict.Time)
	t.say(s, w.About, "%s", w.waits(&t.Events[w.Event]))
	for i := range t.Events {
		if e := &t.Events[i]; e.CPU {
			t.say(s, e.Total.About, "%s", t.status(e))
			break
		}
	}
	for i := range t.Events {
		if e := &t.Events[i]; i != w.Event && !e.CPU && !e.Waiting && decided(&e.Total) {
			t.say(s, e.Total.About, "%s", e.total())
			break
		}
	}
	if e := &t.Events[w.Event]; len(s.Sentences) == 1 {
		t.say(s, e.Total.About, "%s", t.status(e))
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
		return fmt.Sprintf("%s %s no verdict: %s", e.name(), e.verb("has", "have"), e.reason())
	}
	return e.undecided()
}

// reason says why the total has no verdict, or "".
func (e *Event) reason() string {
	if e.NoTotal != "" && e.Advice != "" {
		return e.NoTotal + "; " + e.Advice
	}
	return cmp.Or(e.NoTotal, e.Withheld)
}

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
	s := story(first.Verdict, first.Measure)
	if i > 0 && math.Abs(list[i].Head-list[i].Base) >= most*math.Abs(first.Head-first.Base) {
		s = story(verdict.Inconclusive, first.Measure)
	}
	t.say(s, first.About, "%s%s", first.part(e), capped(first))
	switch {
	case i > 0:
		t.say(s, list[i].About, "%s", list[i].part(e))
	case len(list) > 1:
		t.say(s, list[1].About, "%s", list[1].part(e))
	}
	t.say(s, e.Total.About, "%s", t.status(e))
	return s
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
		t.say(s, c.About, "%s", e.same(t.Margin))
		t.inside(s, e)
		t.structure(s, e)
		return s
	}
	s := story(verdict.Inconclusive, c.Measure)
	if why := e.reason(); why != "" {
		t.say(s, c.About, "%s, but no verdict holds: %s", e.differs(), why)
	} else {
		t.say(s, c.About, "%s", e.undecided())
	}
	switch p := e.largest(isCode); {
	case p == nil:
		t.structure(s, e)
	case p.became() != "":
		t.say(s, p.About, "%s; it is the largest difference, and not decided either%s", p.became(), p.needs())
	default:
		t.say(s, p.About, "The largest difference is %s, which is not decided either%s", p.brief(), p.needs())
		t.structure(s, e)
	}
	return s
}

// untested tells why there is no test, before anything that differs.
func (t *teller) untested() *Story {
	s := story(verdict.Inconclusive, verdict.Time)
	t.say(s, About{Kind: Total}, "%s", t.Untested)
	if e := t.cpu(); e != nil && e.Total.known() {
		t.say(s, e.Total.About, "%s, which says nothing yet", e.differs())
	}
	return s
}

// inside says what is decided where the total stayed the same.
func (t *teller) inside(s *Story, e *Event) {
	if list := e.parts(isCode); len(list) > 0 {
		t.say(s, list[0].About, "Inside it, %s", list[0].part(e))
	}
}

// structure says what became of the largest function that is not what it was, if that is not
// told.
func (t *teller) structure(s *Story, e *Event) {
	var best *Change
	size := func(c *Change) float64 { return max(c.Base, c.Head) }
	for i := range e.Parts {
		if c := &e.Parts[i]; c.became() != "" && size(c) >= leastStructure*max(e.Total.Base, e.Total.Head) && (best == nil || size(c) > size(best)) {
			best = c
		}
	}
	if best != nil {
		t.say(s, best.About, "%s", best.became())
	}
}

// largest is the part with the largest difference that is not decided.
func (e *Event) largest(of func(*Change) bool) (best *Change) {
	for i := range e.Parts {
		c := &e.Parts[i]
		if of(c) && e.worth(c) && c.known() && (best == nil || math.Abs(c.Head-c.Base) > math.Abs(best.Head-best.Base)) {
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
			if c := &e.Parts[j]; isCode(c) && e.worth(c) {
				list = append(list, lead{c, e})
			}
		}
	}
	type part struct {
		Kind      Kind
		name, dso string
	}
	list = verdict.Leads(list, func(l lead) verdict.Strength { return l.Strength },
		func(l lead) (part, string) { return part{l.Kind, l.Name, l.DSO}, l.Event })
	advice := ""
	if e := t.cpu(); e != nil {
		noise := "beyond sampling noise"
		if e.Total.WithinNoise {
			noise = "within sampling noise"
		}
		if e.NoTotal != "" {
			advice = e.Advice // not in the headline
			e.Advice = ""
			t.say(s, e.Total.About, "%s", t.status(e))
		} else {
			t.say(s, e.Total.About, "With one run a side %s, which is %s", e.differs(), noise)
		}
	}
	var said []string
	for _, l := range list[:min(len(list), mostLeads)] {
		few := ""
		if l.Few {
			few = ", of few samples"
		}
		said = append(said, fmt.Sprintf("%s, %.1fσ from noise%s", l.part(l.e), l.Distance, few))
	}
	switch {
	case len(said) > 0:
		t.say(s, list[0].About, "The strongest %s %s", text.Plural(len(said), "lead:", "leads:"), strings.Join(said, "; "))
	case len(t.Events) > 0:
		t.say(s, t.Events[0].Total.About, "No %s differs beyond sampling noise", t.Events[0].partIs())
	}
	if t.HowToDecide != "" || advice != "" {
		t.say(s, About{Kind: Total}, "%s", strings.Trim(t.HowToDecide+"; "+advice, "; "))
	}
	return s
}
