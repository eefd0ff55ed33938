package calibrate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/probe"
)

// WriteText writes what was measured, for people: the answer, then all parameters.
func (f *File) WriteText(w io.Writer) error {
	var b strings.Builder
	table := probe.Table(architectures[f.Arch])
	for i := range f.Cores {
		if i > 0 {
			b.WriteByte('\n')
		}
		f.Cores[i].writeText(&b, table)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Core) writeText(b *strings.Builder, table []probe.Probe) {
	var names []string
	for _, name := range []string{c.Name, c.ModelName, c.ID, c.PMU} {
		if name != "" {
			names = append(names, strconv.QuoteToGraphic(name))
		}
	}
	cpus := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c.CPUs)), ", "), "[]")
	fmt.Fprintf(b, "cpu %s: %s\n", cpus, strings.ReplaceAll(strings.Join(names, ", "), `"`, ""))
	c.writeTrust(b, len(table))
	line := func(name, unit string, e *probe.Estimate, note string) {
		if e != nil {
			fmt.Fprintf(b, "%-30s %8s  [%s, %s] %s%s\n", name, number(e.Centre), number(e.Lo), number(e.Hi), unit, note)
		}
	}
	line("cost of a miss", "cycles", c.Cost, ": the least to the most of what follows")
	line("", "ns", c.CostNS, "")
	line("  on a register", "cycles", c.Register, "")
	line("  behind a load", "cycles", c.Load, "")
	line("  behind two loads", "cycles", c.TwoLoads, "")
	for i := range c.Levels {
		if l := &c.Levels[i]; l.CyclesPerMiss != nil {
			line(fmt.Sprintf("  if %s%% are missed", number(100*l.MissProbability)), "cycles", l.CyclesPerMiss, "")
		}
	}
	line("without branches", "cycles", c.Select, " more for random data")
	line("taken branches", "per cycle", c.TakenPerCycle, "")
	if c.CycleNS != nil {
		fmt.Fprintf(b, "%-30s %8s  GHz\n", "clock", number(1/c.CycleNS.Centre))
	}
	group := ""
	for i := range table {
		p := &table[i]
		m, ok := c.Probes[p.Name]
		if !ok {
			continue
		}
		if p.Group != group {
			group = p.Group
			fmt.Fprintf(b, "\n%-30s %8s  interval, repetitions, what it is\n", group, "cycles")
		}
		shared := ""
		if m.Shared {
			shared = " shared"
		}
		fmt.Fprintf(b, "  %-28s %8s  [%s, %s]  %d of %d%s  %s\n", p.Name, number(m.Centre), number(m.Lo), number(m.Hi), m.Accepted, m.Tried, shared, p.Tells)
	}
}

// writeTrust says what was measured, how far it is to be trusted, and what is missing.
func (c *Core) writeTrust(b *strings.Builder, probes int) {
	w := c.FullWidth
	if w == nil { // a file of the first version
		return
	}
	costs := "and what a miss costs"
	if c.Cost == nil {
		costs = "but not what a miss costs"
	}
	fmt.Fprintf(b, "%-11s%d of %d probes, %s\n", "measured", len(c.Probes), probes, costs)
	if w.Refused == "" {
		fmt.Fprintf(b, "%-11sthe core was alone, with %s additions a cycle, at %s%% of %d looks; only what it did then counts\n", "trust", number(w.Additions), number(100*w.Clean), w.Guards)
	} else {
		fmt.Fprintf(b, "%-11s%s (%d looks): latencies hold, widths and costs of misses are not given\n", "trust", w.Refused, w.Guards)
	}
	reasons := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(c.Refused)) {
		reasons[c.Refused[name]] = append(reasons[c.Refused[name]], name)
	}
	retry := false
	for _, why := range slices.SortedFunc(maps.Keys(reasons), func(x, y string) int {
		return cmp.Or(len(reasons[y])-len(reasons[x]), strings.Compare(x, y))
	}) {
		names := reasons[why]
		retry = retry || !strings.HasPrefix(why, featureMissing)
		more := ""
		if len(names) > mostNamed {
			more = fmt.Sprintf(" and %d more", len(names)-mostNamed)
			names = names[:mostNamed]
		}
		fmt.Fprintf(b, "%-11s%s%s: %s\n", "missing", strings.Join(names, ", "), more, why)
	}
	if retry {
		fmt.Fprintf(b, "%-11sanother run, while nothing else is busy on this machine, or a longer one: --limit 1m\n", "to decide")
	}
	b.WriteByte('\n')
}

// mostNamed is how many probes are named that lack for one reason.
const mostNamed = 4

func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	if s == "-0.00" {
		return "0.00"
	}
	return s
}
