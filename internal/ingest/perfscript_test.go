package ingest

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

func TestPerfScriptFile(t *testing.T) {
	data := ingesttest.ReadFile(t, ingesttest.Recording(t, "simpleperf/perf_display_bitmaps.perf-script"))
	r := ingesttest.Read(t, readPerfScript, data, &reading.Options{})
	if d := ingesttest.DiffSums(ingesttest.Sums(t, r, "cpu-clock"), ingesttest.Oracle(t, "oracles/perf_display_bitmaps.data.cpu-clock.folded.tsv")); d != "" {
		t.Error(d)
	}
	if r.Accounting.In != 525 || r.Events[0].Weight != 131250000 || len(ingesttest.ReaderWarnings(r)) > 0 {
		t.Errorf("%s, weight %d, warnings %q", &r.Accounting, r.Events[0].Weight, r.Warnings)
	}
}

// TestPerfScriptRecordings compares what perf script prints of recordings, with
// different choices of fields, with the samples and weights of the recordings.
func TestPerfScriptRecordings(t *testing.T) {
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is not installed")
	}
	fields := [][]string{
		nil,
		{"--header"},
		{"--show-mmap-events", "--show-task-events", "--show-lost-events"},
		{"-G", "-F", "+pid"},
		{"-F", "+misc"},
		{"-F", "+brstack"},
		{"-F", "+brstacksym"},
		{"-F", "+srcline"},
		{"-F", "comm,tid,time,period,event,ip,sym"},
		{"-F", "time,period,event,ip"},
		{"-F", "comm,period,event"},
		{"-F", "period,event,ip,sym,dso"},
	}
	for _, file := range []string{
		"linux/perf.data.branch_stack_spec", "linux/perf.data.callgraph_and_branch-3.8",
		"linux/perf.data.hybrid_topology", "linux/perf.data.lost_samples-4.4", "linux/perf.data.group_desc-4.14",
		"linux/perf.data.armv7-3.4", "linux/perf.data.i686-3.4", "linux/perf.data.piped.hw_and_sw-3.4",
		"linux/perf.data.weight_struct", "linux/single-event-multi-process.perf.data",
	} {
		path := ingesttest.Recording(t, file)
		name := "quipper_" + filepath.Base(file)
		if strings.HasPrefix(filepath.Base(file), "single") {
			name = "pdc_" + filepath.Base(file)
		}
		want := ingesttest.Summary(t, name)
		for _, args := range fields {
			t.Run(filepath.Base(file)+" "+strings.Join(args, " "), func(t *testing.T) {
				t.Parallel()
				out, err := exec.Command("perf", append([]string{"script", "-i", path}, args...)...).Output()
				if err != nil {
					t.Skipf("perf script does not print these fields of this recording: %v", err)
				}
				r := ingesttest.Read(t, readPerfScript, out, &reading.Options{})
				got := make(map[string]run.FoldedSum)
				for _, e := range r.Events {
					got[e.Name] = run.FoldedSum{Weight: e.Weight, Count: e.Samples}
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("events (-want +got):\n%s", d)
				}
				if len(ingesttest.ReaderWarnings(r)) > 0 {
					t.Errorf("warnings %q", r.Warnings)
				}
			})
		}
	}
}

