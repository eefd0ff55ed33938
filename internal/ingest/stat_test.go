package ingest

import (
	"bytes"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/run"
)

func TestStat(t *testing.T) {
	for _, tt := range []struct {
		name   string
		format string
		text   string
		want   []run.Counter
		// warnings are the starts of warnings.
		warnings []string
		duration time.Duration
	}{
		{
			"perf -x", PerfStatCSV,
			"# started on Fri Nov 20 10:35:07 2026\n\n0.96,msec,cpu-clock,961945,100.00,0.009,CPUs utilized\n75,,page-faults,961945,100.00,78.195,K/sec\n<not supported>,,cycles,0,100.00,,\n" +
				"1000,,instructions:u,400,40.00,0.5,insn per cycle\n,,,,,1.2,stalled cycles per insn\n",
			[]run.Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 960000, Running: 1},
				{Name: "page-faults", Unit: "count", Value: 75, Running: 1},
				{Name: "instructions:u", Unit: "instructions", Value: 1000, Running: 0.4},
			},
			[]string{"cycles was not counted"},
			0,
		},
		{
			"perf of old versions", PerfStatCSV, "1.500000,,task-clock,1500000,100.00\n1234567,,cycles,1500000,100.00\n",
			[]run.Counter{
				{Name: "task-clock", Unit: "nanoseconds", Value: 1500000, Running: 1},
				{Name: "cycles", Unit: "cpu-cycles", Value: 1234567, Running: 1},
			},
			nil, 0,
		},
		{
			"perf -I", PerfStatCSV,
			"     0.050215886;0.90;msec;cpu-clock;900423;100.00;0.018;CPUs utilized\n     0.050215886;10;;cycles;600;100.00;;\n" +
				"     0.100569769;<not counted>;msec;cpu-clock;0;100.00;;\n     0.100569769;20;;cycles;200;50.00;;\n" +
				"     0.121989756;0.07;msec;cpu-clock;73269;100.00;0.001;CPUs utilized\n     0.121989756;30;;cycles;200;100.00;;\n",
			[]run.Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 970000, Running: 1},
				{Name: "cycles", Unit: "cpu-cycles", Value: 60, Running: 1000.0 / 1200},
			},
			[]string{"cpu-clock was not counted in 1 of 3 readings"},
			121989756,
		},
		{
			"perf -I --summary", PerfStatCSV,
			"     0.050189087,1.03,msec,cpu-clock,1032450,100.00,0.021,CPUs utilized\n     0.100556429,<not counted>,msec,cpu-clock,0,100.00,,\n" +
				"         summary,1.10,msec,cpu-clock,1107892,100.00,0.009,CPUs utilized\n",
			[]run.Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 1.1e6, Running: 1}},
			nil, 100556429,
		},
		{
			"perf -I --summary --no-csv-summary", PerfStatCSV,
			"     0.050189087,1.03,msec,cpu-clock,1032450,100.00,0.021,CPUs utilized\n1.10,msec,cpu-clock,1107892,100.00,0.009,CPUs utilized\n",
			[]run.Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 1.1e6, Running: 1}},
			nil, 50189087,
		},
		{
			"perf -A", PerfStatCSV, "CPU0,122,,cycles,5,100.00,1.000,CPUs utilized\nCPU1,100,,cycles,5,100.00,1.000,CPUs utilized\n",
			[]run.Counter{{Name: "cycles", Unit: "cpu-cycles", Value: 222, Running: 1}},
			nil, 0,
		},
		{
			"perf -I --per-core", PerfStatCSV,
			"     0.100244714,S0-D0-C0,1,100.42,msec,cpu-clock,100422854,100.00,1.004,CPUs utilized\n     0.100244714,S0-D0-C1,1,100.47,msec,cpu-clock,100473660,100.00,1.005,CPUs utilized\n" +
				"     0.121701376,S0-D0-C0,1,21.44,msec,cpu-clock,21439258,100.00,0.214,CPUs utilized\n",
			[]run.Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 222.33e6, Running: 1}},
			nil, 121701376,
		},
		{
			"perf --per-thread", PerfStatCSV, "perf-14783,0.62,msec,cpu-clock,622328,100.00,0.006,CPUs utilized\nkworker/0:0-events-9,0.01,msec,cpu-clock,11117,100.00,0.000,CPUs utilized\n",
			[]run.Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 630000, Running: 1}},
			nil, 0,
		},
		{
			"perf -r", PerfStatCSV, "1.02,msec,cpu-clock,8.52%,1028073,100.00,0.010,CPUs utilized\n",
			[]run.Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 1.02e6, Running: 1}},
			[]string{"values are means of repeated runs"},
			0,
		},
		{
			"perf in another locale", PerfStatCSV, "1.234,56;msec;cpu-clock;961945;100,00;0,009;CPUs utilized\n12.345.678;;cycles;961945;100,00;;\n",
			[]run.Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 1234.56e6, Running: 1},
				{Name: "cycles", Unit: "cpu-cycles", Value: 12345678, Running: 1},
			},
			nil, 0,
		},
		{
			"perf with tabs", PerfStatCSV, "0.97\tmsec\tcpu-clock\t974824\t100.00\t0.082\tCPUs utilized\n1\t\tcs\t974824\t100.00\t1.031\tK/sec\n",
			[]run.Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 970000, Running: 1},
				{Name: "cs", Unit: "count", Value: 1, Running: 1},
			},
			nil, 0,
		},
		{
			"perf with spaces", PerfStatCSV, "1.10 msec cpu-clock 1103516 100.00 0.093 CPUs utilized\n1  cs 1103516 100.00 910.733 /sec\n",
			[]run.Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 1.1e6, Running: 1},
				{Name: "cs", Unit: "count", Value: 1, Running: 1},
			},
			nil, 0,
		},
		{
			"perf with units", PerfStatCSV, "12,ns,duration_time,12,100.00,,\n3.5,Joules,power/energy-pkg/,12,100.00,,\n5,us,user_time,12,100.00,,\n",
			[]run.Counter{
				{Name: "duration_time", Unit: "nanoseconds", Value: 12, Running: 1},
				{Name: "power/energy-pkg/", Unit: "Joules", Value: 3.5, Running: 1},
				{Name: "user_time", Unit: "nanoseconds", Value: 5000, Running: 1},
			},
			nil, 0,
		},
		{
			"perf with cgroups", PerfStatCSV, "12,,cycles,/a,12,100.00,,\n13,,cycles,/b,12,100.00,,\n",
			[]run.Counter{
				{Name: "cycles cgroup=/a", Unit: "count", Value: 12, Running: 1},
				{Name: "cycles cgroup=/b", Unit: "count", Value: 13, Running: 1},
			},
			nil, 0,
		},
		{
			"perf with an event twice", PerfStatCSV, "12,,cycles,12,100.00,,\n13,,cycles,12,100.00,,\n",
			[]run.Counter{{Name: "cycles", Unit: "cpu-cycles", Value: 12, Running: 1}},
			[]string{"cycles is counted more than once, the first is taken"},
			0,
		},
		{
			"perf -j", PerfStatJSON,
			`{"counter-value" : "1.023146", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 1028695, "pcnt-running" : 100.00, "metric-value" : 0.010034, "metric-unit" : "CPUs utilized"}
{"counter-value" : "<not supported>", "unit" : "", "event" : "cycles", "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}
{"counter-value" : "74.000000", "unit" : "", "event" : "page-faults", "event-runtime" : 1028695, "pcnt-running" : 50.00, "metric-value" : nan, "metric-unit" : "K/sec"}
{"metric-value" : 0.5, "metric-unit" : "stalled cycles per insn"}
`,
			[]run.Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 1023146, Running: 1},
				{Name: "page-faults", Unit: "count", Value: 74, Running: 0.5},
			},
			[]string{"cycles was not counted"},
			0,
		},
		{
			"perf -j -I --summary", PerfStatJSON,
			`{"interval" : 0.050138100, "counter-value" : "0.838120", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 840233, "pcnt-running" : 100.00}
{"interval" : 0.100477571, "counter-value" : "0.069464", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 71346, "pcnt-running" : 100.00}
{"counter-value" : "0.907584", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 911579, "pcnt-running" : 100.00}
`,
			[]run.Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 907584, Running: 1}},
			nil, 100477571,
		},
		{
			"perf -j -A -r", PerfStatJSON,
			`{"cpu" : "0", "counter-value" : "5.0", "unit" : "", "event" : "cycles", "variance" : 8.54, "event-runtime" : 10, "pcnt-running" : 100.00}
{"cpu" : "1", "counter-value" : 6.0, "unit" : "", "event" : "cycles", "variance" : 8.54, "event-runtime" : 10, "pcnt-running" : 100.00}
{"cpu" : "1", "counter-value" : "7.0", "unit" : "", "event" : "cycles", "cgroup" : "/a", "event-runtime" : 10, "pcnt-running" : 100.00}
`,
			[]run.Counter{
				{Name: "cycles", Unit: "cpu-cycles", Value: 11, Running: 1},
				{Name: "cycles cgroup=/a", Unit: "count", Value: 7, Running: 1},
			},
			[]string{"values are means of repeated runs"},
			0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range []string{tt.text, strings.ReplaceAll(tt.text, "\n", "\r\n")} {
				if f := detected([]byte(text)); f != tt.format {
					t.Fatalf("is taken for %v", f)
				}
				r := mustRead(t, Read, []byte(text), &Options{})
				if d := cmp.Diff(tt.want, r.Counters, cmpopts.EquateApprox(1e-12, 0)); d != "" {
					t.Errorf("counters (-want +got):\n%s", d)
				}
				if len(r.Warnings) != len(tt.warnings) {
					t.Errorf("warnings %q, want %q", r.Warnings, tt.warnings)
				} else {
					for i, w := range tt.warnings {
						if !strings.HasPrefix(r.Warnings[i], w) {
							t.Errorf("warning %q, want %q", r.Warnings[i], w)
						}
					}
				}
				if d := r.Recording.Duration - tt.duration; d.Abs() > 1 {
					t.Errorf("duration %v, want %v", r.Recording.Duration, tt.duration)
				}
				if len(r.Samples) > 0 || len(r.Events) > 0 {
					t.Errorf("has samples")
				}
			}
		})
	}
}

