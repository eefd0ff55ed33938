package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Classes of leaves.
const (
	equalClass   = "equal"
	unknownBoth  = "unknown to both"
	aliasClass   = "another symbol of the same address (who is right: both)"
	suffixClass  = "a suffix of a clone or a version (who is right: both)"
	reusedClass  = "code of a JIT compiler where a map has both (right: nobody, a map has no times)"
	differClass  = "named differently"
	unknownHere  = "unknown to profdiff, named by perf"
	unknownThere = "named by profdiff, unknown to perf"
	missingHere  = "an address that only perf has"
	missingThere = "an address that only profdiff has"
)

// Classes of stacks, beside equalClass.
const (
	fakeRoot    = "perf adds ffffffffffffffff at the root (right: profdiff)"
	longerHere  = "profdiff goes on where perf ends (right: profdiff, if its root is a start of a thread)"
	longerThere = "perf goes on where profdiff ends"
	// An address at or above PERF_CONTEXT_MAX that is no marker (machine.c, add_callchain_ip).
	discarded   = "perf discards a chain of damaged frame pointers, leaf and all (right: profdiff)"
	afterCall   = "perf names a function that starts at the return address (right: perf in V8, else profdiff or nobody)"
	namesDiffer = "the same addresses, other names"
	otherStack  = "other addresses"
)

// reasons are the classes of stacks in which profdiff is right or both are.
var reasons = []string{fakeRoot, longerHere, afterCall, discarded}

var suffix = regexp.MustCompile(`(\.(constprop|isra|part|cold|lto_priv|llvm|local)(\.\d+)?)+$|@@?[A-Z][\w.]*$`)

// bare is a name without what marks clones and versions.
func bare(name string) string {
	return suffix.ReplaceAllString(name, "")
}

// nameClass says how two names of one address differ.
func nameClass(s *symbols, ours, theirs frame) string {
	a, b := ours.name, theirs.name
	switch {
	case a == "" && b == "":
		return unknownBoth
	case a == b:
		return equalClass
	case a == "":
		return unknownHere
	case b == "":
		return unknownThere
	case bare(a) == bare(b):
		return suffixClass
	case s.aliases(theirs.file, a, b) || s.aliases(ours.file, a, b):
		return aliasClass
	case s.reused(theirs, a):
		return reusedClass
	}
	return differClass
}

func same(class string) bool {
	return class == equalClass || class == unknownBoth || class == reusedClass || class == aliasClass || class == suffixClass
}

// A place is where a leaf is.
type place struct {
	file string
	addr uint64
}

// compareLeaves pairs the leaves of both by place.
func compareLeaves(s *symbols, ours, theirs *listing) classes {
	type sum struct {
		frame
		weight int64
	}
	places := func(l *listing) map[place]*sum {
		m := map[place]*sum{}
		for _, st := range l.stacks {
			if len(st.frames) == 0 {
				st.frames = []frame{{}}
			}
			f := st.frames[0]
			at := place{base(f.file), f.addr}
			if m[at] == nil {
				m[at] = &sum{frame: f}
			}
			m[at].weight += st.weight
		}
		return m
	}
	a, b := places(ours), places(theirs)
	var c classes
	for at, there := range b {
		here := a[at]
		if at == (place{file: "?"}) && here == nil {
			c.add(discarded, "", there.weight)
			continue
		}
		if here == nil {
			c.add(missingHere, describe(there.frame), there.weight)
			continue
		}
		both := min(here.weight, there.weight)
		class := nameClass(s, here.frame, there.frame)
		c.add(class, difference(here.frame, there.frame), both)
		if rest := there.weight - both; rest > 0 {
			c.add(missingHere, describe(there.frame), rest)
		}
	}
	// What only profdiff has is the other side of what only perf has: the total is the larger.
	for at, here := range a {
		var there int64
		if b[at] != nil {
			there = b[at].weight
		}
		if rest := here.weight - there; rest > 0 {
			c.add(missingThere, describe(here.frame), rest)
			c.total -= rest
		}
	}
	c.total = max(c.total, 1)
	return c
}

func describe(f frame) string {
	return fmt.Sprintf("%s %x %s", base(f.file), f.addr, named(f))
}

