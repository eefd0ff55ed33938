package runtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"profdiff/internal/run"
)

// A Model draws runs of a program of a few functions under main.
type Model struct {
	rng       *rand.Rand
	functions []float64 // mean samples a run
	cv        float64   // of each function between runs
	common    float64   // of all functions together
}

// NewModel returns a model of so many functions, whose costs have the coefficient of
// variation cv between runs.
func NewModel(functions int, seed uint64, cv float64) *Model {
	m := &Model{rng: rand.New(rand.NewPCG(seed, 7)), cv: cv}
	for i := range functions {
		m.functions = append(m.functions, 9000/float64(i+3))
	}
	return m
}

// NewZipf returns a model of a program with a few large functions and many small ones: the
// k-th has 1/k of the samples of the first, and all together so many a run. Each function
// varies by 2 % between runs, and so do all of them together.
func NewZipf(functions int, samples float64, seed uint64) *Model {
	m := &Model{rng: rand.New(rand.NewPCG(seed, 13)), cv: 0.02, common: 0.02}
	sum := 0.0
	for i := range functions {
		sum += 1 / float64(i+1)
	}
	for i := range functions {
		m.functions = append(m.functions, samples/sum/float64(i+1))
	}
	return m
}

// Draw makes a run that was recorded at a time and costs factor more throughout; each
// names the functions that cost another factor more.
func (m *Model) Draw(at int, factor float64, each map[int]float64) *run.Run {
	b := run.NewBuilder(fmt.Sprint("run ", at))
	event := b.Event(run.Event{Name: "cpu-clock", Unit: "nanoseconds"})
	mapping := b.Mapping(run.Mapping{File: "/bin/program", Limit: 1 << 20})
	labels := b.Labels(run.Labels{Process: "program", Thread: "program", PID: -1, TID: -1, CPU: -1})
	location := func(name string) uint32 {
		return b.Location(mapping, 0, run.Line{Function: b.Function(run.Function{Name: name, File: "/src/program.c"})})
	}
	root := b.Stack(0, location("main"))
	if m.common > 0 {
		factor *= math.Exp(m.common * m.rng.NormFloat64())
	}
	for i, mean := range m.functions {
		mean *= factor
		if f, ok := each[i]; ok {
			mean *= f
		}
		mean *= math.Exp(m.cv*m.rng.NormFloat64() - m.cv*m.cv/2)
		n := int64(math.Max(0, math.Round(mean+math.Sqrt(mean)*m.rng.NormFloat64())))
		b.AddSum(event, b.Stack(root, location(fmt.Sprintf("f%d", i))), labels, n, n*1e6, float64(n)*1e12)
		b.Run().Accounting.In += n
	}
	r := b.Run()
	r.Recording.Start = time.Unix(int64(at), 0)
	r.Counters = []run.Counter{{Name: "operations", Value: 1000}}
	r, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return r
}

// Sides draws n runs a side, in ABBA order or all of base first, with drift over the
// recording; each is of head.
func (m *Model) Sides(n int, blocked bool, drift float64, each map[int]float64) (base, head []*run.Run) {
	factor := func(at int) float64 { return 1 + drift*float64(at-1)/float64(2*n-1) }
	for i := range n {
		atBase, atHead := 1+2*i, 2+2*i
		switch {
		case blocked:
			atBase, atHead = 1+i, 1+n+i
		case i%2 == 1:
			atBase, atHead = atHead, atBase
		}
		base = append(base, m.Draw(atBase, factor(atBase), nil))
		head = append(head, m.Draw(atHead, factor(atHead), each))
	}
	return base, head
}
