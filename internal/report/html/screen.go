package html

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"profdiff/internal/report/diff"
	"profdiff/internal/report/story"
	"profdiff/internal/verdict"
)

// A screen is what the template shows: text that is ready.
type screen struct {
	Title, Heading, Base, Head string
	Schema, Tool, DrawnBy      string
	Outcome                    verdict.Verdict
	Mark, Word, Sentence       string
	More                       []story.Sentence
	Ground, Warnings           []string
	Also                       []metaFact
	MoreWarnings               int
	Budgets                    []budgetRow
	Cards                      []cardView
	Waiting                    *Waiting
	Movers                     *moversView
	How                        []string
	Explorer                   bool
	Inputs                     []inputView
}

type inputView struct {
	Side, Name, Digest string
}

type budgetRow struct {
	Budget
	Mark, Word string
}

type cardView struct {
	Card
	Mark string
}

type moversView struct {
	Event, Per   string
	Grew, Shrank moversTable
	// None says why there are none, and Only which there are.
	None, Only string
}

type moversTable struct {
	Title, Mark string
	Class       verdict.Verdict
	Rows        []moverRow
	More        int
	None        string // instead of rows
}

type moverRow struct {
	Name, Link, Note, Base, Head, Delta, Change, Interval string
	Bar                                                   bar
}

// A bar is an interval of a ratio as a picture of 100 by 12.
type bar struct {
	Lo, Hi, At       string
	CutLo, CutHi, OK bool
}

// screen is what the page shows first.
func (p *Page) screen() *screen {
	m := p.meta
	s := &screen{
		Heading: m.Title, Base: m.Base, Head: m.Head, Schema: m.Schema, Tool: m.Tool, DrawnBy: m.DrawnBy,
		Outcome: m.Verdict.Outcome, Mark: m.Verdict.Outcome.Sign(), Word: cmp.Or(title(m.Verdict.Word), m.word()), Sentence: m.Verdict.Sentence,
		More:   m.Verdict.More,
		Ground: m.Verdict.Ground, Also: m.Also, Inputs: p.inputs,
		Explorer: len(m.Events) > 0 || p.has("branches") || p.has("pipeline") || p.runs > 0,
	}
	switch {
	case s.Sentence == "":
		s.Title = m.Title
	case s.Word == "":
		s.Title = s.Sentence
	default:
		s.Title = s.Mark + " " + s.Word + ": " + s.Sentence
	}
	s.Warnings = m.Warnings
	if n := len(m.Warnings) - maxShown; n > 0 {
		s.Warnings, s.MoreWarnings = m.Warnings[:maxShown], n
	}
	for _, b := range m.Budgets {
		s.Budgets = append(s.Budgets, budgetRow{b, b.Outcome.Sign(), b.Outcome.Word(verdict.Amount)})
	}
	cards := m.Cards
	if cards == nil {
		cards = m.totals()
	}
	for _, c := range cards {
		s.Cards = append(s.Cards, cardView{c, c.Outcome.Sign()})
	}
	s.Waiting = m.Waiting
	if len(m.Events) > 0 {
		s.Movers = m.Events[0].movers(m.Cards != nil)
		s.How = m.Events[0].How
	}
	return s
}

// word is the outcome as people read it.
func (m *meta) word() string {
	measure := verdict.Amount
	if len(m.Events) > 0 {
		measure = diff.Measure(m.Events[0].Name, m.Events[0].Unit)
	}
	return m.Verdict.Outcome.Title(measure)
}

// totals are cards of pages that keep none.
func (m *meta) totals() (list []Card) {
	for i := range m.Events {
		list = append(list, totalCard(m.Events[i].event()))
	}
	return list
}

// title is a word as the head of a page.
func title(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

func inputsOf(runs []Run) (list []inputView) {
	for _, r := range runs {
		if r.Digest != "" {
			list = append(list, inputView{map[bool]string{false: "before", true: "after"}[r.Head], r.Name, r.Digest})
		}
	}
	return list
}

// movers are the functions that changed. counted is set if the page says how many were
// tested.
func (m *metaEvent) movers(counted bool) *moversView {
	e := m.event()
	v := &moversView{Event: e.Name, Per: e.Per}
	if e.Share {
		v.Per = "share of the total"
	}
	if len(m.Grew)+len(m.Shrank) == 0 {
		v.None = "No function changed decidably."
		switch {
		case e.Withheld != "":
			v.None += " Verdicts are withheld: " + e.Withheld + "."
		case e.Single:
			v.None += " One run a side does not tell how much runs differ: record several, in turns."
		case counted:
			v.None += fmt.Sprintf(" %s of %s tested.", plural(m.Tested, "function"), count(int64(m.Functions)))
		}
		return v
	}
	reach := math.Log(1.1)
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
	reach = min(reach, math.Log(4))
	table := func(title string, class verdict.Verdict, list []metaMover, all int) moversTable {
		t := moversTable{Title: title, Class: class, Mark: class.Sign(), More: max(0, all-len(list))}
		for i := range list {
			row := &list[i]
			c := row.change()
			t.Rows = append(t.Rows, moverRow{
				Name: row.Name, Link: functionLink(cmp.Or(row.Function, row.Name), row.DSO), Note: row.Note,
				Base: e.cost(c.Base), Head: e.cost(c.Head), Delta: e.delta(c.Head - c.Base),
				Change: relative(c), Interval: interval(c), Bar: barOf(c, reach),
			})
		}
		return t
	}
	v.Grew, v.Shrank = table("Grew", verdict.Regressed, m.Grew, m.GrewInAll), table("Shrank", verdict.Improved, m.Shrank, m.ShrankInAll)
	v.Only = "only changes that the adjusted test decides"
	v.Grew.None, v.Shrank.None = "No function grew decidably.", "No function shrank decidably."
	if m.Single {
		v.Only = "only changes beyond sampling noise, after a correction for their number"
		v.Grew.Title, v.Grew.Mark, v.Grew.Class, v.Grew.None = "Leads to more, no verdicts", verdict.More.Sign(), verdict.Inconclusive, "No lead to more."
		v.Shrank.Title, v.Shrank.Mark, v.Shrank.Class, v.Shrank.None = "Leads to less, no verdicts", verdict.Less.Sign(), verdict.Inconclusive, "No lead to less."
	}
	return v
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

func barOf(c *diff.Change, reach float64) bar {
	if !known(&c.CI) {
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