func difference(here, there frame) string {
	return fmt.Sprintf("%s: profdiff %s, perf %s", base(there.file), named(here), named(there))
}

func named(f frame) string {
	if f.name == "" {
		return "[unknown]"
	}
	return f.name
}

// compareStacks pairs the stacks of both by their names, then those that are left by what differs.
func compareStacks(s *symbols, ours, theirs *listing) classes {
	left := map[string][]*stack{} // by leaf
	for i := range ours.stacks {
		st := &ours.stacks[i]
		left[leaf(st)] = append(left[leaf(st)], st)
	}
	var c classes
	// The best pairs first: equal, then cut, then others.
	for _, wanted := range []string{equalClass, fakeRoot, afterCall, longerHere, longerThere, namesDiffer, ""} {
		for i := range theirs.stacks {
			st := &theirs.stacks[i]
			for _, o := range left[leaf(st)] {
				if st.weight == 0 {
					break
				}
				if o.weight == 0 {
					continue
				}
				class := stackClass(s, o, st)
				if wanted != "" && class != wanted {
					continue
				}
				both := min(o.weight, st.weight)
				o.weight -= both
				st.weight -= both
				c.add(class, stackDifference(s, o, st), both)
			}
			left[leaf(st)] = slices.DeleteFunc(left[leaf(st)], func(o *stack) bool { return o.weight == 0 })
		}
	}
	for i := range theirs.stacks {
		if st := &theirs.stacks[i]; st.weight > 0 {
			class := missingHere
			if len(st.frames) == 0 {
				class = discarded
			}
			c.add(class, leaf(st), st.weight)
		}
	}
	return c
}

func leaf(s *stack) string {
	if len(s.frames) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %x", base(s.frames[0].file), s.frames[0].addr)
}

// stackClass says how two stacks of one leaf differ.
func stackClass(s *symbols, ours, theirs *stack) string {
	a, b := ours.frames, theirs.frames
	fake := false
	if n := len(b); n > 0 && b[n-1].addr == 1<<64-1 {
		b, fake = b[:n-1], true
	}
	a, b = mapped(a), mapped(b)
	names, addresses, calls := true, true, false
	for i := range min(len(a), len(b)) {
		d := int64(b[i].addr - a[i].addr)
		if d < -1 || d > 1 {
			addresses = false
		}
		if class := nameClass(s, a[i], b[i]); !same(class) && class != unknownThere {
			if i > 0 && d == 1 && s.starts(b[i]) {
				calls = true
			} else {
				names = false
			}
		}
	}
	switch {
	case !names && addresses && len(a) == len(b):
		return namesDiffer
	case !names:
		return otherStack
	case len(a) > len(b):
		return longerHere
	case len(a) < len(b):
		return longerThere
	case calls:
		return afterCall
	case fake:
		return fakeRoot
	}
	return equalClass
}

// mapped leaves out frames that are in no file and have no name: what is no return address in
// chains of frame pointers that are none, and a root that says why a stack ends.
func mapped(frames []frame) []frame {
	if !slices.ContainsFunc(frames, nowhere) {
		return frames
	}
	return slices.DeleteFunc(slices.Clone(frames), nowhere)
}

func nowhere(f frame) bool {
	return f.name == "" && (f.file == "" || strings.HasPrefix(f.file, "["))
}

// stackDifference describes the first frame that differs.
func stackDifference(s *symbols, ours, theirs *stack) string {
	a, b := mapped(ours.frames), mapped(theirs.frames)
	for i := range min(len(a), len(b)) {
		if class := nameClass(s, a[i], b[i]); !same(class) && class != unknownThere {
			return fmt.Sprintf("frame %d: %s (%x), perf %s (%x)", i, at(a[i]), a[i].addr, at(b[i]), b[i].addr)
		}
	}
	end := func(f []frame) string {
		if len(f) == 0 {
			return "nothing"
		}
		return at(f[len(f)-1])
	}
	return fmt.Sprintf("profdiff ends at %s, perf at %s", end(a), end(b))
}

func at(f frame) string {
	return strings.TrimSpace(named(f) + " in " + base(f.file))
}
