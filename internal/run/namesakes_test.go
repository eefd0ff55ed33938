package run_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "profdiff/internal/run"
)

// localRun is a run of functions "binary name origin", each with one sample.
func localRun(t *testing.T, functions ...string) *Run {
	t.Helper()
	b := NewBuilder("r")
	e := b.Event(Event{Name: "cpu-clock"})
	mappings := make(map[string]uint32)
	for _, f := range functions {
		fields := strings.Split(f, " ")
		m, ok := mappings[fields[0]]
		if !ok {
			m = b.Mapping(Mapping{File: "/bin/" + fields[0], HasFunctions: true, Kind: NativeMapping})
			mappings[fields[0]] = m
		}
		fn := Function{Name: fields[1], SystemName: fields[1], Origin: fields[2]}
		if !strings.HasPrefix(fields[2], "0x") && strings.HasPrefix(fields[2], "/") {
			fn.File = fields[2]
		}
		b.Add(e, b.Stack(0, b.Location(m, uint64(len(b.Run().Locations)), Line{Function: b.Function(fn)})), 0, 1)
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rowNames are the rows of functions.
func rowNames(r *Run) (names []string) {
	for _, row := range r.Group(ByFunction) {
		names = append(names, row.Name)
	}
	slices.Sort(names)
	return names
}

func TestTellApart(t *testing.T) {
	for _, test := range []struct {
		name string
		runs [][]string
		want [][]string
	}{
		{
			"two files of one binary",
			[][]string{{"app parse /src/lexer.c", "app parse /src/util.c", "app main "}},
			[][]string{{"main", "parse@lexer.c", "parse@util.c"}},
		},
		{
			"as much of the path as is needed",
			[][]string{{"app init /src/a/mod.c", "app init /src/b/mod.c", "app init /src/c/x/mod.c", "app init /src/d/x/mod.c", "app init /src/main.c"}},
			[][]string{{"init@a/mod.c", "init@b/mod.c", "init@c/x/mod.c", "init@d/x/mod.c", "init@main.c"}},
		},
		{
			"a header in two compilation units, once by its symbol",
			[][]string{{"app min /usr/include/min.h", "app min min.h"}},
			[][]string{{"min"}},
		},
		{
			"in two binaries",
			[][]string{{"liba.so hash /a/hash.c", "libb.so hash /b/hash.c"}},
			[][]string{{"hash", "hash"}},
		},
		{
			"a global function and a static one",
			[][]string{{"app parse ", "app parse /src/util.c"}},
			[][]string{{"parse", "parse@util.c"}},
		},
		{
			"by address",
			[][]string{{"app parse 0x1200", "app parse 0x1400"}},
			[][]string{{"parse@0x1200", "parse@0x1400"}},
		},
		{
			"each in another run",
			[][]string{{"app parse /src/lexer.c"}, {"app parse /src/util.c"}, {"app parse "}},
			[][]string{{"parse@lexer.c"}, {"parse@util.c"}, {"parse"}},
		},
		{
			"one file in two directories is one",
			[][]string{{"app parse /build/1/lexer.c"}, {"app parse /build/2/lexer.c"}, {"app parse "}},
			[][]string{{"parse"}, {"parse"}, {"parse"}},
		},
		{
			"directories that differ between builds",
			[][]string{{"app f /v1/a/x.c", "app f /v1/b/x.c"}, {"app f /v2/b/x.c"}, {"app f /v3/a/x.c", "app f /v3/y.c"}},
			[][]string{{"f@a/x.c", "f@b/x.c"}, {"f@b/x.c"}, {"f@a/x.c", "f@y.c"}},
		},
		{
			"the run that has both decides",
			[][]string{{"app f /src/a/x.c"}, {"app f /src/b/x.c"}, {"app f /src/a/x.c", "app f /src/b/x.c"}},
			[][]string{{"f@a/x.c"}, {"f@b/x.c"}, {"f@a/x.c", "f@b/x.c"}},
		},
		{
			"clones are told apart as what they were made of",
			[][]string{{"app f.cold /a.c", "app f.cold /b.c", "app f.part.0 /a.c"}},
			[][]string{{"f.cold@a.c", "f.cold@b.c", "f.part.0"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var runs []*Run
			for _, functions := range test.runs {
				runs = append(runs, localRun(t, functions...))
			}
			for range 2 { // the second time nothing changes
				TellApart(runs...)
				var got [][]string
				for _, r := range runs {
					got = append(got, rowNames(r))
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
			}
			// What was told apart stays so among fewer runs.
			TellApart(runs[0])
			if diff := cmp.Diff(test.want[0], rowNames(runs[0])); diff != "" {
				t.Errorf("rows of the first run (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTellApartLonger checks that names grow in all runs if more of the path is needed later.
func TestTellApartLonger(t *testing.T) {
	a := localRun(t, "app f /src/a/x.c", "app f /src/y.c")
	b := localRun(t, "app f /src/b/x.c", "app f /src/a/x.c")
	if diff := cmp.Diff([]string{"f@x.c", "f@y.c"}, rowNames(a)); diff != "" {
		t.Error(diff)
	}
	TellApart(a, b)
	if diff := cmp.Diff([][]string{{"f@a/x.c", "f@y.c"}, {"f@a/x.c", "f@b/x.c"}}, [][]string{rowNames(a), rowNames(b)}); diff != "" {
		t.Error(diff)
	}
}

func TestFunctionMeans(t *testing.T) {
	alone := Function{Name: "parse", SystemName: "parse", Origin: "/src/a/lexer.c"}
	apart := Function{Name: "parse@lexer.c", SystemName: "parse", Origin: "/src/a/lexer.c", Apart: uint32(len("lexer.c"))}
	for expr, want := range map[string]bool{
		"^parse$": true, "^parse@lexer\\.c$": true, "^parse@a/lexer\\.c$": true, "parse@util": false, "^parse@exer": false,
	} {
		re := regexp.MustCompile(expr)
		for _, f := range []*Function{&alone, &apart} {
			if got := f.Means(re); got != want {
				t.Errorf("%s means %s: %v", expr, f.Name, got)
			}
		}
	}
}

// TestProfileTellsApart checks that a profile keeps apart what the run did.
func TestProfileTellsApart(t *testing.T) {
	r := localRun(t, "app parse /src/lexer.c", "app parse /src/util.c", "app parse 0x1230", "app f a.c", "app f b.c")
	var buf bytes.Buffer
	if err := r.WriteProfile(&buf, ProfileOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := range r.Functions {
		want := r.Functions[i]
		got := Function{Name: want.Name, SystemName: want.SystemName, File: want.File}
		got.Recognize()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("function (-written +recognized):\n%s", diff)
		}
	}
}

func TestRecognize(t *testing.T) {
	for _, test := range []struct{ f, want Function }{
		{Function{Name: "parse", File: "/a.c"}, Function{Name: "parse", File: "/a.c", Origin: "/a.c"}},
		{Function{Name: "main.parse", File: "/a.go"}, Function{Name: "main.parse", File: "/a.go"}},
		{Function{Name: "std::sort(int*)", File: "/a.h"}, Function{Name: "std::sort(int*)", File: "/a.h"}},
		{Function{Name: "malloc@plt", SystemName: "malloc@plt"}, Function{Name: "malloc@plt", SystemName: "malloc@plt"}},
		{Function{Name: "f@b/x.c", SystemName: "f", File: "/a/b/x.c"}, Function{Name: "f@b/x.c", SystemName: "f", File: "/a/b/x.c", Origin: "/a/b/x.c", Apart: uint32(len("b/x.c"))}},
	} {
		got := test.f
		got.Recognize()
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
