package verdict

import (
	"math"
	"slices"
	"testing"
	"time"

	"profdiff/internal/stats"
)

// sampled are runs of so many samples each.
func sampled(counts ...float64) (runs []stats.WeightedCount) {
	for _, n := range counts {
		runs = append(runs, stats.WeightedCount{Weight: n, WeightSq: n})
	}
	return runs
}

// counted are runs of a simulator.
func counted(values ...float64) (runs []stats.WeightedCount) {
	for _, v := range values {
		runs = append(runs, stats.WeightedCount{Weight: v})
	}
	return runs
}

func find(base, head []stats.WeightedCount) *Finding {
	tests := stats.New(Level)
	e := tests.Ratio(base, head)
	if len(base) == 1 && len(head) == 1 && base[0].WeightSq == 0 && head[0].WeightSq == 0 {
		e = tests.Exact(base[0], head[0])
	}
	f := Of(&e)
	return &f
}

var rule = Rule{Margin: Margin, FalseDiscovery: FalseDiscovery}

func TestRule(t *testing.T) {
	for _, test := range []struct {
		name       string
		base, head []stats.WeightedCount
		presence   Presence
		given      Verdict
		want       Verdict
		capped     bool
		text       string
	}{
		{"one run a side, however far apart", sampled(100000), sampled(1000000), Both, "", Inconclusive, true, "△ 37.1σ"},
		{"one run a side, gone", sampled(100000), sampled(0), BaseOnly, "", Inconclusive, true, "▽ 37.1σ"},
		{"one run a side, within noise", sampled(1000), sampled(1010), Both, "", Inconclusive, true, "~"},
		{"one run of a simulator a side", counted(1000), counted(1100), Both, "", Regressed, false, "slower"},
		{"one run of a simulator a side, within the margin", counted(1000), counted(1010), Both, "", Unchanged, false, "same"},
		{"one run of a simulator a side, gone", counted(1000), counted(0), BaseOnly, "", Removed, false, "gone"},
		{"one run of a simulator a side, new", counted(0), counted(1000), HeadOnly, "", New, false, "new"},
		{"one run of a simulator a side, gone, without a word of its own", counted(1000), counted(0), Both, "", Improved, false, "faster"},
		{"the code says so", sampled(100000), sampled(0), BaseOnly, Removed, Removed, true, "gone"},
		{"two runs a side", sampled(10000, 10010), sampled(20000, 20010), Both, "", Regressed, true, "slower"},
		{"four runs a side", sampled(10000, 10100, 9900, 10000), sampled(5000, 5050, 4950, 5000), Both, "", Improved, false, "faster"},
		{"four runs a side that agree", sampled(10000, 10010, 9990, 10000), sampled(10005, 9995, 10001, 10003), Both, "", Unchanged, false, "same"},
		{"four runs a side that vary", sampled(10000, 12000, 8000, 11000), sampled(11000, 9000, 13000, 10000), Both, "", Inconclusive, false, "? 248 runs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, judge := range map[string]func([]*Finding){"declared": rule.Declared, "discovered": rule.Discovered} {
				f := find(test.base, test.head)
				f.Presence, f.Given = test.presence, test.given
				judge([]*Finding{f})
				if f.Verdict != test.want || f.Capped != test.capped || f.Text(Time) != test.text {
					t.Errorf("%s: %s, capped %t, %q, want %s, %t, %q", name, f.Verdict, f.Capped, f.Text(Time), test.want, test.capped, test.text)
				}
			}
		})
	}
}