func TestSimpleperfStat(t *testing.T) {
	const start, end = "Performance counter statistics,\n", "Total test time,0.050861,seconds,\n"
	for _, tt := range []struct {
		name, text string
		want       []run.Counter
		warning    string
	}{
		{
			"all", start + "0.688190(ms),cpu-clock,,\n12345,cpu-cycles:u,1.5,GHz,\n20000,cpu-cycles,1.5,GHz,(generated),\n99,cache-misses,12.5%,miss rate,\n5,branches,1.2,M/sec,(75%),\n" + end,
			[]run.Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 688190},
				{Name: "cpu-cycles:u", Unit: "cpu-cycles", Value: 12345},
				{Name: "cache-misses", Unit: "count", Value: 99},
				{Name: "branches", Unit: "count", Value: 5, Running: 0.75},
			},
			"",
		},
		{
			"threads", start + "a,b,14761,14761,0.961464(ms),cpu-clock,,\nc,14761,14762,75,page-faults,77.634,K/sec,\nd,14761,14763,5,page-faults,77.634,K/sec,\n" + end,
			[]run.Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 961464},
				{Name: "page-faults", Unit: "count", Value: 80},
			},
			"",
		},
		{
			"cores", start + "0,101.983122(ms),cpu-clock,,\n1,102.148048(ms),cpu-clock,,\n0,14,page-faults,137.127,/sec,\n1,79,page-faults,773.823,/sec,\n" + end,
			[]run.Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 204131170},
				{Name: "page-faults", Unit: "count", Value: 93},
			},
			"",
		},
		{
			"intervals since the start", start + "5,page-faults,1,K/sec,\n" + end + start + "5,page-faults,1,K/sec,\n" + end + start + "8,page-faults,1,K/sec,\n" + end,
			[]run.Counter{{Name: "page-faults", Unit: "count", Value: 8}},
			"there are several intervals",
		},
		{
			"intervals", start + "5,page-faults,1,K/sec,\n" + end + start + "2,page-faults,1,K/sec,\n" + end,
			[]run.Counter{{Name: "page-faults", Unit: "count", Value: 7}},
			"",
		},
		{
			"verbose", start + "page-faults,tid,1,cpu,-1,count,5,time_enabled,7,time running,7,id,9,\n5,page-faults,1,K/sec,\n" + end,
			[]run.Counter{{Name: "page-faults", Unit: "count", Value: 5}},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if f := detected([]byte(tt.text)); f != SimpleperfStatCSV {
				t.Errorf("is taken for %v", f)
			}
			r := mustRead(t, readSimpleperfStat, []byte(tt.text), &Options{})
			if d := cmp.Diff(tt.want, r.Counters, cmpopts.EquateApprox(1e-12, 0)); d != "" {
				t.Errorf("counters (-want +got):\n%s", d)
			}
			if got := strings.Join(r.Warnings, "\n"); !strings.HasPrefix(got, tt.warning) || tt.warning == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
			if r.Recording.Duration != 50861*time.Microsecond {
				t.Errorf("duration %v", r.Recording.Duration)
			}
		})
	}
}

