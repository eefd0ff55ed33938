package perfdata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"profdiff/internal/perffile"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/run"
)

// readFixture reads the recording that a text describes.
func readFixture(t testing.TB, text string, opt *reading.Options) *run.Run {
	t.Helper()
	data := perffiletest.Fixture(t, text)
	r, err := Read(ingesttest.Source(t, []byte(data)), opt)
	if err != nil {
		t.Fatal(err)
	}
	ingesttest.CheckRun(t, r)
	return r
}

// rows are the samples of a run, one line each:
// EVENT PROCESS/THREAD FRAME;…;LEAF COUNT WEIGHT, with further labels behind the thread.
func rows(r *run.Run) []string {
	var out []string
	for _, s := range r.Samples {
		l := r.Labels[s.Labels]
		who := []string{l.Process + "/" + l.Thread}
		for _, label := range []struct {
			name  string
			value int64
		}{{"pid", l.PID}, {"tid", l.TID}, {"cpu", l.CPU}} {
			if label.value >= 0 {
				who = append(who, fmt.Sprintf("%s=%d", label.name, label.value))
			}
		}
		for _, text := range []string{l.Mode, l.State} {
			if text != "" {
				who = append(who, text)
			}
		}
		var frames []string
		for _, loc := range slices.Backward(r.Stacks.Append(nil, s.Stack)) {
			for _, line := range slices.Backward(r.Locations[loc].Lines) {
				frames = append(frames, r.Functions[line.Function].Name)
			}
		}
		out = append(out, fmt.Sprintf("%s %s %s %d %d", r.Events[s.Event].Name, strings.Join(who, ","), strings.Join(frames, ";"), s.Count, s.Weight))
	}
	slices.Sort(out)
	return out
}

const (
	clockAttr = `attr type=software config=0 size=128 sample_period=1000 sample_type=IP|TID|TIME|CPU|CALLCHAIN|PERIOD flags=sample_id_all
`
	// A program with a library; the kernel's addresses are known to be its.
	mapped = `MMAP misc=KERNEL pid=-1 tid=0 start=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 filename="[kernel.kallsyms]_text"
COMM pid=10 tid=10 comm="app"
MMAP2 misc=USER pid=10 tid=10 start=0x400000 len=0x1000 pgoff=0x1000 prot=READ|EXEC filename="/bin/app" sample_id={pid=10,tid=10,time=1,cpu=0}
MMAP2 misc=USER pid=10 tid=10 start=0x7f0000 len=0x2000 prot=READ|EXEC filename="/lib/libx.so" sample_id={pid=10,tid=10,time=1,cpu=0}
`
)

