package perfstat

import (
	"bytes"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/input"
)

func sourceOf(t testing.TB, text string) *input.Source {
	t.Helper()
	src, err := input.New("test", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// mustRead reads text that is of a format and of no other.
func mustRead(t testing.TB, format, text string) *Stat {
	t.Helper()
	src := sourceOf(t, text)
	for _, f := range []Format{Text, SimpleperfText, CSV, JSON, SimpleperfCSV} {
		if is := f.Recognise(src.Head).Is; is != (f.Name == format) {
			t.Errorf("is %s: %v", f.Name, is)
		}
	}
	s, err := Read(src)
	if err != nil {
		t.Fatal(err)
	}
	if s.Format != format || s.Name != "test" {
		t.Errorf("format %q of %q, want %q", s.Format, s.Name, format)
	}
	return s
}

func TestPerf(t *testing.T) {
	for _, tt := range []struct {
		name   string
		format string
		text   string
		want   []Counter
		// warnings are the starts of warnings.
		warnings []string
		duration time.Duration
	}{
		{
			"perf -x", CSV.Name,
			"# started on Fri Nov 20 10:35:07 2026\n\n0.96,msec,cpu-clock,961945,100.00,0.009,CPUs utilized\n75,,page-faults,961945,100.00,78.195,K/sec\n<not supported>,,cycles,0,100.00,,\n" +
				"1000,,instructions:u,400,40.00,0.5,insn per cycle\n,,,,,1.2,stalled cycles per insn\n",
			[]Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 960000, Running: 1},
				{Name: "page-faults", Value: 75, Running: 1},
				{Name: "instructions:u", Value: 1000, Running: 0.4},
			},
			[]string{"cycles was not counted"},
			0,
		},
		{
			"perf of old versions", CSV.Name, "1.500000,,task-clock,1500000,100.00\n1234567,,cycles,1500000,100.00\n",
			[]Counter{
				{Name: "task-clock", Unit: "nanoseconds", Value: 1500000, Running: 1},
				{Name: "cycles", Value: 1234567, Running: 1},
			},
			nil, 0,
		},
		{
			"perf -I", CSV.Name,
			"     0.050215886;0.90;msec;cpu-clock;900423;100.00;0.018;CPUs utilized\n     0.050215886;10;;cycles;600;100.00;;\n" +
				"     0.100569769;<not counted>;msec;cpu-clock;0;100.00;;\n     0.100569769;20;;cycles;200;50.00;;\n" +
				"     0.121989756;0.07;msec;cpu-clock;73269;100.00;0.001;CPUs utilized\n     0.121989756;30;;cycles;200;100.00;;\n",
			[]Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 970000, Running: 1},
				{Name: "cycles", Value: 60, Running: 1000.0 / 1200},
			},
			[]string{"cpu-clock was not counted in 1 of 3 readings"},
			121989756,
		},
		{
			"perf -I --summary", CSV.Name,
			"     0.050189087,1.03,msec,cpu-clock,1032450,100.00,0.021,CPUs utilized\n     0.100556429,<not counted>,msec,cpu-clock,0,100.00,,\n" +
				"         summary,1.10,msec,cpu-clock,1107892,100.00,0.009,CPUs utilized\n",
			[]Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 1.1e6, Running: 1}},
			nil, 100556429,
		},
		{
			"perf -I --summary --no-csv-summary", CSV.Name,
			"     0.050189087,1.03,msec,cpu-clock,1032450,100.00,0.021,CPUs utilized\n1.10,msec,cpu-clock,1107892,100.00,0.009,CPUs utilized\n",
			[]Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 1.1e6, Running: 1}},
			nil, 50189087,
		},
		{
			"perf -A", CSV.Name, "CPU0,122,,cycles,5,100.00,1.000,CPUs utilized\nCPU1,100,,cycles,5,100.00,1.000,CPUs utilized\n",
			[]Counter{{Name: "cycles", Value: 222, Running: 1}},
			nil, 0,
		},
		{
			"perf --per-thread, of threads that ended", CSV.Name,
			"Couldn't resolve comm name for pid 31465\nsleep-31467,122,,cycles,5,100.00,,\nCouldn't resolve comm name for pid 31465\n:31465-31465,100,,cycles,5,100.00,,\n",
			[]Counter{{Name: "cycles", Value: 222, Running: 1}},
			nil, 0,
		},
		{
			"perf -I --per-core", CSV.Name,
			"     0.100244714,S0-D0-C0,1,100.42,msec,cpu-clock,100422854,100.00,1.004,CPUs utilized\n     0.100244714,S0-D0-C1,1,100.47,msec,cpu-clock,100473660,100.00,1.005,CPUs utilized\n" +
				"     0.121701376,S0-D0-C0,1,21.44,msec,cpu-clock,21439258,100.00,0.214,CPUs utilized\n",
			[]Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 222.33e6, Running: 1}},
			nil, 121701376,
		},
		{
			"perf --per-thread", CSV.Name, "perf-14783,0.62,msec,cpu-clock,622328,100.00,0.006,CPUs utilized\nkworker/0:0-events-9,0.01,msec,cpu-clock,11117,100.00,0.000,CPUs utilized\n",
			[]Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 630000, Running: 1}},
			nil, 0,
		},
		{
			"perf -r", CSV.Name, "1.02,msec,cpu-clock,8.52%,1028073,100.00,0.010,CPUs utilized\n",
			[]Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 1.02e6, Running: 1, Spread: 0.0852}},
			[]string{"values are means of repeated runs"},
			0,
		},
		{
			"perf in another locale", CSV.Name, "1.234,56;msec;cpu-clock;961945;100,00;0,009;CPUs utilized\n12.345.678;;cycles;961945;100,00;;\n",
			[]Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 1234.56e6, Running: 1},
				{Name: "cycles", Value: 12345678, Running: 1},
			},
			nil, 0,
		},
		{
			"perf with tabs", CSV.Name, "0.97\tmsec\tcpu-clock\t974824\t100.00\t0.082\tCPUs utilized\n1\t\tcs\t974824\t100.00\t1.031\tK/sec\n",
			[]Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 970000, Running: 1},
				{Name: "cs", Value: 1, Running: 1},
			},
			nil, 0,
		},
		{
			"perf with spaces", CSV.Name, "1.10 msec cpu-clock 1103516 100.00 0.093 CPUs utilized\n1  cs 1103516 100.00 910.733 /sec\n",
			[]Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 1.1e6, Running: 1},
				{Name: "cs", Value: 1, Running: 1},
			},
			nil, 0,
		},
		{
			"perf with units", CSV.Name, "12,ns,duration_time,12,100.00,,\n3.5,Joules,power/energy-pkg/,12,100.00,,\n5,us,user_time,12,100.00,,\n",
			[]Counter{
				{Name: "duration_time", Unit: "nanoseconds", Value: 12, Running: 1},
				{Name: "power/energy-pkg/", Unit: "Joules", Value: 3.5, Running: 1},
				{Name: "user_time", Unit: "nanoseconds", Value: 5000, Running: 1},
			},
			nil, 0,
		},
		{
			"perf with cgroups", CSV.Name, "12,,cycles,/a,12,100.00,,\n13,,cycles,/b,12,100.00,,\n",
			[]Counter{
				{Name: "cycles cgroup=/a", Value: 12, Running: 1},
				{Name: "cycles cgroup=/b", Value: 13, Running: 1},
			},
			nil, 0,
		},
		{
			"perf with an event twice", CSV.Name, "12,,cycles,12,100.00,,\n13,,cycles,12,100.00,,\n",
			[]Counter{{Name: "cycles", Value: 12, Running: 1}},
			[]string{"cycles is counted more than once, the first is taken"},
			0,
		},
		{
			"perf -j", JSON.Name,
			`{"counter-value" : "1.023146", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 1028695, "pcnt-running" : 100.00, "metric-value" : 0.010034, "metric-unit" : "CPUs utilized"}
{"counter-value" : "<not supported>", "unit" : "", "event" : "cycles", "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}
{"counter-value" : "74.000000", "unit" : "", "event" : "page-faults", "event-runtime" : 1028695, "pcnt-running" : 50.00, "metric-value" : nan, "metric-unit" : "K/sec"}
{"metric-value" : 0.5, "metric-unit" : "stalled cycles per insn"}
`,
			[]Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 1023146, Running: 1},
				{Name: "page-faults", Value: 74, Running: 0.5},
			},
			[]string{"cycles was not counted"},
			0,
		},
		{
			"perf -j -I --summary", JSON.Name,
			`{"interval" : 0.050138100, "counter-value" : "0.838120", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 840233, "pcnt-running" : 100.00}
{"interval" : 0.100477571, "counter-value" : "0.069464", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 71346, "pcnt-running" : 100.00}
{"counter-value" : "0.907584", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 911579, "pcnt-running" : 100.00}
`,
			[]Counter{{Name: "cpu-clock", Unit: "nanoseconds", Value: 907584, Running: 1}},
			nil, 100477571,
		},
		{
			"perf -j -A -r", JSON.Name,
			`{"cpu" : "0", "counter-value" : "5.0", "unit" : "", "event" : "cycles", "variance" : 8.54, "event-runtime" : 10, "pcnt-running" : 100.00}
{"cpu" : "1", "counter-value" : 6.0, "unit" : "", "event" : "cycles", "variance" : 8.54, "event-runtime" : 10, "pcnt-running" : 100.00}
{"cpu" : "1", "counter-value" : "7.0", "unit" : "", "event" : "cycles", "cgroup" : "/a", "event-runtime" : 10, "pcnt-running" : 100.00}
`,
			[]Counter{
				{Name: "cycles", Value: 11, Running: 1},
				{Name: "cycles cgroup=/a", Value: 7, Running: 1},
			},
			[]string{"values are means of repeated runs"},
			0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range []string{tt.text, strings.ReplaceAll(tt.text, "\n", "\r\n")} {
				r := mustRead(t, tt.format, text)
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
				if d := r.Duration - tt.duration; d.Abs() > 1 {
					t.Errorf("duration %v, want %v", r.Duration, tt.duration)
				}
			}
		})
	}
}