// TestFamilies checks that a finding that is shown alone is not among many: the many are
// halves of one program, whose p-values are what they are by chance.
func TestFamilies(t *testing.T) {
	noise := func() (list []*Finding) {
		for i := range 40 {
			d := float64(i)
			list = append(list, find(sampled(10000, 10200+d, 9800, 10100), sampled(10150, 9900, 10050+d, 10000)))
		}
		return list
	}
	barely := func() *Finding {
		return find(sampled(10000, 10100, 9900, 10050), sampled(10300, 10450, 10200, 10350))
	}
	alone := barely()
	rule.Declared([]*Finding{alone})
	if alone.Verdict != Regressed || !alone.Declared || alone.Adjusted != alone.P {
		t.Fatalf("alone: %s, p %v, adjusted %v", alone.Verdict, alone.P, alone.Adjusted)
	}
	for name, judge := range map[string]func([]*Finding){"declared": rule.Declared, "discovered": rule.Discovered} {
		among := barely()
		judge(append(noise(), among))
		if among.Verdict != Inconclusive || among.Adjusted <= among.P || among.Smallest <= alone.Smallest {
			t.Errorf("%s: %s, p %v, adjusted %v", name, among.Verdict, among.P, among.Adjusted)
		}
	}
	// In a family of one a false discovery rate of 10 % is a level of 10 %: the interval
	// has to say so too.
	f := find(sampled(10000, 10300, 9800, 10100, 9700), sampled(10300, 10600, 10200, 10300, 10000))
	if f.P <= 0.05 || f.P > 0.1 {
		t.Fatalf("p is %v: the example is none", f.P)
	}
	if rule.Discovered([]*Finding{f}); f.Verdict != Inconclusive || !f.WithinNoise() {
		t.Errorf("%s %v", f.Verdict, f.CI)
	}
}

func TestWithhold(t *testing.T) {
	f := find(counted(1000), counted(2000))
	rule.Declared([]*Finding{f})
	if f.Withhold(); f.Verdict != Inconclusive || !f.Withheld {
		t.Errorf("%s, withheld %t", f.Verdict, f.Withheld)
	}
	f = find(sampled(1000), sampled(2000))
	if f.Withhold(); f.Withheld {
		t.Error("there was nothing to withhold")
	}
	f.RunsNeeded = 12
	if f.Forbid(); f.Verdict != Inconclusive || !f.Withheld || f.RunsNeeded != 0 {
		t.Errorf("%s, withheld %t, %d runs needed", f.Verdict, f.Withheld, f.RunsNeeded)
	}
}

func TestGround(t *testing.T) {
	changed, same := &Finding{Tested: true, Verdict: Improved}, &Finding{Tested: true, Verdict: Unchanged}
	const median, shares = "the median moves with a change that all of them share", "shares add up to 100%, whatever changed"
	for _, test := range []struct {
		name        string
		ground      Ground
		functions   []*Finding
		want, total string
	}{
		{"work", Ground{By: "frames", Factor: 3}, []*Finding{changed}, "", ""},
		{"blocked", Ground{Blocked: true, Factor: 1}, nil, "blocked order of recording", ""},
		{"far apart", Ground{Estimated: true, By: "median", Factor: 1.3}, nil, "the median differs by a factor of 1.300 between the sides: either the amount of work did, or most functions changed", median},
		{"most moved", Ground{Estimated: true, By: "median", Factor: 1}, []*Finding{changed, changed, same, {}}, "2 of 3 functions changed relative to the median, which is therefore no firm ground", median},
		{"equal", Ground{Estimated: true, By: "median", Factor: 1}, []*Finding{changed, same}, "", median},
		{"shares", Ground{Shares: true, Factor: 1}, []*Finding{changed, changed, same}, "2 of 3 shares changed: the gain of one function is a loss of all others", shares},
		{"mirrors", Ground{Shares: true, Factor: 1, Mirrored: "1 function (60.0% of the cost)"}, []*Finding{changed, same, same}, "shares do not tell whether 1 function (60.0% of the cost) changed or all others did", shares},
		{"windows", Ground{Shares: true, Factor: 1, Window: "recorded system-wide"}, []*Finding{changed, same}, "", "windows of time (recorded system-wide) cost as much as they are long"},
	} {
		if got := test.ground.Refuses(test.functions); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got := test.ground.RefusesTotal(); got != test.total {
			t.Errorf("%s: total %q, want %q", test.name, got, test.total)
		}
	}
}

