// Pairs compares profdiff with the truth on programs that others wrote, each in two versions.
//
//  1. The sources of both versions are fetched by cargo and go, and built with gcc -O2 -static and
//     go build, without debug information: perf and profdiff both have the names of the symbols.
//  2. The truth of the total is the CPU time of the bare command, by getrusage, over many runs of
//     both in drawn order. The truth of a function is that time multiplied by the function's
//     share of samples, by perf script of recordings that perf alone made. Both have 95 %
//     intervals by bootstrap over runs. Callgrind counts instructions, which are exact and no time.
//  3. profdiff record records both, and profdiff diff compares them, without other flags.
//  4. Each total and the five functions that cost most are held against the truth: they agree if
//     both intervals have a ratio in common.
//
// It needs root or the right to use perf, and cargo, go, gcc, perf and valgrind.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settings are the flags.
type settings struct {
	dir      string // of all that is built and recorded
	profdiff string
	runs     int  // that profdiff records
	bare     int  // of the bare command a side
	perf     int  // that perf records for the shares of functions, a side
	build    bool // nothing else
}

func main() {
	var s settings
	flag.StringVar(&s.dir, "o", "", "write to the folder `DIR`; what is there already is not made again")
	flag.StringVar(&s.profdiff, "profdiff", "profdiff", "the `PROGRAM` that is judged")
	flag.IntVar(&s.runs, "runs", 10, "let profdiff record `N` runs a side")
	flag.IntVar(&s.bare, "bare", 20, "measure `N` runs a side of the bare command")
	flag.IntVar(&s.perf, "perf", 20, "let perf record `N` runs a side")
	flag.BoolVar(&s.build, "build", false, "only build both versions: DIR/NAME/old/NAME and DIR/NAME/new/NAME")
	flag.Parse()
	if s.dir == "" || s.runs < 4 || s.bare < 4 || s.perf < 4 {
		flag.Usage()
		os.Exit(2)
	}
	if err := s.judge(flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "pairs: %v\n", err)
		os.Exit(1)
	}
}

// judge judges the pairs that are named, or all.
func (s *settings) judge(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(pairs, func(p pair) bool { return p.name == name }) {
			return fmt.Errorf("there is no pair %s", name)
		}
	}
	var err error
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return err
	}
	var rows []string
	for i := range pairs {
		p := &pairs[i]
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		list, err := s.pair(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		rows = append(rows, list...)
	}
	if s.build {
		return nil
	}
	fmt.Println("| Pair | What | Truth: ratio of CPU time | Instructions | profdiff | Agree |")
	fmt.Println("| --- | --- | --- | --- | --- | --- |")
	fmt.Println(strings.Join(rows, "\n"))
	return nil
}

// pair makes the rows of one pair.
func (s *settings) pair(p *pair) ([]string, error) {
	dir := filepath.Join(s.dir, p.name)
	commands, err := p.build(dir)
	if err != nil || s.build {
		return nil, err
	}
	times, err := bareTimes(filepath.Join(dir, "bare.tsv"), commands, s.bare)
	if err != nil {
		return nil, err
	}
	shares, err := sharesByPerf(filepath.Join(dir, "perf"), commands, s.perf)
	if err != nil {
		return nil, err
	}
	var counts sides[map[string]float64]
	if p.versions[0].crate != "" {
		if counts, err = instructions(filepath.Join(dir, "callgrind"), commands); err != nil {
			return nil, err
		}
	} else {
		counts = sides[map[string]float64]{{nil}, {nil}}
	}
	total, functions, err := s.compare(filepath.Join(dir, "recorded"), commands)
	if err != nil {
		return nil, err
	}
	rows := []string{row(p, "total", truth(times, shares, nil), [2]float64{sum(counts[0][0]), sum(counts[1][0])}, &total)}
	for i := range functions {
		f := &functions[i]
		var count [2]float64
		for side, names := range f.names {
			for _, name := range names {
				count[side] += counts[side][0][name]
			}
		}
		name := strings.Join(f.names[1], " + ")
		if before := strings.Join(f.names[0], " + "); before != name {
			name = before + "` → `" + name
		}
		rows = append(rows, row(p, "`"+name+"`", truth(times, shares, &f.names), count, f))
	}
	return rows, nil
}

// row holds what profdiff found against the truth.
func row(p *pair, what string, truth estimate, count [2]float64, found *finding) string {
	instructions := "–"
	if count[0] > 0 && count[1] > 0 {
		instructions = fmt.Sprintf("×%.3f", count[1]/count[0])
	}
	agree := "yes"
	if truth.hi < found.ratio.lo || found.ratio.hi < truth.lo {
		agree = "**no**"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s %s | %s |", p.title, what, truth, instructions, found.ratio, found.verdict, agree)
}
