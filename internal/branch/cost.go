package branch

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Cost is how many cycles a mispredicted branch costs.
type Cost struct {
	Lo, Centre, Hi float64
	// Source says where the numbers are from.
	Source string
	// Measured is set for costs from the cycles of the stacks themselves.
	Measured bool
}

// costTable holds lines of core, cycles, ids and source, separated by TAB.
//
//go:embed costs.tsv
var costTable string

// Measured costs of a miss were 1.5 to 2 times the cycles that a pipeline takes to
// fill: the front end starts cold, and what follows waits.
const (
	costCentre = 1.6
	costHi     = 2.0
)

// A core is a line of the table.
type core struct {
	name, ids, source string
	cycles            float64
}

func cores() []core {
	var list []core
	for line := range strings.Lines(costTable) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 4 || f[0] == "core" {
			continue
		}
		cycles, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			continue // tests look at every line
		}
		list = append(list, core{name: f[0], cycles: cycles, ids: f[2], source: f[3]})
	}
	return list
}

func (c *core) cost() *Cost {
	return &Cost{
		Lo: c.cycles, Centre: costCentre * c.cycles, Hi: costHi * c.cycles,
		Source: fmt.Sprintf("%s: %g cycles by %s, in practice up to twice that", c.name, c.cycles, c.source),
	}
}

// CostOf returns the cost on a core by its name, as -mcpu of LLVM has it.
func CostOf(name string) (*Cost, error) {
	var names []string
	for _, c := range cores() {
		if c.name == strings.ToLower(name) {
			return c.cost(), nil
		}
		names = append(names, c.name)
	}
	return nil, fmt.Errorf("no core %q in the table of costs; it has %s", name, strings.Join(names, ", "))
}

// costOfCPUID returns the cost on the CPU that a recording names (the feature CPUID:
// vendor,family,model,stepping on x86, MIDR on Arm), nil if it is not in the table.
func costOfCPUID(cpuid string) *Cost {
	vendor, number := "", ""
	if midr, err := strconv.ParseUint(cpuid, 0, 64); err == nil {
		vendor, number = fmt.Sprintf("%02x", midr>>24&0xff), fmt.Sprintf("%03x", midr>>4&0xfff)
	} else if f := strings.Split(cpuid, ","); len(f) >= 3 {
		vendor, number = f[0]+":"+f[1], f[2]
	}
	if vendor == "" {
		return nil
	}
	for _, c := range cores() {
		if ids, ok := strings.CutPrefix(c.ids, vendor+":"); ok && hasModel(ids, number) {
			return c.cost()
		}
	}
	return nil
}

// hasModel reports whether a number is in a list such as 0-15,33.
func hasModel(ids, number string) bool {
	list := strings.Split(ids, ",")
	if slices.Contains(list, number) {
		return true
	}
	n, err := strconv.Atoi(number)
	for _, id := range list {
		lo, hi, ok := strings.Cut(id, "-")
		a, errA := strconv.Atoi(lo)
		b, errB := strconv.Atoi(hi)
		if ok && err == nil && errA == nil && errB == nil && a <= n && n <= b {
			return true
		}
	}
	return false
}
