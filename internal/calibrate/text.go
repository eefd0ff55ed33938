package calibrate

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteText writes what was measured, for people.
func (f *File) WriteText(w io.Writer) error {
	var b strings.Builder
	for i := range f.Cores {
		c := &f.Cores[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		var names []string
		for _, name := range []string{c.Name, c.ModelName, c.ID, c.PMU} {
			if name != "" {
				names = append(names, strconv.QuoteToGraphic(name))
			}
		}
		cpus := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c.CPUs)), ", "), "[]")
		fmt.Fprintf(&b, "cpu %s: %s\n", cpus, strings.ReplaceAll(strings.Join(names, ", "), `"`, ""))
		line := func(name, unit string, e *Estimate, note string) {
			fmt.Fprintf(&b, "%-26s  %8s  [%s, %s] %s%s\n", name, number(e.Centre), number(e.Lo), number(e.Hi), unit, note)
		}
		line("cost of a miss", "cycles", &c.Cost, ": the least to the most of what follows")
		line("", "ns", &c.CostNS, "")
		line("  on a register", "cycles", &c.Register, "")
		line("  behind a load", "cycles", &c.Load, "")
		line("  behind two loads", "cycles", &c.TwoLoads, "")
		for j := range c.Levels {
			if l := &c.Levels[j]; l.CyclesPerMiss != nil {
				line(fmt.Sprintf("  if %s%% are missed", number(100*l.MissProbability)), "cycles", l.CyclesPerMiss, "")
			}
		}
		line("without branches", "cycles", &c.Select, " more for random data")
		line("taken branches", "per cycle", &c.TakenPerCycle, "")
		fmt.Fprintf(&b, "%-26s  %8s  GHz\n", "clock", number(1/c.CycleNS.Centre))
		fmt.Fprintf(&b, "%-26s  %8d  of %d branches\n", "rounds", c.Rounds, f.Branches)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	if s == "-0.00" {
		return "0.00"
	}
	return s
}