func TestPerfData(t *testing.T) {
	for _, test := range []struct {
		name string
		text string
		opt  reading.Options
		want []string
		// Of the accounting.
		in, dropped int64
		warnings    []string
	}{
		{
			name: "unknown addresses are named by file",
			text: "header\n" + clockAttr + mapped + `
SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=10 cpu=0 period=5 ips=[PERF_CONTEXT_USER,0x400010,0x7f0021,0x900000]
SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=10 tid=10 time=11 cpu=0 period=7 ips=[PERF_CONTEXT_KERNEL,0xffffffff81000020,PERF_CONTEXT_USER,0x400020,0x400031]
SAMPLE misc=USER ip=0x400040 pid=10 tid=10 time=12 cpu=0 period=5 ips=[PERF_CONTEXT_USER,0x400040,0x7f0051,0x900000]
`,
			want: []string{
				"cpu-clock app/app [app];[app];[kernel.kallsyms] 1 7",
				"cpu-clock app/app [unknown];[libx.so];[app] 1 5",
				"cpu-clock app/app [unknown];[libx.so];[app] 1 5",
			},
			in: 3,
		},
		{
			name: "or by file and offset",
			text: "header\n" + clockAttr + mapped + `
SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=10 cpu=0 period=5 ips=[PERF_CONTEXT_USER,0x400010,0x7f0021,0x900000]
`,
			opt:  reading.Options{UnknownOffset: true},
			want: []string{"cpu-clock app/app unknown[+900000];libx.so[+21];app[+1010] 1 5"},
			in:   1,
		},
		{
			name: "labels are as of the sample's time",
			text: "header\n" + clockAttr + mapped + `
FORK pid=10 ppid=10 tid=11 ptid=10 time=5 sample_id={pid=10,tid=10,time=5,cpu=0}
SAMPLE misc=USER ip=0x400010 pid=10 tid=11 time=10 cpu=0 period=1 ips=[]
COMM pid=10 tid=11 comm="worker" sample_id={pid=10,tid=11,time=11,cpu=0}
SAMPLE misc=USER ip=0x400010 pid=10 tid=11 time=12 cpu=1 period=1 ips=[]
SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=10 tid=10 time=13 cpu=1 period=1 ips=[]
`,
			opt: reading.Options{PID: true, TID: true, CPU: true, Mode: true},
			want: []string{
				"cpu-clock app/app,pid=10,tid=10,cpu=1,Host Kernel [kernel.kallsyms] 1 1",
				"cpu-clock app/app,pid=10,tid=11,cpu=0,Host User [app] 1 1",
				"cpu-clock app/worker,pid=10,tid=11,cpu=1,Host User [app] 1 1",
			},
			in: 3,
		},
		{
			// The two threads have the same callers, at different times and in
			// different processes.
			name: "threads do not take over the callers of others",
			text: "header\n" + clockAttr + mapped + `
COMM pid=20 tid=20 comm="other"
MMAP2 misc=USER pid=20 tid=20 start=0x400000 len=0x1000 prot=READ|EXEC filename="/bin/other" sample_id={pid=20,tid=20,time=1,cpu=0}
SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=10 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x400010,0x400101,0x400201]
SAMPLE misc=USER ip=0x400010 pid=20 tid=20 time=10 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x400010,0x400101,0x400201]
SAMPLE misc=USER ip=0x400020 pid=10 tid=10 time=11 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x400020,0x400101,0x400201]
SAMPLE misc=USER ip=0x400201 pid=20 tid=20 time=11 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x400201]
`,
			opt: reading.Options{UnknownOffset: true},
			want: []string{
				"cpu-clock app/app app[+1201];app[+1101];app[+1010] 1 1",
				"cpu-clock app/app app[+1201];app[+1101];app[+1020] 1 1",
				"cpu-clock other/other other[+201] 1 1",
				"cpu-clock other/other other[+201];other[+101];other[+10] 1 1",
			},
			in: 4,
		},
		{
			name: "files mapped anew",
			text: "header\n" + clockAttr + mapped + `
SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=10 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x400010,0x7f0021]
MMAP2 misc=USER pid=10 tid=10 start=0x7f0000 len=0x1000 prot=READ|EXEC filename="/lib/liby.so" sample_id={pid=10,tid=10,time=11,cpu=0}
SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=12 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x400010,0x7f0021]
`,
			want: []string{"cpu-clock app/app [libx.so];[app] 1 1", "cpu-clock app/app [liby.so];[app] 1 1"},
			in:   2,
		},
		{
			name: "events for side-band records only are not shown",
			text: `header
attr type=hardware config=0 size=128 sample_type=IP|TID|TIME|ID|PERIOD flags=freq|sample_id_all sample_period=99 ids=[1]
attr type=software config=9 size=128 sample_type=IP|TID|TIME|ID|PERIOD flags=sample_id_all ids=[2]
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=10 id=1 period=1
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=10 id=3 period=1
`,
			want: []string{"cycles / [unknown] 1 1"},
			in:   2, dropped: 1,
		},
		{
			name: "a hardware trace is no event without samples",
			text: `header
attr type=8 config=0 size=128 sample_type=IP|TID|TIME|ID flags=sample_id_all ids=[1]
AUXTRACE_INFO type=1 priv=[0x8]
AUXTRACE idx=2 tid=-1 cpu=2
hex 0011223344556677
AUXTRACE idx=3 tid=-1 cpu=3
hex 00112233445566770011223344556677
feature EVENT_DESC events=[{attr={type=8},name="intel_pt//u",ids=[1]}]
`,
			warnings: []string{"24 bytes of the recording are a hardware trace (Intel PT), which is not decoded: perf inject --itrace=i100us makes samples of it"},
		},
		{
			name: "but their samples are",
			text: `header
attr type=hardware config=0 size=128 sample_type=IP|TID|TIME|ID|PERIOD flags=freq|sample_id_all sample_period=99 ids=[1]
attr type=software config=9 size=128 sample_type=IP|TID|TIME|ID|PERIOD flags=sample_id_all ids=[2]
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=10 id=2 period=1
`,
			want: []string{"dummy / [unknown] 1 1"},
			in:   1,
		},
		{
			// perf record -e '{cpu-cycles,instructions}:S'
			name: "a sample of a group is a sample of each event",
			text: `header
attr type=hardware config=0 size=128 sample_type=IP|TID|TIME|READ|ID|PERIOD read_format=ID|GROUP flags=freq|sample_id_all sample_period=99 ids=[1]
attr type=hardware config=1 size=128 sample_type=IP|TID|TIME|READ|ID|PERIOD read_format=ID|GROUP flags=sample_id_all ids=[2]
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=10 id=1 period=100 read={values=[{value=100,id=1},{value=50,id=2}]}
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=11 id=1 period=30 read={values=[{value=130,id=1},{value=0x8000000000000100,id=2}]}
`,
			want:    []string{"cycles / [unknown] 2 130", "instructions / [unknown] 1 50"},
			in:      4,
			dropped: 1,
		},
		{
			name: "simpleperf's counters along a sample are events of their own",
			text: `header
attr type=hardware config=0 size=128 sample_type=IP|TID|TIME|READ|ID|PERIOD read_format=ID|GROUP flags=freq|sample_id_all sample_period=99 ids=[1]
attr type=hardware config=1 size=128 sample_type=IP|TID|TIME|READ|ID|PERIOD read_format=ID|GROUP flags=sample_id_all ids=[2]
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=10 id=1 period=100 read={values=[{value=100,id=1},{value=50,id=2}]}
feature META_INFO
meta key="simpleperf_version" value="1"
`,
			want: []string{"counted:instructions / [unknown] 1 50", "cpu-cycles / [unknown] 1 100"},
			in:   1,
		},
		{
			// From a switch until the thread's next sample, or until a CPU goes to it.
			name: "time off the CPU",
			text: `header
attr type=software config=0 size=128 sample_type=IP|TID|TIME|ID|PERIOD flags=freq|sample_id_all|context_switch sample_period=99 ids=[1]
attr type=tracepoint config=46 size=128 sample_type=IP|TID|TIME|ID|PERIOD flags=sample_id_all ids=[2]
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=100 id=1 period=10
SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=1 tid=1 time=110 id=2 period=1
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=150 id=1 period=10
SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=1 tid=2 time=160 id=2 period=1
SWITCH misc=SWITCH_OUT sample_id={pid=1,tid=2,time=161,id=1}
SWITCH sample_id={pid=1,tid=2,time=190,id=1}
SAMPLE misc=USER ip=0x10 pid=1 tid=2 time=195 id=1 period=10
SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=1 tid=2 time=200 id=2 period=1
feature META_INFO
meta key="simpleperf_version" value="1"
meta key="trace_offcpu" value="true"
meta key="event_type_info" value="cpu-clock,1,0\nsched:sched_switch,2,46"
`,
			want: []string{
				"cpu-clock /,on-cpu [unknown] 3 30",
				"off-cpu /,off-cpu [kernel.kallsyms] 2 70",
				"on-cpu /,on-cpu [unknown] 3 30",
				"sched:sched_switch /,off-cpu [kernel.kallsyms] 3 3",
			},
			in:       6,
			warnings: []string{"1 threads were off the CPU at the end: that time is not counted"},
		},
		{
			// perf has the name in the header. Each switch has to be sampled, and those
			// back to have records.
			name: "time off the CPU, of perf",
			text: `header
attr type=software config=0 size=128 sample_period=10 sample_type=IP|TID|TIME|ID flags=sample_id_all|context_switch ids=[1]
attr type=tracepoint config=46 size=128 sample_period=1 sample_type=IP|TID|TIME|ID|PERIOD flags=sample_id_all ids=[2]
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=100 id=1
SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=1 tid=1 time=110 id=2 period=1
SWITCH misc=SWITCH_OUT sample_id={pid=1,tid=1,time=111,id=1}
SWITCH sample_id={pid=1,tid=1,time=150,id=1}
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=160 id=1
feature EVENT_DESC events=[{attr={type=software,config=0,size=128},name="cpu-clock",ids=[1]},{attr={type=tracepoint,config=46,size=128},name="sched:sched_switch",ids=[2]}]
`,
			want: []string{
				"cpu-clock /,on-cpu [unknown] 2 20",
				"off-cpu /,off-cpu [kernel.kallsyms] 1 40",
				"sched:sched_switch /,off-cpu [kernel.kallsyms] 1 1",
			},
			in: 3,
		},
		{
			// The same without the names of other threads, which the tracepoint has.
			name: "time off the CPU, of context switches",
			text: `header
attr type=software config=0 size=128 sample_period=10 sample_type=IP|TID|TIME|ID flags=sample_id_all|context_switch ids=[1]
attr type=software config=3 size=128 sample_period=1 sample_type=IP|TID|TIME|ID flags=sample_id_all ids=[2]
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=100 id=1
SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=1 tid=1 time=110 id=2
SWITCH misc=SWITCH_OUT sample_id={pid=1,tid=1,time=111,id=1}
SWITCH sample_id={pid=1,tid=1,time=150,id=1}
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=160 id=1
`,
			want: []string{
				"context-switches /,off-cpu [kernel.kallsyms] 1 1",
				"cpu-clock /,on-cpu [unknown] 2 20",
				"off-cpu /,off-cpu [kernel.kallsyms] 1 40",
			},
			in: 3,
		},
		{
			// Both say the same: one of them is counted.
			name: "time off the CPU, of switches and context switches",
			text: `header
attr type=software config=0 size=128 sample_period=10 sample_type=IP|TID|TIME|ID flags=sample_id_all|context_switch ids=[1]
attr type=software config=3 size=128 sample_period=1 sample_type=IP|TID|TIME|ID flags=sample_id_all ids=[2]
attr type=tracepoint config=46 size=128 sample_period=1 sample_type=IP|TID|TIME|ID|PERIOD flags=sample_id_all ids=[3]
SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=1 tid=1 time=109 id=3 period=1
SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=1 tid=1 time=110 id=2
SWITCH misc=SWITCH_OUT sample_id={pid=1,tid=1,time=111,id=1}
SWITCH sample_id={pid=1,tid=1,time=150,id=1}
feature EVENT_DESC events=[{attr={type=software,config=0,size=128},name="cpu-clock",ids=[1]},{attr={type=software,config=3,size=128},name="context-switches",ids=[2]},{attr={type=tracepoint,config=46,size=128},name="sched:sched_switch",ids=[3]}]
`,
			want: []string{
				"context-switches /,off-cpu [kernel.kallsyms] 1 1",
				"off-cpu /,off-cpu [kernel.kallsyms] 1 40",
				"sched:sched_switch /,on-cpu [kernel.kallsyms] 1 1",
			},
			in: 2,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := readFixture(t, test.text, &test.opt)
			if diff := cmp.Diff(test.want, rows(r)); diff != "" {
				t.Error(diff)
			}
			a := &r.Accounting
			if a.In != test.in || a.TotalDropped() != test.dropped || !a.Balanced() {
				t.Errorf("accounting is %s", a)
			}
			if diff := cmp.Diff(test.warnings, ingesttest.ReaderWarnings(r)); diff != "" {
				t.Errorf("warnings: %s", diff)
			}
		})
	}
}

