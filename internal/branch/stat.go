package branch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/perffile"
)

// A Stat is what perf stat or simpleperf stat counted in one run, or on average in
// several.
type Stat struct {
	Name, Format, Tool string
	Counters           []Counter
	Warnings           []string
}

// A Counter is the total of an event.
type Counter struct {
	Name  string // as it was asked for
	Value float64
	// Running is the part of the time in which it ran, 0 if that is not known. Below 1
	// the value was extrapolated.
	Running float64
}

const (
	perfStatHead       = "Performance counter stats for "
	simpleperfStatHead = "Performance counter statistics:"
	maxStatLine        = 1 << 16
	maxStatCounters    = 1 << 12
)

// IsStatText reports whether head, the start of a file, is the text of perf stat or
// simpleperf stat. What they print for programs (-x, -j, --csv) is not.
func IsStatText(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte(perfStatHead)) || bytes.HasPrefix(line, []byte(simpleperfStatHead)) {
			return true
		}
	}
	return false
}

// ReadStatText reads the text of perf stat or simpleperf stat: lines
//
//	VALUE [UNIT] EVENT [# METRIC] [( +- PART% )] [(RUNNING%)]
//
// between a line that says what was counted and the time that it took. What the
// program printed may precede it. Must match print_counter_line of
// tools/perf/util/stat-display.c of Linux and CounterSummaries::ShowText of
// simpleperf/cmd_stat.cpp.
func ReadStatText(name string, r io.Reader) (*Stat, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 4096), maxStatLine)
	s := &Stat{Name: name}
	number, open := 0, false
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, perfStatHead):
			if s.Format != "" {
				return nil, fmt.Errorf("line %d: a second run: give one", number)
			}
			s.Format, s.Tool, open = "perf stat", "perf", true
			if strings.HasSuffix(line, " runs):") {
				s.Warnings = append(s.Warnings, "values are means of repeated runs")
			}
		case strings.HasPrefix(line, simpleperfStatHead):
			if s.Format != "" {
				return nil, fmt.Errorf("line %d: a second interval: give one", number)
			}
			s.Format, s.Tool, open = "simpleperf stat", "simpleperf", true
		case !open, line == "", line[0] == '#':
			if open && strings.Contains(line, "thread_name") || open && strings.Contains(line, "# cpu ") {
				return nil, fmt.Errorf("line %d: counts by thread or CPU: only those of all are read", number)
			}
		case strings.Contains(line, "seconds time elapsed"), strings.HasPrefix(line, "Total test time:"):
			open = false
		default:
			c, counted, err := parseStatLine(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			if !counted {
				if c.Name != "" {
					s.Warnings = append(s.Warnings, c.Name+" was not counted")
				}
				continue
			}
			if slices.ContainsFunc(s.Counters, func(o Counter) bool { return o.Name == c.Name }) {
				s.Warnings = append(s.Warnings, c.Name+" is counted more than once, the first is taken")
				continue
			}
			if len(s.Counters) == maxStatCounters {
				return nil, fmt.Errorf("line %d: more than %d counters", number, maxStatCounters)
			}
			s.Counters = append(s.Counters, c)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", number+1, err)
	}
	if len(s.Counters) == 0 {
		return nil, errors.New("no counters")
	}
	return s, nil
}

// parseStatLine reads a line. counted is false if it has no count: with a name if the
// event was not counted.
func parseStatLine(line string) (c Counter, counted bool, err error) {
	if before, after, ok := strings.Cut(line, "#"); ok {
		// The share of the time stands behind the metric.
		line = before
		if i := strings.LastIndexByte(after, '('); i >= 0 {
			line += " " + after[i:]
		}
	}
	if i := strings.LastIndexByte(line, '('); i >= 0 {
		if text, ok := strings.CutSuffix(strings.TrimSpace(line[i+1:]), "%)"); ok && !strings.Contains(text, "+-") {
			part, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || !(part >= 0 && part <= 100) {
				return c, false, fmt.Errorf("%q is no part of the time", clip(line[i:]))
			}
			c.Running = part / 100
			line = line[:i]
		}
	}
	if i := strings.Index(line, "( +-"); i >= 0 {
		line = line[:i]
	}
	f := strings.Fields(line)
	if len(f) >= 3 && f[0] == "<not" {
		return Counter{Name: f[len(f)-1]}, false, nil
	}
	if len(f) < 2 {
		return c, false, nil // a metric in a line of its own
	}
	value, _, _ := strings.Cut(f[0], "(") // 0.688190(ms)
	if strings.Count(value, ".") > 1 {    // thousands of some locales
		value = strings.ReplaceAll(value, ".", "")
	}
	c.Value, err = strconv.ParseFloat(strings.NewReplacer(",", "", "'", "", "\u202f", "", "\u00a0", "").Replace(value), 64)
	if err != nil {
		if strings.HasSuffix(f[0], "%") {
			return c, false, nil
		}
		return c, false, fmt.Errorf("%q is no count of perf stat or simpleperf stat", clip(line))
	}
	if last := f[len(f)-1]; last[0] == '(' { // task-clock (msec) of old versions
		f = f[:len(f)-1]
	}
	if len(f) == 3 && f[2] == "user" || len(f) >= 3 && f[1] == "seconds" {
		return Counter{}, false, nil // times of the process
	}
	c.Name = f[len(f)-1]
	if len(f) < 2 || len(f) > 3 || !(c.Value >= 0 && c.Value < 1e19) {
		return c, false, fmt.Errorf("%q is no count of perf stat or simpleperf stat", clip(line))
	}
	return c, true, nil
}

