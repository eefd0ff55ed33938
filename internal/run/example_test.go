package run_test

import (
	"fmt"

	"profdiff/internal/run"
)

// A run is built of samples and summed by function.
func ExampleRun_Group() {
	b := run.NewBuilder("example")
	event := b.Event(run.Event{Name: "cpu-cycles"})
	file := b.Mapping(run.Mapping{File: "/usr/bin/app", Limit: 1 << 20})
	labels := b.Labels(run.Labels{Process: "app", Thread: "worker", PID: -1, TID: -1, CPU: -1})
	call := func(caller run.StackID, name string) run.StackID {
		line := run.Line{Function: b.Function(run.Function{Name: name})}
		return b.Stack(caller, b.Location(file, 0, line))
	}
	loop := call(0, "loop")
	b.Add(event, loop, labels, 100)
	b.Add(event, call(loop, "parse"), labels, 600)
	b.Add(event, call(loop, "hash"), labels, 300)
	r, err := b.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range r.Group(run.ByFunction) {
		fmt.Println(row.Name, row.Self[event].Weight, row.Total[event].Weight)
	}
	// Output:
	// parse 600 600
	// hash 300 300
	// loop 100 1000
}
