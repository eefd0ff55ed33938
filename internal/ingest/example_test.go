package ingest_test

import (
	"fmt"
	"strings"

	"profdiff/internal/ingest"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// Whatever the format of a recording is, what comes out is a run.
func ExampleRead() {
	const stacks = `main;loop;parse 600
main;loop;hash 300
main;idle 100
`
	src, err := input.New("example.folded", strings.NewReader(stacks))
	if err != nil {
		panic(err)
	}
	format, err := ingest.Detect(src)
	if err != nil {
		panic(err)
	}
	r, err := ingest.Read(src, &ingest.Options{})
	if err != nil {
		panic(err)
	}
	top := r.Group(run.ByFunction)[0]
	fmt.Printf("%s: %s has %d of %d %s\n", format.Name, top.Name, top.Self[0].Weight, r.Events[0].Weight, r.Events[0].Name)
	// Output:
	// folded stacks: parse has 600 of 1000 samples
}