// counts says what a counter counts, and on which PMU.
func (c *Counter) counts(arch string) (counts Counts, pmu string) {
	pmu, name := splitPMU(c.Name)
	if !isCorePMU(pmu) {
		pmu = ""
	}
	raw, _, _ := strings.Cut(name, ":")
	if arch == "" || isArm(arch) {
		switch raw {
		case "r10", "r22", "event=0x10", "event=0x22":
			return CountsMisses, pmu
		case "r21", "event=0x21":
			return CountsBranches, pmu
		}
	}
	return eventCounts(name), pmu
}

// counterModes are the modes that a name says an event does not count.
func counterModes(name string) perffile.AttrFlags {
	_, name = splitPMU(name)
	_, modifiers, _ := strings.Cut(name, ":")
	var f perffile.AttrFlags
	user, kernel := strings.Contains(modifiers, "u"), strings.Contains(modifiers, "k")
	switch {
	case user && !kernel:
		f = perffile.FlagExcludeKernel
	case kernel && !user:
		f = perffile.FlagExcludeUser
	}
	return f
}

// find returns the counter for a role among those of a PMU and of modes; other is one
// of other modes.
func (s *Stat) find(r role, arch, pmu string, mode perffile.AttrFlags) (found, other *Counter) {
	rank := func(c *Counter) int {
		if strings.Contains(c.Name, "retired") || strings.Contains(c.Name, "r21") || strings.Contains(c.Name, "r22") {
			return 0
		}
		return 1
	}
	for i := range s.Counters {
		c := &s.Counters[i]
		counts, on := c.counts(arch)
		if counts != roleCounts[r] || on != pmu {
			continue
		}
		if counterModes(c.Name) != mode {
			other = c
		} else if found == nil || rank(c) < rank(found) {
			found = c
		}
	}
	return found, other
}

// StatTable makes a table of totals alone.
func StatTable(s *Stat, opt *Options) (*Table, error) {
	t := &Table{Name: s.Name, Format: s.Format, Tool: s.Tool, Tier: TierTotals, Scaled: true, Cost: opt.Cost, Warnings: slices.Clone(s.Warnings)}
	type side struct {
		pmu  string
		mode perffile.AttrFlags
	}
	var sides []side
	for i := range s.Counters {
		c := &s.Counters[i]
		counts, pmu := c.counts("")
		if k := (side{pmu, counterModes(c.Name)}); counts == CountsMisses && !slices.Contains(sides, k) {
			sides = append(sides, k)
		}
	}
	if len(sides) == 0 {
		return nil, errors.New("branch misses were not counted: perf stat -e branch-misses,branches,instructions,cycles, or simpleperf stat -e r22,r21,instructions,cpu-cycles on Arm")
	}
	for _, k := range sides {
		totals := Totals{PMU: k.pmu, Source: s.Format}
		totals.take(s, "", k.mode, t)
		t.Totals = append(t.Totals, totals)
	}
	pmus := make(map[string]bool)
	for _, k := range sides {
		pmus[k.pmu] = true
	}
	if len(pmus) > 1 {
		t.Warnings = append(t.Warnings, "cores of different kinds have misses: their numbers are not comparable and are never added up")
	}
	if len(sides) == 1 {
		if a := t.Totals[0].Instructions; a != nil {
			t.Instructions = plus(nil, a.Value)
		}
		if a := t.Totals[0].Cycles; a != nil {
			t.Cycles = plus(nil, a.Value)
		}
	}
	return t, nil
}