// TestPerfScriptLive records something and compares what perf script prints, with
// different choices of fields, with what perf says that it recorded.
func TestPerfScriptLive(t *testing.T) {
	if testing.Short() {
		t.Skip("runs perf for each form of its output")
	}
	perf, err := exec.LookPath("perf")
	if err != nil {
		t.Skip("perf is not installed")
	}
	data := filepath.Join(t.TempDir(), "perf.data")
	work := "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
	if out, err := exec.Command(perf, "record", "-o", data, "-e", "cpu-clock", "-g", "--", "sh", "-c", work).CombinedOutput(); err != nil {
		t.Skipf("perf cannot record here: %v: %s", err, out)
	}
	want := strings.Count(string(ingesttest.Tool(t, "perf", "script", "-i", data, "-F", "event", "-G")), "cpu-clock:")
	if want == 0 {
		t.Skip("perf recorded no samples")
	}
	for _, args := range []string{
		"", "-F comm,tid,time,event,ip,sym,dso", "-F ip,sym,dso", "-F comm,ip,sym,dso", "-F comm,event", "-G",
		"-F time,event,ip", "-F tid,ip,sym,dso -G", "--header -F +srcline", "--ns", "-F comm,period,ip,sym,dso -G",
		"-F ip,sym,dso -G", "-F comm,ip,sym,dso -G", "-F period,event", "-F comm,tid,pid", "-F +misc",
		"--inline -F +srcline", "-F comm,tid,period,ip -G", "-F ip -G", "-F ip", "-F +pid,+srcline -G", "-F event,ip,sym",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			out := ingesttest.Tool(t, "perf", append([]string{"script", "-i", data}, strings.Fields(args)...)...)
			src := ingesttest.Source(t, out)
			bare := args == "-F ip -G" || args == "-F comm,tid,pid" // anything might look like this
			if f := detected(src.Head); f != PerfScript && !bare {
				t.Errorf("is taken for %v", f)
			}
			r, err := readPerfScript(src, &reading.Options{})
			if err != nil {
				t.Fatal(err)
			}
			ingesttest.CheckRun(t, r)
			e := &r.Events[0]
			if e.Samples != int64(want) || len(r.Events) != 1 {
				t.Errorf("%d samples, want %d", e.Samples, want)
			}
			weight := int64(want)
			if args == "" || strings.Contains(args, "period") || strings.Contains(args, "+") || args == "-G" || args == "--ns" {
				weight *= 250000
			}
			if e.Weight != weight {
				t.Errorf("weight %d, want %d", e.Weight, weight)
			}
		})
	}
}

