package align

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// describe writes matches as "kind: base -> head", those of one group on one line.
func describe(base, head []Function, matches []Match) []string {
	var lines []string
	at := make(map[int]int)
	name := func(fns []Function, i int) string {
		if i < 0 {
			return "-"
		}
		if fns[i].DSO != "prog" {
			return fns[i].Name + "@" + fns[i].DSO
		}
		return fns[i].Name
	}
	for _, m := range matches {
		line := fmt.Sprintf("%s: %s -> %s", m.Kind, name(base, m.Base), name(head, m.Head))
		if i, ok := at[m.Group]; ok {
			lines[i] += "; " + line
		} else {
			at[m.Group] = len(lines)
			lines = append(lines, line)
		}
	}
	return lines
}

func TestFunctions(t *testing.T) {
	for _, test := range []struct {
		name       string
		base, head []string
		renames    []Rename
		want       []string
	}{
		{
			name: "the same",
			base: []string{"main;f 1", "main;[prog] 1"},
			head: []string{"main;[prog] 2", "main;f 1"},
			want: []string{"exact: main -> main", "exact: f -> f", "exact: [prog] -> [prog]"},
		},
		{
			name: "stand-ins are not matched otherwise",
			base: []string{"main;f;[liba.so]@liba.so 5", "main;g 5"},
			head: []string{"main;f;[liba.so]@libb.so 5", "main;g 5"},
			want: []string{"exact: main -> main", "exact: f -> f", "removed: [liba.so]@liba.so -> -", "exact: g -> g", "added: - -> [liba.so]@libb.so"},
		},
		{
			name: "moved",
			base: []string{"main;f;g@liba.so 5", "main;same@liba.so 1"},
			head: []string{"main;f;g@libb.so 5", "main;same@liba.so 1"},
			want: []string{"exact: main -> main", "exact: f -> f", "moved: g@liba.so -> g@libb.so", "exact: same@liba.so -> same@liba.so"},
		},
		{
			name: "not moved: another caller",
			base: []string{"main;f;init@liba.so 5", "main;g 5", "x@liba.so 1"},
			head: []string{"main;f 5", "main;g;init@libb.so 5", "x@liba.so 1"},
			want: []string{"exact: main -> main", "exact: f -> f", "removed: init@liba.so -> -", "exact: g -> g", "exact: x@liba.so -> x@liba.so", "added: - -> init@libb.so"},
		},
		{
			name: "not moved: several of the name",
			base: []string{"main;init@liba.so 5", "main;init@libc.so 5"},
			head: []string{"main;init@libb.so 5", "main;init@libc.so 5"},
			want: []string{"exact: main -> main", "removed: init@liba.so -> -", "exact: init@libc.so -> init@libc.so", "added: - -> init@libb.so"},
		},
		{
			name: "program of another name",
			base: []string{"main@old;f@old 1", "main@old;g.llvm.1@old 1", "main@old;read@libc.so 1"},
			head: []string{"main@new;f@new 1", "main@new;g.llvm.2@new 1", "main@new;read@libc.so 1"},
			want: []string{"moved: main@old -> main@new", "moved: f@old -> f@new", "normalized: g.llvm.1@old -> g.llvm.2@new", "exact: read@libc.so -> read@libc.so"},
		},
		{
			name: "suffixes",
			base: []string{"main;f.llvm.1 5", "main;g.isra.0 5", "main;h(int) 5"},
			head: []string{"main;f.llvm.2 5", "main;g.constprop.1.isra.0 5", "main;(anonymous namespace)::h(int) 5"},
			want: []string{"exact: main -> main", "normalized: f.llvm.1 -> f.llvm.2", "normalized: g.isra.0 -> g.constprop.1.isra.0", "normalized: h(int) -> (anonymous namespace)::h(int)"},
		},
		{
			name: "parts belong to their function",
			base: []string{"main;f 9"},
			head: []string{"main;f 5", "main;f;f.cold 1", "main;f;f.part.0 3"},
			want: []string{"exact: main -> main", "exact: f -> f; normalized: f -> f.cold; normalized: f -> f.part.0"},
		},
		{
			name: "parts of both sides are kept apart",
			base: []string{"main;f 5", "main;f;f.cold 1"},
			head: []string{"main;f 5", "main;f;f.cold 1", "main;f;f.part.0 3", "main;f.cold;f.cold.part.1 1"},
			want: []string{"exact: main -> main", "exact: f -> f; normalized: f -> f.part.0", "exact: f.cold -> f.cold; normalized: f.cold -> f.cold.part.1"},
		},
		{
			name: "other clones",
			base: []string{"main;f 5", "main;f.constprop.0 10", "main;f.isra.0 2"},
			head: []string{"main;f 16", "main;f.constprop.1 1"},
			want: []string{
				"exact: main -> main",
				"exact: f -> f; normalized: f -> f.constprop.1; normalized: f.constprop.0 -> f; normalized: f.isra.0 -> f",
			},
		},
		{
			name: "clones without the function",
			base: []string{"main;f 9"},
			head: []string{"main;f.constprop.0 5", "main;f.constprop.1 1"},
			want: []string{"exact: main -> main", "normalized: f -> f.constprop.0; normalized: f -> f.constprop.1"},
		},
		{
			name: "local functions of one name are not parts of each other",
			base: []string{"main;a;f.llvm.1;x 5", "main;b;f.llvm.2;y 5"},
			head: []string{"main;b;f.llvm.3;y 5", "main;a;f.llvm.4;x 5"},
			want: []string{
				"exact: main -> main", "exact: a -> a", "normalized: f.llvm.1 -> f.llvm.4", "exact: x -> x",
				"exact: b -> b", "normalized: f.llvm.2 -> f.llvm.3", "exact: y -> y",
			},
		},
		{
			name: "a lambda before the others",
			base: []string{"main;sort;m::$_0;x 5", "main;find;m::$_1;y 5"},
			head: []string{"main;each;m::$_0;z 5", "main;sort;m::$_1;x 5", "main;find;m::$_2;y 5"},
			want: []string{
				"exact: main -> main", "exact: sort -> sort", "normalized: m::$_0 -> m::$_1", "exact: x -> x",
				"exact: find -> find", "normalized: m::$_1 -> m::$_2", "exact: y -> y",
				"added: - -> each", "added: - -> m::$_0", "added: - -> z",
			},
		},
		{
			name: "a lambda more, neighbours do not tell",
			base: []string{"main;m::$_0 5", "main;m::$_1 5"},
			head: []string{"main;m::$_0 3", "main;m::$_1 6", "main;m::$_2 5"},
			want: []string{"exact: main -> main", "exact: m::$_0 -> m::$_0", "exact: m::$_1 -> m::$_1", "added: - -> m::$_2"},
		},
		{
			// The new lambda itself has no samples.
			name: "a lambda more, their costs tell",
			base: []string{"main;m::'lambda'() 60", "main;m::'lambda0'() 200", "main;m::'lambda1'() 111"},
			head: []string{"main;m::'lambda'() 59", "main;m::'lambda1'() 203", "main;m::'lambda2'() 109"},
			want: []string{
				"exact: main -> main", "exact: m::'lambda'() -> m::'lambda'()",
				"normalized: m::'lambda0'() -> m::'lambda1'()", "normalized: m::'lambda1'() -> m::'lambda2'()",
			},
		},
		{
			name: "the same lambdas at other costs",
			base: []string{"main;m::'lambda'() 60", "main;m::'lambda0'() 200", "main;m::'lambda1'() 111"},
			head: []string{"main;m::'lambda'() 200", "main;m::'lambda0'() 111", "main;m::'lambda1'() 60"},
			want: []string{
				"exact: main -> main", "exact: m::'lambda'() -> m::'lambda'()",
				"exact: m::'lambda0'() -> m::'lambda0'()", "exact: m::'lambda1'() -> m::'lambda1'()",
			},
		},
		{
			name: "lambdas in template arguments",
			base: []string{"main;call<m::{lambda()#1}>(m::{lambda()#1});m::{lambda()#1}::operator()() const;x 5", "main;call<m::{lambda()#2}>(m::{lambda()#2});m::{lambda()#2}::operator()() const;y 5"},
			head: []string{"main;call<m::{lambda()#2}>(m::{lambda()#2});m::{lambda()#2}::operator()() const;x 5", "main;call<m::{lambda()#3}>(m::{lambda()#3});m::{lambda()#3}::operator()() const;y 5"},
			want: []string{
				"exact: main -> main",
				"normalized: call<m::{lambda()#1}>(m::{lambda()#1}) -> call<m::{lambda()#2}>(m::{lambda()#2})",
				"normalized: m::{lambda()#1}::operator()() const -> m::{lambda()#2}::operator()() const", "exact: x -> x",
				"normalized: call<m::{lambda()#2}>(m::{lambda()#2}) -> call<m::{lambda()#3}>(m::{lambda()#3})",
				"normalized: m::{lambda()#2}::operator()() const -> m::{lambda()#3}::operator()() const", "exact: y -> y",
			},
		},
		{
			name: "Java",
			base: []string{"a.Main.main;a.Main$1.run 5", "a.Main.main;a.Main$$Lambda$14/0x0000000800c03000.run;a.Main.lambda$main$0 5"},
			head: []string{"a.Main.main;a.Main$2.run 5", "a.Main.main;a.Main$$Lambda/0x00007f0a1c001234.run;a.Main.lambda$main$1 5"},
			want: []string{
				"exact: a.Main.main -> a.Main.main", "normalized: a.Main$1.run -> a.Main$2.run",
				"normalized: a.Main$$Lambda$14/0x0000000800c03000.run -> a.Main$$Lambda/0x00007f0a1c001234.run",
				"normalized: a.Main.lambda$main$0 -> a.Main.lambda$main$1",
			},
		},
		{
			name: "template arguments",
			base: []string{"main;vec<int>::push(int) 5", "main;f(int) 5", "main;tree<int>::add(int) 5", "main;tree<long>::add(long) 5"},
			head: []string{"main;vec<long>::push(long) 5", "main;f(int, bool) 5", "main;tree<char>::add(char) 5", "main;tree<long>::add(long) 5"},
			want: []string{
				"exact: main -> main", "normalized: vec<int>::push(int) -> vec<long>::push(long)", "normalized: f(int) -> f(int, bool)",
				"removed: tree<int>::add(int) -> -", "exact: tree<long>::add(long) -> tree<long>::add(long)", "added: - -> tree<char>::add(char)",
			},
		},
		{
			name: "a version",
			base: []string{"main;hash_v1 6", "main;sort 4"},
			head: []string{"main;hash_v2 3", "main;sort 4"},
			want: []string{"exact: main -> main", "renamed: hash_v1 -> hash_v2", "exact: sort -> sort"},
		},
		{
			name: "a version, without call stacks",
			base: []string{"hash_v1 6", "sort 4", "T::run_old 3", "find_a 3"},
			head: []string{"hash_v2 3", "sort 4", "T::run_new 3", "find_b 3"},
			want: []string{"renamed: hash_v1 -> hash_v2", "exact: sort -> sort", "renamed: T::run_old -> T::run_new", "removed: find_a -> -", "added: - -> find_b"},
		},
		{
			name: "a choice of versions",
			base: []string{"main;hash_v1 6", "main;sort 4"},
			head: []string{"main;hash_v2 3", "main;hash_v3 3", "main;sort 4"},
			want: []string{"exact: main -> main", "removed: hash_v1 -> -", "exact: sort -> sort", "added: - -> hash_v2", "added: - -> hash_v3"},
		},
		{
			name: "replaced under one caller",
			base: []string{"main;work;bubble_sort 6", "main;other 4"},
			head: []string{"main;work;submit_ring 3", "main;other 4"},
			want: []string{"exact: main -> main", "exact: work -> work", "removed: bubble_sort -> -", "exact: other -> other", "added: - -> submit_ring"},
		},
		{
			name: "replaced at the same lines",
			base: []string{"main|m.c:50;work|m.c:40;bubble_sort|m.c:10 6", "main|m.c:50;work|m.c:40;bubble_sort|m.c:16 6"},
			head: []string{"main|m.c:50;work|m.c:40;submit_ring|m.c:10 6", "main|m.c:50;work|m.c:40;submit_ring|m.c:16 6"},
			want: []string{"exact: main -> main", "exact: work -> work", "removed: bubble_sort -> -", "added: - -> submit_ring"},
		},
		{
			name: "replaced, both call the library",
			base: []string{"main;work;load;read@libc.so 6", "main;work;load;malloc@libc.so 1", "main;f;malloc@libc.so 2", "main;f;read@libc.so 2", "main;g;malloc@libc.so 2", "main;g;read@libc.so 2"},
			head: []string{"main;work;prefetch;read@libc.so 6", "main;work;prefetch;malloc@libc.so 1", "main;f;malloc@libc.so 2", "main;f;read@libc.so 2", "main;g;malloc@libc.so 2", "main;g;read@libc.so 2"},
			want: []string{
				"exact: main -> main", "exact: work -> work", "removed: load -> -", "exact: read@libc.so -> read@libc.so", "exact: malloc@libc.so -> malloc@libc.so",
				"exact: f -> f", "exact: g -> g", "added: - -> prefetch",
			},
		},
		{
			name: "another name, same place",
			base: []string{"main;work;load;open_page 6", "main;work;load;decode_page 3", "main;work;load;check_page 3", "main;scan;load;open_page 2"},
			head: []string{"main;work;prefetch;open_page 6", "main;work;prefetch;decode_page 3", "main;work;prefetch;check_page 3", "main;scan;prefetch;open_page 2"},
			want: []string{
				"exact: main -> main", "exact: work -> work", "renamed: load -> prefetch", "exact: open_page -> open_page",
				"exact: decode_page -> decode_page", "exact: check_page -> check_page", "exact: scan -> scan",
			},
		},
		{
			name: "siblings are not renames",
			base: []string{"main;alloc_value 5", "main;alloc_block 5", "main;alloc_edge 5"},
			head: []string{"main;alloc_limit 5", "main;alloc_block 5", "main;alloc_edge 5"},
			want: []string{"exact: main -> main", "removed: alloc_value -> -", "exact: alloc_block -> alloc_block", "exact: alloc_edge -> alloc_edge", "added: - -> alloc_limit"},
		},
		{
			name: "a chain of renames",
			base: []string{"main;Old::run;Old::step;Old::leaf 5", "main;x 5"},
			head: []string{"main;New::run;New::step;New::leaf 5", "main;x 5"},
			want: []string{"exact: main -> main", "renamed: Old::run -> New::run", "renamed: Old::step -> New::step", "renamed: Old::leaf -> New::leaf", "exact: x -> x"},
		},
		{
			name: "noise",
			base: []string{"main;hash_v1 1", "main;sort 9999"},
			head: []string{"main;hash_v2 1", "main;sort 9999"},
			want: []string{"exact: main -> main", "removed: hash_v1 -> -", "exact: sort -> sort", "added: - -> hash_v2"},
		},
		{
			name:    "renames come first",
			base:    []string{"main;f 5", "main;f;f.cold 1", "main;g 5"},
			head:    []string{"main;f 5", "main;g 5", "main;g;g.cold 1"},
			renames: []Rename{{"f", "g"}},
			want:    []string{"exact: main -> main", "renamed: f -> g; exact: g -> g", "renamed: f.cold -> g.cold", "added: - -> f"},
		},
		{
			name:    "many to one",
			base:    []string{"main;a(int) 5", "main;b(int) 5", "main;a(int);a(int) [clone .cold] 1"},
			head:    []string{"main;c(long) 5"},
			renames: []Rename{{"a", "c"}, {"b(int)", "c(long)"}},
			want:    []string{"exact: main -> main", "renamed: a(int) -> c(long); renamed: b(int) -> c(long); renamed: a(int) [clone .cold] -> c(long)"},
		},
		{
			name:    "overloads",
			base:    []string{"main;N::a(int) 5", "main;N::a(long) const 4", "main;N::a(char) 3"},
			head:    []string{"main;M::b(long) const 5", "main;M::b(int) 4"},
			renames: []Rename{{"N::a", "M::b"}},
			want:    []string{"exact: main -> main", "renamed: N::a(int) -> M::b(int)", "renamed: N::a(long) const -> M::b(long) const; renamed: N::a(char) -> M::b(long) const"},
		},
		{
			name:    "stand-ins by full name",
			base:    []string{"main;[liba.so]@liba.so 5"},
			head:    []string{"main;[libb.so]@libb.so 5"},
			renames: []Rename{{"[liba.so]", "[libb.so]"}},
			want:    []string{"exact: main -> main", "renamed: [liba.so]@liba.so -> [libb.so]@libb.so"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := functionsOf(parseStacks(t, test.base...)), functionsOf(parseStacks(t, test.head...))
			matches, err := Functions(base, head, Options{Renames: test.renames})
			if err != nil {
				t.Fatal(err)
			}
			check(t, base, head, matches)
			if diff := cmp.Diff(describe(base, head, matches), test.want); diff != "" {
				t.Errorf("got, want\n%s", diff)
			}
		})
	}
}

