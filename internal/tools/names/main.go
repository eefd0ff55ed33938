// Names compares what profdiff, without any flag, names in recordings of programs that others
// wrote with what perf names in them.
//
//  1. record.sh makes the recordings: each program twice with a change between, with frame
//     pointers and with --call-graph dwarf.
//  2. perf script lists each sample with its stack, undemangled and without inlined frames.
//     profdiff convert writes a pprof profile, in which the last line of a location is the
//     function that its address lies in. Both have addresses in files.
//  3. Leaves are paired by file and address, and the weight of each pair is put into a class.
//     What both name by other symbols of the same address, or with other suffixes, is told
//     apart from what they name differently.
//  4. Stacks are paired by all their names, then, of those left, by the class of what differs.
//
// perf is not always right; the classes say who is.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	profdiff := flag.String("profdiff", "profdiff", "the `PROGRAM` that is compared with perf")
	examples := flag.Int("examples", 3, "print the `N` heaviest examples of each class")
	floor := flag.Float64("floor", 0.1, "print examples of classes from `PERCENT` of the weight on")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: names [flags] RECORDING...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	var results []*comparison
	for _, file := range flag.Args() {
		c, err := compare(*profdiff, file)
		if err != nil {
			fmt.Fprintf(os.Stderr, "names: %s: %v\n", file, err)
			continue
		}
		c.print(os.Stdout, *examples, *floor/100)
		results = append(results, c)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "recording\tsamples\tleaves equal\tother symbol\tdiffer\tunknown here\tunknown in perf\tin both\tstacks equal\tin reasons\tnot explained\t")
	for _, c := range results {
		leaf := func(classes ...string) float64 { return 100 * c.leaves.share(classes...) }
		stack := func(classes ...string) float64 { return 100 * c.stacks.share(classes...) }
		equal, explained := stack(equalClass), stack(reasons...)
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", short(c.file), c.samples,
			leaf(equalClass), leaf(aliasClass, suffixClass, reusedClass), leaf(differClass, missingHere, missingThere), leaf(unknownHere), leaf(unknownThere, discarded), leaf(unknownBoth),
			equal, explained, 100-equal-explained)
	}
	w.Flush()
}

// short is the name of a recording with its folder.
func short(file string) string {
	return strings.TrimSuffix(filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file)), ".data")
}

// A comparison is what one recording gave.
type comparison struct {
	file    string
	samples int
	leaves  classes
	stacks  classes
}

func compare(profdiff, file string) (*comparison, error) {
	ours, err := readProfdiff(profdiff, file)
	if err != nil {
		return nil, err
	}
	theirs, err := readPerf(file)
	if err != nil {
		return nil, err
	}
	c := &comparison{file: file, samples: theirs.samples}
	symbols := newSymbols()
	c.leaves = compareLeaves(symbols, ours, theirs)
	c.stacks = compareStacks(symbols, ours, theirs)
	return c, nil
}

// classes is how much weight is in each class, with what is in it.
type classes struct {
	total  int64
	weight map[string]int64
	within map[string]map[string]int64 // by class and example
}

func (c *classes) add(class, example string, weight int64) {
	if c.weight == nil {
		c.weight, c.within = map[string]int64{}, map[string]map[string]int64{}
	}
	c.total += weight
	c.weight[class] += weight
	if c.within[class] == nil {
		c.within[class] = map[string]int64{}
	}
	c.within[class][example] += weight
}

func (c *classes) share(names ...string) float64 {
	if c.total == 0 {
		return 0
	}
	var sum int64
	for _, n := range names {
		sum += c.weight[n]
	}
	return float64(sum) / float64(c.total)
}

// print writes the classes of leaves and stacks, and of all that are not equal the heaviest examples.
func (c *comparison) print(w *os.File, examples int, floor float64) {
	fmt.Fprintf(w, "%s: %d samples\n", c.file, c.samples)
	for _, part := range []struct {
		title string
		of    *classes
	}{{"leaves", &c.leaves}, {"stacks", &c.stacks}} {
		for _, class := range byWeight(part.of.weight) {
			fmt.Fprintf(w, "  %s %6.2f%%  %s\n", part.title, 100*part.of.share(class), class)
			if class == equalClass || part.of.share(class) < floor {
				continue
			}
			within := part.of.within[class]
			for i, example := range byWeight(within) {
				if i == examples {
					break
				}
				fmt.Fprintf(w, "      %6.2f%%  %s\n", 100*float64(within[example])/float64(part.of.total), example)
			}
		}
	}
	fmt.Fprintln(w)
}

func byWeight(weights map[string]int64) []string {
	var names []string
	for n := range weights {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if weights[a] != weights[b] {
			return int(min(1, max(-1, weights[b]-weights[a])))
		}
		return strings.Compare(a, b)
	})
	return names
}
