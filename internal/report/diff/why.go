package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// A Reason is what is known beside the change of a function, in a few words. It may be why.
type Reason struct {
	Kind ReasonKind `json:"kind"`
	Text string     `json:"text"`
	// Line is in the source of head, 0 if it is of no line.
	Line int64 `json:"line,omitempty"`
	// Branches is set if it is from tables of branches, which have more, and Sources if the text of
	// the line is a part of the document.
	Branches bool `json:"-"`
	Sources  bool `json:"-"`
}

// A ReasonKind says what a reason is of, and so where the evidence is.
type ReasonKind string

// The kinds, what explains most first.
const (
	WhyMisses     ReasonKind = "misses"     // of branches or caches, more or less
	WhyCount      ReasonKind = "count"      // what was counted beside the cost: instructions, contentions
	WhyRate       ReasonKind = "rate"       // instructions per cycle
	WhyMoved      ReasonKind = "moved"      // cost came from another function, or went there
	WhyWait       ReasonKind = "wait"       // threads wait for others there
	WhyCode       ReasonKind = "code"       // the machine code is the same, or is not
	WhyLines      ReasonKind = "lines"      // of source that are new, or are gone
	WhyPrediction ReasonKind = "prediction" // what a model says
)

var reasonOrder = []ReasonKind{WhyMisses, WhyCount, WhyRate, WhyMoved, WhyWait, WhyCode, WhyLines, WhyPrediction}

// Limits of reasons.
const (
	maxReasons  = 3
	leastOfRate = 0.10 // change of a rate or a count that is worth a reason
	leastMisses = 0.01 // share of all misses
)

// Because adds a reason. Of one kind there is one, the first; few are kept, those that explain
// most.
func (f *Function) Because(r Reason) {
	if slices.ContainsFunc(f.Why, func(x Reason) bool { return x.Kind == r.Kind }) {
		return
	}
	f.Why = append(f.Why, r)
	slices.SortStableFunc(f.Why, func(a, b Reason) int {
		return cmp.Compare(slices.Index(reasonOrder, a.Kind), slices.Index(reasonOrder, b.Kind))
	})
	f.Why = f.Why[:min(len(f.Why), maxReasons)]
}

// A reasoner says of functions what is known beside their change.
type reasoner struct {
	*Document
	named map[[2]string][]*Function // by name and file, of all events
}

// addReasons adds what the comparison itself tells.
func (d *Document) addReasons() {
	r := reasoner{d, make(map[[2]string][]*Function)}
	for i := range d.Functions {
		f := &d.Functions[i]
		key := [2]string{f.Name, f.DSO}
		r.named[key] = append(r.named[key], f)
	}
	r.calls()
	for i := range d.Metrics {
		if m := &d.Metrics[i]; m.Name != "" {
			r.metric(m)
		}
	}
	for i := range d.Events {
		r.shifts(&d.Events[i])
	}
	r.code()
	r.lines()
	r.link()
}

// calls says how much more or less often functions were called.
func (r *reasoner) calls() {
	for i := range r.Functions {
		f := &r.Functions[i]
		base, head := f.Calls[0], f.Calls[1]
		if len(f.Parts) > 0 || !(base > 0 && head > 0) || math.Abs(math.Log(head/base)) < math.Log1p(leastOfRate) {
			continue
		}
		said := "called " + text.Change(head / base)[1:] + " more often"
		switch ratio := head / base; {
		case ratio < 1:
			said = "called " + text.Change(ratio)[1:] + " less often"
		case ratio >= 2:
			said = "called " + text.Factor(ratio) + "× as often"
		}
		f.Because(Reason{Kind: WhyCount, Text: said})
	}
}

// link marks the reasons whose lines have text.
func (r *reasoner) link() {
	if r.Sources == nil {
		return
	}
	for i := range r.Sources.Functions {
		s := &r.Sources.Functions[i]
		for _, f := range r.named[[2]string{s.Name, s.DSO}] {
			for j := range f.Why {
				f.Why[j].Sources = f.Why[j].Line > 0
			}
		}
	}
}

func (r *reasoner) say(name, dso string, x Reason) {
	for _, f := range r.named[[2]string{name, dso}] {
		f.Because(x)
	}
}

// beside says what an event tells of a function, in the other events.
func (r *reasoner) beside(m *Metrics, e *Event, x Reason) {
	for _, f := range r.named[[2]string{m.Name, m.DSO}] {
		if f.Event != e.Name {
			f.Because(x)
		}
	}
}