func TestOrder(t *testing.T) {
	clock := func(host string, at ...uint64) (list []Moment) {
		for _, t := range at {
			list = append(list, Moment{Clock: t, Host: host})
		}
		return list
	}
	day := func(clock uint64, at ...int64) (list []Moment) {
		for i, t := range at {
			list = append(list, Moment{Start: time.Unix(t, 0), Clock: clock, Host: string(rune('a' + i))})
		}
		return list
	}
	for _, test := range []struct {
		name       string
		base, head []Moment
		want       Order
	}{
		{"one a side", clock("", 1), clock("", 2), Blocked},
		{"side after side", clock("a", 1, 2), clock("a", 4, 3), Blocked},
		{"ABBA", clock("a", 1, 4), clock("a", 2, 3), Interleaved},
		{"BABA", clock("a", 2, 4), clock("", 1, 3), Interleaved},
		{"clocks of two machines", clock("a", 1, 2), clock("b", 3, 4), UnknownOrder},
		{"a run without a time", clock("a", 1, 0), clock("a", 3, 4), UnknownOrder},
		{"the same moments", clock("a", 1, 2), clock("a", 2, 3), UnknownOrder},
		{"no times", clock("", 0, 0), clock("", 0, 0), UnknownOrder},
		{"the day goes before the clock", append(day(9, 1), day(1, 4)...), append(day(8, 2), day(2, 3)...), Interleaved},
		{"the day of several machines", day(0, 1, 2), day(0, 3, 4), Blocked},
		{"a day is not compared with a clock", day(1, 1, 2), clock("", 3, 4), UnknownOrder},
	} {
		if got := OrderOf(test.base, test.head); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	if Blocked.Forbids(1, 1) || Blocked.Forbids(1, 5) || !Blocked.Forbids(2, 2) || Interleaved.Forbids(2, 2) || UnknownOrder.Forbids(2, 2) {
		t.Error("an order forbids what it should not, or not what it should")
	}
}

// TestNames checks that every verdict that tables or pages mark has all it needs.
func TestNames(t *testing.T) {
	for _, v := range slices.Concat(TwoSided, Limits) {
		if v.Sign() == "" {
			t.Errorf("%s has no sign", v)
		}
	}
	if v := Verdict("a guess"); v.Title(Time) != "" || v.Sign() != "" {
		t.Errorf("%q has the title %q", v, v.Title(Time))
	}
	for _, v := range Limits {
		if v.ColorSign() == "" {
			t.Errorf("%s has no sign for Markdown", v)
		}
	}
	if !Warn.Outranks(Pass) || !Fail.Outranks(Inconclusive) || !Inconclusive.Outranks(Warn) || Pass.Outranks(Pass) {
		t.Error("the order of verdicts on limits is not that of what they ask for")
	}
}

func TestUnknown(t *testing.T) {
	f := Unknown(math.NaN())
	rule.Discovered([]*Finding{&f})
	if f.Verdict != Inconclusive || f.RunsNeeded != 0 || f.Estimate().Method != "" || f.Text(Time) != "?" {
		t.Errorf("%s, %d runs, %q", f.Verdict, f.RunsNeeded, f.Text(Time))
	}
}

func TestRecorded(t *testing.T) {
	at := func(seconds ...int64) (list []Moment) {
		for _, s := range seconds {
			m := Moment{}
			if s >= 0 {
				m.Start = time.Unix(s, 0)
			}
			list = append(list, m)
		}
		return list
	}
	for _, test := range []struct {
		runs []Moment
		want []int
	}{
		{at(5, 3, 9), []int{1, 0, 2}},
		{at(5, 5, 3), []int{2, 0, 1}},
		{at(5, -1, 3), []int{0, 1, 2}},
		{[]Moment{{Clock: 9}, {Clock: 7}}, []int{1, 0}},
		{[]Moment{{Clock: 9, Host: "a"}, {Clock: 7, Host: "b"}}, []int{0, 1}},
		{nil, []int{}},
	} {
		if got := Recorded(test.runs); !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.runs, got, test.want)
		}
	}
}
