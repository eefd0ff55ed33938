// Mcabench builds, counts and measures the kernels of mca-cases.
//
//	usage: go -C internal/tools run ./mcabench [flags] assemble|count|measure|readme [case ...]
//
// Assemble writes the listings of the sources, count writes counts.tsv of each case by
// Callgrind, measure writes a file of the folder measured, readme writes its figures into the documents.
// mca-cases/README.md describes the formats.
// It runs on Linux on x86-64, with gcc, gcc for AArch64, binutils and Valgrind.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"profdiff/internal/llvm"
	"profdiff/internal/predict"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if errors.Is(err, errUsage) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "mcabench: %v\n", err)
		os.Exit(1)
	}
}

// errUsage says that the command line is wrong, and that this was said.
var errUsage = errors.New("usage")

func run(ctx context.Context, args []string, stderr io.Writer) error {
	fs := flag.NewFlagSet("mcabench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	root := fs.String("cases", "../../mca-cases", "`folder` of the cases")
	out := fs.String("o", "", "`file` for what was measured (default measured/CPU.tsv in the folder of the cases, by LLVM's name of this CPU)")
	pl := plan{}
	fs.IntVar(&pl.rounds, "rounds", 48, "`runs` for each case and p, which take turns among programs of eight layouts")
	fs.IntVar(&pl.repetitions, "repetitions", 30, "`repetitions` in a run")
	fs.IntVar(&pl.cpu, "cpu", 1, "`number` of the CPU to measure on")
	fs.Usage = func() {
		fmt.Fprintln(stderr, "usage: mcabench [flags] assemble|count|measure|readme [case ...]")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return errUsage
	}
	if fs.NArg() == 0 || pl.rounds < 1 || pl.repetitions < 1 {
		fs.Usage()
		return errUsage
	}
	cases, err := load(*root, fs.Args()[1:])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mcabench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	switch fs.Arg(0) {
	case "assemble":
		for _, c := range cases {
			if err := assemble(ctx, c); err != nil {
				return err
			}
		}
	case "count":
		valgrind, err := firstLine(ctx, "valgrind", "--version")
		if err != nil {
			return err
		}
		for _, c := range cases {
			counts, err := countCase(ctx, c, dir)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			text, err := formatCounts(c, counts, valgrind)
			if err != nil {
				return err
			}
			if err := os.WriteFile(c.counts(), text, 0o666); err != nil {
				return err
			}
		}
	case "measure":
		cpu, err := cpuName()
		if err != nil {
			return err
		}
		if *out == "" {
			name := llvm.CPUOf(predict.CPUID(cpu))
			if name == "" {
				return fmt.Errorf("LLVM has no name for %s: -o names the file", cpu)
			}
			*out = filepath.Join(*root, measuredDir, name+".tsv")
		}
		return writeMeasured(ctx, cases, dir, *out, cpu, args, &pl, stderr)
	case "readme":
		all, err := documents(*root, cases)
		if err != nil {
			return err
		}
		for file, text := range all {
			if err := os.WriteFile(file, text, 0o666); err != nil {
				return err
			}
		}
	default:
		fs.Usage()
		return errUsage
	}
	return nil
}

// measuredDir has a file of measured cycles for each CPU.
const measuredDir = "measured"

// writeMeasured measures on a CPU and writes a file of what it took.
func writeMeasured(ctx context.Context, cases []*Case, dir, out, cpu string, args []string, pl *plan, stderr io.Writer) error {
	kernel, err := firstLine(ctx, "uname", "-srm")
	if err != nil {
		return err
	}
	compiler, err := firstLine(ctx, "gcc", "--version")
	if err != nil {
		return err
	}
	start := time.Now().UTC()
	rows, all, err := measure(ctx, cases, dir, cpu, pl, func(s string) { fmt.Fprintln(stderr, s) })
	if err != nil {
		return err
	}
	multiplications, widths := make([]float64, len(all)), make([]float64, len(all))
	for i, c := range all {
		multiplications[i], widths[i] = c.multiplication, c.width
	}
	var names []string
	for _, c := range cases {
		names = append(names, c.Name)
	}
	header, others, err := keep(out, names)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(header)
	if header != "" {
		fmt.Fprintf(&b, "%s%s\n", measuredApart, strings.Join(names, " "))
	}
	fmt.Fprintf(&b, "# cycles per unit of work; lo and hi are the 95%% interval\n")
	fmt.Fprintf(&b, "# machine: %s, %s\n", cpu, kernel)
	fmt.Fprintf(&b, "# compiler: %s\n", compiler)
	fmt.Fprintf(&b, "# date: %s\n", start.Format("2006-01-02 15:04 MST"))
	fmt.Fprintf(&b, "# command: go -C internal/tools run ./mcabench %s\n", strings.Join(args, " "))
	fmt.Fprintf(&b, "# %d rounds of %d repetitions\n", pl.rounds, pl.repetitions)
	fmt.Fprintf(&b, "# checks: a multiplication takes %.3f cycles; %.2f independent additions in a cycle, %.2f in the worst run\n",
		median(multiplications), median(widths), slices.Min(widths))
	fmt.Fprintln(&b, measuredColumns)
	for i := range rows {
		others = append(others, rows[i].row()+"\n")
	}
	slices.SortStableFunc(others, func(a, b string) int {
		x, _, _ := strings.Cut(a, "\t")
		y, _, _ := strings.Cut(b, "\t")
		return strings.Compare(x, y)
	})
	b.WriteString(strings.Join(others, ""))
	return os.WriteFile(out, []byte(b.String()), 0o666)
}

// measuredApart begins the part of the header of measured cycles that is of these cases only.
const measuredApart = "# measured apart: "

// keep returns of a file of measured cycles the header and the rows of other cases than
// these; nothing if there is no such file or it has no others. Parts of the header whose
// cases are all measured again are left out.
func keep(file string, cases []string) (header string, rows []string, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	var comments strings.Builder
	replaced := false
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"):
			if apart, ok := strings.CutPrefix(line, measuredApart); ok {
				replaced = !slices.ContainsFunc(strings.Fields(apart), func(s string) bool { return !slices.Contains(cases, s) })
			}
			if !replaced {
				comments.WriteString(line)
			}
		case strings.TrimSuffix(line, "\n") != measuredColumns && !slices.Contains(cases, name):
			rows = append(rows, line)
		}
	}
	if len(rows) == 0 {
		return "", nil, nil
	}
	return comments.String(), rows, nil
}