// metric says what other events counted in a function, where that was decided, and how many
// instructions it executes per cycle, where the intervals of both have nothing in common.
func (r *reasoner) metric(m *Metrics) {
	var cycles, instructions *Change
	type count struct {
		event *Event
		x     Reason
		far   float64
	}
	var counts []count
	for i, c := range m.Changes {
		if c == nil {
			continue
		}
		e := &r.Events[i]
		name, _ := run.SplitEvent(run.CanonicalEvent(e.Name))
		switch name {
		case "cpu-cycles":
			cycles = c
		case "instructions":
			instructions = c
		}
		if IsCost(e.Name) || run.IsTime(e.Name, e.Unit) || e.Shares() || !shown(c) {
			continue
		}
		far := math.Abs(math.Log(float64(c.Ratio)))
		if far < math.Log1p(leastOfRate) {
			continue
		}
		if misses(e) {
			if math.Abs(c.Delta) >= leastMisses*max(e.Total.Base, e.Total.Head) {
				r.beside(m, e, Missed(c.Delta, e.missed(), e.lineOf(m, c)))
			}
			continue
		}
		counts = append(counts, count{e, Reason{Kind: WhyCount, Text: counted(e, c)}, far})
	}
	slices.SortStableFunc(counts, func(a, b count) int { return -cmp.Compare(a.far, b.far) })
	if len(counts) > 0 {
		r.beside(m, counts[0].event, counts[0].x)
	}
	if cycles == nil || instructions == nil || !m.IPCBase.Known() || !m.IPCHead.Known() {
		return
	}
	if far := math.Abs(math.Log(float64(m.IPCHead / m.IPCBase))); far >= math.Log1p(leastOfRate) && (cycles.CI.Lo > instructions.CI.Hi || cycles.CI.Hi < instructions.CI.Lo) {
		r.say(m.Name, m.DSO, Reason{Kind: WhyRate, Text: fmt.Sprintf("IPC %.2g → %.2g", m.IPCBase, m.IPCHead)})
	}
}

// Missed says how much more a function missed, and at which line that is, 0 if it is none.
func Missed(delta float64, label string, line int64) Reason {
	x := Reason{Kind: WhyMisses, Text: text.Delta(delta, "count") + " " + label, Line: line}
	if line > 0 {
		x.Text += fmt.Sprint(" at line ", line)
	}
	return x
}

// shown reports whether a change is decided, or is a lead of one run a side.
func shown(c *Change) bool { return c.Tested && c.Verdict.Changed() || c.Lead != verdict.NoLead }

// misses reports whether an event counts what was missed, so that how many says more than by what factor.
func misses(e *Event) bool {
	label := e.Label()
	return strings.Contains(label, "miss") || strings.Contains(label, "mispredicted") || strings.Contains(label, "faults")
}

// missed is what an event counts in a few words: mispredictions are misses.
func (e *Event) missed() string {
	if label := e.Label(); !strings.Contains(label, "branch") {
		return label
	}
	return "misses"
}

// mostTimes is the ratio beyond which both numbers say more than a factor.
const mostTimes = 100

// counted says how much more or less of something a function has.
func counted(e *Event, c *Change) string {
	switch r := float64(c.Ratio); {
	case math.IsInf(r, 1) || r == 0 || r > mostTimes || r < 1.0/mostTimes:
		return fmt.Sprintf("from %s to %s %s", text.Weight(c.Base, e.Unit), text.Weight(c.Head, e.Unit), e.Label())
	case r >= 2:
		return text.Factor(r) + "× as many " + e.Label()
	default:
		return text.Change(r) + " " + e.Label()
	}
}

// leastOnLine is the share of what a function has more that one line has to have for it to be named.
const leastOnLine = 0.5

// lineOf is the line of a function that has most of a change, 0 if none is known to.
func (e *Event) lineOf(m *Metrics, c *Change) int64 {
	lines := e.HotLines
	if len(lines) == 0 {
		lines = e.Lines
	}
	var at int64
	best := leastOnLine * math.Abs(c.Delta)
	for i := range lines {
		l := &lines[i]
		if f := &e.Functions[l.Function]; f.Name != m.Name || f.DSO != m.DSO {
			continue
		}
		if delta := l.Self.Delta; (delta > 0) == (c.Delta > 0) && math.Abs(delta) >= best {
			at, best = cmp.Or(l.HeadLine, l.BaseLine), math.Abs(delta)
		}
	}
	return at
}

