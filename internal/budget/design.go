package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"profdiff/internal/compare"
	"profdiff/internal/run"
)

// facts lists what may not differ between the recordings of the two sides.
var facts = []struct {
	fact Fact
	name string
	of   func(*run.Recording) string
}{
	{"arch", "architecture", func(r *run.Recording) string { return r.Arch }},
	{"cpu_model", "CPU", func(r *run.Recording) string { return cmp.Or(r.CPUID, r.CPU) }},
	{"cpus", "number of CPUs", func(r *run.Recording) string {
		if r.CPUs == 0 {
			return ""
		}
		return fmt.Sprint(r.CPUs)
	}},
	{"device", "device", func(r *run.Recording) string { return r.Device }},
	{"build", "build", func(r *run.Recording) string { return r.Build }},
	{"kernel", "kernel", func(r *run.Recording) string { return r.Kernel }},
	{"recorder", "recorder", func(r *run.Recording) string { return r.Tool }},
	{"governor", "frequency governor", func(r *run.Recording) string { return r.Conditions.Governor }},
	{"symbols", "kernel symbols", func(r *run.Recording) string { return r.KernelSymbols }},
}

// blocked says why no limit relative to base is proven of an event, "" if nothing is in the
// way.
func (k *check) blocked(e *compare.Event, name string) string {
	require := &k.file.Defaults.Require
	for _, f := range facts {
		if !slices.Contains(*require.Same, f.fact) {
			continue
		}
		if a, b := k.values(0, f.of), k.values(1, f.of); len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
			return fmt.Sprintf("the sides differ in %s: base %s, head %s", f.name, strings.Join(a, ", "), strings.Join(b, ", "))
		}
	}
	if slices.Contains(*require.Same, "period_mode") {
		if a, b := k.periods(0, name), k.periods(1, name); len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
			return fmt.Sprintf("the sides were sampled differently: base %s, head %s", strings.Join(a, ", "), strings.Join(b, ", "))
		}
	}
	if k.in.Stored == nil && require.Order != "any" && k.comparison.Order.Forbids(len(k.in.Base), len(k.in.Head)) {
		return fmt.Sprintf("blocked order: all runs of one side were recorded first (base %s, head %s), so that drift of the machine looks like a change; record them in turns, as profdiff record does",
			span(k.in.Base), span(k.in.Head))
	}
	if reason := k.unfit(name, k.in.Base, k.in.Head); reason != "" {
		return reason
	}
	if e.Normalization.Mode == compare.Work && k.in.Ops == nil {
		for _, r := range slices.Concat(k.in.Base, k.in.Head) {
			for _, c := range r.Counters {
				if c.Name == e.Normalization.By && c.Running > 0 && c.Running < 0.8 {
					return fmt.Sprintf("the counter %s of %s was on the hardware %.0f%% of the time only", c.Name, r.Name, 100*c.Running)
				}
			}
		}
	}
	return e.Withheld
}

// maxLost is the share of samples that may be lost.
const maxLost = 0.01

// unfit says which run is not fit to prove anything of an event: it lost samples, or what was
// noted when it was recorded says that its costs are distorted. "" if all are.
func (k *check) unfit(event string, base, head []*run.Run) string {
	for _, r := range slices.Concat(base, head) {
		if s := r.Accounting.LostShare(); s > maxLost {
			return fmt.Sprintf("%s lost %.1f%% of its samples", r.Name, 100*s)
		}
	}
	if k.file.Defaults.Require.Throttling == "any" {
		return ""
	}
	for _, d := range compare.Disturbances(base, head) {
		if at, ok := d.Run.EventIndex(event); d.Distorts && ok && d.Concerns(&d.Run.Events[at]) {
			return fmt.Sprintf("%s: %s", d.Run.Name, d.What)
		}
	}
	return ""
}

// values are the distinct values of a fact on one side, without unknown ones.
func (k *check) values(side int, of func(*run.Recording) string) (list []string) {
	for _, r := range k.tally.runs[side] {
		if v := of(&r.Recording); v != "" {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// periods say how an event was sampled on one side.
func (k *check) periods(side int, name string) (list []string) {
	for _, r := range k.tally.runs[side] {
		at, ok := r.EventIndex(name)
		if !ok {
			continue
		}
		switch e := &r.Events[at]; {
		case e.Period != 0:
			list = append(list, fmt.Sprintf("every %d", e.Period))
		case e.Frequency != 0:
			list = append(list, fmt.Sprintf("%d a second", e.Frequency))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// span says when the runs of a side were recorded.
func span(runs []*run.Run) string {
	first, last := runs[0].Recording.Start, runs[0].Recording.Start
	from, to := runs[0].Recording.FirstSample, runs[0].Recording.FirstSample
	wall := true
	for _, r := range runs {
		at := r.Recording.Start
		wall = wall && !at.IsZero()
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
		from, to = min(from, r.Recording.FirstSample), max(to, r.Recording.FirstSample)
	}
	if wall {
		return fmt.Sprintf("%s to %s", first.UTC().Format(time.DateTime), last.UTC().Format(time.DateTime))
	}
	return fmt.Sprintf("second %.1f to %.1f of the machine's clock", float64(from)/1e9, float64(to)/1e9)
}
