package compare

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"profdiff/internal/run"
)

// generate makes a run of so many functions in stacks about 20 deep.
func generate(seed uint64, functions, stacks int) *run.Run {
	rng := rand.New(rand.NewPCG(seed, 3))
	b := run.NewBuilder(fmt.Sprint(seed))
	event := b.Event(run.Event{Name: "cpu-clock", Unit: "nanoseconds"})
	mapping := b.Mapping(run.Mapping{File: "/bin/program", Limit: 1 << 30})
	labels := b.Labels(run.Labels{Process: "program", Thread: "program", PID: -1, TID: -1, CPU: -1})
	locations := make([]uint32, functions)
	for i := range locations {
		fn := b.Function(run.Function{Name: fmt.Sprintf("namespace%d::Class%d::method%d(int)", i%17, i%301, i)})
		locations[i] = b.Location(mapping, uint64(i)*64, run.Line{Function: fn, Line: int64(i)})
	}
	// The same stacks in every run, with other numbers of samples.
	shape := rand.New(rand.NewPCG(1, 4))
	for range stacks {
		var stack run.StackID
		at := 0
		for range 10 + shape.IntN(20) {
			stack = b.Stack(stack, locations[at])
			at = (at*7 + 1 + shape.IntN(5)) % functions
		}
		stack = b.Stack(stack, locations[shape.IntN(functions)])
		n := int64(1 + rng.IntN(20))
		b.AddSum(event, stack, labels, n, n*1e6, float64(n)*1e12)
		b.Run().Accounting.In += n
	}
	r, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return r
}

func generateSides(runs, functions, stacks int) (base, head []*run.Run) {
	for i := range runs {
		base = append(base, generate(uint64(2*i), functions, stacks))
		head = append(head, generate(uint64(2*i+1), functions, stacks))
	}
	return base, head
}

// BenchmarkCompare compares runs of 10,000 functions, or a thousand runs of 400; ns/stack shows
// that cost grows with distinct stacks and with runs.
func BenchmarkCompare(b *testing.B) {
	for _, size := range []struct{ runs, functions, stacks int }{
		{1, 10_000, 50_000}, {1, 10_000, 200_000}, {10, 10_000, 20_000}, {20, 10_000, 20_000}, {100, 400, 300}, {1000, 400, 300},
	} {
		b.Run(fmt.Sprintf("%d×%d", size.runs, size.stacks), func(b *testing.B) {
			base, head := generateSides(size.runs, size.functions, size.stacks)
			b.ReportAllocs()
			for b.Loop() {
				mustCompare(b, base, head, Options{Normalize: None})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*size.runs*size.stacks), "ns/stack")
		})
	}
}

func BenchmarkTree(b *testing.B) {
	for _, size := range []struct{ runs, functions, stacks int }{{1, 10_000, 100_000}, {10, 10_000, 20_000}, {1000, 400, 300}} {
		b.Run(fmt.Sprintf("%d×%d", size.runs, size.stacks), func(b *testing.B) {
			base, head := generateSides(size.runs, size.functions, size.stacks)
			c := mustCompare(b, base, head, Options{Normalize: None})
			b.ReportAllocs()
			for b.Loop() {
				c.Tree(0)
			}
		})
	}
}