// TestStatLive reads what the tools of this machine write.
func TestStatLive(t *testing.T) {
	for _, args := range []string{
		"-x,", "-x;", "-x, -I 20", "-x, -I 20 --summary", "-x, -a -A", "-x, -a --per-core -I 20", "-x, -r 2", "-j", "-j -I 20", "-j -a -A", "-x, -a --per-thread",
	} {
		t.Run("perf stat "+args, func(t *testing.T) {
			perf, err := exec.LookPath("perf")
			if err != nil {
				t.Skip("perf is not installed")
			}
			var out bytes.Buffer
			cmd := exec.Command(perf, append(append([]string{"stat"}, strings.Fields(args)...), "-e", "task-clock,page-faults,cycles", "--", "sleep", "0.05")...)
			cmd.Stderr = &out // perf stat writes there
			if err := cmd.Run(); err != nil {
				t.Skipf("perf cannot count here: %v", err)
			}
			checkLiveCounters(t, out.Bytes(), PerfStatCSV, PerfStatJSON)
		})
	}
	for _, args := range []string{"", "--interval 10", "--per-thread", "--interval 10 --interval-only-values"} {
		t.Run("simpleperf stat "+args, func(t *testing.T) {
			simpleperf, err := exec.LookPath("simpleperf")
			if err != nil {
				t.Skip("simpleperf is not installed")
			}
			out, err := exec.Command(simpleperf, append(append([]string{"stat", "--csv"}, strings.Fields(args)...), "-e", "task-clock,page-faults", "sleep", "0.05")...).Output()
			if err != nil {
				t.Skipf("simpleperf cannot count here: %v", err)
			}
			checkLiveCounters(t, out, SimpleperfStatCSV)
		})
	}
}

