package diff

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"profdiff/internal/compare"
	"profdiff/internal/report/text"
)

func sortByTotal(e *compare.Event, list []int) {
	slices.SortStableFunc(list, func(a, b int) int {
		return -cmp.Compare(math.Abs(e.Functions[a].Total.Delta()), math.Abs(e.Functions[b].Total.Delta()))
	})
}

// writeMetrics writes the events of a comparison side by side, if it has several: the
// change of each function in each event, with ~ for no difference and ? for none shown,
// and what cycles, instructions and branch misses say together.
func writeMetrics(w io.Writer, c *compare.Comparison, opt Options) error {
	metrics := c.Metrics()
	if metrics == nil {
		return nil
	}
	whole := &metrics[0]
	rates := whole.Cycles != nil && whole.Instructions != nil
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
	if rates {
		header = append(header, "by instructions", "by IPC", "IPC base", "IPC head", "MPKI base", "MPKI head")
		t.Right = append(t.Right, true, true, true, true, true, true)
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
			if m.Function < 0 {
				format.share = false // the total is no share
			}
			cells = append(cells, changeMark(ch), format.delta(ch.Delta()))
		}
		if !heavy || len(c.Options.Focus) > 0 && i > 0 && !m.Focus {
			continue
		}
		if opt.Limit > 0 && len(t.Rows) > opt.Limit {
			hidden++
			continue
		}
		if rates {
			cells = append(cells, formatMetric(m.FromInstructions), formatMetric(m.FromIPC),
				formatRate(m.IPC.Base), formatRate(m.IPC.Head), formatRate(m.MPKI.Base), formatRate(m.MPKI.Head))
		}
		name := m.Name
		if m.Function < 0 {
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
func changeMark(c *compare.Change) string {
	if c.Verdict.Changed() {
		return " "
	}
	return c.Text()[:1]
}

func formatMetric(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return text.Delta(v, "cpu-cycles")
}

func formatRate(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return text.Digits(v)
}

// WriteLines writes the source lines of every event by absolute change.
func WriteLines(w io.Writer, c *compare.Comparison, opt Options) error {
	for i := range c.Events {
		e := &c.Events[i]
		lines := c.Lines(i)
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
				hiddenDelta += l.Self.Delta()
				continue
			}
			t.Add(append(changeCells(&l.Self, format), l.Name(), e.Functions[l.Function].Name)...)
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

// A TreeOptions says which nodes of a call tree are shown.
type TreeOptions struct {
	// MinShare leaves out nodes that cost less of the total on both sides, 0 to 1.
	MinShare float64
	// Callers has the leaves as roots.
	Callers bool
}

// WriteTree writes the call tree of every event with the change of each node and
// all below it; what was left out is counted.
func WriteTree(w io.Writer, c *compare.Comparison, opt TreeOptions) error {
	for i := range c.Events {
		e := &c.Events[i]
		if err := writeEventSummary(w, c, e, functionChanges(e, Options{})); err != nil {
			return err
		}
		tree := c.Tree(i)
		if opt.Callers {
			tree = c.CallerTree(i)
		}
		format := newCostFormat(e)
		t := text.Table{Right: []bool{true, true, true, true, false}}
		t.Add("base", "head", "delta", "ratio", "95% interval", "function")
		hidden := 0
		floor := opt.MinShare * max(tree.Base[compare.TreeRoot], tree.Head[compare.TreeRoot])
		var shown []compare.TreeNode
		var depths []int
		var walk func(n compare.TreeNode, depth int)
		walk = func(n compare.TreeNode, depth int) {
			shown, depths = append(shown, n), append(depths, depth)
			for _, child := range tree.Children(n) {
				if max(tree.Base[child], tree.Head[child]) < floor {
					hidden++
					continue
				}
				walk(child, depth+1)
			}
		}
		walk(compare.TreeRoot, 0)
		costs := tree.Costs(shown)
		for i := range shown {
			total := costs.Change(i)
			base, head := tree.Base[shown[i]], tree.Head[shown[i]]
			name := "[everything]"
			if fn := tree.Function[shown[i]]; fn >= 0 {
				name = functionText(&e.Functions[fn])
				switch {
				case base == 0 && head > 0 && !strings.HasSuffix(name, "(new)"):
					name += " (new path)"
				case head == 0 && base > 0 && !strings.HasSuffix(name, "(gone)"):
					name += " (path gone)"
				}
			}
			t.Add(format.cost(base), format.cost(head), format.delta(head-base), text.Ratio(total.Ratio), formatInterval(total.CI), text.Indent(depths[i])+name)
		}
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

// WriteNeighbors writes the callers and callees of the functions that the user named.
func WriteNeighbors(w io.Writer, c *compare.Comparison, opt Options) error {
	for i := range c.Events {
		e := &c.Events[i]
		if err := writeEventSummary(w, c, e, functionChanges(e, Options{})); err != nil {
			return err
		}
		format := newCostFormat(e)
		found := false
		for j := range e.Functions {
			f := &e.Functions[j]
			if !f.Focus {
				continue
			}
			found = true
			callers, callees := c.Neighbors(i, j)
			t := changeTable("", "function")
			add := func(what string, list []compare.Neighbor) {
				for k, n := range list {
					if opt.Limit > 0 && k >= opt.Limit {
						break
					}
					name := "[outermost]"
					if n.Function >= 0 {
						name = functionText(&e.Functions[n.Function])
					}
					t.Add(append(changeCells(&n.Calls, format), what, name)...)
				}
			}
			add("caller", callers)
			t.Add(append(changeCells(&f.Total, format), "total", functionText(f))...)
			t.Add(append(changeCells(&f.Self, format), "self", functionText(f))...)
			add("callee", callees)
			if _, err := fmt.Fprintf(w, "\n%s\n", text.Printable(f.Name)); err != nil {
				return err
			}
			if err := t.Write(w); err != nil {
				return err
			}
		}
		if !found {
			if _, err := fmt.Fprintln(w, noFocus); err != nil {
				return err
			}
		}
	}
	return nil
}
