// Package comparetest makes comparisons of a given size, for tests and measurements of
// reports.
package comparetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"profdiff/internal/compare"
	"profdiff/internal/run"
)

// Options say what is made.
type Options struct {
	// Frames is about the size of the merged call tree, and Depth its greatest depth.
	Frames, Depth int
	Runs          int // a side
	// Change lets every tenth function change, by half and more.
	Change bool
	// Names, if set, are given to functions, in turns.
	Names []string
	// Events are their names, cpu-clock by default.
	Events []string
	// Varied gives samples weights that differ, as those of a frequency do.
	Varied bool
	// Times says when samples were taken: functions take turns.
	Times bool
}

// Compare compares runs that are made from a seed: equal options give equal results.
func Compare(opt Options) (*compare.Comparison, error) {
	if opt.Events == nil {
		opt.Events = []string{"cpu-clock"}
	}
	t := newTree(opt)
	var sides [2][]*run.Run
	for side := range sides {
		for i := range opt.Runs {
			r, err := t.run(opt, side, i)
			if err != nil {
				return nil, err
			}
			sides[side] = append(sides[side], r)
		}
	}
	return compare.Compare(sides[0], sides[1], compare.Options{
		Normalize: compare.None, GroupBy: []run.GroupBy{run.ByThread, run.ByCategory, run.ByDSO, run.ByProcess},
	})
}

// A tree is the call tree that the runs sample.
type tree struct {
	parent, function []int32
	weight           []float64 // expected samples that end in the frame
	factor           []float64 // of head, by function
	names            []string
}

func newTree(opt Options) *tree {
	rng := rand.New(rand.NewPCG(7, uint64(opt.Frames)))
	functions := max(40, int(8*math.Pow(float64(opt.Frames), 0.58)))
	t := &tree{factor: make([]float64, functions)}
	for i := range functions {
		t.factor[i] = 1
		if opt.Change && i%10 == 3 {
			t.factor[i] = []float64{2, 0.4, 3, 0}[i/10%4]
		}
		if len(opt.Names) > 0 {
			t.names = append(t.names, opt.Names[i%len(opt.Names)]+strings.Repeat("'", i/len(opt.Names)))
		} else {
			t.names = append(t.names, name(rng, i))
		}
	}
	// Stacks are walks through a call graph, so that what a function calls looks alike
	// wherever it is called.
	graph := make([][]int32, functions)
	for i := range graph {
		for range 1 + rng.IntN(7) {
			graph[i] = append(graph[i], int32(rng.IntN(functions)))
		}
	}
	type edge struct{ parent, function int32 }
	known := make(map[edge]int32)
	for len(t.parent) < opt.Frames {
		at, fn := int32(-1), int32(0)
		depth := min(opt.Depth, int(18*math.Exp(0.5*rng.NormFloat64())))
		if at < 0 && len(t.parent) == 0 {
			depth = opt.Depth
		}
		for range depth {
			e := edge{at, fn}
			id, ok := known[e]
			if !ok {
				id = int32(len(t.parent))
				known[e] = id
				t.parent = append(t.parent, at)
				t.function = append(t.function, fn)
				t.weight = append(t.weight, 0)
			}
			at = id
			callees := graph[fn]
			fn = callees[int(float64(len(callees))*math.Pow(rng.Float64(), 2.2))]
		}
		t.weight[at] += math.Exp(rng.NormFloat64()) * 0.6
	}
	return t
}

// name makes names as C++, Rust, Go and kernels have them.
func name(rng *rand.Rand, i int) string {
	words := []string{"cache", "merge", "decode", "Vector", "notify", "stream", "Handler", "page", "commit", "Row", "schedule", "lookup", "Buffer", "render", "index", "flush"}
	w := func() string { return words[rng.IntN(len(words))] }
	switch i % 4 {
	case 0:
		return fmt.Sprintf("acme::%s::impl::%s%s<std::basic_string<char, std::char_traits<char>, std::allocator<char> >, %d>::%s(unsigned long, acme::%s const&) const", w(), w(), w(), i, w(), w())
	case 1:
		return fmt.Sprintf("<%s::%s::%s as core::iter::traits::iterator::Iterator>::next::h%06x", w(), w(), w(), i*7919)
	case 2:
		return fmt.Sprintf("github.com/acme/%s/%s.(*%s).%s%d", w(), w(), w(), w(), i)
	}
	return fmt.Sprintf("__%s_%s_%d", strings.ToLower(w()), strings.ToLower(w()), i)
}