func checkLiveCounters(t *testing.T, out []byte, want ...string) {
	t.Helper()
	f := detected(out)
	if f != want[0] && f != want[len(want)-1] {
		t.Fatalf("is taken for %v:\n%s", f, out)
	}
	r, err := Read(sourceOf(t, out), &Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, c := range r.Counters {
		got[c.Name] = c.Value
	}
	if v := got["task-clock"]; v <= 0 || v > 60e9 {
		t.Errorf("task-clock is %v ns:\n%s", v, out)
	}
	if v, ok := got["page-faults"]; !ok || v < 0 || v > 1e9 {
		t.Errorf("there are %v page faults:\n%s", v, out)
	}
}

func TestStatErrors(t *testing.T) {
	const row = "1,,cycles,10,100.00,,\n"
	for _, tt := range []struct {
		name string
		read reader
		text string
		want string
	}{
		{"no row", readPerfStatCSV, row + "hello\n", `line 2: "hello" is no row of perf stat`},
		{"NaN", readPerfStatCSV, row + "nan,,cycles,10,100.00,,\n", "line 2: \"nan,,cycles"},
		{"negative", readPerfStatCSV, row + "-5,,cycles,10,100.00,,\n", "line 2: "},
		{"share", readPerfStatCSV, row + "5,,cycles,10,1000.00,,\n", "line 2: "},
		{"cut off", readPerfStatCSV, row + "5,,cyc", "line 2: "},
		{"empty", readPerfStatCSV, "# nothing\n", "file ends without a counter"},
		{"no JSON", readPerfStatJSON, "{\"counter-value\" : \"1\", \"event\" : \"a\"}\n{\"counter-value\" : \"1\"", "line 2: is no line of perf stat -j: unexpected end"},
		{"no event", readPerfStatJSON, "{\"counter-value\" : \"1\"}\n", "line 1: lacks counter-value or event"},
		{"value", readPerfStatJSON, "{\"counter-value\" : \"x\", \"event\" : \"a\"}\n", `line 1: counter-value "x" is no number`},
		{"running", readPerfStatJSON, "{\"counter-value\" : \"1\", \"event\" : \"a\", \"pcnt-running\" : -3}\n", "pcnt-running -3 is impossible"},
		{"nothing", readPerfStatJSON, "\n", "file ends without a counter"},
		{"within", readSimpleperfStat, "Performance counter statistics,\n5,a,1,b,\n", "file ends within a section"},
		{"outside", readSimpleperfStat, "5,a,1,b,\n", "line 1: \"5,a,1,b,\" is none of simpleperf stat --csv"},
		{"no counter", readSimpleperfStat, "Performance counter statistics,\nx\n", `line 2: "x" is no row`},
		{"no end", readSimpleperfStat, "Performance counter statistics,\nPerformance counter statistics,\n", "line 2: section before has no end"},
		{"time", readSimpleperfStat, "Performance counter statistics,\nTotal test time,x,seconds,\n", "line 2: \"Total test time,x,seconds,\" is no test time"},
		{"empty", readSimpleperfStat, "", "file ends without a counter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := tt.read(sourceOf(t, []byte(tt.text)), &Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestParseCounter(t *testing.T) {
	for _, tt := range []struct {
		s    string
		want float64
	}{
		{"12", 12},
		{"0.5", 0.5},
		{"0,5", 0.5},
		{"1.234,5", 1234.5},
		{"1,234.5", 1234.5},
		{"1,234", 1234},
		{"1.234", 1.234},
		{"1,234,567", 1234567},
		{"1.234.567", 1234567},
		{"1'234'567", 1234567},
		{"1\u00a0234", 1234},
		{"100,00", 100},
		{"", -1},
		{"x", -1},
		{"-1", -1},
		{"nan", -1},
		{"1e5", -1},
		{".", -1},
		{"<not counted>", -1},
		{"1.5.5x", -1},
	} {
		got, ok := parseCounter(tt.s)
		if !ok {
			got = -1
		}
		if got != tt.want || math.IsNaN(got) {
			t.Errorf("parseCounter(%q) = %v, want %v", tt.s, got, tt.want)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("# started\n     0.050215886,CPU0,2,0.90,msec,cpu-clock,3%,900423,100.00,0.018,CPUs utilized\n<not counted>,,cycles,0,100.00,,\n,,,,,,1,x\n"))
	f.Add([]byte("{\"interval\" : 0.1, \"cpu\" : \"0\", \"counter-value\" : \"1.5\", \"unit\" : \"msec\", \"event\" : \"a\", \"event-runtime\" : 1, \"pcnt-running\" : 50.0, \"metric-value\" : nan}\n"))
	f.Add([]byte("Performance counter statistics,\na,1,2,0.5(ms),cpu-clock,,\n5,x,1,2,(75%),\nTotal test time,0.05,seconds,\nPerformance counter statistics,\n1,x,,\nTotal test time,0.05,seconds,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range []reader{readPerfStatCSV, readPerfStatJSON, readSimpleperfStat} {
			fuzzReader(t, read, data, &Options{})
			if r, err := read(sourceOf(t, data), &Options{}); err == nil {
				for _, c := range r.Counters {
					if c.Name == "" || math.IsNaN(c.Value) || c.Value < 0 || !(c.Running >= 0 && c.Running <= 1+1e-9) {
						t.Errorf("counter %+v", c)
					}
				}
			}
		}
	})
}
