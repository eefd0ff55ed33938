package compare

import (
	"cmp"
	"fmt"
	"slices"

	"profdiff/internal/remark"
	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// A Disturbance is evidence, noted when a run was recorded, that its costs are not those of
// the program alone. Runs are judged by such evidence, never by how they came out.
type Disturbance struct {
	Run  *run.Run
	What string
	// Event is the index of the event that is concerned, -1 for all.
	Event int
	// Clock is set if only costs in time and in cycles are concerned.
	Clock bool
	// Distorts is set if no verdict should rest on the run.
	Distorts bool

	kind disturbanceKind
}

// A disturbanceKind is what runs share that are disturbed alike.
type disturbanceKind uint8

const (
	sampleThrottling disturbanceKind = iota
	multiplexing
	heat
	thermalStatus
	lowLimit
	lowFrequency
	load
	steal // of time only: what counts cycles stands still meanwhile
)

// What is evidence enough.
const (
	maxThrottled   = 0.01 // of the time, as of samples lost
	minRunning     = 0.8  // of the time that a counter was on the hardware
	minLimit       = 0.95 // of the highest limit of frequencies among the runs
	minFrequency   = 0.8  // of the median of frequencies, each of which is of one moment
	moderateStatus = 2    // of Android, from which apps are slowed down for long

	// heavyStolen is what budgets commonly allow. Where more of it was taken from more than
	// robust of the pairs, the median of their ratios is no longer bounded by the other pairs:
	// this is the breakdown point of the estimator of Hodges and Lehmann, 1 - 1/√2 (Huber,
	// Robust Statistics, 1981). Pairs that are disturbed less often widen intervals only.
	heavyStolen = 0.05
	robust      = 0.29
)

// Disturbances lists what disturbed runs that are compared with each other.
func Disturbances(base, head []*run.Run) (list []Disturbance) {
	var limit float64
	var frequencies []float64
	runs := slices.Concat(base, head)
	for _, r := range runs {
		c := &r.Recording.Conditions
		limit = max(limit, c.FrequencyLimitMHz)
		if c.FrequencyMHz > 0 {
			frequencies = append(frequencies, c.FrequencyMHz)
		}
	}
	stolen := 0
	for _, r := range runs {
		if r.Recording.Conditions.StolenShare() > heavyStolen {
			stolen++
		}
	}
	pairs := min(len(base), len(head))
	if pairs == 0 {
		pairs = len(runs)
	}
	usual := 0.0
	if len(frequencies) > 1 {
		usual = stats.Median(frequencies)
	}
	for _, r := range runs {
		add := func(kind disturbanceKind, distorts bool, format string, args ...any) {
			list = append(list, Disturbance{Run: r, What: fmt.Sprintf(format, args...), Event: -1, Clock: kind >= heat, Distorts: distorts, kind: kind})
		}
		if share := r.ThrottledShare(); share > 0 {
			times := "times"
			if r.Accounting.Throttled == 1 {
				times = "time"
			}
			add(sampleThrottling, share > maxThrottled, "the kernel throttled sampling %d %s, up to %.2g%% of the time: samples are missing; sample less often", r.Accounting.Throttled, times, 100*share)
		}
		for i := range r.Events {
			if e := &r.Events[i]; e.Running > 0 && e.Running < minRunning {
				add(multiplexing, true, "%s was on the hardware %.0f%% of the time only: record fewer events at once", e.Name, 100*e.Running)
				list[len(list)-1].Event = i
			}
		}
		c := &r.Recording.Conditions
		if c.Throttled > 0 {
			times := "times"
			if c.Throttled == 1 {
				times = "time"
			}
			add(heat, true, "CPUs were slowed down %d %s because they were hot", c.Throttled, times)
		}
		if c.ThermalStatus > 0 {
			add(thermalStatus, c.ThermalStatus >= moderateStatus, "the device was hot: thermal status %d", c.ThermalStatus)
		}
		if c.FrequencyLimitMHz > 0 && c.FrequencyLimitMHz < minLimit*limit {
			add(lowLimit, true, "CPUs were limited to %.0f MHz, in other runs to %.0f MHz", c.FrequencyLimitMHz, limit)
		}
		if c.FrequencyMHz > 0 && c.FrequencyMHz < minFrequency*usual {
			add(lowFrequency, false, "CPUs ran at %.0f MHz, in most runs at %.0f MHz or more", c.FrequencyMHz, usual)
		}
		if c.Crowded() {
			add(load, false, "other programs took %.1f of %d CPUs, so that none was free: costs in time are higher", c.BackgroundCPUs, c.Cores)
		}
		if share := c.StolenShare(); share > run.MaxStolen {
			add(steal, share > heavyStolen && float64(stolen) > robust*float64(pairs), "the host of the virtual machine took %.2g%% of the time that programs ran", 100*share)
		}
	}
	return list
}

// Concerns reports whether costs of an event of the run are disturbed.
func (d *Disturbance) Concerns(e *run.Event) bool {
	switch {
	case e.Simulated:
		return false
	case d.Event >= 0:
		return d.Run.Events[d.Event].Name == e.Name
	case d.kind == steal:
		return e.Unit == "nanoseconds"
	case d.Clock:
		return e.Unit == "nanoseconds" || e.Unit == "cpu-cycles"
	}
	return true
}

// RunWarnings are what disturbed runs and what is wrong with their recordings, a line for all
// of which the same is said, and last how much of their cost is in code without names.
func RunWarnings(base, head []*run.Run) []string {
	var list []remark.Remark
	side := make(map[*run.Run]string)
	for i, runs := range [][]*run.Run{base, head} {
		for _, r := range runs {
			side[r] = [2]string{"base", "head"}[i]
		}
	}
	disturbances := Disturbances(base, head)
	slices.SortStableFunc(disturbances, func(a, b Disturbance) int { return cmp.Compare(a.kind, b.kind) })
	for _, d := range disturbances {
		list = append(list, remark.Remark{Side: side[d.Run], Run: d.Run.Name, Text: d.What})
	}
	for _, r := range slices.Concat(base, head) {
		for _, w := range r.Warnings {
			list = append(list, remark.Remark{Side: side[r], Run: r.Name, Text: w})
		}
	}
	lines := remark.Lines(list, map[string]int{"base": len(base), "head": len(head)})
	if unnamed := run.UnnamedWarning(base, head); unnamed != "" {
		lines = append(lines, unnamed)
	}
	return lines
}
