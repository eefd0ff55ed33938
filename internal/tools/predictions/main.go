// Predictions has profdiff predict what changes of programs gain, and then measures it.
//
//  1. Sources of libraries are fetched at exact versions by cargo and apt-get, and both sides of
//     each pair are built as their makers would: gcc and g++ -O2, cargo build --release, go build.
//  2. profdiff record records both sides, and Callgrind counts their branches.
//  3. profdiff predict gets the two recordings and the two files of Callgrind, and no other flag.
//     What it prints is written to a file before anything is measured: a pair that has no
//     prediction is not measured.
//  4. guard.c has both programs make a step in turns, and a step says how long the changed part took. Steps beside
//     which another thread used the core do not count. The time of a side is the 10 % quantile of those that
//     do, of a run of the programs; of these the median over runs; intervals are by bootstrap over runs and steps.
//  5. The table holds one against the other.
//
// It needs root or the right to use perf, and cargo, go, gcc, apt-get, dpkg, perf, valgrind and llvm-mca.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sources are the programs.
//
//go:embed testdata
var sources embed.FS

// settings are the flags.
type settings struct {
	dir         string // of all that is built, recorded, predicted and measured
	profdiff    string
	until       string // the last step that is made
	calibration string
	cpu         int
	rounds      int // runs of both programs of a pair
	repetitions int // of steps, undisturbed ones, in a round
	patience    time.Duration
	pairs       []pair
}

// steps in their order.
var steps = []string{"build", "record", "predict", "measure"}

func main() {
	var s settings
	flag.StringVar(&s.dir, "o", "", "write to the folder `DIR`; what is there already is not made again")
	flag.StringVar(&s.profdiff, "profdiff", "profdiff", "the `PROGRAM` that predicts")
	flag.StringVar(&s.until, "until", "measure", "the last `STEP` that is made: "+strings.Join(steps, ", "))
	flag.StringVar(&s.calibration, "calibration", "", "predict with --calibration `FILE`, beside the predictions without")
	flag.IntVar(&s.cpu, "cpu", 1, "`number` of the CPU to measure on")
	flag.IntVar(&s.rounds, "rounds", 12, "`runs` of both programs of a pair")
	flag.IntVar(&s.repetitions, "repetitions", 40, "undisturbed `repetitions` in a run")
	flag.DurationVar(&s.patience, "patience", 30*time.Minute, "measure no longer than this `time`, with fewer repetitions if need be")
	flag.Parse()
	if s.dir == "" || !slices.Contains(steps, s.until) || s.rounds < 2 || s.repetitions < 10 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := s.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "predictions: %v\n", err)
		os.Exit(1)
	}
}

// run makes the steps of the pairs that are named, or of all but the trial.
func (s *settings) run(ctx context.Context, names []string) error {
	for _, p := range pairs {
		if slices.Contains(names, p.name) || len(names) == 0 && p.name != "trial" {
			s.pairs = append(s.pairs, p)
		}
	}
	if len(s.pairs) < len(names) || len(s.pairs) == 0 {
		return fmt.Errorf("not all of these are pairs: %s", strings.Join(names, ", "))
	}
	var err error
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return err
	}
	if s.calibration != "" {
		if s.calibration, err = filepath.Abs(s.calibration); err != nil {
			return err
		}
	}
	if err := os.CopyFS(filepath.Join(s.dir, "src"), sources); err != nil && !os.IsExist(err) {
		return err
	}
	for i, step := range []func(context.Context) error{s.build, s.record, s.predict, s.measure} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("%s: %w", steps[i], err)
		}
		if steps[i] == s.until {
			break
		}
	}
	if s.until != "measure" {
		return nil
	}
	return s.table(os.Stdout)
}

// path is that of a file of a pair.
func (s *settings) path(p *pair, name string) string { return filepath.Join(s.dir, p.name, name) }

// command is what runs a side of a pair in a mode of the program, see testdata/program.h.
func (s *settings) command(p *pair, side string, mode ...string) []string {
	words := append([]string{s.path(p, side)}, mode...)
	if p.text {
		words = append(words, filepath.Join(s.dir, "text"))
	}
	return words
}

// exists tells whether there is such a file.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// output runs a command and returns what it prints; what it says on standard error is part of the error.
func output(cmd *exec.Cmd) (string, error) {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