// jitDump builds the file that a compiler of process 10 writes: all functions are at
// the same place, one after the other.
func jitDump(addr uint64, functions ...struct {
	time uint64
	name string
},
) []byte {
	le := binary.LittleEndian
	var b []byte
	u32 := func(v ...uint32) {
		for _, v := range v {
			b = le.AppendUint32(b, v)
		}
	}
	u64 := func(v ...uint64) {
		for _, v := range v {
			b = le.AppendUint64(b, v)
		}
	}
	const headerSize, recordSize, codeSize = 40, 16 + 40, 16
	u32(0x4a695444, 1, headerSize, 62, 0, 10)
	u64(0, 0)
	for i, f := range functions {
		u32(0, uint32(recordSize+len(f.name)+1+codeSize))
		u64(f.time)
		u32(10, 10)
		u64(addr, addr, codeSize, uint64(i))
		b = append(b, f.name...)
		b = append(b, make([]byte, 1+codeSize)...)
	}
	return b
}

// TestJITDump: code was replaced by other code at the same address, also as a caller.
func TestJITDump(t *testing.T) {
	dump := jitDump(0x800000, []struct {
		time uint64
		name string
	}{{15, "first"}, {25, "second"}}...)
	text := `header
attr type=software config=0 size=128 sample_period=1000 sample_type=IP|TID|TIME|CPU|CALLCHAIN|PERIOD flags=sample_id_all|use_clockid clockid=1
` + mapped + `
SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=5 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x400010,0x400021]
MMAP2 misc=USER pid=10 tid=10 start=0x600000 len=0x1000 prot=READ|EXEC filename="/tmp/jit-10.dump" sample_id={pid=10,tid=10,time=9,cpu=0}
MMAP2 misc=USER pid=10 tid=10 start=0x800000 len=0x1000 prot=READ|EXEC filename="//anon" sample_id={pid=10,tid=10,time=9,cpu=0}
SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=10 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x400010,0x800005,0x400021]
SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=20 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x400010,0x800005,0x400021]
SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=30 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x400010,0x800005,0x400021]
SAMPLE misc=USER ip=0x800004 pid=10 tid=10 time=31 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x800004]
SAMPLE misc=USER ip=0x800020 pid=10 tid=10 time=32 cpu=0 period=1 ips=[PERF_CONTEXT_USER,0x800020]
`
	opt := reading.Options{Objects: objectstest.Stored(fstest.MapFS{"tmp/jit-10.dump": {Data: dump}})}
	want := []string{
		"cpu-clock app/app [anon] 1 1",
		"cpu-clock app/app [app];[anon];[app] 1 1",
		"cpu-clock app/app [app];[app] 1 1",
		"cpu-clock app/app [app];first;[app] 1 1",
		"cpu-clock app/app [app];second;[app] 1 1",
		"cpu-clock app/app second 1 1",
	}
	if diff := cmp.Diff(want, rows(readFixture(t, text, &opt))); diff != "" {
		t.Error(diff)
	}
}

