package sampler

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseEvent(t *testing.T) {
	for _, test := range []struct {
		name string
		want Event
		err  string
	}{
		{"cpu-clock", Event{Type: typeSoftware}, ""},
		{"cycles:u", Event{Type: typeHardware, User: true}, ""},
		{"cycles:uk", Event{Type: typeHardware}, ""},
		{"branch-misses:pp", Event{Type: typeHardware, Config: 5, Precise: 2}, ""},
		{"instructions:k", Event{Type: typeHardware, Config: 1, Kernel: true}, ""},
		{"rc4", Event{Type: typeRaw, Config: 0xc4}, ""},
		{"L1-dcache-load-misses", Event{Type: typeCache, Config: 0x10000}, ""},
		{"LLC-stores", Event{Type: typeCache, Config: 0x102}, ""},
		{"dTLB-prefetches", Event{Type: typeCache, Config: 0x203}, ""},
		{"sched:sched_switch", Event{}, `event "sched:sched_switch" is not known without perf: --with perf records tracepoints and events of PMUs`},
		{"cpu/event=0xc4/", Event{}, `event "cpu/event=0xc4/" is not known without perf: --with perf records tracepoints and events of PMUs`},
		{"cycles:z", Event{}, `event "cycles:z": the modifier 'z' is not known without perf; known are u, k and p`},
		{"cycles:pppp", Event{}, `event "cycles:pppp": no more than three p`},
		{"", Event{}, `event "" is not known without perf: --with perf records tracepoints and events of PMUs`},
	} {
		got, err := ParseEvent(test.name)
		if err != nil {
			if err.Error() != test.err {
				t.Errorf("%s: error %q, want %q", test.name, err, test.err)
			}
			continue
		}
		test.want.Name = test.name
		if diff := cmp.Diff(test.want, got); diff != "" || test.err != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