// shifts says of the parts of a cost shift where their cost went, or came from.
func (r *reasoner) shifts(e *Event) {
	for i := range e.Shifts {
		var from, to []*Function
		for _, p := range e.Shifts[i].Parts {
			if f := &e.Functions[p]; f.Self.Delta < 0 {
				from = append(from, f)
			} else {
				to = append(to, f)
			}
		}
		if len(from) == 1 && len(to) > 0 {
			for _, f := range to {
				said := "has cost of " + from[0].Name
				if r.inlined(f, from[0].Name) {
					said = from[0].Name + " inlined here"
				}
				f.Because(Reason{Kind: WhyMoved, Text: text.Printable(said)})
			}
		}
		if len(to) == 1 {
			for _, f := range from {
				f.Because(Reason{Kind: WhyMoved, Text: "its cost is in " + text.Printable(to[0].Name)})
			}
		}
	}
}

// inlined reports whether debug information says that a function was inlined into f.
func (r *reasoner) inlined(f *Function, name string) bool {
	for i := range r.Listings {
		if l := &r.Listings[i]; l.Function == f.Name && l.DSO == f.DSO {
			for j := range l.Rows {
				row := &l.Rows[j]
				for _, c := range row.Inlined {
					if row.HeadOffset >= 0 && c.Callee == name {
						return true
					}
				}
			}
		}
	}
	return false
}

// sameCode is what is said of a function whose change is not its own: its data, its callees' or its
// place in memory are others.
const sameCode = "same instructions"

// code says of functions whose code is listed whole whether it is the same.
func (r *reasoner) code() {
	for i := range r.Listings {
		l := &r.Listings[i]
		var base, head, both int
		for j := range l.Rows {
			row := &l.Rows[j]
			switch {
			case row.BaseOffset >= 0 && row.HeadOffset >= 0:
				both++
			case row.BaseOffset >= 0:
				base++
			default:
				head++
			}
		}
		switch {
		case l.LeftOut > 0 || both == 0: // the rest may differ, or one side has no binary
		case base+head == 0:
			r.say(l.Function, l.DSO, Reason{Kind: WhyCode, Text: sameCode})
		case head > 0:
			r.say(l.Function, l.DSO, Reason{Kind: WhyCode, Text: fmt.Sprintf("%d of %d instructions new", head, both+head)})
		default:
			r.say(l.Function, l.DSO, Reason{Kind: WhyCode, Text: fmt.Sprintf("%d of %d instructions gone", base, both+base)})
		}
	}
}

// lines says how many lines of the source of a function are new or gone.
func (r *reasoner) lines() {
	if r.Sources == nil || r.Sources.Base == "" || r.Sources.Head == "" {
		return
	}
	for i := range r.Sources.Functions {
		f := &r.Sources.Functions[i]
		var base, head, changed int
		first := 0
		for j := range f.Rows {
			switch row := &f.Rows[j]; {
			case !row.Changed():
				continue
			case row.Base == 0:
				head++
			case row.Head == 0:
				base++
			default:
				changed++
			}
			if first == 0 {
				first = f.Rows[j].Head
			}
		}
		var said []string
		for _, x := range []struct {
			n    int
			what string
		}{{head, "new"}, {changed, "changed"}, {base, "gone"}} {
			if x.n > 0 {
				said = append(said, fmt.Sprintf("%d %s %s", x.n, text.Plural(x.n, "line", "lines"), x.what))
			}
		}
		if f.Withheld == "" && len(said) > 0 && f.BaseFile != "" && f.HeadFile != "" {
			r.say(f.Name, f.DSO, Reason{Kind: WhyLines, Text: said[0], Line: int64(first)})
		}
	}
}

// waitReasons say of functions in which threads wait for others for which.
func (d *Document) waitReasons() {
	for i := range d.Waits.Chains {
		c := &d.Waits.Chains[i]
		if len(c.Links) < 2 || c.Links[0].Blocked == nil {
			continue
		}
		for j := range d.Functions {
			if f := &d.Functions[j]; f.Name == c.Links[0].Blocked.Function {
				f.Because(Reason{Kind: WhyWait, Text: "waits for " + text.Printable(c.Links[1].Thread.Name)})
			}
		}
	}
}
