// Trials measures what a recording that ends when a budget is decided saves.
//
// Each trial records two commands, one way after the other in turns: a fixed number of runs a side,
// and `profdiff record --until decided`, which knows the budget, each with each recorder. All are then checked by
// profdiff check. The table has, for each way, the outcomes and the seconds of recording. Between an
// unchanged program and itself a failure is wrong, between others a pass.
//
//	go -C internal/tools run ./trials -n 20 -old 'OLD ARGUMENTS' -new 'NEW ARGUMENTS' -limit +5%
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// settings are the flags.
type settings struct {
	profdiff, before, after, limit, with string
	trials, runs                         int
}

func main() {
	var s settings
	flag.StringVar(&s.profdiff, "profdiff", "profdiff", "the `PROGRAM` that records and checks")
	flag.StringVar(&s.before, "old", "", "`CMD` before the change")
	flag.StringVar(&s.after, "new", "", "`CMD` after it")
	flag.StringVar(&s.limit, "limit", "+5%", "`LIMIT` of the total of a run")
	flag.StringVar(&s.with, "with", "perf,builtin", "the `RECORDERS`, with commas between them")
	flag.IntVar(&s.trials, "n", 20, "make `N` trials without a change, and as many with it")
	flag.IntVar(&s.runs, "runs", 10, "record `N` runs a side where the number is fixed")
	flag.Parse()
	if s.before == "" || s.after == "" || s.trials < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := s.measure(); err != nil {
		fmt.Fprintf(os.Stderr, "trials: %v\n", err)
		os.Exit(1)
	}
}

// A way of recording has a name, the arguments of `profdiff record`, and what came of it.
type way struct {
	name   string
	args   []string
	trials []trial
}

func (s *settings) ways(budget string) (list []way) {
	for with := range strings.SplitSeq(s.with, ",") {
		list = append(list,
			way{name: fmt.Sprintf("%s, %d + %d", with, s.runs, s.runs), args: []string{"--with", with, "--runs", fmt.Sprint(s.runs)}},
			way{name: with + ", until decided", args: []string{"--with", with, "--until", "decided", "--budget", budget}})
	}
	return list
}

// A trial is what one recording came to.
type trial struct {
	outcome string
	seconds float64
	runs    int // a side
}

func (s *settings) measure() error {
	dir, err := os.MkdirTemp("", "trials")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	budget := filepath.Join(dir, "budget.yaml")
	text := "version: 1\nbudgets:\n  - id: everything\n    limit: {fail: " + s.limit + "}\n"
	if err := os.WriteFile(budget, []byte(text), 0o644); err != nil {
		return err
	}
	fmt.Println("| | Recording | pass | fail | can't tell yet | runs a side, median | seconds, median | seconds, mean |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, change := range []struct{ name, after string }{{"no change", s.before}, {"the change", s.after}} {
		ways := s.ways(budget)
		for i := range s.trials {
			for k := range ways {
				w := &ways[k]
				if i%2 == 1 {
					w = &ways[len(ways)-1-k]
				}
				if err := s.record(&w.trials, filepath.Join(dir, "recordings"), budget, change.after, w.args...); err != nil {
					return err
				}
			}
		}
		for i := range ways {
			row(change.name, ways[i].name, ways[i].trials)
		}
	}
	return nil
}

// record makes one recording, and adds it to a list with what the check says of it.
func (s *settings) record(list *[]trial, dir, budget, after string, how ...string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	args := append([]string{"record", "-q", "-o", dir, "--before", s.before, "--after", after}, how...)
	start := time.Now()
	if out, err := exec.Command(s.profdiff, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w: %s", args, err, out)
	}
	t := trial{seconds: time.Since(start).Seconds()}
	out, err := exec.Command(s.profdiff, "check", "--budget", budget, filepath.Join(dir, "before"), filepath.Join(dir, "after"), "--format", "json").Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 4)) {
		return fmt.Errorf("check: %w", err)
	}
	var d struct {
		Outcome string `json:"outcome"`
		Verdict string `json:"verdict"`
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return err
	}
	if t.outcome = d.Outcome; t.outcome == "" {
		t.outcome = d.Verdict
	}
	files, err := filepath.Glob(filepath.Join(dir, "before", "*.data"))
	if err != nil {
		return err
	}
	t.runs = len(files)
	*list = append(*list, t)
	return nil
}

func row(change, way string, list []trial) {
	count := make(map[string]int)
	var seconds, runs []float64
	sum := 0.0
	for _, t := range list {
		count[t.outcome]++
		seconds = append(seconds, t.seconds)
		runs = append(runs, float64(t.runs))
		sum += t.seconds
	}
	median := func(x []float64) float64 {
		slices.Sort(x)
		return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
	}
	fmt.Printf("| %s | %s | %d | %d | %d | %.0f | %.1f | %.1f |\n", change, way, count["pass"], count["fail"], count["inconclusive"],
		median(runs), median(seconds), sum/float64(len(list)))
}