func TestReason(t *testing.T) {
	base := functionsOf(parseStacks(t, "main|m.c:9;hash_v1|m.c:5 6", "main;f.llvm.8151 1", "main;g@a 1", "main;h 1", "main;old 1"))
	head := functionsOf(parseStacks(t, "main|m.c:9;hash_v2|m.c:5 6", "main;f.llvm.90210 1", "main;g@b 1", "main;h;h.cold 1", "main;new 1"))
	matches, err := Functions(base, head, Options{Renames: []Rename{{"old", "new"}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range matches {
		if m.Base >= 0 {
			got = append(got, fmt.Sprintf("%s: %s %.2f %s", base[m.Base].Name, m.Kind, m.Confidence, m.Reason))
		}
	}
	want := []string{
		"main: exact 1.00 ",
		"hash_v1: renamed 0.82 similar name, same callers, same source lines",
		"f.llvm.8151: normalized 0.95 same name without .llvm.N",
		`g: moved 0.95 same name, from "a" to "b"`,
		"h: exact 1.00 ",
		"h: normalized 0.98 .cold is part of the function",
		"old: renamed 1.00 --rename",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("got, want\n%s", diff)
	}
}

// The order of the functions does not matter where they differ.
func TestOrderDoesNotMatter(t *testing.T) {
	base, head := functionsOf(readStacks(t, firstRun)), functionsOf(readStacks(t, secondRun))
	for i := range head {
		if i%7 == 0 {
			head[i].Name += "V2"
		}
	}
	matches, err := Functions(base, head, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := describe(base, head, matches)
	slices.Sort(want)
	base, head = reversed(base), reversed(head)
	if matches, err = Functions(base, head, Options{}); err != nil {
		t.Fatal(err)
	}
	got := describe(base, head, matches)
	slices.Sort(got)
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("got, want\n%s", diff)
	}
}

func reversed(fns []Function) []Function {
	fns = slices.Clone(fns)
	slices.Reverse(fns)
	for i := range fns {
		for _, edges := range []*[]Edge{&fns[i].Callers, &fns[i].Callees} {
			*edges = slices.Clone(*edges)
			for j := range *edges {
				(*edges)[j].Function = len(fns) - 1 - (*edges)[j].Function
			}
		}
	}
	return fns
}

func TestBadInput(t *testing.T) {
	for _, test := range []struct {
		f    Function
		want string
	}{
		{Function{Name: "f", Callees: []Edge{{Function: 1}}}, `base function 0 ("f"): callee: function 1 of 1`},
		{Function{Name: "f", Callers: []Edge{{Function: -1}}}, `base function 0 ("f"): caller: function -1 of 1`},
	} {
		if _, err := Functions([]Function{test.f}, nil, Options{}); err == nil || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
	// Weights that are none, duplicates, no names.
	fns := []Function{
		{Weight: math.NaN(), Callees: []Edge{{1, math.Inf(1)}, {1, -1}, {2, math.NaN()}}},
		{Weight: math.Inf(1), Lines: []Line{{math.MinInt64, 1}, {math.MaxInt64, 1}}},
		{Weight: -1, Unknown: true},
		{Name: "f", Weight: 1e308, SystemName: "a"},
		{Name: "f", Weight: 1e308, SystemName: "b"},
	}
	other := slices.Clone(fns)
	slices.Reverse(other[3:])
	matches, err := Functions(fns, other, Options{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, fns, other, matches)
	if m := matches[3]; m.Base != 3 || m.Head != 4 {
		t.Errorf("functions of one name are not told apart by their system name: %+v", m)
	}
	if _, err := Functions(fns, fns, Options{Renames: []Rename{{"", "f"}}}); err == nil {
		t.Error("no error for an empty name")
	}
}

func FuzzFunctions(f *testing.F) {
	f.Add("main;f 6\nmain;f;f.cold 1\nmain;h::$_0;g 5", "main;f 6\nmain;h::$_1;g 5\nmain;h::$_0 5", "f", "f")
	f.Add("main;hash_v1|a.c:3 6\nmain;[x] 4", "main@b;hash_v2|a.c:4 6\nmain;[x] 4", "", "")
	f.Add("a.constprop.0;a.constprop.1;a.isra.2 1", "a;a.cold;a.constprop.2 1\na 1", "a", "a.cold")
	f.Fuzz(func(t *testing.T, base, head, from, to string) {
		side := func(text string) []Function {
			var stacks []stack
			for _, line := range strings.SplitN(text, "\n", 50) {
				i := max(0, strings.LastIndexByte(line, ' '))
				frames := strings.SplitN(line[:i], ";", 20)
				stacks = append(stacks, stack{frames, float64(len(line)-i) / 3})
			}
			return functionsOf(stacks)
		}
		b, h := side(base), side(head)
		var opt Options
		if from != "" || to != "" {
			opt.Renames = []Rename{{from, to}, {to, from}, {from, from}}[:1+len(from)%3]
		}
		matches, err := Functions(b, h, opt)
		if err != nil {
			if matches != nil {
				t.Error("both matches and error")
			}
			return
		}
		check(t, b, h, matches)
		again, _ := Functions(b, h, opt)
		if diff := cmp.Diff(matches, again); diff != "" {
			t.Errorf("another result the second time:\n%s", diff)
		}
		// One side with itself: all is exact, whatever the names.
		same, err := Functions(b, b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range same {
			if m.Kind != Exact || m.Base != m.Head {
				t.Errorf("with itself: %+v", m)
			}
		}
	})
}
