package check

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"profdiff/internal/budget"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// quantity is a number with a unit, as outputs and budget files write it.
var quantity = regexp.MustCompile(`^([+-]?[0-9.]+(?:e[+-]?[0-9]+)?) ?(%|ns|µs|us|ms|s|k|M|G|T)?$`)

func parseQuantity(t *testing.T, s string) float64 {
	t.Helper()
	m := quantity.FindStringSubmatch(s)
	if m == nil {
		t.Fatalf("%q is no quantity", s)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v * map[string]float64{"": 1, "%": 0.01, "ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[m[2]]
}

// kinds are what limits are of: a limit as a file has it, for a number of few digits.
var kinds = []struct {
	relative bool
	unit     string
	limit    func(digits float64) (value float64, text string)
}{
	{true, "", func(d float64) (float64, string) {
		return 1 + d/100, strconv.FormatFloat(d, 'f', -1, 64) + "%"
	}},
	{false, "percent", func(d float64) (float64, string) { return d / 100, strconv.FormatFloat(d, 'f', -1, 64) + "%" }},
	{false, "nanoseconds", func(d float64) (float64, string) { return d * 1e6, strconv.FormatFloat(d, 'f', -1, 64) + "ms" }},
	{false, "cpu-cycles", func(d float64) (float64, string) { return d * 1e9, strconv.FormatFloat(d, 'f', -1, 64) + "G" }},
	{false, "", func(d float64) (float64, string) { return d, strconv.FormatFloat(d, 'f', -1, 64) }},
}

// TestBoundsRead draws ranges close to their limits and reads the printed bound as people do:
// beside the limit it says what the verdict says.
func TestBoundsRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	for range 20000 {
		kind := kinds[rng.IntN(len(kinds))]
		digits := math.Pow(10, float64(rng.IntN(4)))
		limit, text := kind.limit(math.Round(digits*(0.1+9*rng.Float64())) / digits)
		if kind.relative {
			text = "+" + text
		}
		at := func() float64 { return limit * (1 + math.Pow(10, -1-6*rng.Float64())*rng.NormFloat64()) }
		c := &Numbers{Relative: kind.relative, Unit: kind.unit, Limit: &limit, FailText: text + []string{"", " (waived until 2026-12-15)"}[rng.IntN(2)]}
		lo, hi := at(), at()
		if lo == hi {
			continue
		}
		c.Range.Lo, c.Range.Hi = min(lo, hi), max(lo, hi)
		v := verdict.Inconclusive
		switch {
		case c.Range.Hi <= limit:
			v = verdict.Pass
		case c.Range.Lo > limit:
			v = verdict.Fail
		}
		printed := c.Bound(v, claimFormat(c.Relative, c.Unit))
		want := parseQuantity(t, text)
		relation := func(s string) int { // of a printed end to the limit
			s, beyond := strings.CutPrefix(s, "> ")
			got := parseQuantity(t, s)
			switch {
			case math.Abs(got-want) <= 1e-9*math.Abs(want):
				if beyond {
					return 1
				}
				return 0
			case got > want:
				return 1
			}
			return -1
		}
		ok := false
		switch v {
		case verdict.Pass:
			s, found := strings.CutPrefix(printed, "≤ ")
			ok = found && relation(s) <= 0
		case verdict.Fail:
			ok = relation(strings.TrimPrefix(printed, "≥ ")) > 0
		default:
			a, b, found := strings.Cut(strings.Trim(printed, "[]"), ", ")
			ok = found && relation(a) <= 0 && relation(b) > 0
		}
		if !ok {
			t.Fatalf("%s: printed %q beside the limit %s, of %v and %v", v, printed, c.FailText, c.Range, limit)
		}
	}
}

// TestBoundEverywhere checks that each output has the bound that decided, and no other interval.
func TestBoundEverywhere(t *testing.T) {
	five := 1.05
	o := &budget.Outcome{File: ".profdiff.yaml", Alpha: 0.05}
	add := func(id string, v verdict.Verdict, lo, hi float64) {
		c := &budget.Claim{Kind: budget.RelativeKind, What: "cpu-clock", FailText: "+5%", RunsBase: 10, RunsHead: 10}
		c.Value, c.Range, c.Levels, c.Fail, c.Verdict, c.Method = 1.01, stats.Interval{Lo: lo, Hi: hi}, [2]float64{0.0125, 0.05}, &five, v, stats.MannWhitney
		c.Estimate = &stats.Estimate{Ratio: 1.01, CI: stats.Interval{Lo: 0.777, Hi: 1.333}}
		o.Results = append(o.Results, budget.Result{ID: id, Verdict: v, Claims: []*budget.Claim{c}, Deciding: c, Budget: &budget.Budget{ID: id}})
	}
	add("fails", verdict.Fail, 1.0612, 1.2)
	add("passes", verdict.Pass, 0.9, 1.0481)
	add("barely", verdict.Pass, 0.9, 1.0499)
	add("open", verdict.Inconclusive, 0.98, 1.09)
	bounds := map[string]string{"fails": "≥ +6.1%", "passes": "≤ +4.8%", "barely": "≤ +5%", "open": "[-2.0%, +9.0%]"}
	d := New(o, "profdiff")
	for _, output := range []struct {
		name   string
		write  func(io.Writer) error
		passes bool // what passes is in it
	}{
		{"text", func(w io.Writer) error { return WriteText(w, d) }, true},
		{"Markdown", func(w io.Writer) error { return WriteMarkdown(w, d, MaxComment) }, true},
		{"JUnit", func(w io.Writer) error { return WriteJUnit(w, d) }, false},
		{"SARIF", func(w io.Writer) error { return WriteSARIF(w, d, options) }, false},
		{"GitHub", func(w io.Writer) error { return WriteAnnotations(w, d, options) }, false},
		{"GitLab", func(w io.Writer) error { return WriteCodeQuality(w, d, options) }, false},
		{"JSON", func(w io.Writer) error { return WriteJSON(w, d) }, true},
	} {
		var b bytes.Buffer
		if err := output.write(&b); err != nil {
			t.Fatal(err)
		}
		got := strings.NewReplacer(", at most ", " ≤ ", ", at least ", " ≥ ").Replace(html.UnescapeString(strings.NewReplacer("%25", "%", `\u003e`, ">", `\`, "").Replace(b.String())))
		for id, bound := range bounds {
			if strings.HasPrefix(bound, "≤") && !output.passes {
				continue
			}
			if output.name == "JSON" {
				for i := range o.Results {
					if r := o.Results[i].Deciding.Range; o.Results[i].ID == id {
						bound = fmt.Sprintf("%v,\n        %v\n", r.Lo, r.Hi)
					}
				}
			}
			if !strings.Contains(got, bound) {
				t.Errorf("%s of %s has no %q:\n%s", output.name, id, bound, got)
			}
		}
		for _, other := range []string{text.Change(0.777), text.Change(1.333), "0.777", "1.333"} {
			if strings.Contains(got, other) {
				t.Errorf("%s has %s of an interval that decided nothing", output.name, other)
			}
		}
	}
}
