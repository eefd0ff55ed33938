package input_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"

	"profdiff/internal/input"
)

// A compressed file reads as if it were not.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "stacks.gz")
	f, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	z := gzip.NewWriter(f)
	fmt.Fprint(z, "main;parse 3\nmain;hash 1\n")
	if err := z.Close(); err != nil {
		panic(err)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}

	src, err := input.Open(name, nil)
	if err != nil {
		panic(err)
	}
	defer src.Close()
	fmt.Println("text:", src.Head.IsText())
	lines := src.Lines()
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		fmt.Printf("%s\n", line)
	}
	if lines.Err() != nil {
		panic(lines.Err())
	}
	// Output:
	// text: true
	// main;parse 3
	// main;hash 1
}

// A table tells which format an input has, and says of others what they are.
func ExampleTable_Detect() {
	table := input.Table[string]{
		{Name: "perf.data", Recognise: func(head input.Head) input.Evidence {
			return input.Evidence{Is: len(head) > 8 && string(head[:8]) == "PERFILE2"}
		}, Read: "samples"},
	}
	f, err := table.Detect(input.Head("PERFILE2h\x00"))
	fmt.Println(f.Name, f.Read, err)
	_, err = table.Detect(input.Head("#!/bin/sh\n"))
	fmt.Println(err)
	// Output:
	// perf.data samples <nil>
	// looks like a script; profdiff reads perf.data
}
