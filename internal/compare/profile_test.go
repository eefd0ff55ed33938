package compare

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/align"
	"profdiff/internal/run"
)

// folded writes stacks as text, in their order.
func folded(s *Stacks) (lines []string) {
	for stack := range s.All() {
		var names []string
		for _, f := range stack.Frames {
			names = append(names, s.Frames[f].Name)
		}
		lines = append(lines, fmt.Sprint(strings.Join(names, ";"), " ", stack.Base, " ", stack.Head))
	}
	return lines
}

// TestStacks checks paths, names and order: callees directly after their callers, gone
// functions under base's name, renamed ones under head's, samples of all threads added
// up, and samples without a stack.
func TestStacks(t *testing.T) {
	base := runs(t, `
cpu-cycles one app!main;app!old;libc!memcpy 100
cpu-cycles two app!main;app!old;libc!memcpy 7
cpu-cycles one app!main;app!gone 30
cpu-cycles one app!main 5
instructions one app!main;app!gone 4
`)
	b := run.NewBuilder("head")
	at := make(map[string]uint32)
	m := b.Mapping(run.Mapping{File: "/lib/app"})
	libc := b.Mapping(run.Mapping{File: "/lib/libc"})
	for _, name := range []string{"main", "fresh", "memcpy"} {
		in := m
		if name == "memcpy" {
			in = libc
		}
		at[name] = b.Location(in, 0, run.Line{Function: b.Function(run.Function{Name: name, SystemName: "_Z" + name})})
	}
	// fresh is inlined into main.
	inlined := b.Location(m, 0,
		run.Line{Function: b.Function(run.Function{Name: "fresh", SystemName: "_Zfresh"})},
		run.Line{Function: b.Function(run.Function{Name: "main", SystemName: "_Zmain"})})
	// instructions are added first, so that events have other indices.
	instructions, cycles := b.Event(run.Event{Name: "instructions"}), b.Event(run.Event{Name: "cpu-cycles"})
	b.Add(cycles, b.Stack(b.Stack(0, inlined), at["memcpy"]), 0, 60)
	b.Add(cycles, b.Stack(b.Stack(b.Stack(0, at["main"]), at["fresh"]), at["memcpy"]), 0, 3)
	b.Add(cycles, 0, 0, 2)
	b.Add(instructions, b.Stack(0, at["main"]), 0, 9)
	head, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	c := mustCompare(t, base, []*run.Run{head}, Options{Normalize: None, Renames: []align.Rename{{Old: "old", New: "fresh"}}})
	want := []string{
		"[no stack] [0 0] [2 0]",
		"main [5 0] [0 9]",
		"main;fresh;memcpy [107 0] [63 0]",
		"main;gone [30 4] [0 0]",
	}
	if diff := cmp.Diff(want, folded(c.Stacks())); diff != "" {
		t.Error(diff)
	}
	for range c.Stacks().All() {
		break // the rest is not asked for
	}
}

// TestStacksAddUp checks for every normalization that stacks add up to what the
// comparison says of the total and of each function.
func TestStacksAddUp(t *testing.T) {
	side := func(scale int, fast string) (list []*run.Run) {
		for i := range 3 {
			var s strings.Builder
			for f := range 12 {
				for range 30 {
					fmt.Fprintf(&s, "cpu-cycles m a!main;a!f%d %d\n", f, (100+f+i)*scale)
					fmt.Fprintf(&s, "instructions m a!main;b!mid;a!f%d %d\n", f, (7+f*i)*scale)
				}
			}
			fmt.Fprintf(&s, "cpu-cycles m a!main;a!%s %d\n", fast, 500+i)
			r := runs(t, s.String())[0]
			r.Name = fmt.Sprint(fast, i)
			r.Counters = []run.Counter{{Name: "merges", Value: float64(1000*scale + i)}}
			list = append(list, r)
		}
		return list
	}
	base, head := side(1, "slow"), side(3, "fast")
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1) }
	for _, opt := range []Options{
		{Normalize: None},
		{Normalize: Work},
		{Normalize: Work, Ops: &[2]float64{10, 77}},
		{Normalize: Reference},
		{Normalize: Reference, Reference: []*regexp.Regexp{regexp.MustCompile("^f[35]$")}},
		{Normalize: Total},
	} {
		c := mustCompare(t, base, head, opt)
		s := c.Stacks()
		for i := range c.Events {
			e := &c.Events[i]
			total := [2]float64{e.Total.Base, e.Total.Head}
			if opt.Normalize == Total {
				total = [2]float64{1, 1}
			}
			scale := e.Raw.Base / total[0]
			var sum [2]float64
			self := make(map[string][2]float64)
			for stack := range s.All() {
				sum[0] += stack.Base[i]
				sum[1] += stack.Head[i]
				name := s.Frames[stack.Frames[len(stack.Frames)-1]].Name
				self[name] = [2]float64{self[name][0] + stack.Base[i], self[name][1] + stack.Head[i]}
			}
			if !near(sum[0], e.Raw.Base) || !near(sum[1], total[1]*scale) {
				t.Errorf("%s %s: stacks add up to %v, want %v and %v", opt.Normalize, e.Name, sum, e.Raw.Base, total[1]*scale)
			}
			if opt.Normalize == None && !near(sum[1], e.Raw.Head) {
				t.Errorf("%s: head is %v, want %v", e.Name, sum[1], e.Raw.Head)
			}
			for _, f := range e.Functions {
				if got := self[f.Name]; !near(got[0], f.Self.Base*scale) || !near(got[1], f.Self.Head*scale) {
					t.Errorf("%s %s: %s has %v, want %v and %v", opt.Normalize, e.Name, f.Name, got, f.Self.Base*scale, f.Self.Head*scale)
				}
			}
		}
	}
}

// TestStackOrder checks that the stacks in and below one path follow each other.
func TestStackOrder(t *testing.T) {
	r := runs(t, `
e m a!b;a!c;a!d 1
e m a!a 1
e m a!b 1
e m a!b;a!a 1
e m a!b;a!c 1
e m a!c;a!b 1
e m a!b;a!d;a!a 1
e m a!b;a!c;a!a 1
`)
	head := runs(t, "e m a!b;a!c;a!b 1\ne m a!a 2")
	var got []string
	for _, line := range folded(mustCompare(t, r, head, Options{Normalize: None}).Stacks()) {
		path, _, _ := strings.Cut(line, " ")
		got = append(got, path)
	}
	want := []string{"a", "b", "b;a", "b;c", "b;c;a", "b;c;b", "b;c;d", "b;d;a", "c;b"}
	if !slices.Equal(got, want) {
		t.Errorf("order is %q, want %q", got, want)
	}
}
