// Skid measures how well the branch behind an imprecise sample is found.
//
// A recording of branch stacks tells: where the newest entry of a sample is a
// conditional branch that was mispredicted, that is what an imprecise sample of
// mispredicted branches at the same address would be of. The attribution is given the
// addresses alone.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	recording := flag.String("recording", "", "perf.data `FILE` with branch stacks")
	binary := flag.String("binary", "", "`FILE` that was recorded")
	flag.Parse()
	if *recording == "" || *binary == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	e, err := read(*recording, *binary)
	if err != nil {
		fmt.Fprintf(os.Stderr, "skid: %v\n", err)
		os.Exit(1)
	}
	fmt.Print(table(e))
}
