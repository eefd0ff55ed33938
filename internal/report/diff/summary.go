package diff

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/report/waits"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// How much a summary lists: of the event that the story is about, and of others.
const (
	summaryRows     = 8
	summaryMoreRows = 3
	summaryWaits    = 3
	summaryWarnings = 5
	summaryRoom     = 24
)

// WriteSummary writes what a reader wants first: the story, what is slower and what is faster, who
// waits for whom, what is not decided and what would decide it, and what to know of the runs. How to
// record what decides is left out where it follows as the next command.
func WriteSummary(w io.Writer, d *Document, next bool) error {
	if err := d.Story.Write(w); err != nil {
		return err
	}
	s := summary{Document: d, screen: text.ScreenOf(w), lines: text.Lines{W: w}}
	order := s.order()
	for rank, i := range order {
		if err := s.event(w, &d.Events[i], rank); err != nil {
			return err
		}
	}
	if err := s.waits(w); err != nil {
		return err
	}
	if len(order) > 0 {
		s.facts(w, &d.Events[order[0]], next)
	}
	return s.lines.Err
}

// A summary is a comparison while it is summed up.
type summary struct {
	*Document
	screen *text.Screen
	lines  text.Lines
}

// order are indices of events, the one that the story is about first.
func (s *summary) order() (list []int) {
	for i := range s.Events {
		list = append(list, i)
	}
	if about := s.Story.Sentences; len(about) > 0 {
		slices.SortStableFunc(list, func(a, b int) int {
			first := func(i int) int {
				if s.Events[i].Name == about[0].About.Event {
					return 0
				}
				return 1
			}
			return first(a) - first(b)
		})
	}
	return list
}

// A summaryRow is a change by itself: of a function, a cost shift, a category.
type summaryRow struct {
	*Change
	// name is what changed, as wide as room.
	name func(room int) string
	// inclusive is set for a function with what it calls, which has rows of its own.
	inclusive bool
	// elsewhere is set if another event tells it better.
	elsewhere bool
}

// event writes what changed in an event. The first one may have more to say.
func (s *summary) event(w io.Writer, e *Event, rank int) error {
	limit := summaryMoreRows
	if rank == 0 {
		limit = summaryRows
	}
	rows := s.rows(e)
	var lists [2][]summaryRow
	elsewhere := 0
	for _, r := range rows {
		switch {
		case r.elsewhere:
			elsewhere++
		case r.Lead == verdict.Less, decidedLess(r.Change):
			lists[1] = append(lists[1], r)
		case r.Lead == verdict.More, r.Verdict.Changed():
			lists[0] = append(lists[0], r)
		}
	}
	if len(s.Events) > 1 {
		s.lines.Printf("")
		s.lines.Printf("%s", s.eventLine(e, len(lists[0])+len(lists[1])+elsewhere > 0))
		if elsewhere > 0 {
			s.lines.Printf("(%s: see there)", map[bool]string{true: "1 lead is stronger in another event", false: fmt.Sprintf("%d leads are stronger in other events", elsewhere)}[elsewhere == 1])
		}
	}
	if len(lists[0])+len(lists[1]) == 0 {
		return s.lines.Err
	}
	if len(s.Events) == 1 {
		s.lines.Printf("")
	}
	if s.lines.Err != nil {
		return s.lines.Err
	}
	t := s.table(e)
	words := [2]string{verdict.Regressed.Word(e.Measure()), verdict.Improved.Word(e.Measure())}
	styles := [2]text.Style{text.Red, text.Green}
	if e.Single() {
		words = [2]string{"perhaps " + words[0] + " " + verdict.More.Sign(), "perhaps " + words[1] + " " + verdict.Less.Sign()}
		styles = [2]text.Style{}
	}
	for i, list := range lists {
		if len(list) == 0 {
			continue
		}
		t.Head(s.screen.Paint(text.Bold, s.screen.Paint(styles[i], upper(words[i]))))
		for _, r := range list[:min(len(list), limit)] {
			t.Add(s.cells(e, r)...)
			t.Paint(changeColumn, styles[i])
			t.Short(nameColumn, r.name)
		}
		if rest := list[min(len(list), limit):]; len(rest) > 0 {
			t.Head("  (" + restText(rest, newCostFormat(e)) + ")")
		}
	}
	return t.Write(w)
}

