package html

import (
	"bytes"
	"fmt"
	escape "html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/template"
	"profdiff/internal/verdict"
)

// TestScreenSize bounds what is read before the data: names may be long, and hostile ones grow when
// they are escaped.
func TestScreenSize(t *testing.T) {
	long := comparetest.Options{Frames: 20_000, Depth: 60, Runs: 5, Change: true}
	for i := range 300 {
		long.Names = append(long.Names, fmt.Sprintf("std::map<long, std::vector<%s&>>::emplace_%d(int, char const*)", strings.Repeat("ns<&>::", 200), i))
	}
	for name, opt := range map[string]comparetest.Options{
		"many frames": {Frames: 50_000, Depth: 100, Runs: 5, Change: true},
		"long names":  long,
		"hostile":     {Frames: 2000, Depth: 20, Runs: 4, Change: true, Names: comparetest.HostileNames()},
		"events":      {Frames: 5000, Depth: 30, Runs: 4, Change: true, Events: []string{"cpu-clock", "instructions", "branch-misses", "off-cpu"}},
	} {
		page := render(t, sample(t, opt))
		static := page[bytes.Index(page, []byte("<body>")):bytes.Index(page, []byte(blockStart))]
		if len(static) > 60_000 {
			t.Errorf("%s: the first screen has %d bytes", name, len(static))
		}
		flame := regexp.MustCompile(`(?s)<figure class="small-flame">.*?</figure>`).Find(static)
		if n := len(flame); n < 500 || n > 20_000 {
			t.Errorf("%s: the flame graph has %d bytes", name, n)
		}
		if name != "hostile" && !bytes.Contains(static, []byte(`<figure class="waterfall">`)) {
			t.Errorf("%s has no waterfall", name)
		}
	}
}

// TestRungs checks that what is read of a waterfall adds up to the last digit.
func TestRungs(t *testing.T) {
	d := sample(t, comparetest.Options{Frames: 5000, Depth: 30, Runs: 6, Change: true})
	page := render(t, d)
	figure := escape.UnescapeString(regexp.MustCompile(`(?s)<figure class="waterfall">.*?</figure>`).FindString(string(page)))
	var numbers []float64
	for _, m := range regexp.MustCompile(`text-anchor="end">([^<]*)<`).FindAllStringSubmatch(figure, -1) {
		digits := regexp.MustCompile(`[0-9.]+`).FindString(m[1])
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			t.Fatalf("%q: %v", m[1], err)
		}
		if strings.Contains(m[1], "−") {
			v = -v
		}
		numbers = append(numbers, v)
	}
	if len(numbers) < 4 {
		t.Fatalf("numbers are %v", numbers)
	}
	last := len(numbers) - 1
	sum := 0.0
	for _, v := range numbers[:last] {
		sum += v
	}
	if math.Abs(sum-numbers[last]) > 1e-9*numbers[last] {
		t.Errorf("%v add up to %v, not %v", numbers[:last], sum, numbers[last])
	}
	for _, test := range []struct {
		base, head float64
		deltas     []float64
		share      bool
		want       string
	}{
		{118.3321, 97.1789, []float64{-10.0489, 1.9644}, false, "118.33 ns −10.05 ns +1.96 ns −13.06 ns 97.18 ns"},
		{120.9e6, 120.4e6, []float64{6.0224e6, -3.4381e6}, false, "120.900 ms +6.022 ms −3.438 ms −3.084 ms 120.400 ms"},
		{1, 1, []float64{0.12345}, true, "100.00 % +12.35 pp −12.35 pp 100.00 %"},
		{0, 5, []float64{5}, false, "0.000 ns +5.000 ns 0.000 ns 5.000 ns"},
		{3, 3, nil, false, "3.000 ns 0.000 ns 3.000 ns"},
	} {
		e := (&metaEvent{Name: "cpu-clock", Unit: "nanoseconds", Share: test.share}).event()
		n := newRungs(e, test.base, test.head, test.deltas)
		got := []string{n.cost(n.base)}
		for _, v := range append(n.deltas, n.rest) {
			got = append(got, n.delta(v))
		}
		if s := strings.ReplaceAll(strings.Join(append(got, n.cost(n.head)), " "), thin, " "); s != test.want {
			t.Errorf("%v to %v by %v is written %q, want %q", test.base, test.head, test.deltas, s, test.want)
		}
	}
}

