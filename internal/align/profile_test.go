package align

import (
	"bufio"
	"compress/gzip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A stack is a sample for tests: frames "name", "name@dso" or "name|file:line" from
// the root to the leaf.
type stack struct {
	frames []string
	weight float64
}

// parseStacks reads lines "frame;frame weight".
func parseStacks(t testing.TB, lines ...string) []stack {
	t.Helper()
	var stacks []stack
	for _, line := range lines {
		i := strings.LastIndexByte(line, ' ')
		w, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		stacks = append(stacks, stack{strings.Split(line[:i], ";"), w})
	}
	return stacks
}

// recordings are stacks by file, each read once.
var recordings sync.Map

// readStacks returns stacks that the caller may change.
func readStacks(t testing.TB, path string) []stack {
	t.Helper()
	all, ok := recordings.Load(path)
	if !ok {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for s := bufio.NewScanner(z); s.Scan(); {
			lines = append(lines, s.Text())
		}
		all = parseStacks(t, lines...)
		recordings.Store(path, all)
	}
	stacks := slices.Clone(all.([]stack))
	for i := range stacks {
		stacks[i].frames = slices.Clone(stacks[i].frames)
	}
	return stacks
}

// functionsOf sums up stacks: a function for each name and DSO, in the order of first
// appearance. The DSO is "prog" unless the frame names one.
func functionsOf(stacks []stack) []Function {
	type edgeKey struct{ from, to int }
	type edge struct {
		weight float64
		stack  int // the last that has it, from 1
	}
	type place struct {
		function int
		line     int64
	}
	var (
		fns    []Function
		stamps []int // the last stack that has the function
		at     = make(map[string]int)
		places = make(map[string]place) // by frame; line is -1 if it has none
		edges  = make(map[edgeKey]edge)
		lines  = make(map[place]float64)
		total  float64
	)
	for k, s := range stacks {
		total += s.weight
		caller := -1
		for depth, frame := range s.frames {
			p, ok := places[frame]
			if !ok {
				name, where, _ := strings.Cut(frame, "|")
				name, dso, ok := strings.Cut(name, "@")
				if !ok {
					dso = "prog"
				}
				i, ok := at[name+"@"+dso]
				if !ok {
					i = len(fns)
					at[name+"@"+dso] = i
					fns, stamps = append(fns, Function{Name: name, SystemName: name, DSO: dso, Unknown: strings.HasPrefix(name, "[")}), append(stamps, 0)
				}
				p = place{i, -1}
				if file, line, ok := strings.Cut(where, ":"); ok {
					fns[i].File = file
					p.line, _ = strconv.ParseInt(line, 10, 64)
				}
				places[frame] = p
			}
			i := p.function
			if p.line >= 0 {
				self := 0.0
				if depth == len(s.frames)-1 {
					self = s.weight
				}
				lines[p] += self
			}
			if stamps[i] != k+1 {
				stamps[i] = k + 1
				fns[i].Weight += s.weight
			}
			if e := (edgeKey{caller, i}); caller >= 0 && edges[e].stack != k+1 {
				edges[e] = edge{edges[e].weight + s.weight, k + 1}
			}
			caller = i
		}
	}
	for k, e := range edges {
		w := e.weight / total
		fns[k.from].Callees = append(fns[k.from].Callees, Edge{k.to, w})
		fns[k.to].Callers = append(fns[k.to].Callers, Edge{k.from, w})
	}
	for i := range fns {
		fns[i].Samples = int64(fns[i].Weight)
		fns[i].Weight /= total
	}
	for p, w := range lines {
		fns[p.function].Lines = append(fns[p.function].Lines, Line{p.line, w})
	}
	return fns
}

// check verifies what Functions promises of every result.
func check(t testing.TB, base, head []Function, matches []Match) {
	t.Helper()
	baseGroup, headGroup := make(map[int]int), make(map[int]int)
	groups := make(map[int]bool)
	seen := make(map[[2]int]bool)
	for i, m := range matches {
		if i > 0 && (uint(matches[i-1].Base) > uint(m.Base) || matches[i-1].Base == m.Base && uint(matches[i-1].Head) > uint(m.Head)) {
			t.Errorf("match %d is not sorted: %+v after %+v", i, m, matches[i-1])
		}
		if seen[[2]int{m.Base, m.Head}] {
			t.Errorf("%+v twice", m)
		}
		seen[[2]int{m.Base, m.Head}] = true
		groups[m.Group] = true
		if m.Base < -1 || m.Base >= len(base) || m.Head < -1 || m.Head >= len(head) || m.Base < 0 && m.Head < 0 {
			t.Fatalf("indices out of range: %+v", m)
		}
		if m.Base >= 0 {
			if g, ok := baseGroup[m.Base]; ok && g != m.Group {
				t.Errorf("base %d in groups %d and %d", m.Base, g, m.Group)
			}
			baseGroup[m.Base] = m.Group
		}
		if m.Head >= 0 {
			if g, ok := headGroup[m.Head]; ok && g != m.Group {
				t.Errorf("head %d in groups %d and %d", m.Head, g, m.Group)
			}
			headGroup[m.Head] = m.Group
		}
		if m.Confidence < 0 || m.Confidence > 1 || m.Confidence != m.Confidence {
			t.Errorf("confidence: %+v", m)
		}
		switch m.Kind {
		case Added, Removed:
			if (m.Kind == Added) != (m.Base < 0) || (m.Kind == Removed) != (m.Head < 0) || m.Confidence != 1 || m.Reason != "" {
				t.Errorf("%+v", m)
			}
			continue
		}
		if m.Base < 0 || m.Head < 0 {
			t.Errorf("%+v", m)
			continue
		}
		b, h := &base[m.Base], &head[m.Head]
		sameName := b.Name == h.Name && b.Unknown == h.Unknown
		switch m.Kind {
		case Exact:
			if !sameName || b.DSO != h.DSO || m.Confidence != 1 || m.Reason != "" {
				t.Errorf("%+v: %q %q", m, b.Name, h.Name)
			}
		case Moved:
			if !sameName || b.DSO == h.DSO || m.Reason == "" {
				t.Errorf("%+v: %q %q", m, b.Name, h.Name)
			}
		case Normalized:
			if b.Unknown || h.Unknown || m.Reason == "" {
				t.Errorf("%+v: %q %q", m, b.Name, h.Name)
			}
		case Renamed:
			if m.Reason != "--rename" && (b.Unknown || h.Unknown) || m.Reason == "" {
				t.Errorf("%+v: %q %q", m, b.Name, h.Name)
			}
		case Split, Merged:
			if b.Unknown || h.Unknown || m.Reason == "" {
				t.Errorf("%+v: %q %q", m, b.Name, h.Name)
			}
		default:
			t.Errorf("kind: %+v", m)
		}
	}
	if len(baseGroup) != len(base) || len(headGroup) != len(head) {
		t.Errorf("%d of %d base and %d of %d head functions", len(baseGroup), len(base), len(headGroup), len(head))
	}
	for g := range len(groups) {
		if !groups[g] {
			t.Errorf("no group %d of %d", g, len(groups))
		}
	}
}
