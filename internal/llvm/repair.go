package llvm

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Repair is a class of instructions that a model is wrong about, and what is simulated in
// their place.
type Repair struct {
	Class string
	// Code is a loop that shows the error, StandIn what is simulated for it.
	Code, StandIn []string
	// Cycles is what an iteration takes on the core, 0 if that was not measured.
	Cycles   float64
	Evidence string
}

// Repaired is the lines of a region that were rewritten for a class.
type Repaired struct {
	Class string
	Lines []int // of Region.Lines
}

//go:embed repairs.tsv
var repairTable string

// repairRow is a row of repairs.tsv.
type repairRow struct {
	arch     arch
	models   []string
	from, to int // versions of LLVM
	repair   Repair
}

var repairs = sync.OnceValue(func() []repairRow {
	rows, err := parseRepairs(repairTable)
	if err != nil {
		panic(err) // a file of this package, like models.tsv
	}
	return rows
})

func parseRepairs(table string) (rows []repairRow, err error) {
	err = eachRow(table, 8, func(f []string) error {
		row := repairRow{
			arch: archNamed(f[0]), models: strings.Fields(f[2]), from: minMajor, to: maxMajor,
			repair: Repair{Class: f[1], Code: codeLines(f[4]), StandIn: codeLines(f[5]), Evidence: f[7]},
		}
		if row.arch == archOther {
			return fmt.Errorf("architecture %q", f[0])
		}
		if !isRule(row.arch, f[1]) {
			return fmt.Errorf("class %q", f[1])
		}
		if f[3] != "-" {
			if row.from, row.to, err = span(f[3]); err != nil {
				return err
			}
		}
		if f[6] != "-" {
			if row.repair.Cycles, err = strconv.ParseFloat(f[6], 64); err != nil {
				return err
			}
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

func codeLines(s string) (lines []string) {
	for line := range strings.SplitSeq(s, ";") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func isRule(a arch, class string) bool {
	switch a {
	case archX86:
		return class == loadOpClass || slices.ContainsFunc(rulesX86, func(r ruleX86) bool { return r.class == class })
	case archARM64:
		return slices.ContainsFunc(rulesA64, func(r ruleA64) bool { return r.class == class })
	}
	return false
}

// repairsOf are the repairs of a model, by its name in models.tsv.
func repairsOf(a arch, major int, model string) (list []Repair) {
	for _, row := range repairs() {
		if row.arch == a && row.from <= major && major <= row.to && slices.Contains(row.models, model) {
			list = append(list, row.repair)
		}
	}
	return list
}

// A rewriter rewrites the lines of a region in order.
type rewriter interface {
	// line is what is simulated for a line, and the classes that it was rewritten for;
	// none if it stays.
	line(text string) (lines, classes []string)
}

// newRewriter is nil if nothing is to be rewritten.
func newRewriter(a arch, list []Repair, r *Region) rewriter {
	on := make(map[string]bool)
	for i := range list {
		on[list[i].Class] = true
	}
	switch {
	case len(on) == 0:
		return nil
	case a == archX86:
		return newRewriterX86(on, r)
	case a == archARM64:
		return rewriterA64(on)
	}
	return nil
}

// repairedOf sorts rewritten lines by class.
func repairedOf(lines map[string][]int) (list []Repaired) {
	for class, at := range lines {
		list = append(list, Repaired{Class: class, Lines: at})
	}
	slices.SortFunc(list, func(a, b Repaired) int { return strings.Compare(a.Class, b.Class) })
	return list
}
