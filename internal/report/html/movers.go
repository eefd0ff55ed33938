package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/report/diff"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// A mover is what changed of an event: a function, a cost shift, a category or a thread.
type mover struct {
	name, note string
	function   int // index in Event.Functions, -1 if it is none
	change     *diff.Change
	moved      bool // between functions that function calls
}

// movers are what was shown to have grown or shrunk, by what it changed, or the leads of one run a
// side.
func (e *Event) movers() (by run.GroupBy, grew, shrank []mover) {
	by, bars := e.Movers()
	for i := range bars {
		b := &bars[i]
		m := mover{name: b.Name, function: b.Function, change: b.Change}
		switch {
		case b.Shift != nil:
			m.moved = true
			var names []string
			for _, p := range b.Shift.Parts {
				names = append(names, text.Elide(e.Functions[p].Name, 40))
			}
			m.name, m.note = "moved under "+b.Name, strings.Join(names, ", ")
		case b.Function >= 0:
			m.note = note(&e.Functions[b.Function])
		}
		switch c := b.Change; {
		case c.Lead == verdict.NoLead && c.Verdict.Worse():
			grew = append(grew, m)
		case c.Lead == verdict.NoLead:
			shrank = append(shrank, m)
		default:
			m.note = strings.TrimPrefix(m.note+", ", ", ") + fmt.Sprintf("%.1fσ from noise", float64(c.Distance))
			if c.Few {
				m.note += ", of few samples"
			}
			if c.Lead == verdict.More {
				grew = append(grew, m)
			} else {
				shrank = append(shrank, m)
			}
		}
	}
	for _, list := range [][]mover{grew, shrank} {
		slices.SortStableFunc(list, func(a, b mover) int {
			if a.change.Lead != verdict.NoLead {
				return a.change.Strength().Compare(b.change.Strength())
			}
			return -cmp.Compare(abs(a.change.Head-a.change.Base), abs(b.change.Head-b.change.Base))
		})
	}
	return by, grew, shrank
}

// leastMover is the share of the total by which what changed less is not on the first screen.
const leastMover = 0.001

// heavy are those that change the total visibly.
func (e *Event) heavy(list []mover) []mover {
	whole := max(e.Total.Base, e.Total.Head)
	if e.Share {
		whole = 1
	}
	return slices.DeleteFunc(slices.Clone(list), func(m mover) bool {
		return abs(m.change.Head-m.change.Base) < leastMover*whole
	})
}

func abs(v float64) float64 { return max(v, -v) }

// note says how a function was matched, if not by its name.
func note(f *diff.Function) string {
	switch f.Match {
	case "added":
		return "new"
	case "removed":
		return "gone"
	case "split", "merged":
		base, head := f.Sides()
		return f.Match + ": " + short(strings.Join(base, " + "), 60) + " → " + short(strings.Join(head, " + "), 120)
	case "renamed", "normalized":
		if f.BaseName != f.Name {
			return "was " + short(f.BaseName, 60)
		}
	case "moved":
		return "was in " + f.BaseDSO
	}
	return ""
}

// reason says why a function was matched, and what its parts cost themselves.
func reason(e *Event, f *diff.Function) string {
	said := []string{f.Reason}
	for i := range f.Parts {
		p := &f.Parts[i]
		base, head, _ := p.Cost(false)
		said = append(said, fmt.Sprintf("part of %s: %s, %s", p.Side, p.Name, e.cost(base+head)))
	}
	return strings.Join(said, "; ")
}

// A moversView are the tables of what changed.
type moversView struct {
	Tables []moversTable
	// None says why there are none, and Only which there are.
	None, Only string
	// Ends says how far bars reach, which is the same in all tables.
	Ends string
}

// A moversTable is what changed of one event.
type moversTable struct {
	Title  string
	What   string // the rows are
	Groups []moversGroup
}

// A moversGroup is what grew, or what shrank.
type moversGroup struct {
	Title, Mark string
	Class       verdict.Verdict
	Rows        []moverRow
	More        string // than these, "" if there are none
}

type moverRow struct {
	Name, Short, Narrow, Link, Note           string
	Base, Head, Delta, Mark, Change, Interval string
	Bar                                       bar
	Why                                       []chip
}

