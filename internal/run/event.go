package run

import (
	"cmp"
	"slices"
	"strings"
)

// Names that simpleperf, perf and the kernel's PMU drivers give to one event.
// The left side is the name that profdiff sorts and compares by.
var eventAliases = map[string]string{
	"cycles":                  "cpu-cycles",
	"cpu_cycles":              "cpu-cycles",
	"raw-cpu-cycles":          "cpu-cycles",
	"inst_retired":            "instructions",
	"raw-inst-retired":        "instructions",
	"branch-instructions":     "branches",
	"branch_instructions":     "branches",
	"br_mis_pred":             "branch-misses",
	"raw-br-mis-pred":         "branch-misses",
	"branch_misses":           "branch-misses",
	"cpu_clock":               "cpu-clock",
	"task_clock":              "task-clock",
	"off_cpu":                 "off-cpu",
	"page_faults":             "page-faults",
	"context_switches":        "context-switches",
	"cache_misses":            "cache-misses",
	"cache_references":        "cache-references",
	"stalled_cycles_backend":  "stalled-cycles-backend",
	"idle-cycles-backend":     "stalled-cycles-backend",
	"stalled_cycles_frontend": "stalled-cycles-frontend",
	"idle-cycles-frontend":    "stalled-cycles-frontend",
	"cs":                      "context-switches",
	"migrations":              "cpu-migrations",
	"faults":                  "page-faults",
	"raw-stall-backend":       "stalled-cycles-backend",
	"raw-stall-frontend":      "stalled-cycles-frontend",
	"raw-l1d-cache-refill":    "L1-dcache-load-misses",
	"simpleperf-off-cpu":      "off-cpu",
}

// eventOrder is the canonical order of the events that most recordings have;
// all others follow by name.
var eventOrder = []string{
	"cpu-cycles", "cpu-clock", "task-clock", "cpu", "instructions", "branches", "branch-misses",
	"cache-references", "cache-misses", "Ir", "wall", "inuse_space", "inuse_objects", "alloc_space", "alloc_objects",
}

// ofProfilers are events that profilers have which programs bring with them: nothing else records them.
var ofProfilers = []string{
	"cpu", "wall", "execution", "in-native", "alloc", "alloc-tlab", "live", "nativemem", "nativemem-live", "lock", "park", "native-lock",
	"inuse_space", "inuse_objects", "alloc_space", "alloc_objects", "space", "objects", "contentions", "delay", "goroutine", "threadcreate",
	"samples", "tracing-ms", "bytes",
}

// IsOfPerf reports whether an event may be one of those that perf knows.
func IsOfPerf(name string) bool { return !slices.Contains(ofProfilers, name) }

// timelineOrder is the order of the events that follow from a timeline, behind what was sampled.
var timelineOrder = []string{"slices", "off-cpu", "contentions", "delay", "async-slices"}

// Modifier letters of perf list(1), section "EVENT MODIFIERS".
const eventModifiers = "ukhIGHpPSDWebR"

// SplitEvent splits the name of an event into the event and its modifiers:
// "cpu-cycles:u" into "cpu-cycles" and "u", "cpu_core/cycles/ppp" into
// "cpu_core/cycles/" and "ppp". The colon of a tracepoint stays.
func SplitEvent(name string) (event, modifiers string) {
	if pmu, rest, ok := strings.Cut(name, "/"); ok && pmu != "" {
		if i := strings.LastIndexByte(rest, '/'); i >= 0 {
			inner, outer := rest[:i], strings.TrimPrefix(rest[i+1:], ":")
			inner, m := splitSuffix(inner)
			return pmu + "/" + inner + "/", m + outer
		}
	}
	return splitSuffix(name)
}

