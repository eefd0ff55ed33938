package diff

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

func sortByTotal(e *Event, list []int) {
	slices.SortStableFunc(list, func(a, b int) int {
		return -cmp.Compare(math.Abs(e.Functions[a].Total.Delta), math.Abs(e.Functions[b].Total.Delta))
	})
}

// writeMetrics writes the events of a comparison side by side, if it has several: the
// change of each function in each event, with = for the same and ? for what cannot be told,
// and what cycles, instructions and branch misses say together.
func writeMetrics(w io.Writer, c *Document, opt Options) error {
	metrics := c.Metrics
	if len(metrics) == 0 {
		return nil
	}
	rates := metrics[0].Rates
	title := "\nevents side by side"
	if rates {
		title += "; the change of cycles as that of instructions at base's IPC, and that of IPC"
	}
	if _, err := fmt.Fprintln(w, title); err != nil {
		return err
	}
	var t text.Table
	var header []string
	for i := range c.Events {
		header = append(header, "", c.Events[i].Name)
		t.Right = append(t.Right, false, true)
	}
	t.Names = []int{len(t.Right)}
	if rates {
		t.Names[0] += 6
		for i := t.Names[0] - 2; i >= len(t.Right); i -= 2 {
			t.Spare = append(t.Spare, []int{i, i + 1})
		}
		header = append(header, "by instructions", "by IPC", "IPC base", "IPC head", "MPKI base", "MPKI head")
		t.Right = append(t.Right, true, true, true, true, true, true)
	}
	for i := 2*len(c.Events) - 2; i > 0; i -= 2 {
		t.Spare = append(t.Spare, []int{i, i + 1}) // the first event stays
	}
	t.Add(append(header, "function")...)
	hidden := 0
	for i := range metrics {
		m := &metrics[i]
		heavy := false
		var cells []string
		for j, ch := range m.Changes {
			if ch == nil {
				cells = append(cells, "", "-")
				continue
			}
			heavy = heavy || ch.Tested
			format := newCostFormat(&c.Events[j])
			if i == 0 {
				format.share = false // the total is no share
			}
			cells = append(cells, changeMark(ch), format.delta(ch.Delta))
		}
		if !heavy || c.Design.Focus && i > 0 && !m.Focus {
			continue
		}
		if opt.Limit > 0 && len(t.Rows) > opt.Limit {
			hidden++
			continue
		}
		if rates {
			cells = append(cells, formatMetric(m.FromInstructions), formatMetric(m.FromIPC),
				formatRate(m.IPCBase), formatRate(m.IPCHead), formatRate(m.MPKIBase), formatRate(m.MPKIHead))
		}
		name := m.Name
		if i == 0 {
			name = "[everything]"
		}
		t.Add(append(cells, name)...)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if hidden > 0 {
		_, err := fmt.Fprintf(w, "(%s)\n", more(hidden, "function"))
		return err
	}
	return nil
}

// changeMark is a verdict in one character.
func changeMark(c *Change) string {
	switch {
	case c.Verdict.Changed():
		return " "
	case c.Verdict == verdict.Unchanged || c.Withheld:
		return c.Verdict.Sign()
	}
	mark, _ := utf8.DecodeRuneInString(c.Text(verdict.Time))
	return string(mark)
}

func formatMetric(v text.Number) string {
	if math.IsNaN(float64(v)) {
		return "-"
	}
	return text.Delta(float64(v), "cpu-cycles")
}

func formatRate(v text.Number) string {
	if math.IsNaN(float64(v)) {
		return "-"
	}
	return text.Digits(float64(v))
}

// WriteLines writes the source lines of every event by absolute change: those of the functions that
// the user named, if any.
func WriteLines(w io.Writer, c *Document, opt Options) error {
	for i := range c.Events {
		e := &c.Events[i]
		lines := e.Lines
		if c.Design.Focus {
			lines = slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return !e.Functions[l.Function].Focus })
		}
		all := tally{what: "lines", all: len(lines)}
		for j := range lines {
			all.changes = append(all.changes, &lines[j].Self)
		}
		if err := writeEventSummary(w, c, e, all); err != nil {
			return err
		}
		format := newCostFormat(e)
		t := changeTable("line", "function")
		hidden, hiddenDelta := 0, 0.0
		for j := range lines {
			l := &lines[j]
			if opt.Limit > 0 && len(t.Rows) > opt.Limit {
				hidden++
				hiddenDelta += l.Self.Delta
				continue
			}
			addChange(&t, &l.Self, format, l.Name(), e.Functions[l.Function].Name)
		}
		if c.Design.Focus && len(lines) == 0 {
			if _, err := fmt.Fprintln(w, noFocus); err != nil {
				return err
			}
			continue
		}
		if err := t.Write(w); err != nil {
			return err
		}
		if hidden > 0 {
			if _, err := fmt.Fprintf(w, "(%s, %s in all)\n", more(hidden, "line"), format.delta(hiddenDelta)); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteTree writes the call tree of every event with the change of each node and
// all below it; what was left out is counted.
func WriteTree(w io.Writer, d *Document) error {
	for i := range d.Events {
		e := &d.Events[i]
		if err := writeEventSummary(w, d, e, functionChanges(e, Options{})); err != nil {
			return err
		}
		format := newCostFormat(e)
		const delta, ratio, function = 2, 3, 5
		t := text.Table{Right: []bool{true, true, true, true, false}, Names: []int{function}, Spare: [][]int{{delta}, {ratio}}}
		t.Add("base", "head", "delta", "ratio", "95% interval", "function")
		for _, n := range e.Tree.Nodes {
			name := "[everything]"
			if n.Function >= 0 {
				name = functionText(&e.Functions[n.Function])
				switch {
				case n.Base == 0 && n.Head > 0 && !strings.HasSuffix(name, "(new)"):
					name += " (new path)"
				case n.Head == 0 && n.Base > 0 && !strings.HasSuffix(name, "(gone)"):
					name += " (path gone)"
				}
			}
			t.Add(format.cost(n.Base), format.cost(n.Head), format.delta(n.Head-n.Base), text.Ratio(float64(n.Ratio)), n.CI.String(), text.Indent(n.Depth)+name)
			t.Short(function, text.Indented(n.Depth, name))
		}
		if err := t.Write(w); err != nil {
			return err
		}
		if e.Tree.Hidden > 0 {
			if _, err := fmt.Fprintf(w, "(%d subtrees below %s of the total are not shown)\n", e.Tree.Hidden, text.Share(e.Tree.MinShare, 1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteNeighbors writes the callers and callees of the functions that the user named.
func WriteNeighbors(w io.Writer, c *Document, opt Options) error {
	for i := range c.Events {
		e := &c.Events[i]
		if err := writeEventSummary(w, c, e, functionChanges(e, Options{})); err != nil {
			return err
		}
		format := newCostFormat(e)
		for _, n := range e.Neighbors {
			f := &e.Functions[n.Function]
			t := changeTable("", "function")
			add := func(what string, list []Neighbor) {
				for k, n := range list {
					if opt.Limit > 0 && k >= opt.Limit {
						break
					}
					name := "[outermost]"
					if n.Function >= 0 {
						name = functionText(&e.Functions[n.Function])
					}
					addChange(&t, &n.Calls, format, what, name)
				}
			}
			add("caller", n.Callers)
			addChange(&t, &f.Total, format, "total", functionText(f))
			addChange(&t, &f.Self, format, "self", functionText(f))
			add("callee", n.Callees)
			if _, err := fmt.Fprintf(w, "\n%s\n", text.Printable(f.Name)); err != nil {
				return err
			}
			if err := t.Write(w); err != nil {
				return err
			}
		}
		if len(e.Neighbors) == 0 {
			if _, err := fmt.Fprintln(w, noFocus); err != nil {
				return err
			}
		}
	}
	return nil
}
