package show

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/report/text"
	"profdiff/internal/report/waits"
	"profdiff/internal/run"
	"profdiff/internal/wait"
)

// Options say how a document is shown as text.
type Options struct {
	// Exact writes weights in full and small shares with another digit, as simpleperf's
	// HTML report does.
	Exact bool
	// Limit is the number of rows, 0 for all.
	Limit int
	// MinShare leaves out nodes of a tree with less of the total, 0 to 1.
	MinShare float64
}

func (o *Options) weight(v int64, e *Event) string {
	switch {
	case !o.Exact:
		return text.Weight(float64(v), e.Unit)
	case e.Unit == "nanoseconds":
		return text.Count(v) + " ns"
	}
	return text.Count(v)
}

// share is the share of an event's weight.
func (o *Options) share(v int64, e *Event) string {
	if !o.Exact || e.Weight == 0 {
		return text.Share(float64(v), float64(e.Weight))
	}
	percent := 100 * float64(v) / float64(e.Weight)
	switch {
	case v == 0:
		return "0%"
	case math.Abs(percent) < 9.9995:
		return strconv.FormatFloat(percent, 'f', 3, 64) + "%"
	}
	return strconv.FormatFloat(percent, 'f', 2, 64) + "%"
}

// samples is a number of samples of an event.
func samples(n int64, e *Event) string {
	if e.Samples == 0 && e.Weight != 0 {
		return "-" // the input does not tell
	}
	return text.Count(n)
}

// WriteText writes where most of the first event is, who waited for whom, which is short, and one
// table per event of what costs most.
func WriteText(w io.Writer, d *Document, opt Options) error {
	if err := writeSentence(w, d.sentence()); err != nil {
		return err
	}
	if err := writeFacts(w, d); err != nil {
		return err
	}
	if d.Waits != nil {
		if err := waits.WriteSection(w, d.Waits); err != nil {
			return err
		}
	}
	for e := range d.Events {
		if err := writeEventHeader(w, &d.Events[e], &opt); err != nil {
			return err
		}
		if d.Events[e].Samples == 0 && d.Events[e].Weight == 0 {
			continue
		}
		if err := writeTop(w, d, e, opt); err != nil {
			return err
		}
	}
	return nil
}

// writeSentence writes what comes first, if there is something to say.
func writeSentence(w io.Writer, s string) error {
	if s == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, text.ScreenOf(w).Paint(text.Bold, text.Printable(s)))
	return err
}

// sentence says where most of the first event is that was on a CPU, "" if nothing was sampled. Where
// threads leave it is no news: all do in one function; nor is where they wait for something to do, or where a tracepoint is. Of a dump it says who waits for whom.
func (d *Document) sentence() string {
	if d.Waits != nil && d.Waits.Dumps > 0 {
		return waits.Sentence(d.Waits)
	}
	for i := range d.Events {
		e := &d.Events[i]
		if e.Weight == 0 || len(d.Rows) == 0 || d.By == run.ByFunction && slices.Contains(leaving, e.Name) {
			continue
		}
		top, in := d.top(i)
		if top == nil || top.Self[i].Weight == 0 {
			continue
		}
		if e.Name == "slices" && d.Waits != nil && wait.Contends(top.Name) {
			if s := waits.Sentence(d.Waits); s != "" {
				return s
			}
		}
		if name, _ := run.SplitEvent(e.Name); d.By == run.ByFunction && strings.Contains(name, ":") && top.Self[i].Weight == e.Weight {
			continue // a tracepoint is in one function
		}
		share := text.Percent(float64(top.Self[i].Weight) / float64(e.Weight))
		switch {
		case e.Samples == 0:
			return fmt.Sprintf("%s of %s is in %s", share, e.Name, in)
		case e.Name == "slices" && d.By == run.ByFunction:
			are := "are"
			if top.Self[i].Count == 1 {
				are = "is"
			}
			return fmt.Sprintf("%s of %s slices %s %s: %s of their time", text.Count(top.Self[i].Count), text.Count(e.Samples), are, in, share)
		}
		return fmt.Sprintf("%s of %s samples in %s: %s of %s", text.Count(top.Self[i].Count), text.Count(e.Samples), in, share, e.Name)
	}
	return ""
}

