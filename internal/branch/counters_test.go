package branch

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// cnGroup are cycles with counters of misses, branches and instructions.
const cnGroup = "header\n" +
	"attr type=hardware config=0 sample_period=100000 sample_type=IP|TID|TIME|READ|ID read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP flags=sample_id_all|exclude_kernel ids=[1,11]\n" +
	"attr type=hardware config=5 sample_period=0x4000000000000000 sample_type=IP|TID|TIME|READ|ID read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP flags=sample_id_all|exclude_kernel ids=[2,12]\n" +
	"attr type=hardware config=4 sample_period=0x4000000000000000 sample_type=IP|TID|TIME|READ|ID read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP flags=sample_id_all|exclude_kernel ids=[3,13]\n" +
	"attr type=hardware config=1 sample_period=0x4000000000000000 sample_type=IP|TID|TIME|READ|ID read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP flags=sample_id_all|exclude_kernel ids=[4,14]\n" +
	"MMAP2 misc=USER pid=10 tid=10 start=0x400000 len=0x10000 pgoff=0 prot=READ|EXEC filename=\"/app\" sample_id={pid=10,tid=10,time=1,id=1}\n" +
	"MMAP2 misc=USER pid=10 tid=10 start=0x800000 len=0x10000 pgoff=0 prot=READ|EXEC filename=\"/lib\" sample_id={pid=10,tid=10,time=1,id=1}\n"

// cnSample is a sample of the leader with values of all counters; set is 0, or 10 for
// those of another thread.
func cnSample(set, time int, ip uint64, running float64, values ...int) string {
	var list []string
	for i, v := range values {
		list = append(list, fmt.Sprintf("{value=%d,id=%d}", v, set+i+1))
	}
	return fmt.Sprintf("SAMPLE misc=USER ip=%#x pid=10 tid=%d time=%d id=%d read={time_enabled=%d,time_running=%d,values=[%s]}\n",
		ip, 10+set, time, set+1, time*1000, int(float64(time)*1000*running), strings.Join(list, ","))
}