func TestPerfScript(t *testing.T) {
	const noID = "pid -1 tid -1"
	for _, tt := range []struct {
		name, text string
		stacks     map[string]run.FoldedSum // of the first event
		labels     string                   // thread and ids of the first sample
		warnings   string
	}{
		{
			"spaces in comm", "Thread 12 (x)  345/678  [001]     1.000002: 7 cycles:u: \n\t         ffff01 f+0x1f (/lib/a b.so)\n\n",
			map[string]run.FoldedSum{"f": {Weight: 7, Count: 1}},
			"Thread 12 (x) pid 345 tid 678", "",
		},
		{
			"numbers in comm", "a 12 34 100 cycles: \n\t    1f f (b)\n",
			map[string]run.FoldedSum{"f": {Weight: 100, Count: 1}},
			"a 12 pid -1 tid 34", "",
		},
		{
			"hexadecimal comm", "              dd 14803  2395.380279:     250000 cpu-clock:      7fed9a1a0c2a f (/b)\n" +
				"              dd 14803  2395.380280:     250000 cpu-clock:      7fed9a1a0c2a f (/b)\n",
			map[string]run.FoldedSum{"f": {Weight: 500000, Count: 2}},
			"dd pid -1 tid 14803", "",
		},
		{
			"C++", "a 1 1.000000: 1 cycles:\n\t 12 operator()(int, (anonymous namespace)::A) const (/usr/lib/x (deleted))\n\t 13 std::f<(E)0>(char (*)(int)) (/lib/y)\n",
			map[string]run.FoldedSum{"std::f<(E)0>(char (*)(int));operator()(int, (anonymous namespace)::A) const": {Weight: 1, Count: 1}},
			"a pid -1 tid 1", "",
		},
		{
			"unknown", "a 1 1.000000: 1 cycles:\n\t 12 [unknown] (/lib/libc.so)\n\t 13 libx.so[+1f] (/lib/libx.so)\n\t 14 [unknown] ([unknown])\n\t 0 [unknown] ([unknown])\n",
			map[string]run.FoldedSum{"[unknown];[libx.so];[libc.so]": {Weight: 1, Count: 1}},
			"a pid -1 tid 1", "",
		},
		{
			"inlined", "a 1 1.000000: 1 cycles:\n\t 12 leaf (inlined)\n\t 12 mid (inlined)\n\t 12 outer+0x3 (/x)\n\t 15 main (/x)\n",
			map[string]run.FoldedSum{"main;outer;mid;leaf": {Weight: 1, Count: 1}},
			"a pid -1 tid 1", "",
		},
		{
			"CR LF", "a 1 1.000000: 1 cycles:\r\n\t 12 f (/x)\r\n\r\nb 1 1.000000: 1 cycles:\r\n\t 12 f (/x)\r\n\r\n",
			map[string]run.FoldedSum{"f": {Weight: 2, Count: 2}},
			"a pid -1 tid 1", "",
		},
		{
			"spaces for tabs", "a 1 1.000000: 1 cycles:\n        ffffffff81000000 f (/x)\n                    12 main (/x)\n\n",
			map[string]run.FoldedSum{"main;f": {Weight: 1, Count: 1}},
			"a pid -1 tid 1", "",
		},
		{
			"tracepoint", "sleep 9 [001]  2827.476687: sched:sched_switch: prev_comm=sleep prev_pid=9 prev_state=S ==> next_comm=x\n\tffffffff821f8b58 __schedule ([kernel.kallsyms])\n\n",
			map[string]run.FoldedSum{"__schedule": {Weight: 1, Count: 1}},
			"sleep pid -1 tid 9", "",
		},
		{
			"tracepoint without chain", "sleep 9 [001]  2827.476687: sched:sched_switch: prev_comm=dead next_prio=120  ffffffff821f8b58 __schedule ([kernel.kallsyms])\n",
			map[string]run.FoldedSum{"__schedule": {Weight: 1, Count: 1}},
			"sleep pid -1 tid 9", "",
		},
		{
			"data source", "x 20144 [028] K     13166.196585:      10009 MEM:ldlat=64:pinned:     55ffba5cda08     11868100242 |OP LOAD|LVL LFB|BLK  N/A     225    0 ffffffffa4470d46 [unknown] ([kernel.kallsyms])\n",
			map[string]run.FoldedSum{"[kernel.kallsyms]": {Weight: 10009, Count: 1}},
			"x pid -1 tid 20144", "",
		},
		{
			"branch stack", "x 1 2.000000: 5 b:      7ffff7b11b17 f (/l c.so) 0x7f(/l c.so)/0x7e(/l c.so)/P/-/-/0/  0x1(/l)/0x2(/l)/P/-/-/0\n",
			map[string]run.FoldedSum{"f": {Weight: 5, Count: 1}},
			"x pid -1 tid 1", "",
		},
		{
			"other records", "swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0x0(0x1) @ 0]: x [k]\nx 1 1.000000: PERF_RECORD_LOST lost 12\nx 1 1.000000: PERF_RECORD_COMM: y:1/1\nx 1 1.000000: 3 c:\n\t 1f f (/x)\n",
			map[string]run.FoldedSum{"f": {Weight: 3, Count: 1}},
			"x pid -1 tid 1", "",
		},
		{
			"tracing data", "x\t1/1 [000] 1.000000: 1 sched:sched_switch:\n\t  12 f (/x)\n\ttracing data:\n\t\tadd : 1\n\t\t12 : 1\n\n",
			map[string]run.FoldedSum{"f": {Weight: 1, Count: 1}},
			"x pid 1 tid 1", "",
		},
		{
			"no period", "x 1 1.000000: cycles: \n\t 12 f (/x)\n",
			map[string]run.FoldedSum{"f": {Weight: 1, Count: 1}},
			"x pid -1 tid 1", "samples have no period",
		},
		{
			"period of header", "# event : name = cycles:u, , id = { 1, 2 }, type = 0, size = 128, { sample_period, sample_freq } = 1000, freq = 0\nx 1 1.000000: cycles:u: \n\t 12 f (/x)\n",
			map[string]run.FoldedSum{"f": {Weight: 1000, Count: 1}},
			"x pid -1 tid 1", "",
		},
		{
			"huge period", "x 1 1.000000: 18446744073709551615 cycles: \n\t 12 f (/x)\n",
			map[string]run.FoldedSum{"f": {Weight: math.MaxInt64, Count: 1}},
			"x pid -1 tid 1", "exceeds 2^63",
		},
		{
			"no header", "\n\t 12 f (/x)\n\t 13 main (/x)\n\n\n\t 12 f (/x)\n",
			map[string]run.FoldedSum{"main;f": {Weight: 1, Count: 1}, "f": {Weight: 1, Count: 1}},
			" " + noID, "do not name their event",
		},
		{
			"garbage between", "x 1 1.000000: 1 cycles: \n\t 12 f (/x)\n\nfailed to open /x\nx 1 1.000000: 1 cycles: \n\t 12 f (/x)\n",
			map[string]run.FoldedSum{"f": {Weight: 2, Count: 2}},
			"x pid -1 tid 1", "1 lines were not understood, the first is line 4",
		},
		{
			"invalid UTF-8", "x\xff 1 1.000000: 1 cycles:\n\t 12 f\xfe (/x)\n",
			map[string]run.FoldedSum{"f\ufffd": {Weight: 1, Count: 1}},
			"x\ufffd pid -1 tid 1", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ingesttest.Read(t, readPerfScript, []byte(tt.text), &reading.Options{PID: true, TID: true})
			if d := cmp.Diff(tt.stacks, r.Folded(0)); d != "" {
				t.Errorf("stacks (-want +got):\n%s", d)
			}
			l := r.Labels[r.Samples[0].Labels]
			if got := fmt.Sprintf("%s pid %d tid %d", l.Thread, l.PID, l.TID); got != tt.labels {
				t.Errorf("labels are %q, want %q", got, tt.labels)
			}
			if got := strings.Join(ingesttest.ReaderWarnings(r), "\n"); !strings.Contains(got, tt.warnings) || tt.warnings == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, tt.warnings)
			}
			if f := detected([]byte(tt.text)); f != PerfScript {
				t.Errorf("is taken for %v", f)
			}
		})
	}
}

