// Recorders compares what the built-in recorder records with what perf record does.
//
//  1. Programs that are difficult to record, each in its way, are built.
//  2. Both record each program with the arguments that profdiff record has for them, in turns: A B B A.
//  3. profdiff diff compares the runs of perf with the runs of the built-in recorder, as shares of the
//     total. As both recorded the same, there should be no verdict on any function, apart from the few that are
//     false by chance, and no more code without a name.
//  4. The records are counted: processes, and the names of threads.
//  5. perf script, report, diff and buildid-list read a file of the built-in recorder: they have to find
//     nothing to complain of.
//
// It needs perf and the right to record; programs whose compiler or interpreter is missing are left out.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	dir := flag.String("o", "", "write to the folder `DIR`, which is not there")
	profdiff := flag.String("profdiff", "profdiff", "the `PROGRAM` that compares")
	runs := flag.Int("runs", 8, "`runs` by each recorder")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: recorders -o DIR [flags] [PROGRAM...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *dir == "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var results []*result
	for i := range programs {
		p := &programs[i]
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), p.name) {
			continue
		}
		r, err := compare(ctx, p, filepath.Join(*dir, p.name), *profdiff, *runs)
		if err != nil {
			fmt.Fprintf(os.Stderr, "recorders: %s: %v\n", p.name, err)
			continue
		}
		for _, line := range append(r.differences, r.complaints...) {
			fmt.Fprintf(os.Stderr, "%s: %s\n", p.name, line)
		}
		results = append(results, r)
	}
	printTable(results)
}

// printTable prints the results as a table of Markdown.
func printTable(results []*result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| Program\t| what it is\t| samples\t| functions\t| verdicts\t| ratios of the largest\t| without a name\t| processes\t| other threads\t|")
	fmt.Fprintln(w, "|---\t|---\t|---:\t|---:\t|---:\t|---\t|---:\t|---:\t|---\t|")
	for _, r := range results {
		perf, own := &r.sides[0], &r.sides[1]
		fmt.Fprintf(w, "| %s\t| %s\t| %d, %d\t| %d\t| %d\t| %s\t| %.2f %%, %.2f %%\t| %s, %s\t| %s\t|\n",
			r.program.name, r.program.what, perf.samples, own.samples, r.tested, r.verdicts, strings.Join(r.largest, ", "),
			100*perf.unnamed, 100*own.unnamed, perf.processes, own.processes, r.threads)
	}
	w.Flush()
}