func TestSimpleperf(t *testing.T) {
	const start, end = "Performance counter statistics,\n", "Total test time,0.050861,seconds,\n"
	for _, tt := range []struct {
		name, text string
		want       []Counter
		warning    string
	}{
		{
			"all", start + "0.688190(ms),cpu-clock,,\n12345,cpu-cycles:u,1.5,GHz,\n20000,cpu-cycles,1.5,GHz,(generated),\n99,cache-misses,12.5%,miss rate,\n5,branches,1.2,M/sec,(75%),\n" + end,
			[]Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 688190},
				{Name: "cpu-cycles:u", Value: 12345},
				{Name: "cache-misses", Value: 99},
				{Name: "branches", Value: 5, Running: 0.75},
			},
			"",
		},
		{
			"threads", start + "a,b,14761,14761,0.961464(ms),cpu-clock,,\nc,14761,14762,75,page-faults,77.634,K/sec,\nd,14761,14763,5,page-faults,77.634,K/sec,\n" + end,
			[]Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 961464},
				{Name: "page-faults", Value: 80},
			},
			"",
		},
		{
			"cores", start + "0,101.983122(ms),cpu-clock,,\n1,102.148048(ms),cpu-clock,,\n0,14,page-faults,137.127,/sec,\n1,79,page-faults,773.823,/sec,\n" + end,
			[]Counter{
				{Name: "cpu-clock", Unit: "nanoseconds", Value: 204131170},
				{Name: "page-faults", Value: 93},
			},
			"",
		},
		{
			"intervals since the start", start + "5,page-faults,1,K/sec,\n" + end + start + "5,page-faults,1,K/sec,\n" + end + start + "8,page-faults,1,K/sec,\n" + end,
			[]Counter{{Name: "page-faults", Value: 8}},
			"there are several intervals",
		},
		{
			"intervals", start + "5,page-faults,1,K/sec,\n" + end + start + "2,page-faults,1,K/sec,\n" + end,
			[]Counter{{Name: "page-faults", Value: 7}},
			"",
		},
		{
			"verbose", start + "page-faults,tid,1,cpu,-1,count,5,time_enabled,7,time running,7,id,9,\n5,page-faults,1,K/sec,\n" + end,
			[]Counter{{Name: "page-faults", Value: 5}},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustRead(t, SimpleperfCSV.Name, tt.text)
			if d := cmp.Diff(tt.want, r.Counters, cmpopts.EquateApprox(1e-12, 0)); d != "" {
				t.Errorf("counters (-want +got):\n%s", d)
			}
			if got := strings.Join(r.Warnings, "\n"); !strings.HasPrefix(got, tt.warning) || tt.warning == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
			if r.Duration != 50861*time.Microsecond {
				t.Errorf("duration %v", r.Duration)
			}
		})
	}
}

