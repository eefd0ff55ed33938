package perfdata

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/run"
)

// tracepoints are the formats of Linux 6.18, without what is not read.
var tracepoints = perffiletest.TracingData(false, map[string][]string{
	"sched": {
		"name: sched_switch\nID: 372\nformat:\n\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n",
		"name: sched_waking\nID: 375\nformat:\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n",
		"name: sched_wakeup\nID: 374\nformat:\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n",
	},
	"lock": {
		"name: contention_begin\nID: 408\nformat:\n\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n",
		"name: contention_end\nID: 407\nformat:\n\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;\n",
	},
})

// raw is raw_data with a number of 4 bytes at each of these offsets.
func raw(fields ...int) string {
	data := make([]byte, 64)
	for i := 0; i < len(fields); i += 2 {
		binary.LittleEndian.PutUint32(data[fields[i]:], uint32(fields[i+1]))
	}
	return "raw_data=" + hex.EncodeToString(data)
}

// Of raw data, by what the samples say.
func switches(state, next int) string { return raw(32, state, 56, next) }
func wakesUp(tid, flags int) string   { return raw(0, flags<<16, 24, tid) }
func locks(addr int) string           { return raw(8, addr) }

// waitRows are the waits of a run, one line each.
func waitRows(r *run.Run) (rows []string) {
	name := func(id run.ThreadID) string {
		t := &r.Threads[id]
		text := fmt.Sprintf("%s/%s %d/%d", t.Process, t.Name, t.PID, t.TID)
		if t.Main {
			text += " main"
		}
		return text
	}
	leaf := func(id run.StackID) string {
		if id == 0 {
			return "-"
		}
		l := &r.Locations[r.Stacks.Location(id)]
		return strings.Trim(r.Functions[l.Lines[0].Function].Name, "[unkow+]")
	}
	for _, w := range r.Waits {
		row := fmt.Sprintf("%s: %d-%d at %s", name(w.Thread), w.Start, w.End, leaf(w.Stack))
		if w.State != "" {
			row += " in " + w.State
		}
		if w.Clipped {
			row += ", clipped"
		}
		if w.For != "" {
			row += ", for " + w.For
		}
		if w.Waker != 0 {
			row += ", woken by " + name(w.Waker) + " at " + leaf(w.WakerStack)
		}
		if w.Interrupt {
			row += ", by an interrupt"
		}
		rows = append(rows, row)
	}
	return rows
}

const (
	// Events as perf record -e context-switches -e … --switch-events has them.
	waitAttrs = `header
attr type=software config=3 size=128 sample_period=1 sample_type=IP|TID|TIME|ID flags=sample_id_all|context_switch ids=[1]
attr type=tracepoint config=372 size=128 sample_period=1 sample_type=IP|TID|TIME|ID|RAW flags=sample_id_all ids=[2]
attr type=tracepoint config=375 size=128 sample_period=1 sample_type=IP|TID|TIME|ID|RAW flags=sample_id_all ids=[3]
attr type=tracepoint config=374 size=128 sample_period=1 sample_type=IP|TID|TIME|ID|RAW flags=sample_id_all ids=[4]
attr type=tracepoint config=408 size=128 sample_period=1 sample_type=IP|TID|TIME|ID|RAW flags=sample_id_all ids=[5]
attr type=tracepoint config=407 size=128 sample_period=1 sample_type=IP|TID|TIME|ID|RAW flags=sample_id_all ids=[6]
COMM pid=1 tid=1 comm="app"
FORK pid=1 ppid=1 tid=2 ptid=1 time=5 sample_id={pid=1,tid=1,time=5,id=1}
COMM pid=1 tid=2 comm="worker" sample_id={pid=1,tid=2,time=6,id=1}
`
	// perf record -a -e sched:sched_switch -e sched:sched_wakeup: no records of switches.
	switchAttrs = `header
attr type=tracepoint config=372 size=128 sample_period=1 sample_type=IP|TID|TIME|ID|RAW flags=sample_id_all ids=[2]
attr type=tracepoint config=374 size=128 sample_period=1 sample_type=IP|TID|TIME|ID|RAW flags=sample_id_all ids=[4]
COMM pid=1 tid=1 comm="app"
COMM pid=1 tid=2 comm="worker"
`
)

