package sampler

import (
	"fmt"
	"strconv"
	"strings"
)

// An Event is what is sampled or counted.
type Event struct {
	// Name is as the user wrote it.
	Name   string
	Type   uint32 // PERF_TYPE_*
	Config uint64
	// User and Kernel are set where only one of them counts.
	User, Kernel bool
	// Precise is how exact the address has to be, from 0 to 3; 0 asks for nothing.
	Precise int
	// Period is the events from one sample to the next, Frequency samples in a second. With
	// neither the event is only counted.
	Period    uint64
	Frequency int
}

// Types of events, enum perf_type_id.
const (
	typeHardware = 0
	typeSoftware = 1
	typeCache    = 3
	typeRaw      = 4
)

// named are the names of perf-list(1).
var named = map[string]Event{
	"cpu-cycles":              {Type: typeHardware, Config: 0},
	"cycles":                  {Type: typeHardware, Config: 0},
	"instructions":            {Type: typeHardware, Config: 1},
	"cache-references":        {Type: typeHardware, Config: 2},
	"cache-misses":            {Type: typeHardware, Config: 3},
	"branch-instructions":     {Type: typeHardware, Config: 4},
	"branches":                {Type: typeHardware, Config: 4},
	"branch-misses":           {Type: typeHardware, Config: 5},
	"bus-cycles":              {Type: typeHardware, Config: 6},
	"stalled-cycles-frontend": {Type: typeHardware, Config: 7},
	"stalled-cycles-backend":  {Type: typeHardware, Config: 8},
	"ref-cycles":              {Type: typeHardware, Config: 9},

	"cpu-clock":        {Type: typeSoftware, Config: 0},
	"task-clock":       {Type: typeSoftware, Config: 1},
	"page-faults":      {Type: typeSoftware, Config: 2},
	"faults":           {Type: typeSoftware, Config: 2},
	"context-switches": {Type: typeSoftware, Config: 3},
	"cs":               {Type: typeSoftware, Config: 3},
	"cpu-migrations":   {Type: typeSoftware, Config: 4},
	"migrations":       {Type: typeSoftware, Config: 4},
	"minor-faults":     {Type: typeSoftware, Config: 5},
	"major-faults":     {Type: typeSoftware, Config: 6},
	"alignment-faults": {Type: typeSoftware, Config: 7},
	"emulation-faults": {Type: typeSoftware, Config: 8},
}

// caches and accesses make the names of events of caches, as L1-dcache-load-misses: enums
// perf_hw_cache_id and perf_hw_cache_op_id.
var (
	caches   = []string{"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"}
	accesses = []string{"load", "store", "prefetch"}
)

// ParseEvent reads the name of an event: one of perf-list(1), or rHEX, with the modifiers u, k and
// p behind a colon. Tracepoints and events that only a PMU of a name has are not known.
func ParseEvent(name string) (Event, error) {
	plain, modifiers, _ := strings.Cut(name, ":")
	e, ok := named[plain]
	if !ok {
		e, ok = cacheEvent(plain)
	}
	if code, raw := strings.CutPrefix(plain, "r"); !ok && raw {
		config, err := strconv.ParseUint(code, 16, 64)
		e, ok = Event{Type: typeRaw, Config: config}, err == nil
	}
	if !ok {
		return Event{}, fmt.Errorf("event %q is not known without perf: --with perf records tracepoints and events of PMUs", name)
	}
	e.Name = name
	for _, m := range modifiers {
		switch m {
		case 'u':
			e.User = true
		case 'k':
			e.Kernel = true
		case 'p':
			e.Precise++
		default:
			return Event{}, fmt.Errorf("event %q: the modifier %q is not known without perf; known are u, k and p", name, m)
		}
	}
	if e.User && e.Kernel {
		e.User, e.Kernel = false, false
	}
	if e.Precise > 3 {
		return Event{}, fmt.Errorf("event %q: no more than three p", name)
	}
	return e, nil
}

func cacheEvent(name string) (Event, bool) {
	for c, cache := range caches {
		rest, ok := strings.CutPrefix(name, cache+"-")
		if !ok {
			continue
		}
		for a, access := range accesses {
			switch rest {
			case access + "s", access + "es":
				return Event{Type: typeCache, Config: uint64(c | a<<8)}, true
			case access + "-misses":
				return Event{Type: typeCache, Config: uint64(c | a<<8 | 1<<16)}, true
			}
		}
	}
	return Event{}, false
}

// SwitchesEvent has a sample each time that a thread loses its CPU, with its stack.
var SwitchesEvent = Event{Name: "context-switches", Type: typeSoftware, Config: 3, Period: 1}