// restText counts rows that are not shown, and sums them up: those that hold others only once.
func restText(rest []summaryRow, format costFormat) string {
	own := slices.DeleteFunc(slices.Clone(rest), func(r summaryRow) bool { return r.inclusive })
	if len(own) == 0 {
		return fmt.Sprintf("%d more with what they call", len(rest))
	}
	sum := 0.0
	for _, r := range own {
		sum += r.Delta
	}
	return fmt.Sprintf("%d more, %s in all", len(own), format.delta(sum))
}

// decidedLess reports whether a change is decided, and a decrease.
func decidedLess(c *Change) bool {
	return c.Verdict == verdict.Improved || c.Verdict == verdict.Removed
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Columns of the tables of a summary, and how narrow names become for those that may be left out.
const (
	leadColumn     = 1
	changeColumn   = 4
	intervalColumn = 5
	nameColumn     = 6
	summaryLeast   = 10
)

// table is an empty one with its header.
func (s *summary) table(e *Event) text.Table {
	t := text.Table{
		Right: []bool{false, true, true, true, true}, Names: []int{nameColumn},
		Spare: [][]int{{leadColumn}, {intervalColumn}}, Least: summaryLeast,
	}
	what := "function"
	if s.byCategory(e) {
		what = "category"
	}
	lead, interval := "", ""
	if e.Single() {
		lead = "from noise"
	}
	if e.Total.Method != stats.Exact {
		interval = "95% interval"
	}
	t.Add("", lead, "before", "after", "change", interval, what)
	return t
}

func (s *summary) cells(e *Event, r summaryRow) []string {
	f := newCostFormat(e)
	lead := ""
	if r.Lead != verdict.NoLead {
		lead = fmt.Sprintf("%.1fσ", float64(r.Distance))
		if r.Few {
			lead += " few"
		}
	}
	change, interval := changed(r.Change)
	return []string{"", lead, f.cost(r.Base), f.cost(r.Head), change, interval, r.name(math.MaxInt)}
}

// changed is a change, and its interval, "" if there is none: -23.8%, [-27.4, -20.0].
func changed(c *Change) (change, interval string) {
	switch {
	case c.Base == 0 && c.Head > 0:
		return "new", ""
	case c.Head == 0 && c.Base > 0:
		return "gone", ""
	}
	if !c.CI.Unknown() && c.Method != stats.Exact && c.Tested {
		bound := func(ratio float64) string { return strings.TrimSuffix(text.Relative(ratio), "%") }
		interval = "[" + bound(c.CI.Lo) + ", " + bound(c.CI.Hi) + "]"
	}
	return text.Relative(float64(c.Ratio)), interval
}

// eventLine says what the total of an event does, and that nothing else is known if it is so.
func (s *summary) eventLine(e *Event, more bool) string {
	out := &strings.Builder{}
	per, of := e.per()
	if of != "" {
		per += " (" + of + ")"
	}
	fmt.Fprintf(out, "%s %s: %s → %s", text.Printable(e.Name), per, text.Weight(e.Total.Base, e.Unit), text.Weight(e.Total.Head, e.Unit))
	if e.Total.Base > 0 && e.Total.Head > 0 {
		change, interval := changed(&e.Total)
		out.WriteString(strings.TrimSuffix(", "+change+" "+interval, " "))
	}
	word := e.Total.Verdict.Word(e.Measure())
	switch {
	case e.NoTotal != "" || e.Total.Method.Single():
	case e.Total.Verdict == verdict.Inconclusive && e.Total.RunsNeeded > 0:
		fmt.Fprintf(out, ": %s, %s would", word, runsText(e.Total.RunsNeeded, e.Total.Method))
	case word != "":
		out.WriteString(": " + word)
	}
	if !more && e.Total.Verdict == verdict.Inconclusive {
		out.WriteString("; nothing in it is decided")
	}
	return out.String()
}

func runsText(n int, m stats.Method) string {
	if m == stats.Clusters {
		return fmt.Sprintf("about %s devices a release", text.Count(int64(n)))
	}
	if n >= 1000 {
		return "1000 runs a side and more"
	}
	return fmt.Sprintf("about %d runs a side", n)
}

// byCategory reports whether the changes of an event are told by category: where threads leave the
// CPU, it is always the function that takes them off.
func (s *summary) byCategory(e *Event) bool {
	return run.IsWait(e.Name) && !s.Design.Focus && e.group(run.ByCategory) != nil
}

func (e *Event) group(by run.GroupBy) *Group {
	for i := range e.Groups {
		if e.Groups[i].By == by {
			return &e.Groups[i]
		}
	}
	return nil
}

// rows are what may have changed in an event, largest change first; with one run a side what is
// furthest from noise.
func (s *summary) rows(e *Event) (list []summaryRow) {
	if s.byCategory(e) {
		g := e.group(run.ByCategory)
		for i := range g.Rows {
			r := &g.Rows[i]
			list = append(list, summaryRow{Change: &r.Self, name: func(room int) string { return text.CutEnd(r.Label(), room) }})
		}
	} else {
		list = s.functions(e)
	}
	slices.SortStableFunc(list, func(a, b summaryRow) int { return -cmp.Compare(math.Abs(a.Delta), math.Abs(b.Delta)) })
	ranked(e, list, func(r summaryRow) *Change { return r.Change })
	return list
}

// functions are the functions of an event, a cost shift once, and those that explain its change with
// what they call.
func (s *summary) functions(e *Event) (list []summaryRow) {
	explained := !s.Design.Focus
	for _, i := range e.Explained {
		if f := &e.Functions[i]; explained {
			list = append(list, summaryRow{Change: &f.Total, name: func(room int) string { return withNote(f.Name, " + callees", room) }, inclusive: true})
		}
	}
	for i := range e.Functions {
		if f := &e.Functions[i]; f.Shift < 0 {
			list = append(list, summaryRow{Change: &f.Self, name: f.short, elsewhere: f.Elsewhere})
		}
	}
	for i := range e.Shifts {
		sh := &e.Shifts[i]
		list = append(list, summaryRow{Change: &sh.Net, name: func(room int) string { return withNote(sh.CallerName, ": moved inside", room) }})
	}
	return list
}

// withNote is a name with a note behind it, or with a + where there is no room for that.
func withNote(name, note string, room int) string {
	if left := room - text.Width(note); left >= text.Width(note) {
		return text.Elide(name, left) + note
	}
	const brief = " +"
	return text.Elide(name, room-len(brief)) + brief
}

// short names a function of both sides.
func (f *Function) short(room int) string {
	switch {
	case len(f.Parts) > 0:
		return text.Cut(f.became(func(name string) string { return text.Elide(name, max(1, room/2-3)) }), room)
	case f.BaseName != "" && f.BaseName != f.Name && f.Match != "":
		if both := f.BaseName + " → " + f.Name; text.Width(both) <= room {
			return both
		}
		return withNote(f.Name, " (renamed)", room)
	case slices.ContainsFunc(f.Why, func(r Reason) bool { return r.Text == sameCode }):
		if said := f.Name + " (" + sameCode + ")"; text.Width(said) <= room {
			return said
		}
	}
	return text.Elide(f.Name, room)
}

// waits writes who waits for whom, or for what.
func (s *summary) waits(w io.Writer) error {
	if s.Waits == nil || s.Design.Focus {
		return nil
	}
	rows, title := s.Waits.Chains, "Who waits"+waits.Arrow+"for whom"
	if len(rows) == 0 {
		rows, title = s.Waits.Regions, "Waits for what one thread has"
	}
	if len(rows) == 0 {
		return nil
	}
	s.lines.Printf("")
	s.lines.Printf("%s, %s", title, waits.Per(s.Waits.Base, s.Waits.Head))
	if s.lines.Err != nil {
		return s.lines.Err
	}
	t := text.Table{Right: []bool{false, true, true}, Names: []int{3}}
	t.Add("", "before", "after", "threads")
	for i := range rows[:min(len(rows), summaryWaits)] {
		t.Add("", rows[i].Base.String(), rows[i].Head.String(), rows[i].Of)
	}
	if n := len(rows) - summaryWaits; n > 0 {
		t.Head(fmt.Sprintf("  (%d more)", n))
	}
	return t.Write(w)
}

// facts writes what is not decided, and what to know of the runs.
func (s *summary) facts(w io.Writer, main *Event, next bool) {
	t := text.Table{Prose: true}
	t.Fact(verdict.Inconclusive.Word(main.Measure()), s.undecided(main))
	for _, side := range []struct {
		name string
		*Side
	}{{"before", &s.Base}, {"after", &s.Head}} {
		t.Fact(side.name, side.Commit)
	}
	if s.Design.Fleet != nil {
		t.Fact("compared", s.Design.Text)
	} else if s.Design.RunsBase > 1 && s.Design.RunsHead > 1 {
		t.Fact("order", s.Design.Text)
	}
	t.Fact("took", s.Design.Took)
	s.addSamples(&t)
	if l := s.Leads; l != nil {
		if !next {
			t.Add("to decide", l.Record)
		}
		t.Fact("to record", l.Note)
	}
	warnings := s.Design.Warnings
	for _, warning := range warnings[:min(len(warnings), summaryWarnings)] {
		t.Add("warning", warning)
	}
	if n := len(warnings) - summaryWarnings; n > 0 {
		t.Fact("", more(n, "warning"))
	}
	if s.lines.Err == nil && len(t.Rows) > 0 {
		s.lines.Printf("")
		s.lines.Err = t.Write(w)
	}
}

// undecided says how many functions of an event are not decided, and what would decide the largest.
func (s *summary) undecided(e *Event) string {
	if e.Single() || e.Withheld != "" {
		return "" // the story says it
	}
	rows := functionChanges(e, Options{})
	if s.byCategory(e) {
		rows = tally{what: "categories"}
		for _, r := range s.rows(e) {
			rows.changes = append(rows.changes, r.Change)
		}
	}
	tested, counts := rows.verdicts()
	n := counts[verdict.Inconclusive]
	if n == 0 {
		return ""
	}
	var largest summaryRow
	for _, r := range s.rows(e) {
		if r.Tested && r.Verdict == verdict.Inconclusive {
			largest = r
			break
		}
	}
	line := fmt.Sprintf("%d of %d %s that cost enough to be tested", n, tested, rows.what)
	if largest.Change == nil || slices.ContainsFunc(s.Story.Sentences, func(t story.Sentence) bool { return t.About.Name == largest.name(math.MaxInt) }) {
		return line // the story says the rest
	}
	f := newCostFormat(e)
	line += fmt.Sprintf("; the largest is %s, %s → %s", largest.name(2*summaryRoom), f.cost(largest.Base), f.cost(largest.Head))
	if largest.RunsNeeded > 0 {
		line += fmt.Sprintf(", which %s would probably decide", runsText(largest.RunsNeeded, largest.Method))
	}
	return line
}

// addSamples says how many samples there are, and of each side what became of them, if not all were
// used or not all have names.
func (s *summary) addSamples(t *text.Table) {
	var sums [2]run.Accounting
	var events [2][]run.Event
	whole := true
	for i, side := range []*Side{&s.Base, &s.Head} {
		for j := range side.Runs {
			sums[i].Add(side.Runs[j].Accounting)
			events[i] = append(events[i], side.Runs[j].Events...)
		}
		a := &sums[i]
		whole = whole && a.In == a.Out && a.Lost == 0 && a.UnknownShare() < fewUnknown
	}
	switch {
	case sums[0].In+sums[1].In == 0:
	case whole:
		t.Add("samples", text.Count(sums[0].In)+" → "+text.Count(sums[1].In))
	default:
		for i, name := range []string{"before", "after"} {
			t.Add("samples", name+": "+strings.TrimPrefix(sums[i].With(events[i]), "samples: "))
		}
	}
}

// fewUnknown is the share of frames without names of which there is nothing to say.
const fewUnknown = 0.01
