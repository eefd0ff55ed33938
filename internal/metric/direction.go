package metric

import (
	"fmt"
	"slices"
	"strings"
)

// worse are words for what one wants less of, whatever the unit; better for what one wants
// more of. Of a name that has both, the former count: missed frames, allocated requests.
var (
	worse = []string{
		"miss", "misses", "missed", "fault", "faults", "error", "errors", "fail", "failed", "failures", "failure", "drop", "drops", "dropped", "lost", "loss",
		"retries", "retry", "retransmits", "retransmit", "retrans", "jank", "janky", "stall", "stalls", "stalled", "switches", "migrations",
		"alloc", "allocs", "allocated", "allocation", "allocations", "garbage", "timeouts", "throttled", "slow", "frozen", "overrun", "latency", "duration", "delay", "elapsed", "time", "rss", "pss", "heap", "memory",
		"footprint", "energy", "power", "cycles", "instructions", "insns", "conflicts", "contentions", "rejected", "evictions",
	}
	better = []string{
		"throughput", "bandwidth", "fps", "qps", "rps", "iops", "ops", "frames", "hits", "hit", "score", "ipc", "speed", "speedup", "rate", "goodput", "insn per cycle",
	}
)

// DirectionOf says which values of a metric are better by its name and unit, and why; or why
// that is not known.
func DirectionOf(name string, unit Unit) (Direction, string) {
	w := words(name)
	has := func(list []string) string {
		if i := slices.IndexFunc(w, func(word string) bool { return slices.Contains(list, word) }); i >= 0 {
			return w[i]
		}
		return ""
	}
	if strings.Contains(name, "per cycle") || slices.Contains(w, "ipc") {
		return Higher, "instructions per cycle"
	}
	if slices.Contains(w, "better") {
		switch {
		case has([]string{"bigger", "higher", "larger", "more"}) != "":
			return Higher, "its name says so"
		case has([]string{"smaller", "lower", "less", "fewer"}) != "":
			return Lower, "its name says so"
		}
	}
	spare := has([]string{"free", "available", "remaining", "headroom", "idle"})
	switch bad, good := has(worse), has(better); {
	case spare != "" && unit != Nanoseconds:
		return Unknown, "its name says " + spare // what is free is not what is used
	case unit == Nanoseconds && slices.Contains(w, "uptime"):
		return Higher, "uptime"
	case unit == Nanoseconds:
		return Lower, "a time"
	case bad != "":
		return Lower, "its name says " + bad
	case unit == BytesPerSecond, unit == BitsPerSecond, unit == PerSecond:
		return Higher, "a rate"
	case good != "":
		return Higher, "its name says " + good
	case unit == Joules, unit == Watts:
		return Lower, "energy"
	case unit == Bytes && strings.HasSuffix(name, "B/op"):
		return Lower, "allocated memory"
	}
	return Unknown, "neither its name nor its unit tells"
}

// Better says which values of metrics are better, as the user does.
type Better struct{ rules []betterRule }

type betterRule struct {
	name string // "" for all metrics
	to   Direction
	text string
}

// ParseBetter reads lower, higher or NAME=lower, NAME=higher; later ones count more. A name
// is that of a metric, or only its subject or its quantity.
func ParseBetter(texts []string) (Better, error) {
	var b Better
	for _, text := range texts {
		name, word, named := cutLast(text, "=")
		if !named {
			name, word = "", text
		}
		to := slices.Index(directionNames[:], word)
		if to <= int(Unknown) {
			return Better{}, fmt.Errorf("want lower, higher or NAME=higher, not %q", text)
		}
		b.rules = append(b.rules, betterRule{name, Direction(to), text})
	}
	return b, nil
}

// Apply sets the directions of metrics. It returns the rules that meant none of them.
func (b Better) Apply(metrics []*Metric) (unused []string) {
	for _, rule := range b.rules {
		used := rule.name == ""
		for _, m := range metrics {
			if rule.name == "" || rule.name == m.Name() || rule.name == m.Subject || rule.name == m.Quantity {
				m.Direction, m.Why, used = rule.to, "as --better says", true
			}
		}
		if !used {
			unused = append(unused, rule.text)
		}
	}
	return unused
}