func TestPerfScriptDetails(t *testing.T) {
	r := ingesttest.Read(t, readPerfScript, []byte(`# ========
# captured on    : Fri Nov 20 10:27:27 2026
# hostname : vm
# os release : 6.18.44
# perf version : 6.1.187
# arch : x86_64
# nrcpus online : 2
# cpudesc : AMD EPYC
# cpuid : AuthenticAMD,25,1,1
# cmdline : /usr/bin/perf record -e cycles -g -- ./a
# event : name = cycles, , id = { 373, 374 }, type = 1, size = 128, { sample_period, sample_freq } = 4000, sample_type = IP|TID, inherit = 1, freq = 1, sample_id_all = 1
# ========
#
a 7/7 [001] 100.000000: 250 cycles:
	              12 leaf (inlined)
  a.c:5
	              12 outer+0x3 (/bin/a)
  a.c:9 (discriminator 2)
	              20 main (/bin/a)
	ffffffff81000000 __x ([kernel.kallsyms])

a 7/7 [001] 100.000000: PERF_RECORD_LOST lost 12
b 7/8 [000] 102.500000: 250 cycles:
	              20 main (/bin/a)

`), &reading.Options{TID: true, CPU: true})
	want := run.Recording{
		Format: "perf script", Tool: "perf 6.1.187", CommandLine: "/usr/bin/perf record -e cycles -g -- ./a",
		Arch: "x86_64", Kernel: "6.18.44", Host: "vm", CPU: "AMD EPYC", CPUID: "AuthenticAMD,25,1,1", CPUs: 2,
		Duration: 2500 * time.Millisecond, FirstSample: 100e9, LastSample: 102.5e9,
	}
	if d := cmp.Diff(want, r.Recording); d != "" {
		t.Errorf("recording (-want +got):\n%s", d)
	}
	wantLabels := []run.Labels{
		{PID: -1, TID: -1, CPU: -1},
		{Process: "a", Thread: "a", PID: -1, TID: 7, CPU: 1},
		{Process: "a", Thread: "b", PID: -1, TID: 8, CPU: 0},
	}
	if d := cmp.Diff(wantLabels, r.Labels); d != "" {
		t.Errorf("labels (-want +got):\n%s", d)
	}
	if e := r.Events[0]; e.Frequency != 4000 || e.Period != 0 {
		t.Errorf("event %+v", e)
	}
	if r.Accounting.Lost != 12 {
		t.Errorf("%d samples lost", r.Accounting.Lost)
	}
	wantMappings := []run.Mapping{
		{},
		{File: "/bin/a", Limit: math.MaxUint64, Kind: run.NativeMapping, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true},
		{File: "[kernel.kallsyms]", Limit: math.MaxUint64, Kind: run.KernelMapping, HasFunctions: true},
	}
	if d := cmp.Diff(wantMappings, r.Mappings); d != "" {
		t.Errorf("mappings (-want +got):\n%s", d)
	}
	inlined := r.Locations[0]
	if inlined.Address != 0x12 || len(inlined.Lines) != 2 || inlined.Lines[0].Line != 5 || inlined.Lines[1].Line != 9 ||
		r.Functions[inlined.Lines[0].Function] != (run.Function{Name: "leaf", File: "a.c"}) {
		t.Errorf("location %+v, functions %+v", inlined, r.Functions)
	}
}

