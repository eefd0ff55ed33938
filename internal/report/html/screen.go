package html

import (
	"cmp"
	"slices"
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
	Link                       string // of the sentence
	More                       []chip
	Ground, Warnings           []string
	Also                       []metaFact
	// MoreWarnings are shown when they are asked for, HiddenWarnings are as many again.
	MoreWarnings   []string
	HiddenWarnings int
	Budgets        []budgetRow
	Cards          []cardView
	Waiting        *Waiting
	Waterfall      *waterfallView
	Flame          *flameView
	Movers         *moversView
	Remarks        []string
	How            []string
	Explorer       bool
	Inputs         []inputView
}

type inputView struct {
	Side, Name, Digest string
}

type budgetRow struct {
	Budget
	Mark, Word string
}

// A chip is a reason beside what changed, or a place to look at.
type chip struct{ Text, Link string }

type cardView struct {
	Card
	Mark string
}

// screen is what the page shows first.
func (p *Page) screen() *screen {
	m := p.meta
	s := &screen{
		Heading: m.Title, Base: m.Base, Head: m.Head, Schema: m.Schema, Tool: m.Tool, DrawnBy: m.DrawnBy,
		Outcome: m.Verdict.Outcome, Mark: m.Verdict.Outcome.Sign(), Word: cmp.Or(title(m.Verdict.Word), m.word()), Sentence: m.Verdict.Sentence,
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
	all := m.Warnings[:min(len(m.Warnings), maxShown)]
	s.Warnings, s.HiddenWarnings = all, len(m.Warnings)-len(all)
	if len(all) > maxAtOnce {
		s.Warnings, s.MoreWarnings = all[:maxAtOnce-1], all[maxAtOnce-1:]
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
	if m.Verdict.About != nil {
		s.Link = m.evidence(m.Verdict.About)
	}
	for i := range m.Verdict.More {
		x := &m.Verdict.More[i]
		s.More = append(s.More, chip{x.Text, m.evidence(&x.About)})
	}
	s.Waiting, s.Remarks = m.Waiting, m.Remarks
	s.Movers = m.metrics()
	if len(m.Events) > 0 {
		s.Waterfall, s.Flame, s.Movers = m.waterfall(), m.flame(), m.movers()
		for _, h := range m.Events[0].How {
			// Why there are no verdicts stands above, once.
			if why := m.Events[0].Withheld; why == "" || !strings.Contains(h, why) {
				s.How = append(s.How, h)
			}
		}
	}
	return s
}

// word is the outcome as people read it.
func (m *meta) word() string {
	measure := verdict.Amount
	if len(m.Events) > 0 {
		measure = diff.Measure(m.Events[0].Name, m.Events[0].Unit, m.Events[0].Share)
	}
	return m.Verdict.Outcome.Title(measure)
}

// evidence leads to what a sentence is about, "" if nothing of it is on the page.
func (m *meta) evidence(a *story.About) string {
	event := slices.IndexFunc(m.Events, func(e metaEvent) bool { return e.Name == a.Event })
	of := ofEvent(event)
	switch {
	case a.Kind == story.Limit:
		return "#budgets"
	case a.Kind == story.Wait && m.Waiting != nil:
		return "#waiting"
	case event < 0:
		return ""
	case (a.Kind == story.Function || a.Kind == story.Shift) && a.Name != "":
		return functionLink(a.Name, a.DSO) + of
	case m.Events[event].OffCPU:
		return "#view=offcpu" + of
	case a.Kind == story.Category || a.Kind == story.Thread:
		return "#view=groups" + of
	}
	return "#view=functions" + of
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
