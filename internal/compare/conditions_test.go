package compare

import (
	"slices"
	"strings"
	"testing"
	"time"

	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// What the host may take is the change that does not matter.
func TestMaxStolen(t *testing.T) {
	if run.MaxStolen != verdict.Margin {
		t.Errorf("%g may be stolen, and %g does not matter", run.MaxStolen, verdict.Margin)
	}
}

// TestDisturbances judges runs by what was noted when they were recorded.
func TestDisturbances(t *testing.T) {
	type evidence struct {
		throttled, running float64 // sampling, the event
		run.Conditions
	}
	usual := run.Conditions{FrequencyMHz: 2000, FrequencyLimitMHz: 2400, Cores: 2, OwnCPUs: 1, BackgroundCPUs: 0.1, StolenCPUs: 0.01}
	for _, test := range []struct {
		name     string
		of       evidence
		want     string // "" if nothing disturbs
		distorts bool
		time     bool // costs in time are concerned
		count    bool // and those in events
	}{
		{"nothing", evidence{Conditions: usual, running: 1}, "", false, false, false},
		{"nothing known", evidence{}, "", false, false, false},
		{"throttled once", evidence{Conditions: usual, throttled: 1}, "the kernel throttled sampling 1 time, up to 0.1% of the time", false, true, true},
		{"throttled often", evidence{Conditions: usual, throttled: 20}, "the kernel throttled sampling 20 times, up to 2% of the time", true, true, true},
		{"multiplexed", evidence{Conditions: usual, running: 0.79}, "cpu-clock was on the hardware 79% of the time only", true, true, false},
		{"hardly multiplexed", evidence{Conditions: usual, running: 0.81}, "", false, false, false},
		{"hot", evidence{Conditions: run.Conditions{FrequencyMHz: 2000, Throttled: 2}}, "CPUs were slowed down 2 times because they were hot", true, true, false},
		{"warm device", evidence{Conditions: run.Conditions{ThermalStatus: 1}}, "the device was hot: thermal status 1", false, true, false},
		{"hot device", evidence{Conditions: run.Conditions{ThermalStatus: 2}}, "the device was hot: thermal status 2", true, true, false},
		{"limited", evidence{Conditions: run.Conditions{FrequencyLimitMHz: 2200}}, "CPUs were limited to 2200 MHz, in other runs to 2400 MHz", true, true, false},
		{"hardly limited", evidence{Conditions: run.Conditions{FrequencyLimitMHz: 2300}}, "", false, false, false},
		{"slow", evidence{Conditions: run.Conditions{FrequencyMHz: 1500}}, "CPUs ran at 1500 MHz, in most runs at 2000 MHz or more", false, true, false},
		{"a CPU left", evidence{Conditions: run.Conditions{Cores: 2, OwnCPUs: 1, BackgroundCPUs: 0.8}}, "", false, false, false},
		{"none left, by the program itself", evidence{Conditions: run.Conditions{Cores: 2, OwnCPUs: 1.97, BackgroundCPUs: 0.02}}, "", false, false, false},
		{"no CPU left", evidence{Conditions: run.Conditions{Cores: 2, OwnCPUs: 0.8, BackgroundCPUs: 1.2}}, "other programs took 1.2 of 2 CPUs, so that none was free", false, true, false},
		{"none left by itself", evidence{Conditions: run.Conditions{Cores: 2, OwnCPUs: 2}}, "", false, false, false},
		{"nothing stolen that matters", evidence{Conditions: run.Conditions{Cores: 2, OwnCPUs: 2, StolenCPUs: 0.03}}, "", false, false, false},
		{"hardly stolen from many", evidence{Conditions: run.Conditions{Cores: 8, OwnCPUs: 0.3, BackgroundCPUs: 1.7, StolenCPUs: 0.02}}, "", false, false, false},
		{"stolen once", evidence{Conditions: run.Conditions{Cores: 2, OwnCPUs: 1, StolenCPUs: 0.3}}, "the host of the virtual machine took 30% of the time that programs ran", false, true, false},
	} {
		var sides [2][]*run.Run
		for i := range 8 {
			r := &run.Run{Name: "usual", Recording: run.Recording{Duration: 10 * time.Second, Conditions: usual}}
			r.Events = []run.Event{{Name: "cpu-clock", Unit: "nanoseconds"}, {Name: "instructions", Unit: "instructions"}, {Name: "Ir", Unit: "instructions", Simulated: true}}
			if i == 5 {
				r.Name, r.Recording.Conditions = "disturbed", test.of.Conditions
				r.Accounting.Throttled, r.Events[0].Running = int64(test.of.throttled), test.of.running
			}
			sides[i%2] = append(sides[i%2], r)
		}
		list := Disturbances(sides[0], sides[1])
		warnings := RunWarnings(sides[0], sides[1])
		if test.want == "" {
			if len(list)+len(warnings) != 0 {
				t.Errorf("%s: %v, %q", test.name, list, warnings)
			}
			continue
		}
		if len(list) != 1 || list[0].Run.Name != "disturbed" || !strings.HasPrefix(list[0].What, test.want) || list[0].Distorts != test.distorts {
			t.Errorf("%s: %+v, want %q, %v", test.name, list, test.want, test.distorts)
			continue
		}
		if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "disturbed: "+test.want) {
			t.Errorf("%s: warnings %q", test.name, warnings)
		}
		d, events := &list[0], list[0].Run.Events
		if d.Concerns(&events[0]) != test.time || d.Concerns(&events[1]) != test.count || d.Concerns(&events[2]) {
			t.Errorf("%s concerns time %v, events %v, simulated ones %v", test.name, d.Concerns(&events[0]), d.Concerns(&events[1]), d.Concerns(&events[2]))
		}
	}
}

// TestDisturbedEvents counts runs, not events, and tells of each event.
func TestDisturbedEvents(t *testing.T) {
	var runs []*run.Run
	for _, name := range []string{"a", "b"} {
		r := &run.Run{Name: name, Events: []run.Event{{Name: "cycles", Running: 0.5}, {Name: "branches", Running: 0.6}}}
		runs = append(runs, r)
	}
	got := RunWarnings(runs[:1], runs[1:])
	want := []string{
		"both runs: cycles was on the hardware 50% of the time only: record fewer events at once",
		"both runs: branches was on the hardware 60% of the time only: record fewer events at once",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
