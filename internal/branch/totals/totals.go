// Package totals takes totals from perf stat and simpleperf stat, as a table of their own or
// in place of what samples add up to.
//
//  1. A counter is known by its name: what it counts, on which PMU, and in which modes (user,
//     kernel).
//  2. Misses, branches, instructions and cycles of one PMU and the same modes belong
//     together. Of several counters of one kind, the one of retired instructions is taken.
//  3. A counter that ran for a small part of the time was extrapolated by perf: a warning
//     says so.
//
// The names come from perf-list(1), and from the PMU events of the Arm Architecture
// Reference Manual for A-profile: 0x10, 0x21 and 0x22.
package totals

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/counters"
	"profdiff/internal/branch/estimate"
	"profdiff/internal/branch/events"
	"profdiff/internal/perffile"
	"profdiff/internal/perfstat"
)

// counterCounts says what a counter counts, and on which PMU.
func counterCounts(c *perfstat.Counter, arch string) (counts branch.Counts, pmu string) {
	pmu, name := events.SplitPMU(c.Name)
	if !events.IsCorePMU(pmu) {
		pmu = ""
	}
	raw, _, _ := strings.Cut(name, ":")
	if arch == "" || events.IsArm(arch) {
		switch raw {
		case "r10", "r22", "event=0x10", "event=0x22":
			return branch.CountsMisses, pmu
		case "r21", "event=0x21":
			return branch.CountsBranches, pmu
		}
	}
	return events.CountsByName(name), pmu
}