// TestWaterfallBreak checks that the bars of both sides are broken where the axis does not start at 0,
// which is said, and only there.
func TestWaterfallBreak(t *testing.T) {
	page, err := template.Parse(pageText, escaper.Replace)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		head float64
		cut  string
	}{
		{110, "axis cut at 95 ns"},
		{300, ""},
		{0, ""},
	} {
		m := &meta{
			Events:    []metaEvent{{Name: "cpu-clock", Unit: "nanoseconds", Per: "run"}},
			Waterfall: &metaWaterfall{By: "function", Base: 100, Head: test.head, Bars: []metaBar{{"f", test.head - 100}}},
		}
		v := m.waterfall()
		if got := strings.ReplaceAll(v.Cut, thin, " "); got != test.cut {
			t.Errorf("100 to %v: %q, want %q", test.head, got, test.cut)
		}
		if said := strings.Contains(v.Label, "axis cut at"); said != (test.cut != "") {
			t.Errorf("100 to %v is called %q", test.head, v.Label)
		}
		drawn := page.Execute("waterfall", v)
		rows := strings.Split(drawn, "<g ")[1:]
		for i, row := range rows {
			side := i == 0 || i == len(rows)-1
			if broken := strings.Contains(row, `<svg class="break"`); broken != (side && test.cut != "") {
				t.Errorf("100 to %v: row %d is broken: %v", test.head, i, broken)
			}
		}
		if said := strings.Contains(drawn, `<text class="cut"`); said != (test.cut != "") {
			t.Errorf("100 to %v is drawn as %s", test.head, drawn)
		}
	}
}

// TestFlameAddsUp checks that no cost is drawn twice, and that what is not drawn is less than what is
// too small to see.
func TestFlameAddsUp(t *testing.T) {
	d := sample(t, comparetest.Options{Frames: 20_000, Depth: 40, Runs: 5, Change: true})
	render(t, d)
	e := &d.Events[0]
	f := flameOf(e)
	sum := func(m *metaFrame) float64 { return m.Base + m.Head }
	root := &f.Frames[0]
	if math.Abs(root.Base-e.Total.Base) > 1e-4*e.Total.Base || math.Abs(root.Head-e.Total.Head) > 1e-4*e.Total.Head {
		t.Errorf("the root costs %v and %v, the total is %v and %v", root.Base, root.Head, e.Total.Base, e.Total.Head)
	}
	depth := 0
	for i := range f.Frames {
		p := &f.Frames[i]
		depth = max(depth, p.Level)
		below := 0.0
		for k := i + 1; k < len(f.Frames) && f.Frames[k].Level > p.Level; k++ {
			if f.Frames[k].Level == p.Level+1 {
				below += sum(&f.Frames[k])
			}
		}
		if below > sum(p)*(1+1e-4) {
			t.Errorf("%s costs %v, what it calls %v", p.Name, sum(p), below)
		}
	}
	if depth != flameLevels-1 {
		t.Errorf("%d levels are drawn", depth+1)
	}
}

// TestMoverNames checks that a name is on one line, cut in its middle, and that all of it is at hand.
func TestMoverNames(t *testing.T) {
	opt := small()
	for i := range 40 {
		opt.Names = append(opt.Names, fmt.Sprintf("com::example::%sCodec%d<unsigned long>::decode(char const*, int)", strings.Repeat("inner::", 20), i))
	}
	d := sample(t, opt)
	page := string(render(t, d))
	rows := regexp.MustCompile(`<tr><th scope="row"><a href="[^"]*" title="([^"]*)"><bdi>([^<]*)</bdi>(?:<bdi class="ln" hidden>([^<]*)</bdi>)?</a>`).FindAllStringSubmatch(page, -1)
	if len(rows) == 0 {
		t.Fatal("nothing moved")
	}
	for _, r := range rows {
		full, wide, narrow := escape.UnescapeString(r[1]), escape.UnescapeString(r[2]), escape.UnescapeString(r[3])
		if len(full) < 100 || !strings.Contains(wide, "decode") || !strings.Contains(narrow, "decode") || !strings.Contains(wide, "…") {
			t.Errorf("%q is shown as %q and %q", full, wide, narrow)
		}
		if text.Width(wide) > nameRoom || text.Width(narrow) > narrowRoom {
			t.Errorf("%q and %q are too wide", wide, narrow)
		}
	}
}

