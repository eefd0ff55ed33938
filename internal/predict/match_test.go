package predict

import (
	"strings"
	"testing"

	"profdiff/internal/predict/hot"
	"profdiff/internal/run"
)

// Symbols of two builds, in the mangling of Rust with its hashes, and of C++.
const (
	sumBefore  = "_ZN15sessions_before3sum17h5b293d3e8372db91E"
	sumAfter   = "_ZN14sessions_after3sum17h6977a41684843ca3E"
	parseAfter = "_ZN4fast5parseIdEENS_6resultEPKcRT_"
)

// named is a binary with the functions of two loops under other names.
func named(t *testing.T, hottest, nest string) *hot.Binary {
	return binaryOf(t, "two.so", strings.NewReplacer("hot", hottest, "nest", nest).Replace(twoLoops))
}

// TestMatches checks which loops meet whose functions have other names, and what is said of it.
func TestMatches(t *testing.T) {
	all := func(name string) []sampled { return []sampled{{name, 1, 10}} }
	half := func(name string) []sampled { return []sampled{{name, 0, 6}, {name, 1, 4}} }
	for _, test := range []struct {
		name          string
		before, after string
		samples       func(name string) []sampled
		flag, err     string
	}{
		{"crate", sumBefore, sumAfter, half, "sessions_before::sum before and sessions_after::sum after are taken for the same function: only the first part of their names differs, and both are the hottest; --function BEFORE=AFTER names others", ""},
		{"package", "before.Len", "after.Len", half, "only the first part of their names differs", ""},
		{"most of both", "strtod", parseAfter, all, "the hottest loop of each side, in strtod before (100%) and fast::result fast::parse<double>(char const*, double&) after (100%): their names do not say that they do the same; --function", ""},
		{"not most", "strtod", parseAfter, half, "", "strtod, loop at 0x"},
		{"same", "strtod", "strtod", half, "", ""},
		{"another hash", "_ZN1a3sum17h5b293d3e8372db91E", "_ZN1a3sum17h6977a41684843ca3E", half, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			base := sideOf(t, named(t, test.before, "other"), nil, test.samples(test.before)...)
			head := sideOf(t, named(t, test.after, "another"), nil, test.samples(test.after)...)
			pairs, err := PairsOf(t.Context(), noLLVM{}, base, head, PairOptions{})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), "fast::parse<double>(char const*, double&) (40.0%)") {
					t.Fatalf("error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if flags := strings.Join(pairs[0].Flags, "\n"); !strings.Contains(flags, test.flag) || test.flag == "" && flags != "" {
				t.Errorf("flags %q, want %q", flags, test.flag)
			}
		})
	}
}

// TestInlinedIntoTheHottest checks that a function meets the loop that it was inlined in, though
// a cold loop of the same name was before.
func TestInlinedIntoTheHottest(t *testing.T) {
	b := binaryOf(t, "two.so", twoLoops)
	rb := run.NewBuilder("run")
	event := rb.Event(run.Event{Name: "cycles"})
	m := rb.Mapping(run.Mapping{File: "/lib/two.so", Start: mapped, Limit: mapped + 1<<20, BuildID: b.BuildID})
	line := func(name string) run.Line { return run.Line{Function: rb.Function(run.Function{Name: name})} }
	rb.Add(event, rb.Stack(0, rb.Location(m, mapped+address(t, b, "nest", 2), line("hot"), line("nest"))), 0, 10)
	p, err := hot.NewProfile([]*run.Run{finish(t, rb)}, b, "")
	if err != nil {
		t.Fatal(err)
	}
	base := sideOf(t, b, nil, sampled{"hot", 1, 9}, sampled{"nest", 2, 1})
	pairs, err := PairsOf(t.Context(), noLLVM{}, base, &SideInput{Name: "head", Binary: b, Profile: p}, PairOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if b, a := pairs[0].Base.Code.Root.Name, pairs[0].Head.Code.Root.Name; b != "hot" || a != "nest" {
		t.Errorf("%s before is %s after", b, a)
	}
}

func TestWithoutFirst(t *testing.T) {
	for name, want := range map[string]string{
		"a::b::c": "b::c", "example.com/before/list.(*List).Len": "(*List).Len", "list.Len[go.shape.int64]": "Len[go.shape.int64]",
		"<a::B as core::C>::d": "", "main": "", "int a::b<int>()": "",
	} {
		if got := withoutFirst(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestSameFunction(t *testing.T) {
	for _, test := range []struct {
		symbol, wanted string
		want           bool
	}{
		{sumBefore, sumBefore, true},
		{sumBefore, "sessions_before::sum", true},
		{sumBefore, "sessions_before::sum::h5b293d3e8372db91", true},
		{sumBefore, "sessions_before::sum::h6977a41684843ca3", false},
		{sumBefore, "sum", false},
		{parseAfter, "fast::parse", true},
		{parseAfter + ".isra.0", "fast::parse", true},
		{parseAfter, "fast::result fast::parse<double>(char const*, double&)", true},
		{parseAfter, "fast::result fast::parse<double>", true},
		{parseAfter, "fast::parse<double>", true},
		{parseAfter, "fast::parse<float>", false},
		{"_ZN4fast5parseEPKc", "fast::parse", true},
		{"_ZN4fast5parseEPKc", "fast::parse(char const*)", true},
		{"_ZN4fast5parseEPKc", "fast::parse(int)", false},
		{"main.main", "main", false},
	} {
		if got := sameFunction(test.symbol, test.wanted); got != test.want {
			t.Errorf("%s is %q: %v", test.symbol, test.wanted, got)
		}
	}
}
