// Fleettrials holds comparisons of a fleet to what is true.
//
//	go -C internal/tools run ./fleettrials splits -store STORE -release a -n 40
//
// splits gives each device of one release one of two names by chance, and compares both: nothing changed, so
// that p-values are to be below 5 % in 5 % of all tests.
package main

import (
	"flag"
	"fmt"
	"os"

	"profdiff/internal/fleet/query"
)

func main() {
	commands := map[string]func([]string) error{"splits": splitsCommand, "calls": callsCommand, "growth": growthCommand, "copies": copiesCommand}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: fleettrials calls | splits | growth | copies [FLAGS]")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "fleettrials: %v\n", err)
		os.Exit(1)
	}
}

func splitsCommand(args []string) error {
	flags := flag.NewFlagSet("splits", flag.ExitOnError)
	dir := flags.String("store", "", "the store is in `DIR`")
	release := flags.String("release", "a", "split `RELEASE`")
	sampleType := flags.String("type", "cpu/nanoseconds", "compare samples of `TYPE`")
	n := flags.Int("n", 40, "split it `N` times")
	part := flags.Float64("part", 0.5, "give a device the first of both names with probability `P`")
	by := flags.String("by", "function", "test by `GROUP`: function or model")
	if err := flags.Parse(args); err != nil {
		return err
	}
	f, err := newFold(*dir, *release, *sampleType)
	if err != nil {
		return err
	}
	t, err := f.splits(*n, *part, query.By(*by))
	if err != nil {
		return err
	}
	t.print(f)
	return nil
}