// top is the row of which a sentence says that most of an event is in it, and how; nil if there is none. Functions without
// names of one file stand together, as what has no name is of several functions: where they are more than half, or all there is.
func (d *Document) top(event int) (row *run.Row, in string) {
	for i := range d.Rows {
		r := &d.Rows[i]
		if row != nil && compareRows(r, row, event) > 0 {
			continue
		}
		if r.Name != "[unknown]" && (d.By != run.ByFunction || !strings.HasPrefix(r.Name, "[") && !r.Unknown() && !wait.Polls(r.Name)) {
			row = r
		}
	}
	if d.By == run.ByFunction {
		u := unnamed(d.Rows, event)
		if row == nil || u.Self[event].Weight > d.Events[event].Weight/2 {
			if in = text.BaseName(u.Name); in == "[unknown]" {
				return u, "functions without names"
			}
			return u, text.Elide(in, sentenceName) + ", whose functions have no names"
		}
	}
	if row == nil {
		return nil, ""
	}
	switch name, _ := run.SplitEvent(d.Events[event].Name); {
	case d.By != run.ByFunction:
		in = string(d.By) + " " + text.Elide(row.Name, sentenceName)
	case strings.HasSuffix(name, "slices") && text.Width(row.Name) > sentenceName:
		in = text.CutEnd(row.Name, sentenceName) // no function is called so: it may be a sentence, or an address of a page
	default:
		in = text.Elide(row.Name, sentenceName)
	}
	return row, in
}

// unnamed sums up functions without names, and returns those of the file that has most of an event in such, by its name.
func unnamed(rows []run.Row, event int) *run.Row {
	most := &run.Row{Self: make([]run.Sum, event+1)}
	byFile := make(map[string]*run.Row)
	for i := range rows {
		r := &rows[i]
		if !r.Unknown() || r.Name == run.CutName {
			continue
		}
		file := cmp.Or(r.DSO, r.Name)
		sum := byFile[file]
		if sum == nil {
			sum = &run.Row{Name: file, Self: make([]run.Sum, event+1)}
			byFile[file] = sum
		}
		sum.Self[event].Weight += r.Self[event].Weight
		sum.Self[event].Count += r.Self[event].Count
		if sum.Self[event].Weight > most.Self[event].Weight {
			most = sum
		}
	}
	return most
}

// leaving are events of threads that leave the CPU, or have left it.
var leaving = []string{"off-cpu", "context-switches", "sched:sched_switch", "stack-dumps"}

// sentenceName is the room that a name has in a sentence.
const sentenceName = 60

// WriteLocks writes the locks that threads waited for, instead of the events.
func WriteLocks(w io.Writer, d *Document, opt Options) error {
	if err := writeSentence(w, waits.Sentence(d.Waits)); err != nil {
		return err
	}
	if err := writeFacts(w, d); err != nil {
		return err
	}
	return waits.WriteLocks(w, d.Waits, opt.Limit)
}

func writeEventHeader(w io.Writer, e *Event, opt *Options) error {
	derived := ""
	if e.Derived {
		derived = " (derived)"
	}
	if e.Samples == 0 && e.Weight != 0 {
		samples := "number of samples unknown"
		if e.Simulated {
			samples = "counted by a simulator"
		}
		_, err := fmt.Fprintf(w, "\n%s%s: %s, %s\n", e.Name, derived, opt.weight(e.Weight, e), samples)
		return err
	}
	neff := strconv.FormatFloat(e.NEff, 'f', 0, 64)
	if e.AtMost {
		neff = "at most " + neff
	}
	_, err := fmt.Fprintf(w, "\n%s%s: %s in %s samples, effective sample size %s\n",
		e.Name, derived, opt.weight(e.Weight, e), text.Count(e.Samples), neff)
	return err
}

func writeTop(w io.Writer, d *Document, e int, opt Options) error {
	ev := &d.Events[e]
	// Others have a sample in one row only, so that their totals are their own.
	framed := d.By == run.ByFunction || d.By == run.ByFile || d.By == run.ByDSO
	t := text.Table{Right: []bool{true, true, true, true, true, true}}
	head := []string{"self", "share", "samples"}
	if framed {
		head = append(head, "total", "share", "samples")
		t.Spare = append(t.Spare, []int{2, 5})
	} else {
		t.Right = t.Right[:3]
	}
	// Names of functions may be long: they are last.
	if d.By == run.ByFunction {
		t.Names = append(t.Names, len(head))
		t.Spare = append(t.Spare, []int{len(head)}, []int{3}, []int{0})
		head = append(head, "dso")
	}
	t.Names = append(t.Names, len(head))
	t.Add(append(head, string(d.By))...)
	// Rows come sorted by the first event; each event has its own order.
	sorted := sortRows(d.Rows, e)
	shown := 0
	var rest run.Sum
	for _, row := range sorted {
		self, total := row.Self[e], row.Total[e]
		if total.Count == 0 && total.Weight == 0 {
			continue
		}
		if opt.Limit > 0 && shown == opt.Limit {
			rest.Weight += self.Weight
			rest.Count += self.Count
			continue
		}
		shown++
		cells := []string{
			opt.weight(self.Weight, ev), opt.share(self.Weight, ev), samples(self.Count, ev),
		}
		if framed {
			cells = append(cells, opt.weight(total.Weight, ev), opt.share(total.Weight, ev), samples(total.Count, ev))
		}
		if d.By == run.ByFunction {
			cells = append(cells, text.BaseName(row.DSO))
		}
		t.Add(append(cells, row.Name)...)
	}
	if rest.Count > 0 || rest.Weight > 0 {
		cells := []string{opt.weight(rest.Weight, ev), opt.share(rest.Weight, ev), samples(rest.Count, ev)}
		if framed {
			cells = append(cells, "", "", "")
		}
		if d.By == run.ByFunction {
			cells = append(cells, "")
		}
		t.Add(append(cells, "(all others)")...)
	}
	return t.Write(w)
}