func splitSuffix(name string) (event, modifiers string) {
	i := strings.LastIndexByte(name, ':')
	if i <= 0 || i == len(name)-1 || strings.Trim(name[i+1:], eventModifiers) != "" {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// CanonicalEvent returns the name under which one event is known whatever
// recorded it: cycles, cycles:P, cpu_core/cycles/, armv8_pmuv3/cpu_cycles/ and
// raw-cpu-cycles are all cpu-cycles. Modifiers that choose what is counted
// (user, kernel, hypervisor, guest, host) stay, in the order ukhGH; those that
// choose how (precision, pinning) go.
func CanonicalEvent(name string) string {
	event, modifiers := SplitEvent(name)
	if pmu, inner, ok := strings.Cut(event, "/"); ok && pmu != "" {
		inner = withoutSampling(strings.TrimSuffix(inner, "/"))
		if _, known := eventAliases[inner]; known || slices.Contains(eventOrder, inner) {
			event = inner
		} else if inner == "" {
			event = pmu
		} else {
			event = pmu + "/" + inner + "/"
		}
	}
	if alias, ok := eventAliases[event]; ok {
		event = alias
	}
	var keep strings.Builder
	for _, m := range "ukhGH" {
		if strings.ContainsRune(modifiers, m) {
			keep.WriteRune(m)
		}
	}
	if keep.Len() > 0 {
		return event + ":" + keep.String()
	}
	return event
}

// withoutSampling removes the terms of an event that say how it is sampled, not what
// it counts (perf-record(1), event definitions).
func withoutSampling(terms string) string {
	var keep []string
	for term := range strings.SplitSeq(terms, ",") {
		name, _, _ := strings.Cut(term, "=")
		switch name {
		case "", "period", "freq", "call-graph", "stack-size", "time", "max-stack", "nr", "inherit", "no-inherit", "overwrite", "no-overwrite", "aux-output", "aux-sample-size":
		default:
			keep = append(keep, term)
		}
	}
	return strings.Join(keep, ",")
}

// SameEvent reports whether two names mean the same event.
func SameEvent(a, b string) bool { return a == b || CanonicalEvent(a) == CanonicalEvent(b) }

// EventUnit is the unit of an event's weight, as AOSP's converter names it so
// that profiles of both can be mixed: time for clocks, the event's own name for
// cycles and instructions, else "count".
func EventUnit(name string) string {
	event, _ := SplitEvent(CanonicalEvent(name))
	switch event {
	case "cpu-clock", "task-clock", "on-cpu", "off-cpu", "duration_time":
		return "nanoseconds"
	case "cpu-cycles", "instructions":
		return event
	}
	return "count"
}

// IsTime reports whether the weight of an event is time that code takes or waits: a time, or
// cycles of a core or of a clock. All else is counted, samples whose period is unknown too.
// Cycles in which a core stalls are counted: they are a part of those that it takes.
func IsTime(name, unit string) bool {
	switch unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds", "cpu-cycles":
		return true
	}
	event, _ := SplitEvent(CanonicalEvent(strings.TrimPrefix(name, "counted:")))
	switch event {
	case "cpu-cycles", "ref-cycles", "bus-cycles", "cpu-clock", "task-clock", "on-cpu", "off-cpu", "duration_time":
		return true
	}
	return false
}

// waits are events of threads that do not run, or of which most do not.
var waits = []string{"off-cpu", "delay", "contentions", "stack-dumps", "wall", "in-native", "lock", "park", "native-lock"}

// IsWait reports whether the weight of an event is of threads that do not run: who waits longer need
// not be slower.
func IsWait(name string) bool {
	event, _ := SplitEvent(CanonicalEvent(name))
	return slices.Contains(waits, event)
}

// compareEvents orders events canonically: not by which fired first, so that
// two recordings of one command have the same order.
func compareEvents(a, b *Event) int {
	return cmp.Or(
		cmp.Compare(eventRank(a), eventRank(b)),
		cmp.Compare(CanonicalEvent(a.Name), CanonicalEvent(b.Name)),
		cmp.Compare(a.Name, b.Name),
	)
}

func eventRank(e *Event) int {
	if e.Leads {
		return -1
	}
	event, _ := SplitEvent(CanonicalEvent(e.Name))
	rank := slices.Index(eventOrder, event)
	if rank < 0 {
		rank = len(eventOrder)
		if at := slices.Index(timelineOrder, event); at >= 0 {
			rank += 1 + at
		}
	}
	if e.Derived {
		rank += len(eventOrder) + len(timelineOrder) + 1
	}
	return rank
}

// sortEvents puts the events of r into canonical order and renumbers samples.
func (r *Run) sortEvents() {
	order := make([]int, len(r.Events))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareEvents(&r.Events[a], &r.Events[b]) })
	if slices.IsSorted(order) {
		return
	}
	r.pickEvents(order)
}

// pickEvents leaves the events with these indices, in this order. Samples are of no others.
func (r *Run) pickEvents(order []int) {
	events := make([]Event, len(order))
	renumber := make([]uint32, len(r.Events))
	for to, from := range order {
		events[to] = r.Events[from]
		renumber[from] = uint32(to)
	}
	r.Events = events
	for i := range r.Samples {
		r.Samples[i].Event = renumber[r.Samples[i].Event]
	}
	for _, list := range [][]TimedSample{r.Timeline, r.Spans} {
		for i := range list {
			list[i].Event = renumber[list[i].Event]
		}
	}
}
