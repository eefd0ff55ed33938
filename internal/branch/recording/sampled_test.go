package recording

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/samples"
	"profdiff/internal/disasm"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
)

// round makes a ratio readable.
func round(r *branch.Ratio, digits int) string {
	switch {
	case r == nil:
		return "none"
	case r.Value == nil:
		return fmt.Sprintf("< %.*f", digits, r.CI[1])
	case r.CI == nil:
		return fmt.Sprintf("%.*f", digits, *r.Value)
	}
	return fmt.Sprintf("%.*f [%.*f, %.*f]", digits, *r.Value, digits, r.CI[0], digits, r.CI[1])
}

// TestSampledRecordings compares totals of recordings with those computed from their
// dumps: (Σw)²/Σw² effective samples, log-normal intervals.
func TestSampledRecordings(t *testing.T) {
	for _, test := range []struct{ name, rate, mpki, unnamed string }{
		{
			"linux/perf.data.armv7-3.4", "0.0760 [0.0607, 0.0951]", "16.07 [12.71, 20.31]",
			"map[kernel code, which is not read:563 no binary:131]",
		},
		{"linux/perf.data.busy.1-3.4", "0.0374 [0.0333, 0.0420]", "8.43 [7.56, 9.40]", ""},
		{"linux/perf.data.i686-3.4", "0.0700 [0.0501, 0.0979]", "9.60 [7.16, 12.87]", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			table := readFile(t, branchtest.Recording(t, test.name))
			if table.Tier != branch.TierSampled || len(table.Totals) != 1 {
				t.Fatalf("tier %s, %d totals", table.Tier, len(table.Totals))
			}
			got := []string{round(table.Totals[0].Rate, 4), round(table.Totals[0].MPKI, 2)}
			if diff := cmp.Diff([]string{test.rate, test.mpki}, got); diff != "" {
				t.Error(diff)
			}
			if u := fmt.Sprint(table.Sampled.Attribution.Unnamed); test.unnamed != "" && u != test.unnamed {
				t.Errorf("not named: %s", u)
			}
			if len(table.Branches) > 0 {
				t.Errorf("%d branches without a binary", len(table.Branches))
			}
		})
	}
}

