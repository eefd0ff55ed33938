package budget

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/verdict"
)

// codeWith says that the file app of both sides was read and has functions with these names
// for linkers.
func codeWith(names ...string) func(int) []Code {
	return func(int) []Code {
		return []Code{{Path: "/lib/app", Named: true, Functions: func() (iter.Seq[Function], error) {
			var list []Function
			for _, name := range names {
				list = append(list, Function{Name: name, System: name, File: "/src/" + name + ".c"})
			}
			return slices.Values(list), nil
		}}}
	}
}

// TestUnseen limits functions that no sample hit. What the file has is cost zero within a
// bound, and only what it does not have is missing.
func TestUnseen(t *testing.T) {
	side := func(first int, load float64, more ...stackSpec) []stackSpec {
		return append([]stackSpec{{"m", "app!main;app!work", load}}, more...)
	}
	hit := func(n float64) stackSpec { return stackSpec{"m", "app!main;app!quiet", n} }
	for _, test := range []struct {
		name       string
		base, head []stackSpec
		code       func(int) []Code
		budget     string
		want       verdict.Verdict
		reason     string
		marks      []Mark
	}{
		{"on neither side", side(0, 4000), side(1, 4000), codeWith("quiet"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Pass, "no sample hit it; it costs less than what matters", nil},
		{"too few samples to say", side(0, 60), side(1, 60), codeWith("quiet"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Inconclusive, "no sample hit it on either side, but more than what matters may have been missed", nil},
		{"in no binary", side(0, 4000), side(1, 4000), codeWith("quieter", "other"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Fail, "no function matches quiet; closest: quieter, other, main", []Mark{Missing}},
		{"no binary could be read", side(0, 4000), side(1, 4000), nil, "match: {function: quiet}, limit: {fail: +5%}", verdict.Inconclusive, "no function matches quiet among the samples, and no binary of the recordings could be read, which may have it; --symfs says where they are; closest: main, work", nil},
		{"a part", side(0, 4000), side(1, 4000), codeWith("quiet.part.0"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Pass, "no sample hit it; it costs less than what matters", nil},
		{"a cold clone of a copy", side(0, 4000), side(1, 4000), codeWith("quiet.isra.0.cold"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Pass, "no sample hit it; it costs less than what matters", nil},
		{"other parameters", side(0, 4000), side(1, 4000), codeWith("ns::quiet(int, char const*)"), "match: {function: 'ns::quiet'}, limit: {fail: +5%}", verdict.Pass, "no sample hit it; it costs less than what matters", nil},
		{"a Rust hash", side(0, 4000), side(1, 4000), codeWith("krate::quiet::h0123456789abcdef"), "match: {function: 'krate::quiet'}, limit: {fail: +5%}", verdict.Pass, "no sample hit it; it costs less than what matters", nil},
		{"a version", side(0, 4000), side(1, 4000), codeWith("quiet@@LIB_2.14"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Pass, "no sample hit it; it costs less than what matters", nil},
		{"a file of the source", side(0, 4000), side(1, 4000), codeWith("quiet"), "match: {file: 'src/quiet.c'}, limit: {fail: +5%}", verdict.Pass, "no sample hit it; it costs less than what matters", nil},
		{"another file of the source", side(0, 4000), side(1, 4000), codeWith("quiet"), "match: {file: 'src/loud.c'}, limit: {fail: +5%}", verdict.Fail, "no function is in a source file that matches src/loud.c", []Mark{Missing}},
		{"under what did not run", side(0, 4000), side(1, 4000), codeWith("quiet"), "match: {function: work, under: quiet}, limit: {fail: +5%}", verdict.Pass, "no sample hit it; it costs less than what matters", nil},
		{"of another library", side(0, 4000), side(1, 4000), codeWith("quiet"), "match: {function: quiet, dso: libz*}, limit: {fail: +5%}", verdict.Fail, "no function matches quiet in libz*", []Mark{Missing}},
		{"by its time", side(0, 4000), side(1, 4000), codeWith("quiet"), "match: {function: quiet}, max: {fail: 5ms}", verdict.Pass, "no samples", nil},
		{"by less time than can be told", side(0, 4000), side(1, 4000), codeWith("quiet"), "match: {function: quiet}, max: {fail: 100us}", verdict.Inconclusive, "no samples, but too few in all to exclude more than 100us", nil},
		{"no more in head", side(0, 4000, hit(2)), side(1, 4000), codeWith("quiet"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Pass, "no sample hit it; it costs less than what matters", nil},
		{"much in base, none in head", side(0, 4000, hit(20)), side(1, 4000), codeWith("quiet"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Warn, "suspicious collapse: head has the function, and no sample hit it; was anything measured?", []Mark{Collapse}},
		{"a sample in head", side(0, 4000), side(1, 4000, hit(1)), codeWith("quiet"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Pass, "costs less than what matters", nil},
		{"much in head, none in base", side(0, 4000), side(1, 4000, hit(400)), codeWith("quiet"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Fail, "more than 0.2% of the total (min_share)", nil},
		{"new in head", side(0, 4000), side(1, 4000, hit(400)), codeWith("work"), "match: {function: quiet}, limit: {fail: +5%}", verdict.Warn, "new: base has no samples of it; max or min_effect would limit it", []Mark{New}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := parseFile(t, noWork+"- {id: a, "+test.budget+"}\n")
			o := mustCheck(t, f, &Inputs{Base: sideOf(t, 10, 0, clock(test.base...)), Head: sideOf(t, 10, 1, clock(test.head...)), Code: test.code})
			r := result(t, o, "a")
			if got := strings.Join(r.Reasons, "; "); r.Verdict != test.want || !strings.HasPrefix(got, test.reason) || !slices.Equal(r.Marks, test.marks) {
				t.Errorf("%s %q %v, want %s %q %v", r.Verdict, got, r.Marks, test.want, test.reason, test.marks)
			}
			c := r.Deciding
			if r.Has(Missing) || test.code == nil {
				return
			}
			within := c.Range.Hi <= c.Bound()
			if within != (c.Verdict == verdict.Pass || c.Basis == verdict.Collapsed || r.Has(Collapse)) {
				t.Errorf("%s: %v of %v, limit %v", c.Verdict, c.Range, c.Value, c.Bound())
			}
			if c.Verdict == verdict.Inconclusive && !(c.RunsNeeded > 10) {
				t.Errorf("inconclusive, needs %d runs", c.RunsNeeded)
			}
		})
	}
}

// TestUnseenNeeds checks that as many runs as an inconclusive budget asks for decide it.
func TestUnseenNeeds(t *testing.T) {
	check := func(runs int, limits string) *Claim {
		f := parseFile(t, noWork+"- {id: a, match: {function: quiet}, "+limits+"}\n")
		stack := stackSpec{"m", "app!main;app!work", 60}
		return result(t, mustCheck(t, f, &Inputs{
			Base: sideOf(t, runs, 0, clock(stack)), Head: sideOf(t, runs, 1, clock(stack)), Code: codeWith("quiet"),
		}), "a").Deciding
	}
	for _, limits := range []string{"limit: {fail: +5%}", "max: {fail: 100us}", "max: {fail: 0.1%, of: total}"} {
		few := check(10, limits)
		if few.Verdict != verdict.Inconclusive || few.RunsNeeded <= 10 {
			t.Fatalf("%s: %s, needs %d runs", limits, few.Verdict, few.RunsNeeded)
		}
		if enough := check(few.RunsNeeded, limits); enough.Verdict != verdict.Pass {
			t.Errorf("%s: with the %d runs it needs: %s %s of %v", limits, few.RunsNeeded, enough.Verdict, enough.Reason, enough.Range)
		}
	}
}

// TestUnreadFiles says of which files it is not known whether they have a function.
func TestUnreadFiles(t *testing.T) {
	side := func(first int) *Inputs {
		stack := stackSpec{"m", "app!main;app!work", 4000}
		return &Inputs{Base: sideOf(t, 8, 0, clock(stack)), Head: sideOf(t, 8, 1, clock(stack))}
	}
	read := codeWith("work")(0)[0]
	for _, test := range []struct {
		files  []Code
		match  string
		reason string
	}{
		{[]Code{read, {Path: "/tmp/perf-1.map", Named: true}}, "{function: quiet}", "/tmp/perf-1.map could not be read, which may have it; --symfs says where it is"},
		{[]Code{read, {Path: "/lib/libz.so.1"}}, "{function: quiet}", ""}, // no sample has a name there
		{[]Code{read, {Path: "/lib/libz.so.1"}}, "{function: quiet, dso: libz*}", "/lib/libz.so.1 could not be read, which may have it; --symfs says where it is"},
		{[]Code{{Path: "/1", Named: true}, {Path: "/2", Named: true}, {Path: "/3", Named: true}, {Path: "/4", Named: true}, {Path: "/5", Named: true}}, "{function: quiet}", "/1, /2, /3 and 2 other files could not be read"},
	} {
		in := side(0)
		in.Code = func(int) []Code { return test.files }
		f := parseFile(t, fmt.Sprintf("%s- {id: a, match: %s, limit: {fail: +5%%}}\n", noWork, test.match))
		r := result(t, mustCheck(t, f, in), "a")
		if test.reason == "" {
			if !r.Has(Missing) {
				t.Errorf("%s: %s %q, want missing", test.match, r.Verdict, r.Reasons)
			}
		} else if r.Verdict != verdict.Inconclusive || !strings.Contains(r.Reasons[0], test.reason) {
			t.Errorf("%s: %s %q, want %q", test.match, r.Verdict, r.Reasons, test.reason)
		}
	}
	// Files are read only if anything is not among the samples.
	in := side(0)
	in.Code = func(int) []Code { t.Error("files are read though all was sampled"); return nil }
	mustCheck(t, parseFile(t, noWork+"- {id: a, match: {function: work}, limit: {fail: +5%}}\n"), in)
}
