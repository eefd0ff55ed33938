package align

import (
	"slices"
	"strings"
	"testing"
)

// TestReplaced joins a function that is gone with the one in its place, and no others.
func TestReplaced(t *testing.T) {
	common := []string{"main;eval;call 300", "main;eval;push 200", "main;load;open 300", "main;load;read 200"}
	for _, test := range []struct {
		name       string
		base, head []string
		want       bool
	}{
		{"same callers, as much cost", []string{"main;eval;lookdict 300", "main;load;lookdict 200"}, []string{"main;eval;unicodekeys_find 310", "main;load;unicodekeys_find 190"}, true},
		{"one caller", []string{"main;eval;lookdict 500"}, []string{"main;eval;unicodekeys_find 500"}, false},
		{"half of the cost", []string{"main;eval;lookdict 300", "main;load;lookdict 200"}, []string{"main;eval;unicodekeys_find 150", "main;load;unicodekeys_find 100"}, false},
		{"from other callers", []string{"main;eval;lookdict 480", "main;load;lookdict 20"}, []string{"main;eval;unicodekeys_find 20", "main;load;unicodekeys_find 480"}, false},
		{"it calls something", []string{"main;eval;lookdict 300", "main;load;lookdict 200"}, []string{"main;eval;unicodekeys_find;read 300", "main;load;unicodekeys_find;read 200"}, false},
		{"few samples", []string{"main;eval;lookdict 6", "main;load;lookdict 5"}, []string{"main;eval;unicodekeys_find 6", "main;load;unicodekeys_find 5"}, false},
		{
			"two in that place before",
			[]string{"main;eval;lookdict 300", "main;load;lookdict 200", "main;eval;intern 90", "main;load;intern 60"},
			[]string{"main;eval;unicodekeys_find 310", "main;load;unicodekeys_find 190"},
			false,
		},
		{
			"two in that place after",
			[]string{"main;eval;lookdict 300", "main;load;lookdict 200"},
			[]string{"main;eval;unicodekeys_find 310", "main;load;unicodekeys_find 190", "main;eval;intern 90", "main;load;intern 60"},
			false,
		},
	} {
		base, head := functionsOf(parseStacks(t, slices.Concat(common, test.base)...)), functionsOf(parseStacks(t, slices.Concat(common, test.head)...))
		matches, err := Functions(base, head, Options{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, base, head, matches)
		joined := slices.ContainsFunc(matches, func(m Match) bool { return m.Kind == Renamed })
		if joined != test.want {
			t.Errorf("%s: joined %v: %+v", test.name, joined, matches)
		}
	}
}

// TestUnrelated takes one function out of each of two runs, two that have a caller in common: nothing
// is left of what was taken, so that what is gone and what is new are not the same.
func TestUnrelated(t *testing.T) {
	first, second := readStacks(t, firstRun), readStacks(t, secondRun)
	plain := functionsOf(second)
	var wrong, all int
	without := func(stacks []stack, name string) []Function {
		var kept []stack
		for i := range stacks {
			if !slices.ContainsFunc(stacks[i].frames, func(fr string) bool { n, _, _ := strings.Cut(fr, "|"); return n == name }) {
				kept = append(kept, stacks[i])
			}
		}
		return functionsOf(kept)
	}
	place := func(f *Function, of int) bool {
		return slices.ContainsFunc(f.Callers, func(e Edge) bool { return e.Function == of })
	}
	step := 2
	if testing.Short() {
		step = 12
	}
	for i := range plain {
		for k := range plain {
			a, b := &plain[i], &plain[k]
			if i == k || min(a.Weight, b.Weight) < heavy || max(a.Weight, b.Weight) > 0.1 || ratio(a.Weight, b.Weight) < conservedWell || a.Unknown || b.Unknown ||
				!slices.ContainsFunc(a.Callers, func(e Edge) bool { return place(b, e.Function) }) {
				continue
			}
			if all++; all%step != 0 {
				continue
			}
			base, head := without(first, b.Name), without(second, a.Name)
			matches, err := Functions(base, head, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range matches {
				if m.Base >= 0 && m.Head >= 0 && m.Reason == replacedReason && base[m.Base].Name == a.Name && head[m.Head].Name == b.Name {
					wrong++
					t.Logf("%s and %s: %s, %s", a.Name, b.Name, m.Kind, m.Reason)
				}
			}
		}
	}
	all /= step
	t.Logf("%d of %d joined", wrong, all)
	if all < 10 || wrong > 0 {
		t.Errorf("%d of %d joined", wrong, all)
	}
}
