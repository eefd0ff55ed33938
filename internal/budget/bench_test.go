package budget

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"profdiff/internal/run"
)

// largeRun has as many stacks and samples as a perf.data of 1 MB with call chains: 5,000
// samples of 2,000 functions with 16 frames.
func largeRun(seed uint64, at int) *run.Run {
	rng := rand.New(rand.NewPCG(seed, 3))
	b := run.NewBuilder(fmt.Sprint("run ", at))
	event := b.Event(run.Event{Name: "cpu-clock", Unit: "nanoseconds"})
	mapping := b.Mapping(run.Mapping{File: "/bin/program", Limit: 1 << 20})
	labels := b.Labels(run.Labels{Process: "program", Thread: "program", PID: -1, TID: -1, CPU: -1})
	location := func(i int) uint32 {
		f := b.Function(run.Function{Name: fmt.Sprintf("space%d::function%d(int)", i%40, i), SystemName: fmt.Sprintf("_ZN%dfunction%d", i%40, i), File: fmt.Sprintf("/src/dir%d/file%d.cc", i%10, i%100)})
		return b.Location(mapping, uint64(i), run.Line{Function: f, Line: 1})
	}
	for range 5000 {
		var stack run.StackID
		for range 16 {
			stack = b.Stack(stack, location(int(2000*math.Pow(rng.Float64(), 3))))
		}
		b.Add(event, stack, labels, 1e6)
		b.Run().Accounting.In++
	}
	b.Run().Recording.Start = time.Unix(int64(at), 0)
	r, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return r
}

// BenchmarkCheck checks 500 budgets on 20 runs of 1 MB.
func BenchmarkCheck(b *testing.B) {
	var base, head []*run.Run
	for i := range 10 {
		base = append(base, largeRun(uint64(2*i), 2*i+1))
		head = append(head, largeRun(uint64(2*i+1), 2*i+2))
	}
	var text strings.Builder
	text.WriteString("version: 1\ndefaults: {normalize: none}\nbudgets:\n")
	for i := range 500 {
		match := []string{
			fmt.Sprintf("{function: 'space%d::function%d'}", i%40, i),
			fmt.Sprintf("{function: '*::function%d*'}", i),
			fmt.Sprintf("{function: '^space%d::function%d\\(', regexp: true}", i%40, i),
			fmt.Sprintf("{file: 'dir%d/file%d.cc'}", i%10, i%100),
			fmt.Sprintf("{function: 'space%d::*', under: 'space1::*'}", i%40),
		}[i%5]
		fmt.Fprintf(&text, "- {id: b%d, match: %s, metric: %s, limit: {fail: +50%%}}\n", i, match, []string{"self", "total"}[i/5%2])
	}
	f := parseFile(b, text.String())
	b.SetBytes(20 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Check(&Inputs{Base: base, Head: head}); err != nil {
			b.Fatal(err)
		}
	}
}
