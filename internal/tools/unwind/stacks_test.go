package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perfsession"
)

func TestReadScript(t *testing.T) {
	const text = `a b  10/11  5.000000007: 
	ffffffff815ffaad folio ([kernel.kallsyms])
	            5710 f(int) const (/usr/lib/x (deleted))
	    7ffff7d00000 [unknown] (/tmp/perf-10.map)
	             af0 __vdso_time ([vdso])
	            1234 [unknown] ([unknown])
	ffffffffffffffff [unknown] ([unknown])

swapper     0/0     5.000000008: 
	ffffffff815ffaad idle ([kernel.kallsyms])

`
	got, err := readScript(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := map[sampleKey]*stack{
		{11, 5_000_000_007}: {fake: true, frames: []frame{
			{"/usr/lib/x (deleted)", 0x5710, "f(int) const"}, {anon, 0x7ffff7d00000, "[unknown]"}, {"[vdso]", 0xaf0, "__vdso_time"}, {"?", 0x1234, "[unknown]"},
		}},
		{0, 5_000_000_008}: {},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(stack{}, frame{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := readScript(strings.NewReader("a 1/1 5.000000007:\n\tzz\n")); err == nil {
		t.Error("a line that is no frame is accepted")
	}
}

func TestClassify(t *testing.T) {
	of := func(places string) *stack {
		s := &stack{}
		for p := range strings.FieldsSeq(places) {
			if p == "ff" {
				s.fake = true
				continue
			}
			s.frames = append(s.frames, frame{file: p[:1], off: uint64(p[1])})
		}
		return s
	}
	for _, test := range []struct {
		ours, theirs string
		why          perfsession.StackEndReason
		want         string
		right        bool
	}{
		{"a1 a2", "a1 a2", perfsession.StackWhole, "equal, whole", true},
		{"a1 a2", "a1 a2 ff", perfsession.StackWhole, "equal, whole; perf adds", true},
		{"a1 a2", "a1 a2 ff", perfsession.StackCut, "equal, cut off; perf adds", true},
		{"a1", "a1", perfsession.StackNoTable, "equal, no unwind information", true},
		{"a1 a2", "a1", perfsession.StackWhole, "longer, whole; perf ends in a", true},
		{"a1 a2", "a1", perfsession.StackCut, "longer, cut off", true},
		{"a1 a2", "a1", perfsession.StackRanOff, "longer, ran off", false},
		{"a1", "a1 a2", perfsession.StackWhole, "shorter, whole", false},
		{"a1 a2 a3 a4", "a1 a3", perfsession.StackWhole, "more callers than perf", true},
		{"a1 a2 a3", "a1 a4", perfsession.StackWhole, "other callers of a", false},
		{"a1", "b1", perfsession.StackWhole, "another leaf", false},
		{"a1", "", perfsession.StackWhole, "perf has no frame", true},
	} {
		got := classify(of(test.ours), of(test.theirs), test.why)
		if !strings.HasPrefix(got.name, test.want) || got.right != test.right {
			t.Errorf("%s against %s: %q, %v; want %q, %v", test.ours, test.theirs, got.name, got.right, test.want, test.right)
		}
	}
}
