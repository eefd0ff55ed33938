package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/run"
)

// ShowOptions say what of a run is shown.
type ShowOptions struct {
	By run.GroupBy
	// Limit is the number of rows, 0 for all.
	Limit int
	// MinShare leaves out nodes of a tree with less of the total, 0 to 1.
	MinShare float64
}

// WriteShow writes one table per event of what costs most.
func WriteShow(w io.Writer, r *run.Run, opt ShowOptions) error {
	if err := writeFacts(w, r); err != nil {
		return err
	}
	rows := r.Group(opt.By)
	for e := range r.Events {
		if err := writeEventHeader(w, &r.Events[e]); err != nil {
			return err
		}
		if r.Events[e].Samples == 0 {
			continue
		}
		if err := writeTop(w, r, e, rows, opt); err != nil {
			return err
		}
	}
	return nil
}

func writeEventHeader(w io.Writer, e *run.Event) error {
	derived := ""
	if e.Derived {
		derived = " (derived)"
	}
	neff := strconv.FormatFloat(e.EffectiveSamples(), 'f', 0, 64)
	if e.WeightSqLowerBound {
		neff = "at most " + neff
	}
	_, err := fmt.Fprintf(w, "\n%s%s: %s in %s samples, effective sample size %s\n",
		e.Name, derived, formatWeight(float64(e.Weight), e.Unit), formatCount(e.Samples), neff)
	return err
}

func writeTop(w io.Writer, r *run.Run, e int, rows []run.Row, opt ShowOptions) error {
	ev := &r.Events[e]
	framed := opt.By != run.ByThread && opt.By != run.ByProcess
	t := table{right: []bool{true, true, true, true, true, true}}
	head := []string{"self", "share", "samples"}
	if framed {
		head = append(head, "total", "share", "samples")
	} else {
		t.right = t.right[:3]
	}
	// Names of functions may be long: they are last.
	if opt.By == run.ByFunction {
		head = append(head, "dso")
	}
	t.add(append(head, string(opt.By))...)
	// Rows come sorted by the first event; each event has its own order.
	sorted := sortRows(rows, e)
	shown := 0
	var rest run.Sum
	for i := range sorted {
		row := &sorted[i]
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
			formatWeight(float64(self.Weight), ev.Unit), formatShare(float64(self.Weight), float64(ev.Weight)), formatCount(self.Count),
		}
		if framed {
			cells = append(cells, formatWeight(float64(total.Weight), ev.Unit), formatShare(float64(total.Weight), float64(ev.Weight)), formatCount(total.Count))
		}
		if opt.By == run.ByFunction {
			cells = append(cells, baseName(row.DSO))
		}
		t.add(append(cells, row.Name)...)
	}
	if rest.Count > 0 {
		cells := []string{formatWeight(float64(rest.Weight), ev.Unit), formatShare(float64(rest.Weight), float64(ev.Weight)), formatCount(rest.Count)}
		if framed {
			cells = append(cells, "", "", "")
		}
		if opt.By == run.ByFunction {
			cells = append(cells, "")
		}
		t.add(append(cells, "(all others)")...)
	}
	return t.write(w)
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// writeFacts writes what is known of a recording.
func writeFacts(w io.Writer, r *run.Run) error {
	rec := &r.Recording
	t := table{}
	add := func(key, value string) {
		if value != "" {
			t.add(key, value)
		}
	}
	add("input", r.Name)
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
	for _, c := range r.Counters {
		value := formatWeight(c.Value, c.Unit)
		if c.Running > 0 && c.Running < 1 {
			value += fmt.Sprintf(" (extrapolated from %.1f%% of the time)", 100*c.Running)
		}
		add("counter", c.Name+" "+value)
	}
	for _, warning := range r.Warnings {
		add("warning", warning)
	}
	return t.write(w)
}

// WriteTree writes the call tree of every event, root first, the heaviest path
// first.
func WriteTree(w io.Writer, r *run.Run, opt ShowOptions) error {
	if err := writeFacts(w, r); err != nil {
		return err
	}
	for e := range r.Events {
		ev := &r.Events[e]
		if err := writeEventHeader(w, ev); err != nil {
			return err
		}
		if ev.Samples == 0 {
			continue
		}
		t := table{right: []bool{true, true, true, true}}
		t.add("total", "share", "self", "samples", "function")
		least := int64(opt.MinShare * float64(ev.Weight))
		hidden := 0
		var walk func(n *run.Node, depth int)
		walk = func(n *run.Node, depth int) {
			for _, c := range n.Children {
				if c.Total < least {
					hidden++
					continue
				}
				t.add(formatWeight(float64(c.Total), ev.Unit), formatShare(float64(c.Total), float64(ev.Weight)),
					formatWeight(float64(c.Self), ev.Unit), formatCount(c.Samples), strings.Repeat("  ", depth)+c.Name)
				walk(c, depth+1)
			}
		}
		walk(r.Tree(e), 0)
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
