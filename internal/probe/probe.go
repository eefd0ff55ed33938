// Package probe has small kernels of which each tells one number of a core: how long
// an instruction takes, how many run in a cycle, what the front end delivers.
//
//  1. The tables x86-64.tsv and aarch64.tsv say what each kernel runs. Names that are in
//     both mean the same.
//  2. A kernel is a loop of a few dozen copies of one unit of instructions. internal/tools/kernels
//     assembles it, and the machine code is part of the program as assembly of Go: [Probe.Run].
//  3. The same instructions as text are what a model of a core can be asked about: [Probe.Body].
//
// Packages that measure and models that predict thus speak of the same code.
package probe

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"profdiff/internal/asm"
)

// A Probe is a kernel.
type Probe struct {
	Name string
	// Group is the part of a core that it is about, such as load or divide.
	Group string
	// Setup are instructions before the loop, Unit those of one unit, in GNU syntax: of
	// AT&T for x86-64. Labels are local.
	Setup, Unit []string
	// Unroll is how many units the loop has. Beside them it has a counter, a comparison
	// and a branch that is taken.
	Unroll int
	// Count is by how much the cycles of a unit are divided: how often it has what the
	// probe is about.
	Count int
	// Needs is the feature of a CPU that has the instructions, "" if all have them.
	Needs string
	// Tells says what the number means.
	Tells string
}

// An Estimate is a median with the interval that it is known to.
type Estimate struct {
	Lo     float64 `json:"lo"`
	Centre float64 `json:"centre"`
	Hi     float64 `json:"hi"`
}

// Values are cycles by names of probes: of a unit, divided by its count. What is missing
// was not measured.
type Values map[string]Estimate

// Names of what is measured with data, in cycles by miss, and hence in no table:
// mispredicted branches that wait for nothing, for a load, and for two loads in a row.
const (
	MissRegister = "miss.register"
	MissLoad     = "miss.load"
	MissTwoLoads = "miss.twoloads"
)

// Names of probes that are measured with all others: a cycle is what an addition takes in
// a chain, and the width is told by chains side by side.
const (
	Chain  = "add.latency"
	Chains = "add.throughput"
)

//go:embed x86-64.tsv
var x8664 string

//go:embed aarch64.tsv
var aarch64 string

var tables = map[asm.Arch]func() []Probe{
	asm.X8664:   sync.OnceValue(func() []Probe { return mustParse("x86-64.tsv", x8664) }),
	asm.AArch64: sync.OnceValue(func() []Probe { return mustParse("aarch64.tsv", aarch64) }),
}

// Table returns the probes of an architecture, nil if it has none.
func Table(arch asm.Arch) []Probe {
	table := tables[arch]
	if table == nil {
		return nil
	}
	return slices.Clone(table())
}

func mustParse(name, text string) []Probe {
	list, err := parse(text)
	if err != nil {
		panic(name + ": " + err.Error())
	}
	return list
}

const columns = "name\tgroup\tsetup\tunit\tunroll\tcount\tneeds\ttells"

// parse reads a table.
func parse(text string) (list []Probe, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != columns {
		return nil, fmt.Errorf("line 1: columns are %q, not %q", lines[0], columns)
	}
	for i, line := range lines[1:] {
		f := strings.Split(line, "\t")
		if len(f) != strings.Count(columns, "\t")+1 {
			return nil, fmt.Errorf("line %d: %d columns", i+2, len(f))
		}
		for j := range f {
			if f[j] == "-" {
				f[j] = ""
			}
		}
		p := Probe{Name: f[0], Group: f[1], Setup: split(f[2]), Unit: split(f[3]), Needs: f[6], Tells: f[7]}
		var errUnroll, errCount error
		p.Unroll, errUnroll = strconv.Atoi(f[4])
		p.Count, errCount = strconv.Atoi(f[5])
		switch {
		case errUnroll != nil || errCount != nil || p.Unroll < 1 || p.Count < 1:
			return nil, fmt.Errorf("line %d: unroll %q, count %q", i+2, f[4], f[5])
		case p.Name == "" || p.Group == "" || p.Tells == "" || len(p.Unit) == 0:
			return nil, fmt.Errorf("line %d: the name, the group, the unit or what it tells is missing", i+2)
		case slices.ContainsFunc(list, func(q Probe) bool { return q.Name == p.Name }):
			return nil, fmt.Errorf("line %d: a second %s", i+2, p.Name)
		}
		list = append(list, p)
	}
	return list, nil
}

func split(instructions string) []string {
	if instructions == "" {
		return nil
	}
	return strings.Split(instructions, "; ")
}

// Chained reports whether each instruction waits for the one before, so that it takes as
// long with another thread on the core.
func (p *Probe) Chained() bool { return strings.HasSuffix(p.Name, ".latency") }

// Body returns the lines of the loop but for its counter and branch.
func (p *Probe) Body() []string { return slices.Repeat(p.Unit, p.Unroll) }

// Assembly returns the lines of the whole kernel: its machine code reads how often the loop
// runs from one register (%r15 or x2), counts in another (%r14 or x1), has the address of a [Area]
// in a third (%rdi or x0), and goes on at its end.
func (p *Probe) Assembly(arch asm.Arch) []string {
	lines := slices.Clone(p.Setup)
	if arch == asm.X8664 {
		lines = slices.Concat([]string{"xor %r14d, %r14d"}, lines, []string{".p2align 6, 0x90", ".Lloop:"}, p.Body(), []string{"inc %r14", "cmp %r15, %r14", "jne .Lloop"})
		if p.Needs == "avx2" {
			lines = append(lines, "vzeroupper")
		}
		return lines
	}
	return slices.Concat([]string{"mov x25, x30", "mov x1, #0"}, lines, []string{".p2align 6", ".Lloop:"}, p.Body(), []string{"add x1, x1, #1", "cmp x1, x2", "b.ne .Lloop", "mov x30, x25"})
}

// Sum tells whether kernels are made of the tables as they are: it sums their assembly.
func Sum(arch asm.Arch) string {
	h := sha256.New()
	list := Table(arch)
	for i := range list {
		fmt.Fprintf(h, "%s\n%s\n", list[i].Name, strings.Join(list[i].Assembly(arch), "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}