func TestWaits(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{
			name: "states and wakers",
			text: waitAttrs + `
SAMPLE misc=KERNEL ip=0x11 pid=1 tid=1 time=99 id=2 ` + switches(2, 2) + `
SAMPLE misc=KERNEL ip=0x12 pid=1 tid=1 time=100 id=1
SWITCH misc=SWITCH_OUT sample_id={pid=1,tid=1,time=101,id=1}
SAMPLE misc=KERNEL ip=0x21 pid=1 tid=2 time=110 id=3 ` + wakesUp(1, 0) + `
SAMPLE misc=KERNEL ip=0x22 pid=1 tid=2 time=111 id=3 ` + wakesUp(1, 0x10) + ` # too late
SAMPLE misc=KERNEL ip=0x23 pid=1 tid=2 time=112 id=4 ` + wakesUp(1, 0x10) + ` # says the same
SAMPLE misc=KERNEL ip=0x24 pid=1 tid=2 time=113 id=3 ` + wakesUp(2, 0) + ` # is awake
SWITCH sample_id={pid=1,tid=1,time=120,id=1}
SAMPLE misc=KERNEL ip=0x25 pid=1 tid=2 time=130 id=1
SWITCH misc=SWITCH_OUT|SWITCH_OUT_PREEMPT sample_id={pid=1,tid=2,time=131,id=1}
SWITCH sample_id={pid=1,tid=2,time=140,id=1}
SAMPLE misc=KERNEL ip=0x25 pid=1 tid=2 time=150 id=1
SAMPLE misc=KERNEL ip=0x13 pid=1 tid=1 time=155 id=3 ` + wakesUp(2, 0x8) + `
SWITCH sample_id={pid=1,tid=2,time=160,id=1}
SAMPLE misc=KERNEL ip=0x25 pid=1 tid=2 time=170 id=1
SAMPLE misc=KERNEL ip=0x13 pid=0 tid=0 time=175 id=3 ` + wakesUp(2, 0) + `
SWITCH sample_id={pid=1,tid=2,time=180,id=1}
` + tracepoints,
			want: []string{
				"app/app 1/1 main: 100-110 at 12 in D, woken by app/worker 1/2 at 21",
				"app/app 1/1 main: 110-120 at 12 in R",
				"app/worker 1/2: 130-140 at 25 in R+",
				"app/worker 1/2: 150-155 at 25, by an interrupt",
				"app/worker 1/2: 155-160 at 25 in R",
				"app/worker 1/2: 170-175 at 25, by an interrupt",
				"app/worker 1/2: 175-180 at 25 in R",
			},
		},
		{
			name: "ends of the recording and of threads",
			text: waitAttrs + `
SAMPLE misc=KERNEL ip=0x12 pid=1 tid=1 time=100 id=1
SAMPLE misc=KERNEL ip=0x21 pid=1 tid=2 time=110 id=1
EXIT pid=1 ppid=1 tid=2 ptid=1 time=115 sample_id={pid=1,tid=2,time=115,id=1}
SAMPLE misc=KERNEL ip=0x31 pid=3 tid=3 time=120 id=3 ` + wakesUp(1, 0) + `
` + tracepoints,
			want: []string{
				"app/app 1/1 main: 100-120 at 12, woken by / 3/3 main at 31",
				"app/app 1/1 main: 120-120 at 12 in R, clipped",
			},
		},
		{
			name: "locks of the kernel",
			text: waitAttrs + `
SAMPLE misc=KERNEL ip=0x10 pid=1 tid=1 time=99 id=5 ` + locks(0xcafe) + `
SAMPLE misc=KERNEL ip=0x12 pid=1 tid=1 time=100 id=1
SWITCH sample_id={pid=1,tid=1,time=110,id=1}
SAMPLE misc=KERNEL ip=0x12 pid=1 tid=1 time=120 id=1
SWITCH misc=SWITCH_OUT|SWITCH_OUT_PREEMPT sample_id={pid=1,tid=1,time=121,id=1}
SWITCH sample_id={pid=1,tid=1,time=130,id=1}
SAMPLE misc=KERNEL ip=0x10 pid=1 tid=1 time=131 id=6 ` + locks(0xcafe) + `
SAMPLE misc=KERNEL ip=0x13 pid=1 tid=1 time=140 id=1
SWITCH sample_id={pid=1,tid=1,time=150,id=1}
` + tracepoints,
			want: []string{
				"app/app 1/1 main: 100-110 at 12, for 0xcafe",
				"app/app 1/1 main: 120-130 at 12 in R+",
				"app/app 1/1 main: 140-150 at 13",
			},
		},
		{
			// A thread that is seen again without a switch to it was back at a time that is not known.
			name: "samples of sched_switch alone",
			text: switchAttrs + `
SAMPLE misc=KERNEL ip=0x11 pid=1 tid=1 time=100 id=2 ` + switches(1, 0) + `
SAMPLE misc=KERNEL ip=0x01 pid=0 tid=0 time=110 id=2 ` + switches(0, 2) + `
SAMPLE misc=KERNEL ip=0x21 pid=1 tid=2 time=115 id=4 ` + wakesUp(1, 0) + `
SAMPLE misc=KERNEL ip=0x22 pid=1 tid=2 time=120 id=2 ` + switches(0x100, 1) + `
SAMPLE misc=KERNEL ip=0x12 pid=1 tid=1 time=130 id=2 ` + switches(0x80|2, 2) + `
SAMPLE misc=KERNEL ip=0x12 pid=1 tid=1 time=140 id=2 ` + switches(0x20, 0) + `
` + tracepoints,
			want: []string{
				"app/app 1/1 main: 100-115 at 11 in S, woken by app/worker 1/2 at 21",
				"app/app 1/1 main: 115-120 at 11 in R",
				"app/worker 1/2: 120-130 at 22 in R+",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := readFixture(t, test.text, &reading.Options{Waits: true, UnknownOffset: true})
			if diff := cmp.Diff(test.want, waitRows(r)); diff != "" {
				t.Error(diff)
			}
			if r := readFixture(t, test.text, &reading.Options{}); r.Threads != nil || r.Waits != nil {
				t.Errorf("waits that were not asked for: %d", len(r.Waits))
			}
		})
	}
}

