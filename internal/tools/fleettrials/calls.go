package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
	"profdiff/internal/stats"
)

// rate is the false discovery rate at which functions are called.
const rate = 0.05

// A truth is what was changed.
type truth struct {
	factor float64
	models map[string]bool // nil for all
}

func (t *truth) on(model string) bool { return t.models == nil || t.models[model] }

// A place is a function as truth.tsv names it.
type place struct{ name, module string }

// readTruth reads truth.tsv of fleetprofiles.
func readTruth(name string) (map[place]*truth, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	all := make(map[place]*truth)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, line := range lines[1:] {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 5 {
			return nil, fmt.Errorf("%s: %q has not five columns", name, line)
		}
		t := &truth{}
		if t.factor, err = strconv.ParseFloat(fields[2], 64); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if fields[4] != "all" {
			t.models = make(map[string]bool)
			for m := range strings.SplitSeq(fields[4], ",") {
				t.models[m] = true
			}
		}
		all[place{fields[0], fields[1]}] = t
	}
	return all, nil
}

// A called is what a comparison calls, by what is true.
type called struct {
	tested, all        int
	found              map[float64]int // by factor, in the direction of it
	someFound          map[float64]int // of those on some models
	false, wrong       int             // of functions that did not change, and in the other direction
	tests, someChanged map[float64]int // changes that were tested
	falseOn            map[string]int  // of functions that did not change, by model
}

// callsCommand compares two releases and says what was found.
func callsCommand(args []string) error {
	flags := flag.NewFlagSet("calls", flag.ExitOnError)
	dir := flags.String("store", "", "the store is in `DIR`")
	file := flags.String("truth", "", "what is true is in `FILE`, truth.tsv of fleetprofiles")
	sampleType := flags.String("type", "cpu/nanoseconds", "compare samples of `TYPE`")
	per := flags.String("per", "share", "divide by `WHAT`: share, work or second")
	if err := flags.Parse(args); err != nil {
		return err
	}
	changes, err := readTruth(*file)
	if err != nil {
		return err
	}
	divisor, err := query.ParsePer(*per)
	if err != nil {
		return err
	}
	s, err := store.Open(*dir)
	if err != nil {
		return err
	}
	a, err := query.Ask(s, query.Question{Before: "a", After: "b", SampleType: *sampleType, Per: divisor}, query.Scan{Values: []query.Value{query.Self}, ByModel: true})
	if err != nil {
		return err
	}
	fmt.Printf("%d and %d profiles of %d and %d devices, %d models, per %s\n", a.Sides[0].Profiles, a.Sides[1].Profiles, a.Sides[0].Devices, a.Sides[1].Devices, len(a.Models), *per)
	for _, by := range []query.By{query.Function, query.Model} {
		c, err := count(a, changes, by)
		if err != nil {
			return err
		}
		c.print(by)
	}
	return nil
}

// count calls what has a q-value below the rate, of all tests of one kind.
func count(a *query.Answer, changes map[place]*truth, by query.By) (*called, error) {
	c := &called{found: make(map[float64]int), someFound: make(map[float64]int), tests: make(map[float64]int), someChanged: make(map[float64]int), falseOn: make(map[string]int)}
	tests := stats.New(level)
	var rows []query.Row
	var p []float64
	var ratios []float64
	for _, r := range a.Rows {
		if r.By != by {
			continue
		}
		e := a.Estimate(tests, &r)
		rows, p, ratios = append(rows, r), append(p, e.P), append(ratios, e.Ratio)
	}
	c.tested = len(rows)
	for i, q := range stats.BenjaminiHochberg(p) {
		f, ok := a.Names[rows[i].FunctionID]
		if !ok {
			return nil, fmt.Errorf("function %d has no name", rows[i].FunctionID)
		}
		t := changes[place{f.Name, f.Module}]
		if t != nil && by == query.Model && !t.on(rows[i].Model) {
			t = nil
		}
		if t != nil {
			kind := c.tests
			if t.models != nil {
				kind = c.someChanged
			}
			kind[t.factor]++
		}
		if q >= rate {
			continue
		}
		c.all++
		switch {
		case t == nil:
			c.false++
			c.falseOn[rows[i].Model]++
		case t.factor > 1 != (ratios[i] > 1):
			c.wrong++
		case t.models == nil:
			c.found[t.factor]++
		default:
			c.someFound[t.factor]++
		}
	}
	return c, nil
}

// print prints a table.
func (c *called) print(by query.By) {
	what := "functions"
	if by == query.Model {
		what = "functions on a model"
	}
	right := c.all - c.false - c.wrong
	fmt.Printf("\n%d %s tested, %d called at a false discovery rate of %g %%: %d changed, %d did not (%.1f expected), %d in the wrong direction\n\n",
		c.tested, what, c.all, 100*rate, right, c.false, rate*float64(c.all), c.wrong)
	if by == query.Model && c.false > 0 {
		// Functions that run together are wrong together.
		fmt.Print("those that did not change are on")
		for _, model := range slices.Sorted(maps.Keys(c.falseOn)) {
			fmt.Printf(" %s: %d", model, c.falseOn[model])
		}
		fmt.Print("\n\n")
	}
	fmt.Println("| change | found, of those on all models | found, of those on some |\n| --- | --- | --- |")
	factors := slices.SortedFunc(maps.Keys(c.tests), func(a, b float64) int { return -cmp.Compare(max(a, 1/a), max(b, 1/b)) })
	for _, f := range factors {
		fmt.Printf("| %+.0f %% | %d of %d | %d of %d |\n", 100*(f-1), c.found[f], c.tests[f], c.someFound[f], c.someChanged[f])
	}
}
