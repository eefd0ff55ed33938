package run

import (
	"slices"
	"testing"
)

func TestCanonicalEvent(t *testing.T) {
	for name, want := range map[string]string{
		"cpu-cycles":                       "cpu-cycles",
		"cpu-cycles:u":                     "cpu-cycles:u",
		"cycles":                           "cpu-cycles",
		"cycles:P":                         "cpu-cycles",
		"cycles:ppp":                       "cpu-cycles",
		"cycles:Pu":                        "cpu-cycles:u",
		"cycles:ku":                        "cpu-cycles:uk",
		"raw-cpu-cycles":                   "cpu-cycles",
		"cpu-clock/period=1003009/":        "cpu-clock",
		"cycles/freq=99,call-graph=fp/u":   "cpu-cycles:u",
		"cpu/event=0xc4,period=5/":         "cpu/event=0xc4/",
		"cpu_core/cycles/":                 "cpu-cycles",
		"cpu_core/cycles:ppp/":             "cpu-cycles",
		"cpu_core/cycles/u":                "cpu-cycles:u",
		"armv8_pmuv3/cpu_cycles/":          "cpu-cycles",
		"armv8_cortex_a76/br_mis_pred/":    "branch-misses",
		"armv8_pmuv3/br_mis_pred_retired/": "armv8_pmuv3/br_mis_pred_retired/",
		"sched:sched_switch":               "sched:sched_switch",
		"syscalls:sys_enter_read":          "syscalls:sys_enter_read",
		"branch-instructions:pp":           "branches",
		"instructions:uH":                  "instructions:uH",
		"r10":                              "r10",
		"MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=64:precise=2:mh:mg:pinned": "MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=64:precise=2:mh:mg:pinned",
		"cpu-clock:u": "cpu-clock:u",
		"":            "",
		"/":           "/",
		"x:":          "x:",
	} {
		if got := CanonicalEvent(name); got != want {
			t.Errorf("CanonicalEvent(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestEventUnit(t *testing.T) {
	for name, want := range map[string]string{
		"cpu-clock:u": "nanoseconds", "task-clock": "nanoseconds", "off-cpu": "nanoseconds",
		"cycles:P": "cpu-cycles", "instructions:k": "instructions", "branch-misses": "count", "sched:sched_switch": "count",
	} {
		if got := EventUnit(name); got != want {
			t.Errorf("EventUnit(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestCompareEvents(t *testing.T) {
	var events []*Event
	for _, name := range []string{"zebra", "off-cpu", "cache-misses", "branch-misses", "instructions", "cpu-clock", "apple", "cycles:u"} {
		events = append(events, &Event{Name: name, Derived: name == "off-cpu"})
	}
	slices.SortFunc(events, compareEvents)
	var got []string
	for _, e := range events {
		got = append(got, e.Name)
	}
	want := []string{"cycles:u", "cpu-clock", "instructions", "branch-misses", "cache-misses", "apple", "zebra", "off-cpu"}
	if !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

func TestEventIndex(t *testing.T) {
	r := &Run{Events: []Event{{Name: "cycles:u"}, {Name: "cpu-cycles:k"}, {Name: "cpu_core/cycles/"}, {Name: "cpu_atom/cycles/"}}}
	for name, want := range map[string]int{"cycles:u": 0, "cpu-cycles:u": 0, "cycles:k": 1, "cpu_core/cycles/": 2} {
		if got, ok := r.EventIndex(name); !ok || got != want {
			t.Errorf("EventIndex(%q) = %d, %v, want %d", name, got, ok, want)
		}
	}
	if i, ok := r.EventIndex("cpu-cycles"); ok {
		t.Errorf("ambiguous name gives event %d", i)
	}
}

func TestIsTime(t *testing.T) {
	for _, test := range []struct {
		event, unit string
		want        bool
	}{
		{"cpu-cycles:u", "cpu-cycles", true},
		{"cycles", "count", true},
		{"cpu_core/cycles/P", "count", true},
		{"counted:cpu-cycles", "cpu-cycles", true},
		{"ref-cycles:u", "count", true},
		{"task-clock", "nanoseconds", true},
		{"off-cpu", "nanoseconds", true},
		{"delay", "nanoseconds", true},
		{"cpu", "milliseconds", true},
		{"instructions", "instructions", false},
		{"branch-misses", "count", false},
		{"context-switches:u", "count", false},
		{"stalled-cycles-backend", "count", false},
		{"alloc_space", "bytes", false},
		{"samples", "count", false},
		{"Ir", "count", false},
	} {
		if got := IsTime(test.event, test.unit); got != test.want {
			t.Errorf("%s in %s: %v, want %v", test.event, test.unit, got, test.want)
		}
	}
}