// counterModes are the modes that a name says an event does not count.
func counterModes(name string) perffile.AttrFlags {
	_, name = events.SplitPMU(name)
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

// Find returns the counter for a role among the counters of a PMU and of modes; other is
// one of other modes.
func Find(s *perfstat.Stat, r events.Role, arch, pmu string, mode perffile.AttrFlags) (found, other *perfstat.Counter) {
	rank := func(c *perfstat.Counter) int {
		if strings.Contains(c.Name, "retired") || strings.Contains(c.Name, "r21") || strings.Contains(c.Name, "r22") {
			return 0
		}
		return 1
	}
	for i := range s.Counters {
		c := &s.Counters[i]
		counts, on := counterCounts(c, arch)
		if counts != r.Counts() || on != pmu {
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

// Table makes a table of totals alone.
func Table(s *perfstat.Stat, opt *branch.Options) (*branch.Table, error) {
	t := &branch.Table{Name: s.Name, Format: s.Format, Tool: s.Tool, Tier: branch.TierTotals, Scaled: true, Cost: opt.Cost, Warnings: slices.Clone(s.Warnings)}
	type side struct {
		pmu  string
		mode perffile.AttrFlags
	}
	var sides []side
	for i := range s.Counters {
		c := &s.Counters[i]
		counts, pmu := counterCounts(c, "")
		if k := (side{pmu, counterModes(c.Name)}); counts == branch.CountsMisses && !slices.Contains(sides, k) {
			sides = append(sides, k)
		}
	}
	if len(sides) == 0 {
		return nil, errors.New("branch misses were not counted: perf stat -e branch-misses,branches,instructions,cycles, or simpleperf stat -e r22,r21,instructions,cpu-cycles on Arm")
	}
	for _, k := range sides {
		totals := branch.Totals{PMU: k.pmu, Source: s.Format}
		Take(&totals, s, "", k.mode, t)
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
			t.Instructions = new(a.Value)
		}
		if a := t.Totals[0].Cycles; a != nil {
			t.Cycles = new(a.Value)
		}
	}
	return t, nil
}

// Take replaces amounts by those that were counted. Warnings go to a table.
func Take(t *branch.Totals, s *perfstat.Stat, arch string, mode perffile.AttrFlags, to *branch.Table) {
	warn := func(format string, args ...any) { to.Warnings = append(to.Warnings, fmt.Sprintf(format, args...)) }
	var running [events.Roles]float64
	var names [events.Roles]string
	for r, p := range Parts(t) {
		c, other := Find(s, events.Role(r), arch, t.PMU, mode)
		if c == nil {
			if other != nil {
				warn("%s of %s does not count in the same modes (user, kernel) and is not used", other.Name, s.Name)
			}
			continue
		}
		*p.Amount, *p.Event = estimate.Counted(c.Value), c.Name
		running[r], names[r] = c.Running, c.Name
		if c.Running > 0 && c.Running < counters.WarnBelow {
			warn("%s ran %.0f %% of the time: its count is extrapolated", c.Name, 100*c.Running)
		}
		if raw, _, _ := strings.Cut(c.Name, ":"); arch == "" && len(raw) == 3 && raw[0] == 'r' && s.Tool != "simpleperf" {
			warn("%s is taken for the event of Arm", c.Name)
		}
	}
	refuse := func(r events.Role) string {
		for _, x := range []events.Role{events.Misses, r} {
			if running[x] > 0 && running[x] < counters.RefuseBelow {
				return fmt.Sprintf("%s ran %.0f %% of the time only", names[x], 100*running[x])
			}
		}
		return ""
	}
	if names[events.Branches] != "" {
		t.RateRefused = refuse(events.Branches)
	}
	if names[events.Instructions] != "" {
		t.MPKIRefused = refuse(events.Instructions)
	}
	SetRatios(t)
}

// A Part is the amount of one role in totals, with the name of its event.
type Part struct {
	Amount **branch.Amount
	Event  *string
}

// Parts are the amounts of totals by role.
func Parts(t *branch.Totals) [events.Roles]Part {
	return [events.Roles]Part{{&t.Misses, &t.MissEvent}, {&t.Branches, &t.BranchEvent}, {&t.Instructions, &t.InstructionEvent}, {&t.Cycles, &t.CycleEvent}}
}

// Use takes totals from perf stat for a table of branch stacks.
func Use(t *branch.Table, s *perfstat.Stat) error {
	switch t.Tier {
	case branch.TierSimulated:
		return fmt.Errorf("is of %s, which counts all itself: --stat is for samples", t.Format)
	case branch.TierTotals:
		return fmt.Errorf("is of %s itself: --stat is for samples", t.Format)
	}
	var mode perffile.AttrFlags
	for i := range t.Events {
		if t.Events[i].Rates {
			mode = counterModes(t.Events[i].Name)
		}
	}
	totals := branch.Totals{Source: s.Name}
	Take(&totals, s, t.Arch, mode, t)
	if totals.Misses == nil && totals.Instructions == nil && totals.Cycles == nil {
		return fmt.Errorf("%s has no count of misses, instructions or cycles in the modes (user, kernel) of the recording", s.Name)
	}
	t.Totals = append(t.Totals, totals)
	if totals.Instructions != nil {
		t.Instructions = new(totals.Instructions.Value)
	}
	if totals.Cycles != nil {
		t.Cycles = new(totals.Cycles.Value)
	}
	for i := range t.Branches {
		b := &t.Branches[i]
		if !t.Scaled || b.Misses == nil {
			continue
		}
		if m := totals.Misses; m != nil && m.Value > 0 {
			b.MissShare = new(*b.Misses / m.Value)
		}
		if n := totals.Instructions; n != nil && n.Value > 0 && b.MissesCI != nil {
			per := 1000 / n.Value
			b.MPKI = &branch.Estimate{Value: *b.Misses * per, Lo: b.MissesCI[0] * per, Hi: b.MissesCI[1] * per}
		}
		if c := totals.Cycles; c != nil {
			b.ShareOf(&c.Value)
		}
	}
	return nil
}

// SetRatios makes the ratios of totals of which one at least was counted.
func SetRatios(t *branch.Totals) {
	t.Rate = countedRatio(t.Misses, t.Branches, t.Rate, t.RateRefused, 1)
	t.MPKI = countedRatio(t.Misses, t.Instructions, t.MPKI, t.MPKIRefused, 1000)
}

// countedRatio returns old if both numbers were sampled.
func countedRatio(m, of *branch.Amount, old *branch.Ratio, refused string, factor float64) *branch.Ratio {
	switch {
	case m == nil || of == nil || of.Value <= 0 || refused != "":
		return nil
	case !m.Counted && !of.Counted:
		return old
	case of.CI[0] <= 0:
		return nil
	}
	r := &branch.Ratio{Value: new(factor * m.Value / of.Value), Misses: m.Effective, Of: of.Effective}
	if !m.Counted || !of.Counted {
		r.CI = &[2]float64{factor * m.CI[0] / of.CI[1], factor * m.CI[1] / of.CI[0]}
	}
	return r
}
