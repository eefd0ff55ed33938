package diff

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"profdiff/internal/compare"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/report/text"
	"profdiff/internal/run/runtest"
)

// TestSummary draws summaries of what may come of a comparison, for a terminal of 70 columns.
func TestSummary(t *testing.T) {
	var b strings.Builder
	for _, test := range []struct {
		name string
		runs int
		each map[int]float64
		opt  compare.Options
	}{
		{"more and less, of which some are not shown", 6, map[int]float64{0: 1.2, 1: 0.7, 2: 0.8, 3: 0.6, 4: 0.5, 5: 0.5, 6: 0.4, 7: 0.3, 8: 0.3, 9: 0.2, 10: 0.2}, compare.Options{}},
		{"nothing is decided", 6, nil, compare.Options{Margin: 0.001}},
		{"as shares", 6, map[int]float64{1: 1.6}, compare.Options{Normalize: compare.Total}},
		{"one run a side", 1, map[int]float64{1: 1.6, 2: 0.5}, compare.Options{}},
	} {
		if test.opt.Normalize == "" {
			test.opt.Normalize = compare.None
		}
		base, head := runtest.NewModel(14, 5, 0.01).Sides(test.runs, false, 0, test.each)
		d := New(comparison(t, base, head, test.opt), Parts{})
		for i := range 7 {
			d.Design.Warnings = append(d.Design.Warnings, fmt.Sprint("warning number ", i+1))
		}
		fmt.Fprintf(&b, "== %s\n", test.name)
		b.Write(reporttest.Written(t, func(w io.Writer) error {
			s := text.NewScreen(w, 70, false)
			if err := WriteSummary(s, d, false); err != nil {
				return err
			}
			return s.Flush()
		}))
	}
	reporttest.Golden(t, "testdata/summary.txt", []byte(b.String()))
}