// lbrAnswers makes a recording of imprecise samples out of one with branch stacks: a
// sample of branch-misses where the newest entry is a mispredicted conditional branch,
// and one of branches everywhere. It returns how often each branch is the answer.
func lbrAnswers(t *testing.T) (data []byte, answers map[uint64]int64, misses int64) {
	t.Helper()
	raw, err := os.ReadFile(branchtest.Recording(t, "lbr/test.lbr"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := perffile.New(bytes.NewReader(raw), int64(len(raw)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &answerHandler{answers: make(map[uint64]int64), code: testBinary(t)}
	h.text.WriteString("header\nattr type=hardware config=5 sample_period=1000 sample_type=IP|TID|TIME|ID flags=sample_id_all|exclude_kernel ids=[1]\n" +
		"attr type=hardware config=4 sample_period=20000 sample_type=IP|TID|TIME|ID flags=sample_id_all|exclude_kernel ids=[2]\n" +
		"MMAP2 misc=USER pid=10 tid=10 start=0x400000 len=0xb000 pgoff=0 prot=READ|EXEC filename=\"/test.binary\" sample_id={pid=10,tid=10,time=1,id=1}\n")
	if err := perfsession.New(file).Replay(h); err != nil {
		t.Fatal(err)
	}
	return perffiletest.Fixture(t, h.text.String()), h.answers, h.misses
}

func testBinary(t testing.TB) *disasm.Code {
	t.Helper()
	data, err := os.ReadFile(branchtest.Recording(t, "lbr/test.binary"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := objfile.New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := disasm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type answerHandler struct {
	text    strings.Builder
	code    *disasm.Code
	answers map[uint64]int64
	misses  int64
	time    int
}

func (h *answerHandler) Switch(perfsession.Switch) error { return nil }

func (h *answerHandler) Sample(s *perfsession.Sample) error {
	m := s.Frames[0].Map
	if m == nil || filepath.Base(m.DSO.Path) != "test.binary" || m.Start != 0x400000 || len(s.Raw.Branches) == 0 {
		return nil
	}
	h.time += 10
	fmt.Fprintf(&h.text, "SAMPLE misc=USER ip=%#x pid=10 tid=10 time=%d id=2\n", s.Raw.IP, h.time)
	b := s.Raw.Branches[0]
	if i, err := h.code.Decode(b.From); !b.Mispredicted || err != nil || i.Kind != disasm.Conditional {
		return nil
	}
	fmt.Fprintf(&h.text, "SAMPLE misc=USER ip=%#x pid=10 tid=10 time=%d id=1\n", s.Raw.IP, h.time)
	h.answers[b.From]++
	h.misses++
	return nil
}

// TestSampledBranches reads imprecise samples of which the branches are known.
func TestSampledBranches(t *testing.T) {
	data, answers, misses := lbrAnswers(t)
	dir := filepath.Dir(branchtest.Recording(t, "lbr/test.binary"))
	opt := &branch.Options{Names: symbolizer.Options{Objects: objectstest.Dir(dir)}}
	table, err := readBytes("x.data", data, opt)
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	a := table.Sampled.Attribution
	if table.Tier != branch.TierSampled || a.In != misses || a.Named < misses*95/100 || a.Exact != 0 {
		t.Errorf("tier %s, %+v", table.Tier, a)
	}
	// Part of the misses that is with the wrong branch.
	found := make(map[uint64]float64)
	for _, b := range table.Branches {
		found[b.Address] += *b.Misses / 1000
	}
	wrong := 0.0
	for addr, n := range answers {
		wrong += math.Max(0, float64(n)-found[addr]) / float64(misses)
	}
	if wrong > 0.30 {
		t.Errorf("%.0f %% of misses are with the wrong branch", 100*wrong)
	}
	var top []uint64
	for addr := range answers {
		top = append(top, addr)
	}
	slices.SortFunc(top, func(a, b uint64) int { return int(answers[b] - answers[a]) })
	first := table.Branches[0]
	if first.Address != top[0] || first.Kind != branch.Conditional || first.Function != "longest_match" {
		t.Errorf("first row is %#x %s, want %#x", first.Address, first.Function, top[0])
	}
	hits, inside := 0, 0
	for _, b := range table.Branches[:10] {
		if slices.Contains(top[:12], b.Address) {
			hits++
		}
		if n := 1000 * float64(answers[b.Address]); n >= b.MissesCI[0] && n <= b.MissesCI[1] {
			inside++
		}
	}
	if hits < 5 || inside < 9 {
		t.Errorf("of the first 10 rows %d are among the first 12 branches, %d have an interval that holds", hits, inside)
	}
	t.Logf("%.1f %% with the wrong branch; first 10: %d right, %d intervals hold; skid %.3f", 100*wrong, hits, inside, a.Skid)
}

// Text of fixtures.
const (
	missAttr   = "attr type=hardware config=5 sample_period=1000 sample_type=IP|TID|TIME|ID|CPU flags=sample_id_all|exclude_kernel ids=[1]\n"
	branchAttr = "attr type=hardware config=4 sample_period=10000 sample_type=IP|TID|TIME|ID|CPU flags=sample_id_all|exclude_kernel ids=[2]\n"
	instAttr   = "attr type=hardware config=1 sample_period=100000 sample_type=IP|TID|TIME|ID|CPU flags=sample_id_all|exclude_kernel ids=[3]\n"
	smMap      = "MMAP2 misc=USER pid=10 tid=10 start=0x400000 len=0x10000 pgoff=0 prot=READ|EXEC filename=\"/app\" sample_id={pid=10,tid=10,time=1,id=1,cpu=0}\n"
)

// smSamples are n samples of an id, with more fields.
func smSamples(n, id, time int, ip uint64, more string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "SAMPLE misc=USER ip=%#x pid=10 tid=10 time=%d id=%d %s\n", ip, time+i, id, more)
	}
	return b.String()
}

func TestSampledTotals(t *testing.T) {
	const read = " read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING"
	withRead := func(attr string) string {
		return strings.TrimSuffix(strings.Replace(attr, "|CPU", "|CPU|READ", 1), "\n") + read + "\n"
	}
	at := func(enabled, running, value int) string {
		return fmt.Sprintf("read={value=%d,time_enabled=%d,time_running=%d}", value, enabled, running)
	}
	freq := func(attr, id string) string {
		return strings.Replace(strings.Replace(attr, "flags=", "flags=freq|", 1), "|CPU", "|CPU|PERIOD", 1)
	}
	for _, test := range []struct {
		name, text string
		rate, mpki string
		misses     float64
		dropped    map[string]int64
		warning    string // a part of one
	}{
		{
			"fixed periods", "header\n" + missAttr + branchAttr + instAttr + smMap + smSamples(40, 1, 10, 0x400100, "") + smSamples(50, 2, 100, 0x400100, "") + smSamples(100, 3, 200, 0x400100, ""),
			"0.0800 [0.0528, 0.1212]", "4.000 [2.772, 5.772]", 40000, nil, "",
		},
		{
			"few samples", "header\n" + missAttr + branchAttr + smMap + smSamples(3, 1, 10, 0x400100, "") + smSamples(50, 2, 100, 0x400100, ""),
			"0.0060 [0.0012, 0.0186]", "none", 3000, nil, "",
		},
		{
			"no miss", "header\n" + missAttr + branchAttr + smMap + smSamples(100, 2, 100, 0x400100, ""),
			"< 0.0038", "none", 0, nil, "",
		},
		{
			"frequency, period settling", "header\n" + freq(missAttr, "1") + branchAttr + smMap + smSamples(2, 1, 5, 0x400100, "period=1") + smSamples(40, 1, 10, 0x400100, "period=1000") + smSamples(50, 2, 100, 0x400100, ""),
			"0.0800 [0.0528, 0.1212]", "none", 40000,
			map[string]int64{samples.DropUnsettled: 2},
			"",
		},
		{
			"lost", "header\n" + missAttr + branchAttr + smMap + smSamples(40, 1, 10, 0x400100, "") + smSamples(50, 2, 100, 0x400100, "") +
				"LOST_SAMPLES misc=0 lost=10 sample_id={pid=10,tid=10,time=900,id=1,cpu=0}\n",
			"0.1000 [0.0660, 0.1516]", "none", 50000, nil, "",
		},
		{
			"modes differ", "header\n" + missAttr + strings.Replace(branchAttr, "|exclude_kernel", "", 1) + smMap + smSamples(40, 1, 10, 0x400100, "") + smSamples(50, 2, 100, 0x400100, ""),
			"none", "none", 40000,
			map[string]int64{branch.DropEvent: 50},
			"do not count in the same modes",
		},
		{
			"counters are trusted", "header\n" + withRead(missAttr) + withRead(branchAttr) + smMap + smSamples(40, 1, 10, 0x400100, at(1000, 1000, 80000)) + smSamples(50, 2, 100, 0x400100, at(1000, 1000, 500000)),
			"0.1600 [0.1056, 0.2425]", "none", 80000, nil, "counted 80000, its samples stand for 40000: the counter is taken",
		},
		{
			"took turns", "header\n" + withRead(missAttr) + withRead(branchAttr) + smMap + smSamples(40, 1, 10, 0x400100, at(1000, 800, 40000)) + smSamples(50, 2, 100, 0x400100, at(1000, 800, 500000)),
			"0.0800 [0.0528, 0.1212]", "none", 50000, nil, "ran 80 % of the time: its count is extrapolated",
		},
		{
			"not at the same time", "header\n" + withRead(missAttr) + withRead(branchAttr) + smMap + smSamples(40, 1, 10, 0x400100, at(1000, 500, 40000)) + smSamples(50, 2, 100, 0x400100, at(1000, 500, 500000)),
			"none", "none", 80000, nil, "did not run at the same time",
		},
		{
			"hardly ran", "header\n" + withRead(missAttr) + withRead(branchAttr) + smMap + smSamples(40, 1, 10, 0x400100, at(1000, 200, 40000)) + smSamples(50, 2, 100, 0x400100, at(1000, 1000, 500000)),
			"none", "none", 200000, nil, "ran 20 % of the time only",
		},
		{
			"Arm", "header\n" + missAttr + branchAttr + smMap + smSamples(40, 1, 10, 0x400100, "") + smSamples(50, 2, 100, 0x400100, "") + "feature ARCH arch=\"aarch64\"\n",
			"0.0800 [0.0528, 0.1212]", "none", 40000, nil, "is not one metric on Arm",
		},
		{
			"raw events of Arm", "header\n" + strings.Replace(missAttr, "type=hardware config=5", "type=raw config=0x22", 1) + strings.Replace(branchAttr, "type=hardware config=4", "type=raw config=0x21", 1) +
				smMap + smSamples(40, 1, 10, 0x400100, "") + smSamples(50, 2, 100, 0x400100, "") + "feature ARCH arch=\"aarch64\"\n",
			"0.0800 [0.0528, 0.1212]", "none", 40000, nil, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := readFixture(t, test.text, &branch.Options{})
			if err != nil {
				t.Fatal(err)
			}
			branchtest.CheckTable(t, table)
			if len(table.Totals) != 1 {
				t.Fatalf("%d totals", len(table.Totals))
			}
			x := table.Totals[0]
			if diff := cmp.Diff([]string{test.rate, test.mpki}, []string{round(x.Rate, 4), round(x.MPKI, 3)}); diff != "" {
				t.Error(diff)
			}
			if math.Abs(x.Misses.Value-test.misses) > 1e-6 {
				t.Errorf("%v misses, want %v", x.Misses.Value, test.misses)
			}
			if diff := cmp.Diff(test.dropped, table.Samples.Dropped); diff != "" {
				t.Errorf("dropped: %s", diff)
			}
			all := strings.Join(table.Warnings, "\n")
			if !strings.Contains(all, test.warning) || test.warning == "" && all != "" {
				t.Errorf("warnings %q, want %q", all, test.warning)
			}
		})
	}
}

// TestSampledPMUs keeps kinds of cores apart.
func TestSampledPMUs(t *testing.T) {
	text := "header\n" + strings.Replace(missAttr, "config=5", "config=0x400000005", 1) + strings.Replace(branchAttr, "config=4", "config=0x400000004", 1) +
		strings.Replace(strings.Replace(missAttr, "config=5", "config=0xa00000005", 1), "ids=[1]", "ids=[4]", 1) +
		strings.Replace(strings.Replace(branchAttr, "config=4", "config=0xa00000004", 1), "ids=[2]", "ids=[5]", 1) + smMap +
		smSamples(40, 1, 10, 0x400100, "") + smSamples(50, 2, 100, 0x400100, "") + smSamples(80, 4, 200, 0x400100, "") + smSamples(40, 5, 300, 0x400100, "") +
		"feature PMU_MAPPINGS pmus=[{type=4,name=\"cpu_core\"},{type=10,name=\"cpu_atom\"}]\n"
	table, err := readFixture(t, text, &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	var got []string
	for _, x := range table.Totals {
		got = append(got, x.PMU+" "+round(x.Rate, 3))
	}
	for _, f := range table.Sampled.Functions {
		got = append(got, fmt.Sprintf("%s %s %v", f.PMU, f.DSO, f.Misses.Value))
	}
	want := []string{"cpu_atom 0.200 [0.137, 0.292]", "cpu_core 0.080 [0.053, 0.121]", "cpu_atom /app 80000", "cpu_core /app 40000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(table.Warnings, func(w string) bool { return strings.Contains(w, "cores of different kinds (cpu_atom, cpu_core)") }) {
		t.Errorf("warnings %q", table.Warnings)
	}
}

func TestSampledErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{
			"no weights", "header\n" + strings.Replace(missAttr, "flags=", "flags=freq|", 1) + smMap + smSamples(5, 1, 10, 0x400100, ""),
			"branch-misses:u varied its period and samples do not have it: record with a fixed period (-c) or with periods (perf record --period)",
		},
		{
			"phone", "header\n" + instAttr + smSamples(5, 3, 10, 0x400100, "") + "feature ARCH arch=\"aarch64\"\nfeature META_INFO\nmeta key=\"simpleperf_version\" value=\"1\"\n",
			"no branch stacks: record them with perf record -b or simpleperf record -b if the CPU has them, or samples of branch misses with simpleperf record -e r22:u,r21:u,instructions:u,cpu-cycles:u -c 100003",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := readFixture(t, test.text, &branch.Options{})
			if table != nil || err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func BenchmarkSampled(b *testing.B) {
	text := sampledSeeds()[0] + smSamples(20000, 1, 1000, 0x4012dd, "") + smSamples(20000, 2, 30000, 0x4012f8, "")
	data := perffiletest.Fixture(b, text)
	opt := withApp(readSlowdown(b))
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := readBytes("x", data, opt); err != nil {
			b.Fatal(err)
		}
	}
}
