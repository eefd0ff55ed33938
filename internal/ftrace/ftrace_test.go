package ftrace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/input"
	"profdiff/internal/trace"
)

// read reads a text; facts are there even if there is an error.
func read(t testing.TB, text string) (*trace.Timeline, *Facts, error) {
	t.Helper()
	src, err := input.New("test", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	b := trace.NewBuilder()
	facts, err := Read(src, b)
	return b.Finish(), facts, err
}

// happened are the slices and states of the threads of a timeline, a line each.
func happened(tl *trace.Timeline) (list []string) {
	var loss trace.SliceLoss
	for _, id := range tl.Sorted() {
		th := &tl.Threads[id]
		p := &tl.Processes[th.Process]
		who := fmt.Sprintf("%s/%s %d/%d", p.Name, th.Name, p.PID, th.TID)
		if th.Main {
			who += " main"
		}
		list = append(list, who)
		if th.Track != 0 {
			slices := tl.Slices(th.Track, &loss)
			for _, s := range slices {
				list = append(list, fmt.Sprintf("  %s%d+%d %s%s", strings.Repeat("  ", int(s.Depth)), s.Start, s.Duration(), tl.Name(s.Name), map[bool]string{true: " unfinished"}[s.Unfinished()]))
			}
		}
		tl.States(id, func(in *trace.Interval) {
			s := fmt.Sprintf("  %d %s", in.Start, in.State)
			if in.End != trace.Unended {
				s = fmt.Sprintf("  %d+%d %s", in.Start, in.End-in.Start, in.State)
			}
			if in.CPU >= 0 {
				s += fmt.Sprintf(" on CPU %d", in.CPU)
			}
			if in.IOWait {
				s += " for I/O"
			}
			if in.Function != 0 {
				s += " in " + tl.Name(in.Function)
			}
			if in.Interrupt {
				s += " woken by an interrupt"
			} else if in.Waker != 0 {
				s += " woken by " + tl.Threads[in.Waker].Name
			}
			list = append(list, s)
		})
	}
	return list
}

// A tracer prints names of 16 characters, numbers of threads filled up to 7, and a space at the start.
const marks = `# tracer: nop
#
# entries-in-buffer/entries-written: 4/24   #P:8
#
#           TASK-PID       TGID    CPU#  |||||  TIMESTAMP  FUNCTION
 my-app [1] (x)-12161   (  12106) [000] ...1. 46671.018974: tracing_mark_write: B|12106|outer 0|with bar
 my-app [1] (x)-12161   (  12106) [000] ...1. 46671.018977: tracing_mark_write: B|12106|inner: 0
 my-app [1] (x)-12161   (  12106) [000] ...1. 46671.021984: tracing_mark_write: E|12106
 my-app [1] (x)-12161   (  12106) [001] ...1. 46671.028466: tracing_mark_write: E
            sh-12106   (  12106) [001] ...1. 46671.030000: tracing_mark_write: hello
            sh-12106   (  12106) [001] ...1. 46671.030001: tracing_mark_write: trace_event_clock_sync: parent_ts=521289.843750
            sh-12106   (  12106) [001] ...1. 46671.030002: tracing_mark_write: trace_event_clock_sync: realtime_ts=1572597457436
`

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
		facts      Facts
	}{
		{
			"marks", marks,
			[]string{
				"sh/sh 12106/12106 main", "sh/my-app [1] (x) 12106/12161", "  46671018974000+9492000 outer 0|with bar", "    46671018977000+3007000 inner: 0",
			},
			Facts{Tracer: "nop", CPUs: 8, Real: time.UnixMilli(1572597457436).UTC(), RealAt: 46671030002000, Lines: 7, Events: 4, Redundant: 2, Markers: 1, Overwritten: 20},
		},
		{
			// The figures of Perfetto's sched_blocked_systrace.systrace.
			"blocked", `          <idle>-0     (-----) [006] ....    10.258854: sched_switch: prev_comm=swapper/6 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=269 next_prio=130
             a b-269   (-----) [006] ....    20.258854: sched_switch: prev_comm=a b prev_pid=269 prev_prio=120 prev_state=D ==> next_comm=swapper/6 next_pid=0 next_prio=130
          <idle>-0     (-----) [006] d..3    20.258855: sched_blocked_reason: pid=269 iowait=0 caller=worker_thread+0x534/0x820
          <idle>-0     (-----) [000] ....    21.058854: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=c next_pid=2172 next_prio=130
               c-2172  (-----) [000] ....    21.123838: sched_switch: prev_comm=c prev_pid=2172 prev_prio=120 prev_state=D|K ==> next_comm=swapper/0 next_pid=0 next_prio=130
          <idle>-0     (-----) [000] d.s4    21.123839: sched_blocked_reason: pid=2172 iowait=1 caller=__filemap_fdatawait_range+0x134/0x150
          <idle>-0     (-----) [000] d.h4    21.123939: sched_waking: comm=c pid=2172 prio=120 target_cpu=000
               x-7     (-----) [001] d..2    21.123949: sched_waking: comm=a b pid=269 prio=120 target_cpu=006
               x-7     (-----) [001] d..2    21.123950: sched_wakeup: comm=a b pid=269 prio=120 target_cpu=006
`,
			[]string{
				"/x -1/7",
				"/a b -1/269", "  10258854000+10000000000 Running on CPU 6", "  20258854000+865095000 D in worker_thread", "  21123949000 R woken by x",
				"/c -1/2172", "  21058854000+64984000 Running on CPU 0", "  21123838000+101000 DK for I/O in __filemap_fdatawait_range", "  21123939000 R woken by an interrupt",
			},
			Facts{Lines: 9, Events: 8, Redundant: 1},
		},
		{
			// The figures of Perfetto's bad_print.systrace: a mark with line feeds.
			"lines of a mark", `           <...>-882   (  882) [003] .... 10852.771186: event: event: abc xyz =0x34 clk id = 019
some = 000, other = 0x4
xyz = 0x0 abc = 0x0
  surfaceflinger-598   (  598) [004] .... 10852.771242: tracing_mark_write: B|598|some event
  surfaceflinger-598   (  598) [004] .... 10852.771245: tracing_mark_write: E|598
`,
			[]string{"surfaceflinger/surfaceflinger 598/598 main", "  10852771242000+3000 some event", "/ 882/882 main"},
			Facts{Lines: 5, Events: 2, Malformed: 2, FirstMalformed: `line 2 is "some = 000, other = 0x4"`, Others: map[string]int64{"event": 1}},
		},
		{
			// As Perfetto's unknown_thread_name.systrace.
			"forgotten name", `          <idle>-0     [001] d..2  1234.000001: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=real_name next_pid=19999 next_prio=120
           <...>-19999 [001] d..3  1234.000002: sched_wake_idle_without_ipi: cpu=2
`,
			[]string{"/real_name -1/19999", "  1234000001000 Running on CPU 1"},
			Facts{Lines: 2, Events: 1, Others: map[string]int64{"sched_wake_idle_without_ipi": 1}},
		},
		{
			"trace-cmd report", `cpus=2
systr:             bash-23925 [000] 46901.677053: sched_switch:         bash:23925 [120] W ==> link: x:23930 [120]
systr:          link: x-23930 [000] 46901.677083: sched_waking:         bash:23925 [120] CPU:001
systr:          link: x-23930 [000] 46901.677124446: sched_switch:         prev_comm=link: x prev_pid=23930 prev_prio=120 prev_state=256 next_comm=bash next_pid=23925 next_prio=130
CPU:1 [LOST 123 EVENTS]
CPU:1 [EVENTS DROPPED]
            bash-23925 [000] 46901.678000: print:                tracing_mark_write: B|23925|x|y
            bash-23925 [000] 46901.679000: print:                tracing_mark_write: E|23925
`,
			[]string{
				"/link: x -1/23930", "  46901677053000+71446 Running on CPU 0", "  46901677124446 R+",
				"bash/bash 23925/23925 main", "  46901678000000+1000000 x|y", "  46901677053000+30000 I", "  46901677083000+41446 R woken by link: x", "  46901677124446 Running on CPU 0",
			},
			Facts{CPUs: 2, Lines: 5, Events: 5, Lost: 123, Gaps: 1},
		},
		{
			"threads that start, kernel's workers", `            bash-10   (     10) [001] .... 5.000001: task_newtask: pid=11 comm=a b clone_flags=3d0f00 oom_score_adj=0
            bash-10   (     10) [001] .... 5.000002: task_newtask: pid=12 comm=bash clone_flags=1200000 oom_score_adj=0
            bash-10   (     10) [001] .... 5.000003: sched_process_fork: comm=bash pid=10 child_comm=fork it child_pid=13
            bash-10   (     10) [001] d... 5.000004: sched_wakeup_new: comm=a b pid=11 prio=120 target_cpu=001
            bash-12   (     12) [001] .... 5.000005: task_rename: pid=12 oldcomm=bash newcomm=ls -l oom_score_adj=0
     kworker/1:2-20   (     20) [001] .... 5.000006: workqueue_execute_start: work struct 000000009b0d1b1c: function vmstat_update
     kworker/1:2-20   (     20) [001] .... 5.000007: workqueue_execute_end: work struct 000000009b0d1b1c: function vmstat_update
`,
			[]string{
				"/fork it -1/13", "bash/bash 10/10 main", "bash/a b 10/11", "  5000004000 R woken by bash", "ls -l/ls -l 12/12 main",
				"kworker/1:2/kworker/1:2 20/20 main", "  5000006000+1000 vmstat_update",
			},
			Facts{Lines: 7, Events: 7},
		},
		{
			"what is not understood", ` a-1 [000] .... 1.000000: sched_switch: prev_comm=a prev_pid=x
 a-1 [000] .... 1.000000: sched_waking: comm=a
 a-1 [000] .... 1.000000: sched_blocked_reason: pid=-1 iowait=1
 a-1 [000] .... 1.000000: task_newtask: pid=1 comm=a
 a-1 [0x0] .... 1.000000: sched_switch: x
 a-1 [000] .... 1: sched_switch: x
 a-1 [000] .... 9999999999999.0: sched_switch: x
 a-x [000] .... 1.000000: sched_switch: x
 a-1 [000] .... 1.000000: vfs_read <-ksys_read
 a-1 [000] .... 1.500000: print: I|1|done
`,
			[]string{"a/a 1/1 main", "  1500000000+0 done"},
			Facts{Lines: 10, Events: 1, Malformed: 8, FirstMalformed: `line 1 is "a-1 [000] .... 1.000000: sched_switch: prev_comm=a prev_pid=…"`, Others: map[string]int64{"function": 1}},
		},
		{
			"HTML", `<!DOCTYPE html>
<html>
<head><title>Android System Trace</title><script>
  var x = '<script class="trace-data" type="application/text">'</script></head>
  <script class="trace-data" type="application/text">
PROCESS DUMP
USER           PID  PPID     VSZ    RSS WCHAN            PC S NAME                        COMM
root             1     0   26156   2544 SyS_epoll_wait    0 S init                        init
u0_a10       12106     1   26156   2544 SyS_epoll_wait    0 S com.example.app             ample.app
USER           PID   TID CMD
u0_a10       12106 12161 my app
</script>
  <script type="application/text" class="trace-data">` + marks + `</script>
  <script class="trace-data" type="application/text">
{"traceEvents":[]}
 a-1 [000] .... 1.500000: print: I|1|done
  </script>
</body></html>
`,
			[]string{
				"com.example.app/sh 12106/12106 main", "com.example.app/my app 12106/12161", "  46671018974000+9492000 outer 0|with bar", "    46671018977000+3007000 inner: 0",
			},
			Facts{Tracer: "nop", CPUs: 8, Real: time.UnixMilli(1572597457436).UTC(), RealAt: 46671030002000, Lines: 7, Events: 4, Redundant: 2, Markers: 1, Overwritten: 20},
		},
		{
			"atrace", "capturing trace... done\nTRACE:\n" + marks,
			[]string{
				"sh/sh 12106/12106 main", "sh/my-app [1] (x) 12106/12161", "  46671018974000+9492000 outer 0|with bar", "    46671018977000+3007000 inner: 0",
			},
			Facts{Tracer: "nop", CPUs: 8, Real: time.UnixMilli(1572597457436).UTC(), RealAt: 46671030002000, Lines: 7, Events: 4, Redundant: 2, Markers: 1, Overwritten: 20},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tl, facts, err := read(t, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, happened(tl)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if tt.facts.Others == nil {
				tt.facts.Others = map[string]int64{}
			}
			if d := cmp.Diff(&tt.facts, facts); d != "" {
				t.Errorf("facts (-want +got):\n%s", d)
			}
			others := int64(0)
			for _, n := range facts.Others {
				others += n
			}
			if facts.Lines != facts.Events+facts.Redundant+facts.Markers+facts.Malformed+others {
				t.Errorf("%d lines are not the sum of what became of them", facts.Lines)
			}
			if !Recognise(input.Head(tt.text)).Is {
				t.Error("is not recognised")
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"# tracer: function_graph\n 0)   1.2 us    |  f();\n", "is of the tracer function_graph, without events of scheduling or marks of programs"},
		{"# tracer: nop\n a-1 [000] .... 12345: sched_switch: x\n", `has no line that is an event with a time in seconds: line 2 is "a-1 [000] .... 12345: sched_switch: x"`},
		{"# tracer: nop\n#\n", "has no events of scheduling and no marks of programs"},
		{" a-1 [000] .... 1.5: cpu_idle: state=1 cpu_id=0\n", "has no events of scheduling and no marks of programs"},
	} {
		if _, _, err := read(t, tt.text); err == nil || err.Error() != tt.want {
			t.Errorf("%q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

// TestRecogniseNot checks that text of perf script, and other text, is not taken for ftrace.
func TestRecogniseNot(t *testing.T) {
	for _, text := range []string{
		"            perf 12486 [000] 46680.243555: sched:sched_waking: comm=migration/0 pid=18 prio=0 target_cpu=000\n",
		"            perf 12486/12486 [000] 46680.243560: sched:sched_switch: prev_comm=perf prev_pid=12486 prev_prio=120 prev_state=D ==> next_comm=migration/0 next_pid=18 next_prio=0\n",
		"            a-12 34 [000] K     46680.243555: sched:sched_waking:                         comm=migration/0 pid=18 prio=0\n",
		"            a-12 [000] 46680.243555: sched:sched_waking: comm=migration/0 pid=18 prio=0\n", // without the number of the thread
		"            a-12 [000] 46680.243555: cycles: 55d0c1e0 f (/bin/a)\n",
		"main;f 10\n", "<!DOCTYPE html>\n<html><body>class</body></html>\n", "x-1 [2] 3.4: y: z\n", "[2023-11-14] x-1 [000] started: y\n",
	} {
		if Recognise(input.Head(text)).Is {
			t.Errorf("%q is taken for ftrace", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(marks))
	f.Add([]byte("<html>trace_viewer\n<script class=\"trace-data\">PROCESS DUMP\nUSER PID TID CMD\na 1 2 b\nUSER PID PPID\na 1 2 3 4 5 6 7 8 9\n</script>\n<script class=\"trace-data\">\n" + marks + "</script>"))
	for _, s := range []string{
		" a-1 [000] d.h. 1.5: sched_switch: prev_comm=a prev_pid=1 prev_state=S ==> next_comm=b next_pid=2\n", " a-1 ( 3) [000] 1.5: sched_switch: a:1 [120] S ==> b:2 [120]\n",
		"cpus=3\nTRACE:\n a-1 [0] 1.5: sched_waking: comm= pid=3\n", "CPU:1 [LOST 9 EVENTS]\n", " a-1 [0] 1.5: task_newtask: pid=2 comm=a clone_flags=ff\n", " a-1 [0] 1.5: sched_blocked_reason: pid=1 iowait=1 caller=f+0x1\n",
		" a-1 [0] 1.5: workqueue_execute_start: function f\n a-1 [0] 1.6: workqueue_execute_end: x\n", " a-1 [0] 1.5: task_rename: pid=1 newcomm=b oom_score_adj=0\n", "# a entries-in-buffer/entries-written: 1/9 #P:4\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tl, facts, err := read(t, string(data))
		if err == nil && facts.Events == 0 {
			t.Error("nothing was read, without an error")
		}
		happened(tl)
		Recognise(data)
	})
}

// BenchmarkRead reads events of scheduling and marks.
func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	text.WriteString("# tracer: nop\n")
	for i := range 100_000 {
		cpu, a, c := i%8, 1000+i%97, 1000+(i+1)%97
		fmt.Fprintf(&text, "        thread-%d-%d    (   1000) [%03d] d..2. %d.%06d: sched_switch: prev_comm=thread-%d prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=thread-%d next_pid=%d next_prio=120\n", a, a, cpu, i/1000, i%1000*1000, a, a, c, c)
		fmt.Fprintf(&text, "        thread-%d-%d    (   1000) [%03d] d..2. %d.%06d: sched_waking: comm=thread-%d pid=%d prio=120 target_cpu=000\n", c, c, cpu, i/1000, i%1000*1000+300, a, a)
		fmt.Fprintf(&text, "        thread-%d-%d    (   1000) [%03d] ..... %d.%06d: tracing_mark_write: %s\n", c, c, cpu, i/1000, i%1000*1000+500, []string{"B|1000|draw frame", "E|1000"}[i/97%2])
	}
	data := text.String()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := read(b, data); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDataString checks that the systrace of 2012 is read, whose text is one string of a script, and its text alone.
func TestDataString(t *testing.T) {
	text := "# tracer: nop\\n\\\n" +
		"          app-10 [000] 1.000100: sched_switch: prev_comm=app prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper next_pid=0 next_prio=120\\n\\\n" +
		"          <idle>-0 [000] 1.000300: sched_switch: prev_comm=swapper prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=10 next_prio=120\\n\\\n"
	for name, text := range map[string]string{
		"page": "<!DOCTYPE html>\n<html>\n<title>Android System Trace</title>\n<script>\n  var linuxPerfData = \"\\\n" + text + "\";\n</script>\n</html>\n",
		"text": text,
	} {
		tl, facts, err := read(t, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if facts.Tracer != "nop" || facts.Events != 2 || facts.Malformed != 0 || tl.Sched.Switches != 2 {
			t.Errorf("%s: %+v, %d switches", name, facts, tl.Sched.Switches)
		}
	}
}