// TestSwitchesAlone checks the time off the CPU of a recording of the whole system in which only samples of
// sched:sched_switch say when threads leave the CPU and are back, as perf sched record makes it.
func TestSwitchesAlone(t *testing.T) {
	const samples = `COMM pid=1 tid=1 comm="app"
FORK pid=1 ppid=1 tid=2 ptid=1 time=5 sample_id={pid=1,tid=1,time=5,id=2}
COMM pid=1 tid=2 comm="worker" sample_id={pid=1,tid=2,time=6,id=2}
`
	text := func(command, flags string) string {
		return "header\nattr type=tracepoint config=372 size=128 sample_period=1 sample_type=IP|TID|TIME|ID|RAW flags=sample_id_all" + flags + " ids=[2]\n" + samples + `
SAMPLE misc=KERNEL ip=0x11 pid=1 tid=1 time=100 id=2 ` + switches(1, 0) + `
SAMPLE misc=KERNEL ip=0x01 pid=0 tid=0 time=110 id=2 ` + switches(0, 2) + `
SAMPLE misc=KERNEL ip=0x22 pid=1 tid=2 time=120 id=2 ` + switches(0x100, 1) + `
SAMPLE misc=KERNEL ip=0x12 pid=1 tid=1 time=135 id=2 ` + switches(2, 2) + `
SAMPLE misc=KERNEL ip=0x22 pid=1 tid=2 time=140 id=2 ` + switches(1, 0) + `
SAMPLE misc=KERNEL ip=0x22 pid=1 tid=2 time=170 id=2 ` + switches(1, 0) + ` # the switch to it is missing
SAMPLE misc=KERNEL ip=0x01 pid=0 tid=0 time=200 id=2 ` + switches(0, 1) + `
` + tracepoints + command
	}
	offCPU := func(r *run.Run) (list []string) {
		for _, s := range r.Samples {
			if r.Events[s.Event].Name == "off-cpu" {
				list = append(list, fmt.Sprintf("%s %d × %d", r.Labels[s.Labels].Thread, s.Count, s.Weight))
			}
		}
		return list
	}
	whole := "feature CMDLINE nr=3 args=[\"perf\",\"sched\",\"record\"]\n"
	r := readFixture(t, text(whole, ""), &reading.Options{Waits: true, UnknownOffset: true})
	// 100 to 120 and 135 to 200; 120 to 135.
	if diff := cmp.Diff([]string{"app 1 × 20", "app 1 × 65", "worker 1 × 15"}, slices.Sorted(slices.Values(offCPU(r)))); diff != "" {
		t.Errorf("off-cpu (-want +got):\n%s", diff)
	}
	want := []string{
		"app/app 1/1 main: 100-120 at 11 in S",
		"app/worker 1/2: 120-135 at 22 in R+",
		"app/app 1/1 main: 135-200 at 12 in D",
		"app/worker 1/2: 170-200 at 22 in S, clipped",
	}
	if diff := cmp.Diff(want, waitRows(r)); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "1 times a thread was back without a switch to it")
	}) {
		t.Errorf("warnings: %q", r.Warnings)
	}
	// Of some threads the time in which their CPU was idle ends unseen.
	for name, text := range map[string]string{
		"a command": text("feature CMDLINE nr=4 args=[\"perf\",\"record\",\"ls\",\"-a\"]\n", "|enable_on_exec"),
		"a process": text("feature CMDLINE nr=4 args=[\"perf\",\"record\",\"-p\",\"1\"]\n", ""),
		"unknown":   text("", ""),
	} {
		if list := offCPU(readFixture(t, text, &reading.Options{})); list != nil {
			t.Errorf("%s: off-cpu of %q", name, list)
		}
	}
}

