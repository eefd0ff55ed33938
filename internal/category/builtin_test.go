package category

import (
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite expected outputs")

// TestBuiltinSource checks that builtin.go is builtin.yaml. -update writes it.
func TestBuiltinSource(t *testing.T) {
	want, err := parse("builtin.yaml", builtinYAML(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	source, err := format.Source([]byte(sourceOf(want)))
	if err != nil {
		t.Fatal(err)
	}
	const name = "builtin.go"
	if *update {
		if err := os.WriteFile(name, source, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(source), string(got)); d != "" {
		t.Errorf("%s is not made of builtin.yaml, -update rewrites it (-want +got):\n%s", name, d)
	}
	same := cmp.Options{
		cmp.AllowUnexported(Set{}, rule{}, pattern{}, nameIndex{}, indexedPattern{}),
		cmp.Comparer(func(a, b *lazyRegexp) bool { return a == b || a != nil && b != nil && a.expr == b.expr }),
	}
	if d := cmp.Diff(want, builtinSet(), same); d != "" {
		t.Errorf("%s makes another set (-want +got):\n%s", name, d)
	}
}

func builtinYAML(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("builtin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sourceOf is the source of builtin.go.
func sourceOf(s *Set) string {
	var b strings.Builder
	b.WriteString("// Code generated from builtin.yaml by go test -run BuiltinSource -update; DO NOT EDIT.\n\npackage category\n\n")
	b.WriteString("// builtinSet is one literal of all rules, so that nothing is parsed when the program starts.\n")
	b.WriteString("func builtinSet() *Set {\nreturn &Set{\n")
	fmt.Fprintf(&b, "names: %#v,\nrules: []rule{\n", s.names)
	for i := range s.rules {
		r := &s.rules[i]
		fmt.Fprintf(&b, "{category: %d, match: %d, under: %d", r.category, r.match, r.under)
		if r.leaf {
			b.WriteString(", leaf: true")
		}
		if r.kinds != 0 {
			fmt.Fprintf(&b, ", kinds: %#b", r.kinds)
		}
		if r.syscalls {
			b.WriteString(", syscalls: true")
		}
		if r.underBit != 0 {
			fmt.Fprintf(&b, ", underBit: %#x", r.underBit)
		}
		for _, ps := range []struct {
			name string
			list patterns
		}{{"dso", r.dso}, {"thread", r.thread}, {"process", r.process}} {
			if len(ps.list) == 0 {
				continue
			}
			fmt.Fprintf(&b, ", %s: patterns{", ps.name)
			for _, p := range ps.list {
				b.WriteString("{" + fieldsOf(p) + "},")
			}
			b.WriteString("}")
		}
		b.WriteString("},\n")
	}
	f := &s.functions
	fmt.Fprintf(&b, "},\nfunctions: nameIndex{\nn: %d,\nnames: %s,\ncalls: %s,\nrest: []indexedPattern{\n", f.n, namesOf(f.names), namesOf(f.calls))
	for _, p := range f.rest {
		fmt.Fprintf(&b, "{pattern{%s}, %d},\n", fieldsOf(p.pattern), p.condition)
	}
	b.WriteString("},\n},\n}\n}\n")
	return b.String()
}

func fieldsOf(p pattern) string {
	var list []string
	if p.names != nil {
		list = append(list, fmt.Sprintf("names: %#v", p.names))
	}
	if p.prefixes != nil {
		list = append(list, fmt.Sprintf("prefixes: %#v", p.prefixes))
	}
	if p.strip != "" {
		list = append(list, fmt.Sprintf("strip: %q", p.strip))
	}
	if p.path {
		list = append(list, "path: true")
	}
	if p.re != nil {
		list = append(list, fmt.Sprintf("re: &lazyRegexp{expr: %q}", p.re.expr))
	}
	return strings.Join(list, ", ")
}

func namesOf(m map[string][]condition) string {
	by := make(map[condition][]string)
	for name, conditions := range m {
		for _, c := range conditions {
			by[c] = append(by[c], name)
		}
	}
	var b strings.Builder
	b.WriteString("indexed([]conditionNames{\n")
	for _, c := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[c])
		fmt.Fprintf(&b, "{%d, %#v},\n", c, by[c])
	}
	b.WriteString("})")
	return b.String()
}
