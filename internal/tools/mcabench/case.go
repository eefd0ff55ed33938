package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Probabilities is what every kernel is measured at: how often its branches go the rarer
// way.
var Probabilities = [...]float64{0, 0.02, 0.1, 0.3, 0.5}

// Sides are the two versions of a kernel.
var Sides = [...]string{"branchy", "branchless"}

// Arches are the machines with listings, in the names of the files.
var Arches = [...]string{"x86-64", "aarch64"}

// A Case is case.yaml of one case.
type Case struct {
	Name   string
	Origin string // recorded, published or synthetic
	// Set says when a recorded case came to be: "tune" and "report" before, "blind" after
	// the prediction was adjusted to all that there were, "fresh" without knowing it.
	Set string
	// Compiler of the listings: gcc, which is the default, or clang.
	Compiler  string
	Mechanism string
	Function  string
	// Unit is the unit of work, and Units how many one call of the function does.
	Unit  string
	Units int
	P     string // what happens with the probability p
	// Branches are the branches that depend on the data, by side and arch.
	Branches map[string]map[string][]Branch

	Dir string `yaml:"-"`
}

// A Branch is a conditional branch whose outcome depends on the data.
type Branch struct {
	Line int    // in the listing, from 1
	Text string // of the line, with blanks for tabs
	// Misses is what share of its executions no predictor can foresee, one for each of
	// Probabilities.
	Misses []float64
}

// load reads the cases of the folder root with these names, or all that are measured
// here.
func load(root string, names []string) ([]*Case, error) {
	all := len(names) == 0
	if all {
		files, err := filepath.Glob(filepath.Join(root, "*", "case.yaml"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			names = append(names, filepath.Base(filepath.Dir(file)))
		}
		slices.Sort(names)
	}
	var cases []*Case
	for _, name := range names {
		file := filepath.Join(root, name, "case.yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c := &Case{Dir: filepath.Dir(file), Compiler: "gcc"}
		if err := yaml.Unmarshal(text, c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if c.Origin == "recorded" {
			cases = append(cases, c)
		} else if !all {
			return nil, fmt.Errorf("%s: nothing to build, its origin is %q", name, c.Origin)
		}
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("no cases in %s", root)
	}
	return cases, nil
}

// source and listing return the names of the files of a side.
func (c *Case) source(side string) string { return filepath.Join(c.Dir, side+".c") }

func (c *Case) listing(side, arch string) string {
	return filepath.Join(c.Dir, side+"."+arch+".s")
}

func (c *Case) counts() string { return filepath.Join(c.Dir, "counts.tsv") }

// known returns the share of its executions that the branch at a line must mispredict
// at the i-th probability; 0 for those that do not depend on the data.
func (c *Case) known(side, arch string, line, i int) float64 {
	for _, b := range c.Branches[side][arch] {
		if b.Line == line {
			return b.Misses[i]
		}
	}
	return 0
}

// sideSymbol returns the name of a function in a program with both sides, and
// plainSymbol undoes it.
func sideSymbol(function, side string) string { return function + "_" + side }

func plainSymbol(symbol, side string) string { return strings.TrimSuffix(symbol, "_"+side) }
