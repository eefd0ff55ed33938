package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Marks of the tables in documents.
const (
	measuredBegin = "<!-- measured: begin, by go -C internal/tools run ./mcabench readme -->\n"
	measuredEnd   = "<!-- measured: end -->\n"
)

// results are the cycles of a CPU.
type results map[resultKey]Estimate

type resultKey struct {
	name string
	p    float64
	side string
}

// readMeasured reads the cycles of a CPU.
func readMeasured(text string) (results, error) {
	all := make(results)
	for i, s := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(s, "#") || s == measuredColumns {
			continue
		}
		f := strings.Split(s, "\t")
		if len(f) != strings.Count(measuredColumns, "\t")+1 {
			return nil, fmt.Errorf("line %d: %d columns", i+1, len(f))
		}
		var v [6]float64
		for j, column := range []int{3, 5, 6, 7, 8, 9} {
			x, err := strconv.ParseFloat(f[column], 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			v[j] = x
		}
		all[resultKey{f[0], v[0], f[4]}] = Estimate{Cycles: v[1], Lo: v[2], Hi: v[3], Median: v[4], Repetitions: int(v[5])}
	}
	return all, nil
}

// breakEven returns the p above which the branchless side takes fewer cycles, by
// straight lines between what was measured: 0 if always, false if never.
func (r results) breakEven(name string) (float64, bool) {
	gain := func(p float64) float64 {
		return r[resultKey{name, p, "branchy"}].Cycles - r[resultKey{name, p, "branchless"}].Cycles
	}
	for i, p := range Probabilities {
		if gain(p) <= 0 {
			continue
		}
		if i == 0 {
			return 0, true
		}
		q := Probabilities[i-1]
		return q + (p-q)*gain(q)/(gain(q)-gain(p)), true
	}
	return 0, false
}

// caseTable returns the table of one case.
func (r results) caseTable(c *Case) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cycles per %s, with 95 %% intervals (p: %s):\n\n", c.Unit, c.P)
	b.WriteString("| p | branchy | branchless | branchy / branchless |\n| ---: | ---: | ---: | ---: |\n")
	for _, p := range Probabilities {
		branchy, branchless := r[resultKey{c.Name, p, "branchy"}], r[resultKey{c.Name, p, "branchless"}]
		fmt.Fprintf(&b, "| %g | %.2f [%.2f, %.2f] | %.2f [%.2f, %.2f] | %.2f |\n", p, branchy.Cycles, branchy.Lo, branchy.Hi,
			branchless.Cycles, branchless.Lo, branchless.Hi, branchy.Cycles/branchless.Cycles)
	}
	return b.String()
}

// overview returns the table of all cases.
func (r results) overview(cases []*Case) (string, error) {
	var b strings.Builder
	b.WriteString("cycles per unit:\n\n")
	b.WriteString("| case | set | unit | branchy, p 0 | p 0.5 | branchless, p 0 | p 0.5 | branchless wins above p | cycles per misprediction |\n")
	b.WriteString("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, c := range cases {
		known, err := totals(c, knownColumn)
		if err != nil {
			return "", err
		}
		wins := "never"
		if p, ok := r.breakEven(c.Name); ok {
			wins = fmt.Sprintf("%.3f", p)
		}
		at := func(p float64, side string) float64 { return r[resultKey{c.Name, p, side}].Cycles }
		fmt.Fprintf(&b, "| [%s](%s/README.md) | %s | %s | %.2f | %.2f | %.2f | %.2f | %s | %.1f |\n", c.Name, c.Name, c.Set, c.Unit,
			at(0, "branchy"), at(0.5, "branchy"), at(0, "branchless"), at(0.5, "branchless"), wins,
			(at(0.5, "branchy")-at(0, "branchy"))/known[0.5]["branchy"])
	}
	return b.String(), nil
}

// withTable returns a document with its table replaced.
func withTable(document []byte, table string) ([]byte, error) {
	head, rest, ok := bytes.Cut(document, []byte(measuredBegin))
	_, tail, closed := bytes.Cut(rest, []byte(measuredEnd))
	if !ok || !closed {
		return nil, fmt.Errorf("no place for the table of what was measured")
	}
	return bytes.Join([][]byte{head, []byte(measuredBegin), []byte("\n" + table + "\n"), []byte(measuredEnd), tail}, nil), nil
}

// documents returns all documents with tables, as they should be, by file name.
func documents(root string, cases []*Case) (map[string][]byte, error) {
	files, err := filepath.Glob(filepath.Join(root, measuredDir, "*.tsv"))
	if err != nil {
		return nil, err
	}
	tables := make(map[string]string)
	add := func(file, cpu, table string) {
		if tables[file] != "" {
			tables[file] += "\n"
		}
		tables[file] += fmt.Sprintf("On %s, %s", cpu, table)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		cpu := strings.TrimSuffix(filepath.Base(name), ".tsv")
		r, err := readMeasured(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		overview, err := r.overview(cases)
		if err != nil {
			return nil, err
		}
		add(filepath.Join(root, "README.md"), cpu, overview)
		for _, c := range cases {
			add(filepath.Join(c.Dir, "README.md"), cpu, r.caseTable(c))
		}
	}
	all := make(map[string][]byte)
	for file, table := range tables {
		old, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if all[file], err = withTable(old, table); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}
