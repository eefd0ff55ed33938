package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stacksOf lists stacks of names, leaf first, in one file.
func stacksOf(lists ...[]string) *listing {
	addresses := map[string]uint64{"main": 0x1000, "work": 0x2000, "leaf": 0x3000, "leaf.cold": 0x3000, "": 0x3000}
	l := &listing{samples: len(lists)}
	for _, names := range lists {
		s := stack{weight: 10}
		for _, n := range names {
			switch n {
			case "ffff":
				s.frames = append(s.frames, frame{addr: 1<<64 - 1})
			case "nowhere":
				s.frames = append(s.frames, frame{addr: 0x77})
			default:
				s.frames = append(s.frames, frame{file: "/p", addr: addresses[n], name: n})
			}
		}
		l.stacks = append(l.stacks, s)
	}
	return l
}

func TestClasses(t *testing.T) {
	for _, test := range []struct {
		name           string
		ours, theirs   []string
		leaves, stacks map[string]int64
	}{
		{"equal", []string{"leaf", "work", "main"}, []string{"leaf", "work", "main"}, map[string]int64{equalClass: 10}, map[string]int64{equalClass: 10}},
		{"no names here", []string{"", "work"}, []string{"leaf", "work"}, map[string]int64{unknownHere: 10}, map[string]int64{namesDiffer: 10}},
		{"no names there", []string{"leaf", "work"}, []string{"", "work"}, map[string]int64{unknownThere: 10}, map[string]int64{equalClass: 10}},
		{"clone", []string{"leaf"}, []string{"leaf.cold"}, map[string]int64{suffixClass: 10}, map[string]int64{equalClass: 10}},
		{"no address of code", []string{"leaf", "nowhere"}, []string{"leaf", "nowhere", "nowhere"}, map[string]int64{equalClass: 10}, map[string]int64{equalClass: 10}},
		{"root of perf", []string{"leaf", "work"}, []string{"leaf", "work", "ffff"}, map[string]int64{equalClass: 10}, map[string]int64{fakeRoot: 10}},
		{"longer here", []string{"leaf", "work", "main"}, []string{"leaf", "work"}, map[string]int64{equalClass: 10}, map[string]int64{longerHere: 10}},
		{"longer there", []string{"leaf"}, []string{"leaf", "work"}, map[string]int64{equalClass: 10}, map[string]int64{longerThere: 10}},
		{"discarded", []string{"leaf", "work"}, nil, map[string]int64{discarded: 10, missingThere: 10}, map[string]int64{discarded: 10}},
		{"another leaf", []string{"work"}, []string{"main"}, map[string]int64{missingHere: 10, missingThere: 10}, map[string]int64{missingHere: 10}},
	} {
		s := newSymbols()
		if diff := cmp.Diff(test.leaves, compareLeaves(s, stacksOf(test.ours), stacksOf(test.theirs)).weight); diff != "" {
			t.Errorf("%s: leaves (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.stacks, compareStacks(s, stacksOf(test.ours), stacksOf(test.theirs)).weight); diff != "" {
			t.Errorf("%s: stacks (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestNamesOfClones(t *testing.T) {
	for name, want := range map[string]string{
		"f.constprop.0": "f", "f.isra.0.cold": "f", "f.part.3": "f", "free@GLIBC_2.2.5": "free", "f@@V1": "f",
		"malloc@plt": "malloc@plt", "JS:~f.js": "JS:~f.js",
	} {
		if got := bare(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
