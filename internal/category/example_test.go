package category_test

import (
	"fmt"

	"profdiff/internal/category"
	"profdiff/internal/run"
)

func ExampleSet_Group() {
	b := run.NewBuilder("a run")
	cycles := b.Event(run.Event{Name: "cycles"})
	mapping := b.Mapping(run.Mapping{File: "/usr/lib/libc.so.6"})
	stack := func(names ...string) (s run.StackID) {
		for _, name := range names {
			f := b.Function(run.Function{Name: name})
			s = b.Stack(s, b.Location(mapping, 0, run.Line{Function: f}))
		}
		return s
	}
	b.Add(cycles, stack("main", "malloc"), 0, 30)
	b.Add(cycles, stack("main", "parse", "memcpy"), 0, 20)
	b.Add(cycles, stack("main", "parse"), 0, 50)
	r, err := b.Finish()
	if err != nil {
		panic(err)
	}
	for _, row := range category.Builtin().Group(r) {
		if row.Self[0].Weight > 0 {
			fmt.Println(row.Name, row.Self[0].Weight)
		}
	}
	// Output:
	// memory allocation 30
	// memcpy and memset 20
	// other 50
}
