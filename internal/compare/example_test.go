package compare_test

import (
	"fmt"

	"profdiff/internal/compare"
	"profdiff/internal/run"
)

// sample makes a run of a program that parses and hashes, of samples of a million
// cycles.
func sample(name string, parse, hash int) *run.Run {
	b := run.NewBuilder(name)
	event := b.Event(run.Event{Name: "cpu-cycles"})
	file := b.Mapping(run.Mapping{File: "/usr/bin/app", Limit: 1 << 20})
	labels := b.Labels(run.Labels{Process: "app", Thread: "app", PID: -1, TID: -1, CPU: -1})
	add := func(function string, samples int) {
		line := run.Line{Function: b.Function(run.Function{Name: function})}
		stack := b.Stack(0, b.Location(file, 0, line))
		for range samples {
			b.Add(event, stack, labels, 1e6)
		}
	}
	add("parse", parse)
	add("hash", hash)
	r, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return r
}

// Five runs a side: parse became cheaper, hash stayed as it was.
func ExampleCompare() {
	var base, head []*run.Run
	for i, noise := range []int{0, 14, -9, 6, -11} {
		base = append(base, sample(fmt.Sprintf("base %d", i+1), 4000+noise, 2000-noise))
		head = append(head, sample(fmt.Sprintf("head %d", i+1), 3000-noise, 2000+noise))
	}
	c, err := compare.Compare(base, head, compare.Options{Normalize: compare.None})
	if err != nil {
		panic(err)
	}
	for _, f := range c.Events[0].Functions {
		fmt.Printf("%-5s ×%.3f, from %.3f to %.3f: %s\n", f.Name, f.Self.Ratio, f.Self.CI.Lo, f.Self.CI.Hi, f.Self.Verdict)
	}
	// Output:
	// parse ×0.750, from 0.747 to 0.753: improved
	// hash  ×1.000, from 0.992 to 1.008: unchanged
}