func (t *tree) run(opt Options, side, index int) (*run.Run, error) {
	b := run.NewBuilder(fmt.Sprintf("%s/%02d.data", []string{"before", "after"}[side], index+1))
	rng := rand.New(rand.NewPCG(uint64(side*1000+index), 11))
	r := b.Run()
	r.Recording.Format, r.Recording.Tool, r.Recording.CPU = "perf.data", "perf 6.1", "a made-up machine"
	r.Recording.FirstSample = uint64(1e9 * (1 + 10*(2*index+side)))
	r.Recording.LastSample = r.Recording.FirstSample + 5e9
	r.Recording.Duration = 5e9
	if opt.Times {
		b.KeepTimeline()
	}
	var events []uint32
	for _, e := range opt.Events {
		events = append(events, b.Event(run.Event{Name: e, Frequency: 997}))
	}
	mapping := b.Mapping(run.Mapping{File: "/usr/bin/program", Limit: 1 << 40, Kind: run.NativeMapping, HasFunctions: true})
	var labels []uint32
	for _, thread := range []string{"main", "worker-1", "worker-2"} {
		labels = append(labels, b.Labels(run.Labels{Process: "program", Thread: thread, PID: -1, TID: -1, CPU: -1}))
	}
	locations := make([]uint32, len(t.names))
	for i, n := range t.names {
		f := b.Function(run.Function{Name: n, SystemName: fmt.Sprintf("_Z%d", i), File: "program.cc", StartLine: int64(10 * i)})
		locations[i] = b.Location(mapping, uint64(i)*64, run.Line{Function: f, Line: int64(10*i + 3)})
	}
	stacks := make([]run.StackID, len(t.parent))
	noise := 1 + 0.01*rng.NormFloat64()
	for i, p := range t.parent {
		var parent run.StackID
		if p >= 0 {
			parent = stacks[p]
		}
		stacks[i] = b.Stack(parent, locations[t.function[i]])
		if t.weight[i] == 0 {
			continue
		}
		mean := t.weight[i] * noise
		if side == 1 {
			mean *= t.factor[t.function[i]]
		}
		n := poisson(rng, mean)
		if n == 0 && side == 0 && index == i%opt.Runs {
			n = 1 // every frame is seen
		}
		for _, e := range events {
			if n > 0 {
				sum, squares := n*1_003_009, float64(n)*1_003_009*1_003_009
				if opt.Varied {
					sum, squares = varied(rng, n)
				}
				b.AddSum(e, stacks[i], labels[i%len(labels)], n, sum, squares)
				r.Accounting.In += n
			}
			for k := int64(0); opt.Times && k < n; k++ {
				at := r.Recording.FirstSample + uint64(5e9*t.moment(i, rng))
				b.NoteSpan(run.TimedSample{Event: e, Stack: stacks[i], Labels: labels[i%len(labels)], Weight: 1_003_009, Time: int64(at)})
			}
		}
	}
	return b.Finish()
}

// varied is the sum of n weights that differ, and that of their squares.
func varied(rng *rand.Rand, n int64) (sum int64, squares float64) {
	for range n {
		w := int64(1_003_009 * math.Exp(0.3*rng.NormFloat64()))
		sum += w
		squares += float64(w) * float64(w)
	}
	return sum, squares
}

// moment is when a frame is sampled, from 0 to 1.
func (t *tree) moment(frame int, rng *rand.Rand) float64 {
	const phases = 5
	return (float64(t.function[frame]%phases) + rng.Float64()) / phases
}

func poisson(rng *rand.Rand, mean float64) int64 {
	if mean > 30 {
		return max(0, int64(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	n, p, limit := int64(0), 1.0, math.Exp(-mean)
	for {
		if p *= rng.Float64(); p <= limit {
			return n
		}
		n++
	}
}

// HostileNames are names as a recording could have them to break a page.
func HostileNames() []string {
	return []string{
		"</script><script>__canary=1</script>", "<img src=x onerror=__canary=2>", "<svg onload=__canary=3>", "'\"><b onmouseover=__canary=4>",
		"javascript:__canary=5", "{{.Title}}", "${__canary=6}", "`__canary=7`", "__proto__", "constructor", "toString", "hasOwnProperty",
		"a\u202egnp.exe\u202c", "zero\u200bwidth\ufeff", "nul\x00nul", "line\nbreak\r\n\u2028\u2029", "surrogate \xed\xa0\x80 half", "\xff\xfe\xfa",
		"=1+2", "+cmd|' /C calc'!A0", "-->", "<!--", "]]>", "&lt;b&gt;&amp;", "%00%3Cscript%3E", "#function=x&dso=y", "",
		" ", strings.Repeat("long<", 20_000), "a;b;c", "\\u003cscript\\u003e", "</style><style>*{display:none}", "</title><script>__canary=8</script>",
	}
}