// take replaces amounts by those that were counted.
func (t *Totals) take(s *Stat, arch string, mode perffile.AttrFlags, to *Table) {
	warn := func(format string, args ...any) { to.Warnings = append(to.Warnings, fmt.Sprintf(format, args...)) }
	var running [roles]float64
	var names [roles]string
	for r, p := range t.parts() {
		c, other := s.find(role(r), arch, t.PMU, mode)
		if c == nil {
			if other != nil {
				warn("%s of %s does not count in the same modes (user, kernel) and is not used", other.Name, s.Name)
			}
			continue
		}
		*p.amount, *p.event = countedAmount(c.Value), c.Name
		running[r], names[r] = c.Running, c.Name
		if c.Running > 0 && c.Running < runningWarn {
			warn("%s ran %.0f %% of the time: its count is extrapolated", c.Name, 100*c.Running)
		}
		if raw, _, _ := strings.Cut(c.Name, ":"); arch == "" && len(raw) == 3 && raw[0] == 'r' && s.Tool != "simpleperf" {
			warn("%s is taken for the event of Arm", c.Name)
		}
	}
	refuse := func(r role) string {
		for _, x := range []role{roleMisses, r} {
			if running[x] > 0 && running[x] < runningRefuse {
				return fmt.Sprintf("%s ran %.0f %% of the time only", names[x], 100*running[x])
			}
		}
		return ""
	}
	if names[roleBranches] != "" {
		t.RateRefused = refuse(roleBranches)
	}
	if names[roleInstructions] != "" {
		t.MPKIRefused = refuse(roleInstructions)
	}
	t.ratios()
}

// parts are the amounts of totals by role.
func (t *Totals) parts() [roles]struct {
	amount **Amount
	event  *string
} {
	return [roles]struct {
		amount **Amount
		event  *string
	}{{&t.Misses, &t.MissEvent}, {&t.Branches, &t.BranchEvent}, {&t.Instructions, &t.InstructionEvent}, {&t.Cycles, &t.CycleEvent}}
}

// takeStat replaces the totals of a set by those of perf stat, if the options have any.
func (f *sampledTable) takeStat(s *roleSet) {
	stat := f.opt.Stat
	if stat == nil {
		return
	}
	mode := f.file.Attrs[s.attrs[roleMisses]].Flags & modes
	if c, _ := stat.find(roleMisses, f.file.Info.Arch, s.pmu, mode); c == nil {
		f.warn("%s has no count of what %s counts", stat.Name, f.file.Attrs[s.attrs[roleMisses]].Name)
	} else if seen := s.tallies[roleMisses].sum; seen > 0 && (c.Value > 2*seen || c.Value < seen/2) {
		f.warn("%s has %.0f %s, the samples stand for %.0f: the runs may differ", stat.Name, c.Value, c.Name, seen)
	}
	s.totals.Source = stat.Name
	s.totals.take(stat, f.file.Info.Arch, mode, f.t)
}

// statOf returns the counter of a role for a set, nil if there is none.
func (f *sampledTable) statOf(s *roleSet, r role) *Counter {
	if f.opt.Stat == nil {
		return nil
	}
	c, _ := f.opt.Stat.find(r, f.file.Info.Arch, s.pmu, f.file.Attrs[s.attrs[roleMisses]].Flags&modes)
	return c
}

// useStat takes totals from perf stat for a table of branch stacks.
func (t *Table) useStat(s *Stat) error {
	switch t.Tier {
	case TierSimulated:
		return fmt.Errorf("is of %s, which counts all itself: --stat is for samples", t.Format)
	case TierTotals:
		return fmt.Errorf("is of %s itself: --stat is for samples", t.Format)
	}
	var mode perffile.AttrFlags
	for i := range t.Events {
		if t.Events[i].Rates {
			mode = counterModes(t.Events[i].Name)
		}
	}
	totals := Totals{Source: s.Name}
	totals.take(s, t.Arch, mode, t)
	if totals.Misses == nil && totals.Instructions == nil && totals.Cycles == nil {
		return fmt.Errorf("%s has no count of misses, instructions or cycles in the modes (user, kernel) of the recording", s.Name)
	}
	t.Totals = append(t.Totals, totals)
	if totals.Instructions != nil {
		t.Instructions = plus(nil, totals.Instructions.Value)
	}
	if totals.Cycles != nil {
		t.Cycles = plus(nil, totals.Cycles.Value)
	}
	for i := range t.Branches {
		b := &t.Branches[i]
		if !t.Scaled || b.Misses == nil {
			continue
		}
		if m := totals.Misses; m != nil && m.Value > 0 {
			b.MissShare = plus(nil, *b.Misses/m.Value)
		}
		if n := totals.Instructions; n != nil && n.Value > 0 && b.MissesCI != nil {
			per := 1000 / n.Value
			b.MPKI = &Estimate{*b.Misses * per, b.MissesCI[0] * per, b.MissesCI[1] * per}
		}
		if c := totals.Cycles; c != nil && c.Value > 0 && b.CyclesLost != nil {
			b.Share = plus(nil, b.centre/c.Value)
		}
	}
	return nil
}
