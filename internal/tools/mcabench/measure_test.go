package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCycles(t *testing.T) {
	tests := []struct {
		name string
		rep  Repetition
		want float64
		ok   bool
	}{
		{"tick of a cycle", Repetition{5010, 1000, 1000}, 5000, true},
		{"slower clock", Repetition{5010, 2000, 2000}, 2500, true},
		{"clock in between", Repetition{5010, 990, 1010}, 0, false},
		{"slight drift", Repetition{5010, 995, 1005}, 5000, true},
		{"interrupted before", Repetition{5010, 30000, 1000}, 0, false},
		{"interrupted after", Repetition{5010, 1000, 30000}, 0, false},
		{"no chain", Repetition{5010, 0, 0}, 0, false},
	}
	for _, test := range tests {
		got, ok := test.rep.cycles(1000, 10)
		if math.Abs(got-test.want) > 1e-9 || ok != test.ok {
			t.Errorf("%s: %v.cycles = %g, %v, want %g, %v", test.name, test.rep, got, ok, test.want, test.ok)
		}
	}
}

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		sorted  []float64
		q, want float64
	}{
		{[]float64{3}, 0.1, 3},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{0, 10, 20, 30, 40}, 0.1, 4},
		{[]float64{0, 10, 20, 30, 40}, 0, 0},
		{[]float64{0, 10, 20, 30, 40}, 1, 40},
	} {
		if got := quantile(test.sorted, test.q); got != test.want {
			t.Errorf("quantile(%v, %g) = %g, want %g", test.sorted, test.q, got, test.want)
		}
	}
}

// synthetic returns timings on a busy machine: the true time, a little noise that is
// each program's own, in a third of the rounds a tenth more all the time, and in some
// repetitions much more.
func synthetic(rng *rand.Rand, truth float64, rounds, repetitions int) [][][]float64 {
	programs := make([][][]float64, layouts)
	for i := range programs {
		level := truth * (1 + 0.01*rng.NormFloat64())
		for range rounds {
			slow := 1.0
			if rng.Float64() < 0.33 {
				slow = 1.1
			}
			var round []float64
			for range repetitions {
				x := slow * level * (1 + 0.003*rng.ExpFloat64())
				if rng.Float64() < 0.4 {
					x += truth * rng.ExpFloat64()
				}
				round = append(round, x)
			}
			programs[i] = append(programs[i], round)
		}
	}
	return programs
}

// TestEstimate checks on synthetic timings, most of which are disturbed, that the
// estimate is near the truth and that the interval holds what many such measurements
// give on average.
func TestEstimate(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const truth, sets = 5.0, 40
	var estimates []Estimate
	mean := 0.0
	for range sets {
		e := estimate(synthetic(rng, truth, 6, 30))
		if math.Abs(e.Cycles/truth-1) > 0.02 {
			t.Errorf("estimate %g of %g", e.Cycles, truth)
		}
		if e.Repetitions != layouts*6*30 || !(e.Lo <= e.Cycles && e.Cycles <= e.Hi && e.Cycles < e.Median) || e.Hi/e.Lo > 1.1 {
			t.Errorf("%+v", e)
		}
		estimates = append(estimates, e)
		mean += e.Cycles / sets
	}
	covered := 0
	for _, e := range estimates {
		if e.Lo <= mean && mean <= e.Hi {
			covered++
		}
	}
	if covered < sets*85/100 {
		t.Errorf("%d of %d intervals hold the mean of all, want about 95 %%", covered, sets)
	}
}

// TestEstimateModes checks that the interval shows what programs of two speeds leave
// open.
func TestEstimateModes(t *testing.T) {
	var programs [][][]float64
	for i := range 9 {
		speed := 2.0
		if i < 4 {
			speed = 1
		}
		programs = append(programs, [][]float64{{speed, speed}, {speed, 3 * speed}})
	}
	if e := estimate(programs); e.Lo != 1 || e.Cycles != 2 || e.Hi != 2 {
		t.Errorf("%+v, want 2 and an interval from 1 to 2", e)
	}
	if e := estimate(nil); !math.IsNaN(e.Cycles) || e.Repetitions != 0 {
		t.Errorf("of nothing: %+v", e)
	}
	if e := estimate([][][]float64{{{3}, nil}, {nil}}); e.Cycles != 3 || e.Lo != 3 || e.Hi != 3 || e.Repetitions != 1 {
		t.Errorf("of one repetition: %+v", e)
	}
}

func TestParseRound(t *testing.T) {
	const good = `adds 1000
branchy 5100 600 600 200 200
branchless 2100 600 600 200 225
checks 100 1600 200 600
branchless 2100 600 900 200 200
branchy 5600 600 600 300 200
checks 100 1600 200 600
`
	got, err := parseRound([]byte(good), 10)
	if err != nil {
		t.Fatal(err)
	}
	want := &round{
		timings:   map[string][]timed{"branchy": {{1000, 5}, {1100, 2.5}}, "branchless": {{400, 4}}},
		disturbed: map[string]int{"branchless": 1},
		checks:    checks{multiplication: 3, width: 5},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(round{}, timed{}, checks{}), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Error(diff)
	}

	if diff := cmp.Diff([]float64{1000}, got.clean("branchy", 5.1)); diff != "" {
		t.Errorf("on a full width of 5.1: %s", diff)
	}

	for text, want := range map[string]string{
		"":                             "not the output of a driver",
		"adds 1000\n":                  "not the output of a driver",
		"adds 1000\nbranchy 1 2\n":     `line 2: "branchy 1 2" is not known`,
		"adds 1000\nother 1 2 3 4 5\n": `line 2: "other 1 2 3 4 5" is not known`,
		"adds 1000\nbranchy 1 2 3\n":   `line 2: "branchy 1 2 3" is not known`,
		"adds 1000\nbranchy 1 -2 3\n":  `line 2: "-2" is not a time`,
		"adds 1000\n\n":                `line 2: "" is not known`,
		"adds many\n":                  `line 1: "many" is not a time`,
		"checks 1 2 3 4\nbranchy 10 100 100 10 10\n": "not the output of a driver",
	} {
		if _, err := parseRound([]byte(text), 1); err == nil || err.Error() != want {
			t.Errorf("parseRound(%q): error %v, want %s", text, err, want)
		}
	}
}

