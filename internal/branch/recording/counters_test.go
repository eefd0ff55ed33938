package recording

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/counters"
	"profdiff/internal/branch/samples"
	"profdiff/internal/branch/totals"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/perfstat"
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
	table, err := readFixture(t, b.String(), &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	x := table.Totals[0]
	got := []string{
		string(table.Tier), fmt.Sprint(table.Samples.In, table.Samples.Used), x.Source, round(x.Rate, 4), round(x.MPKI, 2),
		fmt.Sprint(x.Misses.Value, x.Branches.Value, x.Instructions.Value, x.Cycles.Value),
	}
	for _, f := range table.Sampled.Functions {
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
	table, err := readFixture(t, text, &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	if diff := cmp.Diff(map[string]int64{samples.DropCounterFell: 1, samples.DropNoCounters: 1}, table.Samples.Dropped); diff != "" {
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
	data, err := os.ReadFile(branchtest.Recording(t, "simpleperf/perf_with_add_counter.data"))
	if err != nil {
		t.Fatal(err)
	}
	c := readCounterReads(t, data)
	totals := c.Totals()
	// The counter of cycles says more than the periods of the samples, which sum up to
	// 1,262,572.
	if got := fmt.Sprint(totals[0].Value, " ", totals[1].Value, " ", len(c.Samples), " ", c.Broken); got != "2.034455e+06 2.048526e+06 12 0" {
		t.Errorf("cycles, instructions, samples, broken: %s", got)
	}
	_, err = readBytes("x", data, &branch.Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "no branch stacks: ") {
		t.Errorf("error %v", err)
	}
}

// readCounterReads replays the counters of a recording.
func readCounterReads(t *testing.T, data []byte) *counters.Reads {
	t.Helper()
	file, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &counterHandler{file: file, s: samples.New()}
	if err := perfsession.New(file).Replay(h); err != nil {
		t.Fatal(err)
	}
	return &h.s.Counters
}

type counterHandler struct {
	file *perffile.File
	s    *samples.Sampler
}

func (h *counterHandler) Switch(perfsession.Switch) error { return nil }

func (h *counterHandler) Sample(s *perfsession.Sample) error {
	h.s.Add(h.file, s)
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
	for _, s := range c.Samples {
		for _, d := range c.Deltas[s.First : s.First+uint32(s.N)] {
			sums[d.Attr] += d.By
			if d.By > 0 { // perf leaves these out
				name := []string{"cpu-clock", "page-faults"}[d.Attr]
				got[name] = append(got[name], d.By)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got["cpu-clock"]) == 0 {
		t.Errorf("differences (-perf +got):\n%s", diff)
	}
	for attr, total := range c.Totals() {
		if k := total.Running; k == 1 && float64(sums[attr]) != total.Value {
			t.Errorf("event %d: differences sum to %d, the counter has %v", attr, sums[attr], total.Value)
		}
	}
}

func TestStatTable(t *testing.T) {
	s := &perfstat.Stat{Name: "x", Format: "perf stat", Tool: "perf", Counters: []perfstat.Counter{
		{Name: "branch-misses:u", Value: 1000, Running: 0.95},
		{Name: "branches:u", Value: 20000, Running: 0.95},
		{Name: "instructions:u", Value: 100000, Running: 0.2},
		{Name: "cycles", Value: 5, Running: 0},
		{Name: "cpu_atom/branch-misses/", Value: 7, Running: 0},
		{Name: "cpu_atom/branches/", Value: 70, Running: 0},
		{Name: "cpu_atom/instructions/", Value: 700, Running: 0},
	}}
	table, err := totals.Table(s, &branch.Options{})
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
	if _, err := totals.Table(&perfstat.Stat{Counters: s.Counters[3:4]}, &branch.Options{}); err == nil || !strings.HasPrefix(err.Error(), "branch misses were not counted") {
		t.Errorf("error %v", err)
	}
}

// TestStatTotals takes the totals of samples from perf stat.
func TestStatTotals(t *testing.T) {
	stat := &perfstat.Stat{Name: "st.txt", Counters: []perfstat.Counter{{Name: "branch-misses:u", Value: 80000, Running: 1}, {Name: "branches:u", Value: 500000, Running: 1}, {Name: "instructions:u", Value: 2e7, Running: 1}}}
	text := "header\n" + missAttr + branchAttr + smMap + smSamples(40, 1, 10, 0x400100, "") + smSamples(50, 2, 100, 0x400100, "")
	table, err := readFixture(t, text, &branch.Options{Stat: stat})
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	x, f := table.Totals[0], table.Sampled.Functions[0]
	got := []string{x.Source, round(x.Rate, 4), round(x.MPKI, 2), fmt.Sprint(f.Misses.Value), round(f.Rate, 4)}
	if diff := cmp.Diff([]string{"st.txt", "0.1600", "4.00", "80000", "0.1600 [0.1056, 0.2425]"}, got); diff != "" {
		t.Error(diff)
	}
	// Of stacks, shares and MPKI.
	precise := strings.Replace(brAttr, "branch_sample_type", "precise_ip=2 branch_sample_type", 1)
	hits := strings.Repeat(brSample(10, 5, hit, miss), 20)
	stat = &perfstat.Stat{Name: "st.txt", Counters: []perfstat.Counter{{Name: "branch-misses", Value: 80000, Running: 1}, {Name: "instructions", Value: 2e6, Running: 1}}}
	if table, err = readFixture(t, precise+brApp+hits+brIntel, &branch.Options{Stat: stat}); err != nil {
		t.Fatal(err)
	}
	if b := table.Branches[0]; b.MissShare == nil || *b.MissShare != *b.Misses/80000 {
		t.Errorf("%v misses, scaled %v", *b.Misses, table.Scaled)
	}
	stat.Counters = []perfstat.Counter{{Name: "page-faults", Value: 1, Running: 1}}
	if _, err = readFixture(t, brAttr+brApp+hits+brIntel, &branch.Options{Stat: stat}); err == nil || !strings.HasPrefix(err.Error(), "st.txt has no count of misses") {
		t.Errorf("error %v", err)
	}
}
