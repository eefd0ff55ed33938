package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"profdiff/internal/compare"
)

func sortByTotal(e *compare.Event, list []int) {
	slices.SortStableFunc(list, func(a, b int) int {
		return -cmp.Compare(math.Abs(e.Functions[a].Total.Delta()), math.Abs(e.Functions[b].Total.Delta()))
	})
}

// writeMetrics writes cycles, instructions and branch misses side by side, if the
// comparison has them.
func writeMetrics(w io.Writer, c *compare.Comparison, opt DiffOptions) error {
	metrics := c.Metrics()
	if metrics == nil {
		return nil
	}
	cycles := metrics[0]
	if _, err := fmt.Fprintf(w, "\nwhy: the change of cycles as that of instructions at base's IPC, and that of IPC\n"); err != nil {
		return err
	}
	t := table{right: []bool{true, true, true, true, true, true, true}}
	t.add("delta cycles", "instructions", "IPC", "IPC base", "IPC head", "MPKI base", "MPKI head", "function")
	floor := c.Options.MinShare * (cycles.Cycles.Base + cycles.Cycles.Head)
	for i := range metrics {
		m := &metrics[i]
		if opt.Limit > 0 && len(t.rows) > opt.Limit || m.Cycles.Base+m.Cycles.Head < floor {
			continue
		}
		name := m.Name
		if m.Function < 0 {
			name = "[everything]"
		}
		t.add(formatDelta(m.Cycles.Delta(), "cpu-cycles"), formatMetric(m.FromInstructions, true), formatMetric(m.FromIPC, true),
			formatRate(m.IPC.Base), formatRate(m.IPC.Head), formatRate(m.MPKI.Base), formatRate(m.MPKI.Head), name)
	}
	return t.write(w)
}

func formatMetric(v float64, signed bool) string {
	if math.IsNaN(v) {
		return "-"
	}
	if signed {
		return formatDelta(v, "cpu-cycles")
	}
	return formatWeight(v, "cpu-cycles")
}

func formatRate(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return formatDigits(v)
}

// A DiffTreeOptions says which nodes of a call tree are shown.
type DiffTreeOptions struct {
	// MinShare leaves out nodes that cost less of the total on both sides, 0 to 1.
	MinShare float64
	// Callers has the leaves as roots.
	Callers bool
}

// WriteDiffTree writes the call tree of every event with the change of each node and
// all below it; what was left out is counted.
func WriteDiffTree(w io.Writer, c *compare.Comparison, opt DiffTreeOptions) error {
	for i := range c.Events {
		e := &c.Events[i]
		if err := writeEventSummary(w, c, e); err != nil {
			return err
		}
		tree := c.Tree(i)
		if opt.Callers {
			tree = c.CallerTree(i)
		}
		format := newCostFormat(e)
		t := table{right: []bool{true, true, true, true, false}}
		t.add("base", "head", "delta", "ratio", "95% interval", "function")
		hidden := 0
		floor := opt.MinShare * max(tree.Root.Base, tree.Root.Head)
		var walk func(n *compare.TreeNode, depth int)
		walk = func(n *compare.TreeNode, depth int) {
			name := "[everything]"
			if n.Function >= 0 {
				f := &e.Functions[n.Function]
				name = functionText(f)
				switch {
				case n.Base == 0 && n.Head > 0 && !strings.HasSuffix(name, "(new)"):
					name += " (new path)"
				case n.Head == 0 && n.Base > 0 && !strings.HasSuffix(name, "(gone)"):
					name += " (path gone)"
				}
			}
			total := tree.Total(n)
			t.add(format.cost(n.Base), format.cost(n.Head), format.delta(n.Head-n.Base), formatRatio(total.Ratio), formatInterval(total.CI), strings.Repeat("  ", depth)+name)
			for _, child := range n.Children {
				if max(child.Base, child.Head) < floor {
					hidden++
					continue
				}
				walk(child, depth+1)
			}
		}
		walk(tree.Root, 0)
		if err := t.write(w); err != nil {
			return err
		}
		if hidden > 0 {
			if _, err := fmt.Fprintf(w, "(%d subtrees below %s of the total are not shown)\n", hidden, formatShare(opt.MinShare, 1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteNeighbors writes the callers and callees of the functions that the user named.
func WriteNeighbors(w io.Writer, c *compare.Comparison, opt DiffOptions) error {
	for i := range c.Events {
		e := &c.Events[i]
		if err := writeEventSummary(w, c, e); err != nil {
			return err
		}
		format := newCostFormat(e)
		for j := range e.Functions {
			f := &e.Functions[j]
			if !f.Focus {
				continue
			}
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
					t.add(append(changeCells(&n.Calls, format), what, name)...)
				}
			}
			add("caller", callers)
			t.add(append(changeCells(&f.Total, format), "total", functionText(f))...)
			t.add(append(changeCells(&f.Self, format), "self", functionText(f))...)
			add("callee", callees)
			if _, err := fmt.Fprintf(w, "\n%s\n", printable(f.Name)); err != nil {
				return err
			}
			if err := t.write(w); err != nil {
				return err
			}
		}
	}
	return nil
}