// TestFullWidth sees a core that another thread shares most of the time.
func TestFullWidth(t *testing.T) {
	var w fullWidth
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		width := 2.8 + 0.5*rng.Float64()
		if rng.Float64() < 0.05 {
			width = 4.7 + 0.01*rng.NormFloat64()
		}
		w.add(width)
		w.full()
	}
	if full := w.full(); math.Abs(full-4.7) > 0.05 {
		t.Errorf("a full width of %g, want 4.7", full)
	}
}

func TestBreakEven(t *testing.T) {
	for _, test := range []struct {
		name    string
		branchy [len(Probabilities)]float64
		want    float64
		ok      bool
	}{
		{"always", [...]float64{2, 2, 2, 2, 2}, 0, true},
		{"never", [...]float64{0.5, 0.5, 0.6, 0.7, 0.8}, 0, false},
		{"in between", [...]float64{0, 0.5, 1.5, 3, 5}, 0.06, true},
		{"at a point", [...]float64{0, 0, 1, 3, 5}, 0.1, true},
	} {
		r := make(results)
		for i, p := range Probabilities {
			r[resultKey{"case", p, "branchy"}] = Estimate{Cycles: test.branchy[i]}
			r[resultKey{"case", p, "branchless"}] = Estimate{Cycles: 1}
		}
		if got, ok := r.breakEven("case"); math.Abs(got-test.want) > 1e-9 || ok != test.ok {
			t.Errorf("%s: %g, %v, want %g, %v", test.name, got, ok, test.want, test.ok)
		}
	}
}

func TestReadMeasured(t *testing.T) {
	m := measurement{name: "case", cpu: "CPU (of a kind)", p: 0.1, side: "branchy", Estimate: Estimate{4.25, 4, 4.5, 5, 300}, instructions: 6, sum: "00"}
	text := "# a comment\n" + measuredColumns + "\n" + m.row() + "\n"
	got, err := readMeasured(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(results{{"case", 0.1, "branchy"}: m.Estimate}, got, cmp.AllowUnexported(resultKey{})); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"a\tb\n":                              "line 1: 2 columns",
		strings.Replace(text, "4.25", "x", 1): `line 3: strconv.ParseFloat: parsing "x00": invalid syntax`,
	} {
		if _, err := readMeasured(text); err == nil || err.Error() != want {
			t.Errorf("readMeasured(%q): error %v, want %s", text, err, want)
		}
	}
}

func TestParseListing(t *testing.T) {
	const text = "\t.text\nf:\n\ttestq\t%rsi, %rsi\n\tjmp\t.L2\n.L3:\n\tjne\t.L3\n\t.p2align 4\n.L2:\n\tcall\tg\n\tb.le\t.L3\n\tret\n"
	var got []string
	for _, l := range parseListing(text) {
		got = append(got, fmt.Sprint(l.number, l.function, " ", l.text, l.branches("x86-64"), l.transfers("x86-64"), l.branches("aarch64"), l.transfers("aarch64")))
	}
	want := []string{
		"3f testq %rsi, %rsifalse false false false",
		"4f jmp .L2false true false false",
		"6f jne .L3true true false false",
		"9f call gfalse true false false",
		"10f b.le .L3false false true true",
		"11f retfalse true false true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := string(canonical([]byte("# 1 \"f\"\n\n#APP\n\tnop\n"))); got != "\tnop\n" {
		t.Errorf("canonical: %q", got)
	}
}

func TestParseCPU(t *testing.T) {
	const info = "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nstepping\t: 1\n\nprocessor\t: 1\nmodel name\t: other\n"
	got, err := parseCPU(bufio.NewScanner(strings.NewReader(info)))
	if want := "AMD EPYC (family 26, model 2, stepping 1)"; got != want || err != nil {
		t.Errorf("parseCPU = %q, %v, want %q", got, err, want)
	}
	if _, err := parseCPU(bufio.NewScanner(strings.NewReader("processor: 0\n"))); err == nil {
		t.Error("a file without a name is no error")
	}
}

// TestKeep measures some cases again: the others stay as they are.
func TestKeep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "measured.tsv")
	if header, rows, err := keep(file, []string{"a"}); header != "" || rows != nil || err != nil {
		t.Errorf("no file: %q, %q, %v", header, rows, err)
	}
	text := "# first\n# measured apart: a\n# second\n# measured apart: a b\n# third\n" + measuredColumns + "\na\tx\nb\ty\nb\tz\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	header, rows, err := keep(file, []string{"a", "c"})
	if diff := cmp.Diff([]string{"b\ty\n", "b\tz\n"}, rows); diff != "" || header != "# first\n# measured apart: a b\n# third\n" || err != nil {
		t.Errorf("%q, %v, %s", header, err, diff)
	}
	if header, rows, err := keep(file, []string{"a", "b"}); header != "" || rows != nil || err != nil {
		t.Errorf("all anew: %q, %q, %v", header, rows, err)
	}
}
