package diff

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"profdiff/internal/compare"
	"profdiff/internal/report/text"
)

// WriteSelfTest writes what a program was measured to vary by, with so many functions,
// 0 for all.
func WriteSelfTest(w io.Writer, t *compare.SelfTest, limit int) error {
	head := text.Table{Prose: true}
	head.Add("event", t.Event)
	head.Add("runs", fmt.Sprintf("%d of one program, in the order of recording", t.Runs))
	if err := head.Write(w); err != nil {
		return err
	}
	splits := text.Table{Right: []bool{false, true, true, true, true, true}, Names: []int{0}, Spare: [][]int{{5}, {1}, {2}}, Least: 12}
	splits.Add("split", "splits", "functions compared", "p ≤ 0.05", "called changed", "totals p ≤ 0.05")
	for _, s := range []struct {
		name string
		*compare.Splits
	}{{"neighbours apart, as ABBA", &t.Interleaved}, {"first half against last", &t.Blocked}} {
		rate := "-"
		if s.Tests > 0 {
			rate = fmt.Sprintf("%d (%s)", s.Significant, text.Percent(float64(s.Significant)/float64(s.Tests)))
		}
		splits.Add(s.name, strconv.Itoa(s.Number), text.Count(int64(s.Tests)), rate, strconv.Itoa(s.Called), strconv.Itoa(s.Totals))
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := splits.Write(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "(nothing changed: a twentieth of the functions should have p ≤ 0.05, and none be called changed)\n\n"); err != nil {
		return err
	}
	rows := text.Table{Right: []bool{true, true, true, true, true, true, true}, Names: []int{7, 8}, Spare: [][]int{{7}, {3}, {4}, {1}, {5}, {2}}}
	rows.Add("share", "samples/run", "deviation", "sampling", "runs", "p ≤ 0.05", fmt.Sprintf("shows at %d a side", t.Runs/2), "dso", "function")
	total := t.Total
	total.Name = "(total)"
	shown := append([]compare.FunctionNoise{total}, t.Functions...)
	if limit > 0 {
		shown = shown[:min(len(shown), limit+1)]
	}
	for i, f := range shown {
		called := fmt.Sprintf("%d of %d", f.Significant, t.Interleaved.Number)
		if i == 0 {
			called = fmt.Sprintf("%d of %d", t.Interleaved.Totals, t.Interleaved.Number)
		}
		smallest := "-"
		if !math.IsInf(f.Smallest, 0) && f.Smallest > 0 {
			smallest = "±" + text.Percent(f.Smallest)
		}
		rows.Add(text.Percent(f.Share), text.Digits(f.Samples), text.Percent(f.Deviation), text.Percent(f.Sampling), text.Percent(f.Runs), called, smallest, f.DSO, f.Name)
	}
	if err := rows.Write(w); err != nil {
		return err
	}
	if n := len(t.Functions) + 1 - len(shown); n > 0 {
		_, err := fmt.Fprintf(w, "(%d more functions)\n", n)
		return err
	}
	return nil
}