// writeFacts writes what is known of a recording.
func writeFacts(w io.Writer, d *Document) error {
	in := &d.Inputs[0]
	rec := &in.Recording
	t := text.Table{Prose: true}
	add := t.Fact
	add("input", in.Path)
	add("format", rec.Format)
	add("tool", rec.Tool)
	add("command", rec.CommandLine)
	add("device", rec.Device)
	add("build", rec.Build)
	add("app", rec.App)
	add("machine", strings.TrimSpace(strings.Join([]string{rec.Arch, rec.CPU}, " ")))
	add("kernel", rec.Kernel)
	if !rec.Start.IsZero() {
		add("recorded", rec.Start.Format(time.RFC3339))
	}
	if rec.Duration > 0 {
		add("duration", rec.Duration.Round(time.Millisecond).String())
	}
	add("holds", rec.Holds)
	for _, c := range d.Counters {
		value := text.Weight(c.Value, c.Unit)
		if c.Running > 0 && c.Running < 1 {
			value += fmt.Sprintf(" (extrapolated from %.1f%% of the time)", 100*c.Running)
		}
		add("counter", c.Name+" "+value)
	}
	for i := range d.measured {
		m := &d.measured[i]
		if i == mostMeasured {
			add("measured", fmt.Sprintf("and %d more: --metric . lists all", len(d.measured)-i))
			break
		}
		add("measured", m.text())
	}
	for _, warning := range in.Warnings {
		add("warning", warning)
	}
	return t.Write(w)
}

// mostMeasured is how many quantities that a trace measured are told.
const mostMeasured = 6

// A measured says how much values of one quantity are.
type measured run.Measured

func (m *measured) text() string {
	what := strings.TrimSpace(m.Process + " " + m.Quantity)
	amount := func(v float64) string {
		if m.Unit == "%" {
			return text.Percent(v / 100)
		}
		return text.Weight(v, "nanoseconds")
	}
	values := slices.Sorted(slices.Values(m.Values))
	n := len(values)
	switch {
	case n == 0:
		return fmt.Sprintf("%s: %s without an end", what, text.Count(m.Unended))
	case n == 1:
		return what + ": " + amount(values[0])
	}
	return fmt.Sprintf("%s: %s of them, median %s, longest %s", what, text.Count(int64(n)), amount((values[(n-1)/2]+values[n/2])/2), amount(values[n-1]))
}

// WriteTree writes the call tree of every event, root first, the heaviest path
// first.
func WriteTree(w io.Writer, d *Document, opt Options) error {
	if err := writeFacts(w, d); err != nil {
		return err
	}
	for e := range d.Events {
		ev := &d.Events[e]
		if err := writeEventHeader(w, ev, &opt); err != nil {
			return err
		}
		if ev.Samples == 0 && ev.Weight == 0 {
			continue
		}
		const self, share, samplesColumn, function = 2, 3, 4, 5
		t := text.Table{Right: []bool{true, true, true, true, true}, Names: []int{function}, Spare: [][]int{{samplesColumn}, {self, share}}}
		t.Add("total", "share", "self", "share", "samples", "function")
		least := int64(opt.MinShare * float64(ev.Weight))
		hidden := 0
		var walk func(n *run.Node, depth int)
		walk = func(n *run.Node, depth int) {
			for _, c := range n.Children {
				if c.Total < least {
					hidden++
					continue
				}
				t.Add(opt.weight(c.Total, ev), opt.share(c.Total, ev), opt.weight(c.Self, ev), opt.share(c.Self, ev),
					samples(c.Samples, ev), text.Indent(depth)+c.Name)
				t.Short(function, text.Indented(depth, c.Name))
				walk(c, depth+1)
			}
		}
		walk(d.Trees[e], 0)
		if err := t.Write(w); err != nil {
			return err
		}
		if hidden > 0 {
			if _, err := fmt.Fprintf(w, "(%d subtrees below %s of the total are not shown)\n", hidden, text.Share(opt.MinShare, 1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sortRows orders rows by one event, see compareRows.
func sortRows(rows []run.Row, event int) []*run.Row {
	sorted := make([]*run.Row, len(rows))
	for i := range rows {
		sorted[i] = &rows[i]
	}
	slices.SortFunc(sorted, func(a, b *run.Row) int { return compareRows(a, b, event) })
	return sorted
}

// compareRows compares rows by what they have of one event: self weight, then total, largest first, then name.
func compareRows(a, b *run.Row, event int) int {
	if c := cmp.Or(cmp.Compare(b.Self[event].Weight, a.Self[event].Weight), cmp.Compare(b.Total[event].Weight, a.Total[event].Weight)); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.DSO, b.DSO))
}
