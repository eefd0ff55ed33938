package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A finding is what profdiff says of a total or a function.
type finding struct {
	names   [2][]string // of the function before and after
	base    float64     // its cost before
	head    float64
	ratio   estimate
	verdict string
}

// A document has what is needed of profdiff.diff/v1.
type document struct {
	Events    []change `json:"events"`
	Functions []struct {
		Name     string `json:"name"`
		BaseName string `json:"base_name"`
		Parts    []struct {
			Side string `json:"side"`
			Name string `json:"name"`
		} `json:"parts"`
		Self change `json:"self"`
	} `json:"functions"`
}

type change struct {
	Base    float64     `json:"base"`
	Head    float64     `json:"head"`
	Ratio   *float64    `json:"ratio"`
	CI      [2]*float64 `json:"ci"`
	Verdict string      `json:"verdict"`
}

func (c *change) estimate() estimate {
	value := func(v *float64, none float64) float64 {
		if v == nil {
			return none
		}
		return *v
	}
	return estimate{value(c.Ratio, math.Inf(1)), value(c.CI[0], 0), value(c.CI[1], math.Inf(1))}
}

// largest is how many functions are judged.
const largest = 5

// compare has profdiff record and compare both commands: the total, and the functions of the
// program itself that cost most on either side.
func (s *settings) compare(dir string, commands [2][]string) (total finding, functions []finding, err error) {
	if _, err := os.Stat(filepath.Join(dir, "recording.yaml")); err != nil {
		args := []string{"record", "-q", "-o", dir, "--runs", fmt.Sprint(s.runs), "--before", quote(commands[0]), "--after", quote(commands[1])}
		if err := run(filepath.Dir(dir), "", s.profdiff, args...); err != nil {
			return total, nil, err
		}
	}
	out, err := exec.Command(s.profdiff, "diff", dir, "--format", "json").Output()
	if err != nil {
		return total, nil, fmt.Errorf("profdiff diff: %w", err)
	}
	var d document
	if err := json.Unmarshal(out, &d); err != nil {
		return total, nil, err
	}
	if len(d.Events) != 1 {
		return total, nil, fmt.Errorf("%d events where one was recorded", len(d.Events))
	}
	e := &d.Events[0]
	total = finding{base: e.Base, head: e.Head, ratio: e.estimate(), verdict: e.Verdict}
	for i := range d.Functions {
		f := &d.Functions[i]
		if f.Self.Base > 0 && f.Self.Head > 0 && !strings.HasPrefix(f.Name, "[") { // what has no name
			names := [2][]string{{f.BaseName}, {f.Name}}
			for side, called := range []string{"base", "head"} {
				var parts []string
				for _, p := range f.Parts {
					if p.Side == called {
						parts = append(parts, p.Name)
					}
				}
				if parts != nil {
					names[side] = parts
				}
			}
			functions = append(functions, finding{
				names: names, base: f.Self.Base, head: f.Self.Head, ratio: f.Self.estimate(), verdict: f.Self.Verdict,
			})
		}
	}
	slices.SortFunc(functions, func(a, b finding) int {
		if max(a.base, a.head) > max(b.base, b.head) {
			return -1
		}
		return 1
	})
	return total, functions[:min(largest, len(functions))], nil
}

// quote joins words for a shell.
func quote(words []string) string {
	var list []string
	for _, w := range words {
		list = append(list, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return strings.Join(list, " ")
}