// TestOneScale checks that bars of all tables are of one scale, whose ends the legend tells.
func TestOneScale(t *testing.T) {
	d := sample(t, comparetest.Options{Frames: 5000, Depth: 30, Runs: 6, Change: true, Events: []string{"cpu-clock", "instructions", "branch-misses"}})
	e := &d.Events[0]
	for i := range e.Functions { // what differs little in one event
		for _, c := range []*diff.Change{&e.Functions[i].Self, &e.Functions[i].Total} {
			if c.Ratio > 0 && !math.IsInf(float64(c.Ratio), 1) {
				c.Ratio = text.Number(math.Pow(float64(c.Ratio), 0.2))
				c.CI.Lo, c.CI.Hi = math.Pow(c.CI.Lo, 0.2), math.Pow(c.CI.Hi, 0.2)
			}
		}
	}
	page := string(render(t, d))
	ends := regexp.MustCompile(`÷([0-9.]+) and ×([0-9.]+) at the ends`).FindStringSubmatch(page)
	if ends == nil || ends[1] != ends[2] {
		t.Fatalf("the legend says %q", ends)
	}
	reach, _ := strconv.ParseFloat(ends[1], 64)
	bars, tables := 0, strings.Split(page, `<table class="mover">`)[1:]
	for _, table := range tables {
		for _, m := range regexp.MustCompile(`<td class="n iv"><b>([+−][0-9.]+)[^<]*</b>.*?<circle [^>]*cx="([0-9.]+)"`).FindAllStringSubmatch(table, -1) {
			percent, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], "−", "-"), 64)
			at, _ := strconv.ParseFloat(m[2], 64)
			if want := 50 + 46*max(-1, min(1, math.Log1p(percent/100)/math.Log(reach))); math.Abs(at-want) > 0.6 {
				t.Errorf("%s is at %v, want %.1f", m[1], at, want)
			}
			bars++
		}
	}
	if bars < 3 || len(tables) < 2 {
		t.Errorf("%d bars in %d tables", bars, len(tables))
	}
}

// TestStrongestLeadFirst checks that the table of leads begins with the one that is furthest from noise,
// whichever way it goes.
func TestStrongestLeadFirst(t *testing.T) {
	for _, strongest := range []int{0, 3} {
		d := sample(t, comparetest.Options{Frames: 5000, Depth: 30, Runs: 1, Change: true})
		e := &d.Events[0]
		for i := range 4 {
			c := &e.Functions[i].Self
			c.Base, c.Head, c.Lead, c.Few, c.Distance = 0.02*e.Total.Base, 0.03*e.Total.Base, verdict.More, false, text.Number(10+i)
			if i > 1 {
				c.Base, c.Head, c.Lead = c.Head, c.Base, verdict.Less
			}
			if i == strongest {
				c.Distance = 20
			}
		}
		var distances []float64
		for _, m := range regexp.MustCompile(`>[^<]*?([0-9.]+)σ from noise<`).FindAllStringSubmatch(string(render(t, d)), -1) {
			v, _ := strconv.ParseFloat(m[1], 64)
			distances = append(distances, v)
		}
		if len(distances) < 2 || distances[0] != slices.Max(distances) {
			t.Errorf("strongest %d: leads are %vσ from noise", strongest, distances)
		}
	}
}

// TestFarApart checks that a ratio that nobody can picture is told by both numbers.
func TestFarApart(t *testing.T) {
	e := (&metaEvent{Name: "branch-misses", Unit: "count"}).event()
	for _, test := range []struct {
		base, head, ratio float64
		want              string
	}{
		{6, 298_500, 49_750, "from 6 to 298.5 k"},
		{3_013_000, 992, 0.0003, "from 3.013 M to 992"},
		{100, 9000, 90, "×90"},
		{100, 50, 0.5, "−50.0 %"},
		{0, 50, math.Inf(1), "new"},
		{50, 0, 0, "gone"},
	} {
		got, _ := e.change(changeOf(test.base, test.head, test.ratio, stats.Interval{}))
		if got = strings.ReplaceAll(got, thin, " "); got != test.want {
			t.Errorf("%v to %v is %q, want %q", test.base, test.head, got, test.want)
		}
	}
}