func TestText(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []Counter
		warnings   []string
		err        string
	}{
		{
			"perf",
			"started\n\n Performance counter stats for './app -x':\n\n         0.98 msec task-clock:u    #    0.218 CPUs utilized  \n" +
				"     1,234,567      branch-misses:u     #    7.60% of all branches          ( +-  0.50% )  (83.21%)\n" +
				"   <not supported>      cycles\n     16244302 cpu_core/branches/u\n\n       0.0045 seconds time elapsed\n\n       0.1 seconds user\n bye\n",
			[]Counter{{Name: "task-clock:u", Unit: "nanoseconds", Value: 980000}, {Name: "branch-misses:u", Value: 1234567, Running: 0.8321, Spread: 0.005}, {Name: "cpu_core/branches/u", Value: 16244302}},
			[]string{"cycles was not counted"},
			"",
		},
		{
			"repeated", " Performance counter stats for 'a' (5 runs):\n 12 branch-misses ( +- 1.00% )\n 12 branch-misses\n  0.0045 +- 0.0001 seconds time elapsed  ( +-  1.51% )\n",
			[]Counter{{Name: "branch-misses", Value: 12, Spread: 0.01}},
			[]string{"branch-misses is counted more than once, the first is taken", "values are means of repeated runs"},
			"",
		},
		{
			"simpleperf",
			"Performance counter statistics:\n\n#           count  event_name                # count / runtime\n       16,513,564  raw-br-mis-pred:u         # 1.612 M/sec  (75%)\n      688.190(ms)  task-clock                # 0.9 cpus used\n\nTotal test time: 1.005 seconds.\n",
			[]Counter{{Name: "raw-br-mis-pred:u", Value: 16513564, Running: 0.75}, {Name: "task-clock", Unit: "nanoseconds", Value: 688190000}},
			nil, "",
		},
		{"another locale", " Performance counter stats for 'a':\n 1.234.567 branch-misses\n", []Counter{{Name: "branch-misses", Value: 1234567}}, nil, ""},
		{"old unit", " Performance counter stats for 'a':\n 0.98 task-clock (msec) # 0.2 CPUs utilized\n", []Counter{{Name: "task-clock", Unit: "nanoseconds", Value: 980000}}, nil, ""},
		{"nothing", " Performance counter stats for 'a':\n", nil, nil, "line 2: file ends without a counter"},
		{"no number", " Performance counter stats for 'a':\n x branch-misses\n", nil, nil, `line 2: "x branch-misses" is no count of perf stat or simpleperf stat`},
		{"bad part", " Performance counter stats for 'a':\n 1 branch-misses (120%)\n", nil, nil, `line 2: "(120%)" is no part of the time`},
		{"two runs", "Performance counter statistics:\n 1 cycles\nPerformance counter statistics:\n", nil, nil, "line 3: a second interval: give one"},
		{"by thread", "Performance counter statistics:\n\n# thread_name pid tid count event_name # x\n app 1 1 5 cycles\n", nil, nil, "line 3: counts by thread or CPU: only those of all are read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := readText(sourceOf(t, test.text))
			if test.err != "" {
				if s != nil || err == nil || err.Error() != test.err {
					t.Errorf("got %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.Counters); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.warnings, s.Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLive reads what the tools of this machine write.
func TestLive(t *testing.T) {
	for _, args := range []string{
		"-x,", "-x;", "-x, -I 20", "-x, -I 20 --summary", "-x, -a -A", "-x, -a --per-core -I 20", "-x, -r 2", "-j", "-j -I 20", "-j -a -A", "-x, -a --per-thread",
	} {
		t.Run("perf stat "+args, func(t *testing.T) {
			perf, err := exec.LookPath("perf")
			if err != nil {
				t.Skip("perf is not installed")
			}
			if err := exec.Command(perf, "stat", "-e", "task-clock", "true").Run(); err != nil { // not all of its modes tell
				t.Skipf("perf cannot count here: %v", err)
			}
			var out bytes.Buffer
			cmd := exec.Command(perf, append(append([]string{"stat"}, strings.Fields(args)...), "-e", "task-clock,page-faults,cycles", "--", "sleep", "0.05")...)
			cmd.Stderr = &out // perf stat writes there
			if err := cmd.Run(); err != nil {
				t.Skipf("perf cannot count here: %v", err)
			}
			checkLiveCounters(t, out.Bytes(), CSV.Name, JSON.Name)
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
			checkLiveCounters(t, out, SimpleperfCSV.Name)
		})
	}
}

func checkLiveCounters(t *testing.T, out []byte, want ...string) {
	t.Helper()
	r, err := Read(sourceOf(t, string(out)))
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if !slices.Contains(want, r.Format) {
		t.Errorf("is taken for %s:\n%s", r.Format, out)
	}
	got := make(map[string]float64)
	for _, c := range r.Counters {
		got[strings.TrimSuffix(c.Name, ":u")] = c.Value // what perf calls it for users who may not count the kernel
	}
	if v := got["task-clock"]; v <= 0 || v > 60e9 {
		t.Errorf("task-clock is %v ns:\n%s", v, out)
	}
	if v, ok := got["page-faults"]; !ok || v < 0 || v > 1e9 {
		t.Errorf("there are %v page faults:\n%s", v, out)
	}
}

func TestErrors(t *testing.T) {
	const row = "1,,cycles,10,100.00,,\n"
	for _, tt := range []struct {
		name string
		read func(*input.Source) (*Stat, error)
		text string
		want string
	}{
		{"no row", readCSV, row + "hello\n", `line 2: "hello" is no row of perf stat`},
		{"NaN", readCSV, row + "nan,,cycles,10,100.00,,\n", "line 2: \"nan,,cycles"},
		{"negative", readCSV, row + "-5,,cycles,10,100.00,,\n", "line 2: "},
		{"share", readCSV, row + "5,,cycles,10,1000.00,,\n", "line 2: "},
		{"cut off", readCSV, row + "5,,cyc", "line 2: "},
		{"empty", readCSV, "# nothing\n", "file ends without a counter"},
		{"no JSON", readJSON, "{\"counter-value\" : \"1\", \"event\" : \"a\"}\n{\"counter-value\" : \"1\"", "line 2: is no line of perf stat -j: unexpected end"},
		{"no event", readJSON, "{\"counter-value\" : \"1\"}\n", "line 1: lacks counter-value or event"},
		{"value", readJSON, "{\"counter-value\" : \"x\", \"event\" : \"a\"}\n", `line 1: counter-value "x" is no number`},
		{"running", readJSON, "{\"counter-value\" : \"1\", \"event\" : \"a\", \"pcnt-running\" : -3}\n", "pcnt-running -3 is impossible"},
		{"nothing", readJSON, "\n", "file ends without a counter"},
		{"within", readSimpleperfCSV, "Performance counter statistics,\n5,a,1,b,\n", "file ends within a section"},
		{"outside", readSimpleperfCSV, "5,a,1,b,\n", "line 1: \"5,a,1,b,\" is none of simpleperf stat --csv"},
		{"no counter", readSimpleperfCSV, "Performance counter statistics,\nx\n", `line 2: "x" is no row`},
		{"no end", readSimpleperfCSV, "Performance counter statistics,\nPerformance counter statistics,\n", "line 2: section before has no end"},
		{"time", readSimpleperfCSV, "Performance counter statistics,\nTotal test time,x,seconds,\n", "line 2: \"Total test time,x,seconds,\" is no test time"},
		{"empty", readSimpleperfCSV, "", "file ends without a counter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := tt.read(sourceOf(t, tt.text))
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestParseValue(t *testing.T) {
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
		got, ok := parseValue(tt.s)
		if !ok {
			got = -1
		}
		if got != tt.want || math.IsNaN(got) {
			t.Errorf("parseValue(%q) = %v, want %v", tt.s, got, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("# started\n     0.050215886,CPU0,2,0.90,msec,cpu-clock,3%,900423,100.00,0.018,CPUs utilized\n<not counted>,,cycles,0,100.00,,\n,,,,,,1,x\n"))
	f.Add([]byte("{\"interval\" : 0.1, \"cpu\" : \"0\", \"counter-value\" : \"1.5\", \"unit\" : \"msec\", \"event\" : \"a\", \"event-runtime\" : 1, \"pcnt-running\" : 50.0, \"metric-value\" : nan}\n"))
	f.Add([]byte("Performance counter statistics,\na,1,2,0.5(ms),cpu-clock,,\n5,x,1,2,(75%),\nTotal test time,0.05,seconds,\nPerformance counter statistics,\n1,x,,\nTotal test time,0.05,seconds,\n"))
	f.Add([]byte(" Performance counter stats for './app':\n 1,234 branch-misses:u # 7% of all branches ( +- 0.5% ) (83.21%)\n 5 branches\n 1 seconds time elapsed\n"))
	f.Add([]byte("Performance counter statistics:\n\n# count  event_name # count / runtime\n 5 r22:u # 1.6 M/sec (75%)\n 688.190(ms) task-clock\nTotal test time: 1 seconds.\n"))
	f.Add([]byte(" Performance counter stats for 'a' (2 runs):\n <not counted> cycles\n ( 1%)\n 9 (\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range []func(*input.Source) (*Stat, error){readText, readCSV, readJSON, readSimpleperfCSV} {
			src, err := input.New("fuzz", bytes.NewReader(data))
			if err != nil {
				return
			}
			for _, f := range []Format{Text, SimpleperfText, CSV, JSON, SimpleperfCSV} {
				f.Recognise(src.Head)
			}
			s, err := read(src)
			if (s == nil) == (err == nil) {
				t.Fatalf("stat %v and error %v", s != nil, err)
			}
			if err != nil {
				continue
			}
			for _, c := range s.Counters {
				if c.Name == "" || math.IsNaN(c.Value) || c.Value < 0 || !(c.Running >= 0 && c.Running <= 1+1e-9) {
					t.Errorf("counter %+v", c)
				}
			}
		}
	})
}