// Columns that names have: beside numbers on a wide screen, and above them on a narrow one.
const (
	nameRoom   = 58
	narrowRoom = 40
	leastName  = 24 // beside reasons
	cellRoom   = 74 // of the name and what stands beside it
	chipRoom   = 3  // around a reason
)

// Rows of events that do not come first, and how many of these there are.
const (
	moversBeside = 3
	maxBeside    = 3
)

// movers are the tables of all events that have any, that which the page is about first.
func (m *meta) movers() *moversView {
	v := &moversView{Only: "Only changes that the adjusted test decides"}
	var order []int
	reach := leastReach
	for i := range m.Events {
		at := len(order)
		if i == m.Main {
			at = 0
		}
		if e := &m.Events[i]; len(e.Grew)+len(e.Shrank) > 0 {
			order = slices.Insert(order, at, i)
		}
	}
	order = order[:min(len(order), maxBeside+1)]
	for _, i := range order {
		reach = max(reach, m.Events[i].reach())
	}
	v.Ends = barEnds(reach)
	for _, i := range order {
		e := &m.Events[i]
		rows := maxMovers
		if len(v.Tables) > 0 {
			rows = moversBeside
		}
		v.Tables = append(v.Tables, e.table(i, rows, m.Verdict.Outcome.Better(), reach))
		if e.Single {
			v.Only = "Only changes beyond sampling noise, after a correction for their number; of one run a side these are leads, no verdicts, each in the event where it is strongest"
		}
	}
	if len(v.Tables) == 0 {
		v.None = m.noMovers()
	}
	return v
}

// noMovers says why nothing moved. Why verdicts are withheld is said once, above.
func (m *meta) noMovers() string {
	e := &m.Events[0]
	s := "No function can be told to have changed."
	switch {
	case e.Withheld != "":
		s += " Verdicts are withheld."
	case e.Single:
		s = "No function differs by more than sampling noise."
	case m.Cards != nil: // else it was not counted
		s += fmt.Sprintf(" %s of %s tested.", plural(e.Tested, "function"), count(int64(e.Functions)))
	}
	return s
}

// table is of one event, with so many rows of what grew and of what shrank; which comes first is as the
// headline has it, or the strongest lead. Bars end at the factor of which reach is the logarithm.
func (m *metaEvent) table(index, rows int, better bool, reach float64) moversTable {
	e := m.event()
	measure := diff.Measure(m.Name, m.Unit, m.Share)
	t := moversTable{Title: m.costs(), What: title(m.what())}
	group := func(v verdict.Verdict, list []metaMover, all int) {
		if len(list) == 0 {
			return
		}
		g := moversGroup{Title: v.Word(measure), Class: v, Mark: v.Sign()}
		if m.OffCPU {
			g.Title = "waits " + g.Title
		}
		lead := map[verdict.Verdict]verdict.Lead{verdict.Regressed: verdict.More, verdict.Improved: verdict.Less}[v]
		if m.Single {
			g.Title, g.Class, g.Mark = "lead: "+g.Title, verdict.Inconclusive, lead.Sign()
		}
		g.Title = title(g.Title)
		for i := range list[:min(len(list), rows)] {
			r := &list[i]
			c := r.change()
			row := moverRow{
				Name: r.Name, Note: r.Note, Mark: g.Mark,
				Base: e.cost(c.Base), Head: e.cost(c.Head), Delta: e.delta(c.Head - c.Base), Bar: barOf(c, reach), Link: m.link(index, r),
			}
			row.Why, row.Short = m.chips(index, r)
			if row.Narrow = text.Elide(r.Name, narrowRoom); row.Narrow == row.Short {
				row.Narrow = ""
			}
			row.Change, row.Interval = e.change(c)
			g.Rows = append(g.Rows, row)
		}
		if n := all - len(g.Rows); n > 0 {
			g.More = plural(n, "more "+m.what())
		}
		t.Groups = append(t.Groups, g)
	}
	group(verdict.Regressed, m.Grew, m.GrewInAll)
	group(verdict.Improved, m.Shrank, m.ShrankInAll)
	if better || m.LessFirst {
		slices.Reverse(t.Groups)
	}
	return t
}