// TestPerfScriptSimpleperf reads the facts that report_sample.py prints.
func TestPerfScriptSimpleperf(t *testing.T) {
	r := ingesttest.Read(t, readPerfScript, []byte(`# ========
# cmdline : /data/local/tmp/simpleperf record -e cpu-clock -g
# arch : aarch64
# timestamp : 1608081649
# kernel_symbols_available : true
# app_package_name : com.example
# trace_offcpu : true
# product_props : Google:Pixel 4 XL:coral
# simpleperf_version : 1.build.7013024
# ========
#
RenderThread	31850/31881 [001] 684943.449406: 250000 cpu-clock:
	      74938fb3f0 libGLESv2_adreno.so[+29c3f0] (/vendor/lib64/egl/libGLESv2_adreno.so)

RenderThread	31850/31881 [001] 684945.449406: 250000 cpu-clock:
	      74938fb3f0 libGLESv2_adreno.so[+29c3f0] (/vendor/lib64/egl/libGLESv2_adreno.so)
`), &reading.Options{UnknownOffset: true})
	want := run.Recording{
		Format: "perf script", Tool: "simpleperf 1.build.7013024", CommandLine: "/data/local/tmp/simpleperf record -e cpu-clock -g",
		Arch: "aarch64", Device: "Google:Pixel 4 XL:coral", App: "com.example", KernelSymbols: "available", TraceOffCPU: true,
		Start: time.Unix(1608081647, 0).UTC(), Duration: 2 * time.Second, FirstSample: 684943449406000, LastSample: 684945449406000,
	}
	if d := cmp.Diff(want, r.Recording); d != "" {
		t.Errorf("recording (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]run.FoldedSum{"libGLESv2_adreno.so[+29c3f0]": {Weight: 500000, Count: 2}}, r.Folded(0)); d != "" {
		t.Errorf("stacks (-want +got):\n%s", d)
	}
	if len(ingesttest.ReaderWarnings(r)) != 1 || !strings.Contains(ingesttest.ReaderWarnings(r)[0], "on and off the CPU may be mixed") {
		t.Errorf("warnings %q", r.Warnings)
	}
	r = ingesttest.Read(t, readPerfScript, []byte(`# ========
# trace_offcpu : true
# ========
#
a	1/1 [001] 1.000000: 250000 cpu-clock:u:
	      12 f (/x)

a	1/1 [001] 2.000000: 7000000 sched:sched_switch:
	      12 f (/x)
`), &reading.Options{})
	got := make(map[string]string)
	for _, s := range r.Samples {
		e := r.Events[s.Event]
		got[e.Name] = fmt.Sprintf("%d%s%v%s", e.Weight, e.Unit, e.Derived, r.Labels[s.Labels].State)
	}
	if d := cmp.Diff(map[string]string{
		"cpu-clock:u": "250000nanosecondsfalseon-cpu", "on-cpu": "250000nanosecondstrueon-cpu",
		"sched:sched_switch": "7000000nanosecondsfalseoff-cpu", "off-cpu": "7000000nanosecondstrueoff-cpu",
	}, got); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

func TestPerfScriptErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"other text", "hello\nworld\n", "line 1: is none of perf script"},
		{"long line", "a 1 1.000000: 1 cycles:\n\t12 " + strings.Repeat("x", input.MaxLine) + "\n", "line 2: is longer than"},
		{"branch stacks", "16984 0x72e342e5f4/0x72e36192d0/M/-/-/11/RET/-\n16984 0x72e7b8b3b4/0x72e7b8b3b8/PN/-/-/11/COND/-\n", "holds branch stacks and no frames: read it with profdiff branches"},
		{"branch stacks below", "a 1/1 1.000000: 1 cycles:\n 0x12(/x)/0x34(/x)/P/-/-/0  0x56(/x)/0x12(/x)/P/-/-/0\n", "holds branch stacks and no frames"},
		{"branch stacks of names", "16984 f+0x1/g+0x2/P/-/-/0\n", "holds branch stacks and no frames"},
		{"period", "a 1 1.000000: 99999999999999999999999 cycles:\n\t12 x\n", `line 1: period "99999999999999999999999" is no number of events`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := readPerfScript(ingesttest.Source(t, []byte(tt.text)), &reading.Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	r := ingesttest.Read(t, readPerfScript, []byte("# ========\n# arch : x86_64\n# ========\n#\n"), &reading.Options{})
	if len(ingesttest.ReaderWarnings(r)) != 1 || r.Recording.Arch != "x86_64" {
		t.Errorf("of a recording without samples: warnings %q", r.Warnings)
	}
}

// TestPerfScriptKnownLines checks that a line is not read as it was before where what is around it differs.
func TestPerfScriptKnownLines(t *testing.T) {
	const (
		header = "a 1/1 1.000000: 1 cycles:\n"
		leaf   = "\t          401136 f+0x6 (/app)\n"
		outer  = "\t          401200 g (/app)\n"
		none   = "\t               0 [unknown] ([unknown])\n"
		twice  = header + leaf + outer + none + "\n" + header + leaf + outer + none + "\n"
	)
	for _, tt := range []struct {
		name, sample string
		want         []string // frames of the last sample, leaf first
	}{
		{"the same", leaf + outer, []string{"f", "g"}},
		{"alone", leaf, []string{"f"}},
		{"twice", leaf + leaf, []string{"f", "f"}},
		{"its source follows", leaf + "  a.c:12\n" + outer, []string{"f a.c:12", "g"}},
		{"the source of all", leaf + "  a.c:12\n" + outer + "  b.c:7\n", []string{"f a.c:12", "g b.c:7"}},
		{"source of no frame", none + "  b.c:7\n" + outer, []string{"g"}},
		{"something is inlined", "\t          401136 i (inlined)\n" + leaf + outer, []string{"i f", "g"}},
		{"inlined, with sources", "\t          401136 i (inlined)\n  a.c:1\n" + leaf + "  a.c:12\n" + outer, []string{"i a.c:1 f a.c:12", "g"}},
		{"other fields before", leaf + "\tother fields\n" + outer, []string{"f"}},
		{"space behind", "\t          401136 f+0x6 (/app) \n" + outer, []string{"f", "g"}},
		{"another name", "\t          401136 h+0x6 (/app)\n" + outer, []string{"h", "g"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := twice + strings.Replace(header, "a 1/1", "last 1/1", 1) + tt.sample
			r := ingesttest.Read(t, readPerfScript, []byte(text), &reading.Options{})
			var got []string
			for _, sample := range r.Samples {
				if r.Labels[sample.Labels].Thread != "last" {
					continue
				}
				for _, location := range r.Stacks.Append(nil, sample.Stack) {
					var lines []string
					for _, l := range r.Locations[location].Lines {
						f := r.Functions[l.Function]
						line := f.Name
						if l.Line > 0 {
							line = fmt.Sprintf("%s %s:%d", f.Name, f.File, l.Line)
						}
						lines = append(lines, line)
					}
					got = append(got, strings.Join(lines, " "))
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("frames (-want +got):\n%s", d)
			}
		})
	}
}

// TestPerfScriptStackBehindFrame checks that branch stacks are no part of names.
func TestPerfScriptStackBehindFrame(t *testing.T) {
	const stack = " 0x401310/0x4012f0/P/-/-/22//-  0x4012fa/0x4012ff/M/-/-/3//-\n"
	text := "  cycles:upp:            401310" + stack + "  cycles:upp:            401310 main+0x10 (/app)" + stack + "  cycles:upp:            401310 main+0x10" + stack
	r := ingesttest.Read(t, readPerfScript, []byte(text), &reading.Options{})
	want := map[string]run.FoldedSum{"[unknown]": {Weight: 1, Count: 1}, "main": {Weight: 2, Count: 2}}
	if d := cmp.Diff(want, r.Folded(0)); d != "" {
		t.Errorf("stacks (-want +got):\n%s", d)
	}
}

func FuzzPerfScript(f *testing.F) {
	f.Add([]byte("# event : name = cycles, , id = { 1 }, { sample_period, sample_freq } = 4000, freq = 1\nsh 1/2 [001] K 1.5: 250 cycles:u: \n\t 12 f (inlined)\n  a.c:1\n\t 12 g+0x1 (/x (deleted))\n\n"))
	f.Add([]byte("  sh 1 1.500000: 250 cycles:     7fffffff f (/l) 0x1(/l)/0x2(/l)/P/-/-/0\n\n\t12 f (x)\n"))
	f.Add([]byte("sh\n\t 12 f\n\n\n x PERF_RECORD_LOST lost 5\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ingesttest.Fuzz(t, readPerfScript, data, &reading.Options{})
		ingesttest.Fuzz(t, readPerfScript, data, &reading.Options{PID: true, TID: true, CPU: true, UnknownOffset: true})
	})
}

// BenchmarkPerfScript reads a text of 20 MB.
func BenchmarkPerfScript(b *testing.B) {
	var text bytes.Buffer
	stacks := ingesttest.Stacks()
	for i := 0; text.Len() < 20<<20; i++ {
		fmt.Fprintf(&text, "worker-%d %d/%d [%03d] %d.%06d:     250000 cpu-clock: \n", i%8, 100, 100+i%8, i%4, i/4000, i%4000*250)
		for _, f := range stacks[i%len(stacks)] {
			fmt.Fprintf(&text, "\t%16x std::pair<int, symbol_%d>::method(int)+0x%x (/usr/lib/lib%d.so)\n", 0x7f0000000000+uint64(16*f), f/5%200, f, f%5)
		}
		text.WriteByte('\n')
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readPerfScript(ingesttest.Source(b, text.Bytes()), &reading.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
