package report

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"profdiff/internal/compare"
)

// WriteSelfTest writes what a program was measured to vary by, with so many functions,
// 0 for all.
func WriteSelfTest(w io.Writer, t *compare.SelfTest, limit int) error {
	head := table{}
	head.add("event", t.Event)
	head.add("runs", fmt.Sprintf("%d of one program, in the order of recording", t.Runs))
	if err := head.write(w); err != nil {
		return err
	}
	splits := table{right: []bool{false, true, true, true, true, true}}
	splits.add("split", "splits", "functions compared", "p ≤ 0.05", "called changed", "totals p ≤ 0.05")
	for _, s := range []struct {
		name string
		*compare.Splits
	}{{"neighbours apart, as ABBA", &t.Interleaved}, {"first half against last", &t.Blocked}} {
		rate := "-"
		if s.Tests > 0 {
			rate = fmt.Sprintf("%d (%s)", s.Significant, branchPercent(float64(s.Significant)/float64(s.Tests)))
		}
		splits.add(s.name, strconv.Itoa(s.Number), formatCount(int64(s.Tests)), rate, strconv.Itoa(s.Called), strconv.Itoa(s.Totals))
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := splits.write(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "(nothing changed: a twentieth of the functions should have p ≤ 0.05, and none be called changed)\n\n"); err != nil {
		return err
	}
	rows := table{right: []bool{true, true, true, true, true, true, true}}
	rows.add("share", "samples/run", "deviation", "sampling", "runs", "p ≤ 0.05", fmt.Sprintf("shows at %d a side", t.Runs/2), "dso", "function")
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
			smallest = "±" + branchPercent(f.Smallest)
		}
		rows.add(branchPercent(f.Share), formatDigits(f.Samples), branchPercent(f.Deviation), branchPercent(f.Sampling), branchPercent(f.Runs), called, smallest, f.DSO, f.Name)
	}
	if err := rows.write(w); err != nil {
		return err
	}
	if n := len(t.Functions) + 1 - len(shown); n > 0 {
		_, err := fmt.Fprintf(w, "(%d more functions)\n", n)
		return err
	}
	return nil
}
