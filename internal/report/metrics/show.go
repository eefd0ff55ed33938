package metrics

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"profdiff/internal/report/text"
)

// WriteText writes the facts of each file and a table of all metrics, up to a limit of rows, 0
// for all.
func WriteText(w io.Writer, d *Document, limit int) error {
	if err := writeInputs(w, d.Inputs); err != nil {
		return err
	}
	shown := d.Metrics
	if limit > 0 && len(shown) > limit {
		shown = shown[:limit]
	}
	columns := []text.Column[*Metric]{
		text.Right("runs", func(m *Metric) string { return count(int64(m.Runs)) }),
		text.Right("n", func(m *Metric) string { return count(m.N) }),
		text.Right("mean", func(m *Metric) string { return m.amount(m.Mean) }),
		text.Right("median", func(m *Metric) string { return m.quantile(m.Median) }),
		text.Right("p90", func(m *Metric) string { return m.quantile(m.P90) }),
		text.Right("p95", func(m *Metric) string { return m.quantile(m.P95) }),
		text.Right("p99", func(m *Metric) string { return m.quantile(m.P99) }),
		text.Left("unit", func(m *Metric) string { return text.Dash(m.Unit) }),
		text.Left("better", func(m *Metric) string { return m.Direction }),
		text.Left("metric", func(m *Metric) string { return m.Name }),
	}
	rows := make([]*Metric, len(shown))
	for i := range shown {
		rows[i] = &shown[i]
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := text.WriteColumns(w, columns, rows); err != nil {
		return err
	}
	lines := text.Lines{W: w}
	if n := len(d.Metrics) - len(shown); n > 0 {
		lines.Printf("… and %d more; --limit 0 shows all, --metric REGEXP some", n)
	}
	writeNotes(&lines, shown)
	return lines.Err
}

// writeInputs writes what is said of each file.
func writeInputs(w io.Writer, inputs []Input) error {
	t := text.Table{}
	for i := range inputs {
		in := &inputs[i]
		t.Fact("input", in.Path)
		t.Fact("format", in.Format)
		t.Fact("tool", in.Tool)
		t.Fact("command", in.Command)
		t.Fact("machine", in.System)
		t.Fact("cpu", in.CPU)
		t.Fact("measured", in.Time)
		var facts []string
		for _, f := range in.Facts {
			facts = append(facts, f.Key+" "+f.Value)
		}
		const most = 6
		if n := len(facts) - most; n > 0 {
			facts = append(facts[:most], fmt.Sprintf("and %d more", n))
		}
		t.Fact("facts", strings.Join(facts, ", "))
		for _, l := range in.Lost {
			first := ""
			if l.First != "" {
				first = ", first " + l.First
			}
			t.Fact("not read", fmt.Sprintf("%d of %d: %s%s", l.Count, in.Read, l.Reason, first))
		}
		for _, warning := range in.Warnings {
			t.Fact("warning", warning)
		}
		if n := len(in.Links); n > 0 {
			t.Fact("traces", fmt.Sprintf("%d %s named, first %s", n, text.Plural(n, "run is", "runs are"), in.Links[0].File))
		}
	}
	return t.Write(w)
}

// writeNotes says how to read the table, where that is needed.
func writeNotes(lines *text.Lines, rows []Metric) {
	needs := make(map[string]int)
	var unknown, each, of []string
	for i := range rows {
		m := &rows[i]
		for _, q := range []struct {
			name string
			q    Quantile
		}{{"p90", m.P90}, {"p95", m.P95}, {"p99", m.P99}} {
			if q.q.Needs > 0 {
				needs[q.name] = q.q.Needs
			}
		}
		if m.Direction == "unknown" {
			unknown = append(unknown, m.Name)
		}
		if m.Each != "" && !slices.Contains(each, m.Each) {
			each = append(each, m.Each)
		}
		if m.Of != "" && !slices.Contains(of, m.Of) {
			of = append(of, m.Of)
		}
	}
	var parts []string
	for _, name := range []string{"p90", "p95", "p99"} {
		if n := needs[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s needs at least %d values", name, n))
		}
	}
	if len(parts) > 0 {
		lines.Printf("note: %s", strings.Join(parts, ", "))
	}
	for _, e := range each {
		lines.Printf("note: a value is %s: quantiles are over these, not over single operations", e)
	}
	for _, o := range of {
		lines.Printf("note: the file describes %s without their values", o)
	}
	if n := len(unknown); n > 0 {
		lines.Printf("note: whether less or more is better is not known of %d %s: --better '%s=lower' or =higher says it", n, text.Plural(n, "metric", "metrics"), unknown[0])
	}
}

func count(n int64) string {
	if n == 0 {
		return "-"
	}
	return text.Count(n)
}

func (m *Metric) amount(v text.Number) string { return text.Amount(float64(v), m.Unit) }

// quantile is a value, or the bucket that it is in.
func (m *Metric) quantile(q Quantile) string {
	if q.Value.Known() || !q.Low.Known() {
		return m.amount(q.Value)
	}
	if !q.High.Known() {
		return "≥ " + m.amount(q.Low)
	}
	return m.amount(q.Low) + "…" + m.amount(q.High)
}

// WriteJSON writes a document as JSON: see metrics.schema.json.
func WriteJSON(w io.Writer, d *Document) error { return text.WriteJSON(w, d) }

// WriteCSV writes the metrics of a document as CSV, one row for each: see [text.WriteCSV].
func WriteCSV(w io.Writer, d *Document) error { return text.WriteCSV(w, d.Metrics) }