// TestWaitsSum compares the waits of recordings of the tools with the event off-cpu.
func TestWaitsSum(t *testing.T) {
	paths, err := filepath.Glob("../../../profiles/usb-freeze/*/*.data")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	files := make(map[string][]byte)
	for _, path := range paths {
		files[path] = ingesttest.ReadFile(t, path)
	}
	for _, path := range []string{"simpleperf/perf_with_trace_offcpu.data", "simpleperf/perf_with_trace_offcpu_v2.data"} {
		t.Run(path, func(t *testing.T) { checkSum(t, ingesttest.ReadFile(t, ingesttest.Recording(t, path))) })
	}
	for path, data := range files {
		t.Run(path, func(t *testing.T) { checkSum(t, data) })
	}
}

func checkSum(t *testing.T, data []byte) {
	t.Helper()
	r := ingesttest.Read(t, Read, data, &reading.Options{Waits: true})
	i, ok := r.EventIndex("off-cpu")
	if !ok {
		t.Fatalf("events %s", r.EventNames())
	}
	var count, sum int64
	for _, w := range r.Waits {
		if w.Thread == 0 || int(w.Thread) >= len(r.Threads) || r.Threads[w.Thread].TID <= 0 {
			t.Errorf("wait of thread %d of %d", w.Thread, len(r.Threads))
		}
		if !w.Clipped {
			count, sum = count+1, sum+w.End-w.Start
		}
	}
	if e := &r.Events[i]; count != e.Samples || sum != e.Weight {
		t.Errorf("%d waits of %d ns, but %d samples of %d ns off the CPU", count, sum, e.Samples, e.Weight)
	}
}