// chips are the reasons that fit beside a name, what explains most first, and the name as they leave
// it room. All are on the card of the function.
func (m *metaEvent) chips(event int, r *metaMover) (list []chip, name string) {
	room := cellRoom
	for i := range r.Why {
		w := &r.Why[i]
		left := room - text.Width(w.Text) - chipRoom
		if left < min(leastName, text.Width(r.Name)) {
			break
		}
		room = left
		c := chip{w.Text, w.Link(cmp.Or(r.Function, r.Name), r.DSO)}
		if w.View == "" {
			c.Link += ofEvent(event)
		}
		list = append(list, c)
	}
	return list, text.Elide(r.Name, min(nameRoom, room))
}

// costs says what numbers are of the event.
func (m *metaEvent) costs() string {
	name := m.event().heading()
	switch {
	case m.Share:
		return name + ", share of the total"
	case m.Per == "run" || m.Per == "operation":
		return name + " per " + m.Per
	case m.Per != "":
		return name + ", " + m.Per
	}
	return name
}

// ofEvent ends a link to what is of an event: without it, the one that the page is about is shown.
func ofEvent(event int) string { return fmt.Sprintf("&event=%d", event) }

// what movers are.
func (m *metaEvent) what() string {
	if m.By == "" {
		return string(run.ByFunction)
	}
	return m.By
}

// link leads to what is known of a mover.
func (m *metaEvent) link(event int, r *metaMover) string {
	of := ofEvent(event)
	switch {
	case m.By == "":
		return functionLink(cmp.Or(r.Function, r.Name), r.DSO) + of
	case m.OffCPU:
		return "#view=offcpu" + of
	}
	return "#view=groups" + of
}

// Bars end at factors between these, of which the logarithms are taken.
var leastReach, mostReach = math.Log(1.1), math.Log(4)

// barEnds says at which factors bars end.
func barEnds(reach float64) string {
	factor := strings.TrimSuffix(text.Factor(math.Exp(reach)), ".00")
	return "÷" + factor + " and ×" + factor
}

// reach is the logarithm of the largest factor among the changes of an event.
func (m *metaEvent) reach() (reach float64) {
	for _, list := range [][]metaMover{m.Grew, m.Shrank} {
		for i := range list {
			c := list[i].change()
			for _, x := range []float64{float64(c.Ratio), c.CI.Lo, c.CI.Hi} {
				if x > 0 && !math.IsInf(x, 1) {
					reach = max(reach, math.Abs(math.Log(x)))
				}
			}
		}
	}
	return min(reach, mostReach)
}

// farApart is the ratio beyond which a reader wants both numbers, and not the ratio.
const farApart = 100

// change is a change in words, with its interval. A ratio that nobody can picture is told by both
// costs.
func (e *Event) change(c *diff.Change) (change, iv string) {
	if r := float64(c.Ratio); c.Base > 0 && c.Head > 0 && (r >= farApart || r <= 1.0/farApart) {
		return "from " + e.cost(c.Base) + " to " + e.cost(c.Head), ""
	}
	return relative(c), interval(c)
}

// functionLink is the fragment that opens the card of a function.
func functionLink(name, dso string) string {
	const hexDigits = "0123456789ABCDEF"
	escape := func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			switch c := s[i]; {
			case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.~", c) >= 0:
				b.WriteByte(c)
			default:
				b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
			}
		}
		return b.String()
	}
	return "#function=" + escape(name) + "&dso=" + escape(dso)
}

// A bar is an interval of a ratio as a picture of 100 by 12.
type bar struct {
	Lo, Hi, At       string
	CutLo, CutHi, OK bool
}

func barOf(c *diff.Change, reach float64) bar {
	if !known(&c.CI) || math.IsNaN(float64(c.Ratio)) {
		return bar{}
	}
	place := func(ratio float64) (x float64, cut bool) {
		l := math.Log(ratio) / reach
		return 50 + 46*max(-1, min(1, l)), math.Abs(l) > 1.0001
	}
	text := func(x float64) string { return fmt.Sprintf("%.1f", x) }
	lo, cutLo := place(c.CI.Lo)
	hi, cutHi := place(c.CI.Hi)
	at, _ := place(float64(c.Ratio))
	return bar{text(lo), text(hi), text(at), cutLo, cutHi, true}
}