// TestPipeIsLikeFile: events that become known on the way are as if the header had them.
func TestPipeIsLikeFile(t *testing.T) {
	const records = `COMM pid=10 tid=10 comm="app" sample_id={pid=10,tid=10,time=1,id=7}
MMAP2 misc=USER pid=10 tid=10 start=0x400000 len=0x1000 prot=READ|EXEC filename="/bin/app" sample_id={pid=10,tid=10,time=1,id=7}
SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=10 id=7 period=5
SAMPLE misc=USER ip=0x400011 pid=10 tid=10 time=11 id=8 period=6
`
	const attr = `type=software config=%d size=128 sample_period=1000 sample_type=IP|TID|TIME|ID|PERIOD flags=sample_id_all`
	file := readFixture(t, "header\n"+
		"attr "+fmt.Sprintf(attr, 0)+" ids=[7]\n"+
		"attr "+fmt.Sprintf(attr, 1)+" ids=[8]\n"+records, &reading.Options{})
	inRecord := strings.NewReplacer(" ", ",")
	pipe := readFixture(t, "header pipe\n"+
		"HEADER_ATTR attr={"+inRecord.Replace(fmt.Sprintf(attr, 0))+"} ids=[7]\n"+
		"HEADER_ATTR attr={"+inRecord.Replace(fmt.Sprintf(attr, 1))+"} ids=[8]\n"+records, &reading.Options{})
	want := []string{"cpu-clock app/app [app] 1 5", "task-clock app/app [app] 1 6"}
	if diff := cmp.Diff(want, rows(file)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(rows(file), rows(pipe)); diff != "" {
		t.Errorf("pipe mode differs: %s", diff)
	}
}

func generated(tb testing.TB, spec perffiletest.Spec) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := perffiletest.Generate(&b, spec); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestPerfDataAllocations: what is allocated depends on the number of distinct
// stacks, not on how many samples there are.
func TestPerfDataAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 330,000 samples")
	}
	var n [2]float64
	for i, samples := range []int{10_000, 100_000} {
		// As many records of other types in both.
		data := generated(t, perffiletest.Spec{Samples: samples, CPUs: 4, RoundSamples: samples / 40})
		n[i] = testing.AllocsPerRun(2, func() {
			if _, err := Read(ingesttest.Source(t, []byte(data)), &reading.Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Logf("%v allocations for 10k samples, %v for 100k", n[0], n[1])
	if n[1] > 1.2*n[0] {
		t.Errorf("%v allocations for 10k samples, %v for 100k", n[0], n[1])
	}
}

// BenchmarkPerfData reads a recording of about 64 MB: decoding, replay, interning and
// naming without symbols.
func BenchmarkPerfData(b *testing.B) {
	data := generated(b, perffiletest.Spec{
		Samples: 350_000, CPUs: 2, Processes: 50, DSOs: 40, Stacks: 100_000, RoundSamples: 2000, Churn: 500,
	})
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(ingesttest.Source(b, []byte(data)), &reading.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzPerfData reads recordings with all that is made of them.
func FuzzPerfData(f *testing.F) {
	const cycles = "attr type=hardware config=0 size=128 sample_type=IP|TID|TIME|READ|ID|PERIOD read_format=ID|GROUP flags=freq|sample_id_all sample_period=99 ids=[1]\n"
	for _, text := range []string{
		"header\n" + clockAttr + mapped + `
FORK pid=10 ppid=10 tid=11 ptid=10 time=5 sample_id={pid=10,tid=10,time=5,cpu=0}
SAMPLE misc=USER ip=0x400010 pid=10 tid=11 time=10 cpu=0 period=5 ips=[PERF_CONTEXT_USER,0x400010,0x7f0021,0x900000]
KSYMBOL addr=0xffffffffc0000000 len=200 ksym_type=1 flags=0 name="bpf_prog" sample_id={time=11}
SAMPLE misc=KERNEL ip=0xffffffffc0000020 pid=10 tid=10 time=12 cpu=0 period=7 ips=[PERF_CONTEXT_KERNEL,0xffffffffc0000020,PERF_CONTEXT_USER,0x400020,0x400031]
FINISHED_ROUND
LOST id=9 lost=12 sample_id={time=60}
`,
		"header\n" + cycles + `attr type=hardware config=1 size=128 sample_type=IP|TID|TIME|READ|ID|PERIOD read_format=ID|GROUP flags=sample_id_all ids=[2]
SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=10 id=1 period=100 read={values=[{value=100,id=1},{value=50,id=2}]}
`,
		"header pipe\nHEADER_ATTR attr={type=software,config=0,size=128,sample_type=IP|TID|TIME|ID|PERIOD} ids=[7]\n" +
			"SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=10 id=7 period=5\n",
		"header\n" + cycles + `attr type=tracepoint config=46 size=128 sample_type=IP|TID|TIME|ID|PERIOD flags=sample_id_all ids=[2]
SAMPLE misc=KERNEL ip=0x20 pid=1 tid=1 time=110 id=2 period=1
SWITCH sample_id={pid=1,tid=1,time=190,id=1}
feature FILE2
file2 path="/bin/app" type=ELF min_vaddr=0x1000
symbol2 vaddr=0x1000 len=16 name="_Z1fi"
file2 path="app.vdex" type=DEX
symbol2 vaddr=0x100 len=16 name="void a.b.c(int)"
dex_file2 dex_file_offsets=[0x28]
feature META_INFO
meta key="simpleperf_version" value="1"
meta key="trace_offcpu" value="true"
`,
	} {
		f.Add(perffiletest.Fixture(f, text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []*reading.Options{
			{AllowTruncated: true},
			{PID: true, TID: true, CPU: true, Mode: true, ShowARTFrames: true, UnknownOffset: true},
		} {
			ingesttest.Fuzz(t, Read, data, opt)
		}
	})
}

// TestEventUnit checks that the type of an event decides what is counted, not its name.
func TestEventUnit(t *testing.T) {
	for _, test := range []struct {
		name         string
		typ          perffile.EventType
		config       uint64
		want, before string
	}{
		{"cpu-clock:u", perffile.TypeSoftware, 0, "nanoseconds", "nanoseconds"},
		{"foo", perffile.TypeSoftware, 1, "nanoseconds", "count"}, // task-clock/name=foo/
		{"faults", perffile.TypeSoftware, 2, "count", "count"},
		{"cycles:P", perffile.TypeHardware, 0, "cpu-cycles", "cpu-cycles"},
		{"cpu_core/cycles/", perffile.TypeHardware, 4 << 32, "cpu-cycles", "cpu-cycles"},
		{"mine", perffile.TypeHardware, 1, "instructions", "count"},
		{"cycles", perffile.TypeHardware, 4, "count", "cpu-cycles"}, // branches/name=cycles/
		{"cpu-clock", perffile.TypeTracepoint, 316, "count", "nanoseconds"},
		{"pmu/task-clock/", 12, 0x11, "count", "nanoseconds"},
		{"armv8_pmuv3/cpu_cycles/", 8, 0x11, "cpu-cycles", "cpu-cycles"},
	} {
		a := perffile.Attr{Name: test.name, Type: test.typ, Config: test.config}
		if got := eventUnit(&a); got != test.want {
			t.Errorf("%s of type %v, %#x is in %s, want %s", test.name, test.typ, test.config, got, test.want)
		}
		if got := run.EventUnit(test.name); got != test.before {
			t.Errorf("%s alone is in %s, want %s", test.name, got, test.before)
		}
	}
}