// TestCounters gives what was counted between two samples of a thread to the function
// of the later.
func TestCounters(t *testing.T) {
	var b strings.Builder
	b.WriteString(cnGroup)
	// Two threads: /app has 5 % of misses, /lib 20 %; 10 samples of each and thread.
	values := map[int][]int{0: {0, 0, 0, 0}, 10: {0, 0, 0, 0}}
	time := 10
	for i := range 40 {
		set, ip, misses := i%2*10, uint64(0x400100), 500
		if i%4 >= 2 {
			ip, misses = 0x800100, 2000
		}
		v := values[set]
		v[0], v[1], v[2], v[3] = v[0]+100000, v[1]+misses, v[2]+10000, v[3]+50000
		b.WriteString(cnSample(set, time, ip, 1, v...))
		time++
	}
	table, err := readFixture(t, b.String(), &Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkTable(t, table)
	x := table.Totals[0]
	got := []string{
		string(table.Tier), fmt.Sprint(table.Samples.In, table.Samples.Used), x.Source, round(x.Rate, 4), round(x.MPKI, 2),
		fmt.Sprint(x.Misses.Value, x.Branches.Value, x.Instructions.Value, x.Cycles.Value),
	}
	for _, f := range table.Functions {
		got = append(got, fmt.Sprint(f.DSO, " ", f.Misses.Value, " ", f.Branches.Value, " ", math.Round(1000**f.Rate.Value), " ", math.Round(*f.MPKI.Value)))
	}
	want := []string{
		"D", "40 40", "counters", "0.1250", "25.00", "50000 400000 2e+06 4e+06",
		"/lib 40000 200000 200 40", "/app 10000 200000 50 10",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCountersAccounting(t *testing.T) {
	text := cnGroup + cnSample(0, 10, 0x400100, 0.5, 100000, 500, 10000, 50000) +
		cnSample(0, 11, 0x400100, 0.5, 200000, 400, 20000, 100000) + // misses went back
		cnSample(0, 12, 0x400100, 0.5, 300000, 900, 30000, 150000) +
		"SAMPLE misc=USER ip=0x400100 pid=10 tid=10 time=13 id=1 read={time_enabled=13000,time_running=6500,values=[{value=400000,id=1}]}\n"
	table, err := readFixture(t, text, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkTable(t, table)
	if diff := cmp.Diff(map[string]int64{dropCounterFell: 1, dropNoCounters: 1}, table.Samples.Dropped); diff != "" {
		t.Error(diff)
	}
	x := table.Totals[0]
	if got := fmt.Sprint(x.Misses.Value, " ", x.Branches.Value, " ", round(x.Rate, 3)); got != "1800 60000 0.030" {
		t.Errorf("totals %s", got)
	}
	if all := strings.Join(table.Warnings, "\n"); !strings.Contains(all, "branch-misses:u ran 50 % of the time") {
		t.Errorf("warnings %q", all)
	}
}

// TestCountersOfSimpleperf reads what simpleperf record --add-counter wrote: counters
// of cycles and instructions, none of misses.
func TestCountersOfSimpleperf(t *testing.T) {
	data, err := os.ReadFile(recording(t, "simpleperf/perf_with_add_counter.data"))
	if err != nil {
		t.Fatal(err)
	}
	c := readCounterReads(t, data)
	totals := c.totals()
	// The counter of cycles says more than the periods of the samples, which sum up to
	// 1,262,572.
	if got := fmt.Sprint(totals[0].value, " ", totals[1].value, " ", len(c.samples), " ", c.broken); got != "2.034455e+06 2.048526e+06 12 0" {
		t.Errorf("cycles, instructions, samples, broken: %s", got)
	}
	_, err = Read("x", bytes.NewReader(data), int64(len(data)), &Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "no branch stacks: ") {
		t.Errorf("error %v", err)
	}
}

// readCounterReads replays the counters of a recording.
func readCounterReads(t *testing.T, data []byte) *counterReads {
	t.Helper()
	file, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &counterHandler{file: file, s: newSampler()}
	if err := perfsession.New(file).Replay(h); err != nil {
		t.Fatal(err)
	}
	return &h.s.counters
}

type counterHandler struct {
	file *perffile.File
	s    *sampler
}

func (h *counterHandler) Switch(perfsession.Switch) error { return nil }
func (h *counterHandler) Sample(s *perfsession.Sample) error {
	h.s.add(h.file, s)
	return nil
}

// TestCountersOfPerf compares the differences of counters with those that perf script
// prints as the periods of the members of the group.
func TestCountersOfPerf(t *testing.T) {
	perf, err := exec.LookPath("perf")
	if err != nil {
		t.Skip("perf is not installed")
	}
	file := filepath.Join(t.TempDir(), "perf.data")
	if out, err := exec.Command(perf, "record", "-e", "{cpu-clock,page-faults}:S", "-o", file, "--", perf, "--help").CombinedOutput(); err != nil {
		t.Skipf("perf cannot record here: %s", out)
	}
	text, err := exec.Command(perf, "script", "-i", file, "-F", "event,period").Output()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string][]uint64)
	for line := range strings.Lines(string(text)) {
		var period uint64
		var event string
		if _, err := fmt.Sscan(line, &period, &event); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		event, _, _ = strings.Cut(event, ":")
		want[event] = append(want[event], period)
	}
	c := readCounterReads(t, data)
	got := make(map[string][]uint64)
	sums := make(map[int]uint64)
	for _, s := range c.samples {
		for _, d := range c.deltas[s.first : s.first+uint32(s.n)] {
			sums[d.attr] += d.delta
			if d.delta > 0 { // perf leaves these out
				name := []string{"cpu-clock", "page-faults"}[d.attr]
				got[name] = append(got[name], d.delta)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got["cpu-clock"]) == 0 {
		t.Errorf("differences (-perf +got):\n%s", diff)
	}
	for attr, total := range c.totals() {
		if k := total.running; k == 1 && float64(sums[attr]) != total.value {
			t.Errorf("event %d: differences sum to %d, the counter has %v", attr, sums[attr], total.value)
		}
	}
}

// TestCounterRatio: intervals of the ratio of two counters hold as often as they say.
func TestCounterRatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rate, runs = 0.1, 2000
	held := 0
	for range runs {
		var p pairSums
		for range 60 {
			// Samples whose length and rate vary.
			branches := 5000 + 10000*rng.Float64()
			p.add(branches*rate*(0.5+rng.Float64()), branches)
		}
		r := p.ratio(1)
		if r.CI[0] <= rate && rate <= r.CI[1] {
			held++
		}
	}
	if part := float64(held) / runs; part < 0.935 || part > 0.985 {
		t.Errorf("%.1f %% of intervals hold, want 95 %%", 100*part)
	}
}

func TestReadStatText(t *testing.T) {
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
			[]Counter{{"task-clock:u", 0.98, 0}, {"branch-misses:u", 1234567, 0.8321}, {"cpu_core/branches/u", 16244302, 0}},
			[]string{"cycles was not counted"},
			"",
		},
		{
			"repeated", " Performance counter stats for 'a' (5 runs):\n 12 branch-misses ( +- 1.00% )\n 12 branch-misses\n  0.0045 +- 0.0001 seconds time elapsed  ( +-  1.51% )\n",
			[]Counter{{"branch-misses", 12, 0}},
			[]string{"values are means of repeated runs", "branch-misses is counted more than once, the first is taken"},
			"",
		},
		{
			"simpleperf",
			"Performance counter statistics:\n\n#           count  event_name                # count / runtime\n       16,513,564  raw-br-mis-pred:u         # 1.612 M/sec  (75%)\n      688.190(ms)  task-clock                # 0.9 cpus used\n\nTotal test time: 1.005 seconds.\n",
			[]Counter{{"raw-br-mis-pred:u", 16513564, 0.75}, {"task-clock", 688.19, 0}},
			nil, "",
		},
		{"another locale", " Performance counter stats for 'a':\n 1.234.567 branch-misses\n", []Counter{{"branch-misses", 1234567, 0}}, nil, ""},
		{"old unit", " Performance counter stats for 'a':\n 0.98 task-clock (msec) # 0.2 CPUs utilized\n", []Counter{{"task-clock", 0.98, 0}}, nil, ""},
		{"nothing", " Performance counter stats for 'a':\n", nil, nil, "no counters"},
		{"no number", " Performance counter stats for 'a':\n x branch-misses\n", nil, nil, `line 2: "x branch-misses" is no count of perf stat or simpleperf stat`},
		{"bad part", " Performance counter stats for 'a':\n 1 branch-misses (120%)\n", nil, nil, `line 2: "(120%)" is no part of the time`},
		{"two runs", "Performance counter statistics:\n 1 cycles\nPerformance counter statistics:\n", nil, nil, "line 3: a second interval: give one"},
		{"by thread", "Performance counter statistics:\n\n# thread_name pid tid count event_name # x\n app 1 1 5 cycles\n", nil, nil, "line 3: counts by thread or CPU: only those of all are read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := ReadStatText("x", strings.NewReader(test.text))
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

func TestStatTable(t *testing.T) {
	s := &Stat{Name: "x", Format: "perf stat", Tool: "perf", Counters: []Counter{
		{"branch-misses:u", 1000, 0.95},
		{"branches:u", 20000, 0.95},
		{"instructions:u", 100000, 0.2},
		{"cycles", 5, 0},
		{"cpu_atom/branch-misses/", 7, 0},
		{"cpu_atom/branches/", 70, 0},
		{"cpu_atom/instructions/", 700, 0},
	}}
	table, err := StatTable(s, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range table.Totals {
		got = append(got, x.PMU+" "+round(x.Rate, 3)+" "+round(x.MPKI, 2)+" "+x.MPKIRefused)
	}
	want := []string{" 0.050 none instructions:u ran 20 % of the time only", "cpu_atom 0.100 10.00 "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := StatTable(&Stat{Counters: s.Counters[3:4]}, &Options{}); err == nil || !strings.HasPrefix(err.Error(), "branch misses were not counted") {
		t.Errorf("error %v", err)
	}
}

// TestStatTotals takes the totals of samples from perf stat.
func TestStatTotals(t *testing.T) {
	stat := &Stat{Name: "st.txt", Counters: []Counter{{"branch-misses:u", 80000, 1}, {"branches:u", 500000, 1}, {"instructions:u", 2e7, 1}}}
	text := "header\n" + missAttr + branchAttr + smMap + smSamples(40, 1, 10, 0x400100, "") + smSamples(50, 2, 100, 0x400100, "")
	table, err := readFixture(t, text, &Options{Stat: stat})
	if err != nil {
		t.Fatal(err)
	}
	checkTable(t, table)
	x, f := table.Totals[0], table.Functions[0]
	got := []string{x.Source, round(x.Rate, 4), round(x.MPKI, 2), fmt.Sprint(f.Misses.Value), round(f.Rate, 4)}
	if diff := cmp.Diff([]string{"st.txt", "0.1600", "4.00", "80000", "0.1600 [0.1056, 0.2425]"}, got); diff != "" {
		t.Error(diff)
	}
	// Of stacks, shares and MPKI.
	precise := strings.Replace(brAttr, "branch_sample_type", "precise_ip=2 branch_sample_type", 1)
	hits := strings.Repeat(brSample(10, 5, hit, miss), 20)
	stat = &Stat{Name: "st.txt", Counters: []Counter{{"branch-misses", 80000, 1}, {"instructions", 2e6, 1}}}
	if table, err = readFixture(t, precise+brApp+hits+brIntel, &Options{Stat: stat}); err != nil {
		t.Fatal(err)
	}
	if b := table.Branches[0]; b.MissShare == nil || *b.MissShare != *b.Misses/80000 {
		t.Errorf("%v misses, scaled %v", *b.Misses, table.Scaled)
	}
	stat.Counters = []Counter{{"page-faults", 1, 1}}
	if _, err = readFixture(t, brAttr+brApp+hits+brIntel, &Options{Stat: stat}); err == nil || !strings.HasPrefix(err.Error(), "st.txt has no count of misses") {
		t.Errorf("error %v", err)
	}
}

func FuzzStatText(f *testing.F) {
	f.Add(" Performance counter stats for './app':\n 1,234 branch-misses:u # 7% of all branches ( +- 0.5% ) (83.21%)\n 5 branches\n 1 seconds time elapsed\n")
	f.Add("Performance counter statistics:\n\n# count  event_name # count / runtime\n 5 r22:u # 1.6 M/sec (75%)\n 688.190(ms) task-clock\nTotal test time: 1 seconds.\n")
	f.Add(" Performance counter stats for 'a' (2 runs):\n <not counted> cycles\n ( 1%)\n 9 (\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ReadStatText("x", strings.NewReader(text))
		if (s == nil) == (err == nil) {
			t.Fatalf("stat %v and error %v", s != nil, err)
		}
		if err != nil {
			return
		}
		for _, c := range s.Counters {
			if !(c.Value >= 0) || !(c.Running >= 0 && c.Running <= 1) || c.Name == "" {
				t.Errorf("counter %+v", c)
			}
		}
		if table, err := StatTable(s, &Options{}); err == nil {
			for _, x := range table.Totals {
				checkRatio(t, x.Rate)
				checkRatio(t, x.MPKI)
			}
		}
	})
}
