package perfsession

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
)

// A replayTest replays the recording that a text describes.
type replayTest struct {
	name string
	text string
	want []string // see lines
}

func runReplayTests(t *testing.T, tests []replayTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, got := replayText(t, test.text)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func replayText(t testing.TB, text string) (*Session, []string) {
	t.Helper()
	return replay(t, perffiletest.Fixture(t, text))
}

func replay(t testing.TB, data []byte) (*Session, []string) {
	t.Helper()
	s, l, err := tryReplay(t, data)
	if err != nil {
		t.Fatal(err)
	}
	return s, l.lines
}

func tryReplay(t testing.TB, data []byte) (*Session, *lines, error) {
	t.Helper()
	s := New(openData(t, data))
	l := &lines{s: s}
	err := s.Replay(l)
	return s, l, err
}

func openData(t testing.TB, data []byte) *perffile.File {
	t.Helper()
	f, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lines is a Handler that notes what it is told, a line each:
//
//	TIME PROCESS/THREAD FRAME FRAME … [event=N] [weight=N] [incomplete] [counters=…]
//	TIME PID/TID on|off
//
// with the frames leaf first. A frame is FILE+OFFSET, the offset in the file, or
// ?ADDRESS without a mapping. K: and G: precede those of kernel and guest; a - behind
// says that the address was a return address. Event 0 and weight 1 go without saying.
type lines struct {
	s     *Session
	lines []string
}

func (l *lines) Sample(s *Sample) error {
	name := func(id NameID) string {
		if id == 0 {
			return "?"
		}
		return l.s.Name(id)
	}
	words := []string{fmt.Sprint(s.Raw.Time), name(s.Thread.Process.Comm) + "/" + name(s.Thread.Comm)}
	for _, f := range s.Frames {
		words = append(words, frameString(f))
	}
	if s.Event != 0 {
		words = append(words, fmt.Sprintf("event=%d", s.Event))
	}
	if s.Weight != 1 {
		words = append(words, fmt.Sprintf("weight=%d", s.Weight))
	}
	if s.Incomplete {
		words = append(words, "incomplete")
	}
	if len(s.Counters) > 0 {
		words = append(words, fmt.Sprintf("counters=%v", s.Counters))
	}
	l.lines = append(l.lines, strings.Join(words, " "))
	return nil
}

func frameString(f Frame) string {
	s := fmt.Sprintf("?%x", f.Addr)
	if m := f.Map; m != nil {
		s = fmt.Sprintf("%s+%x", path.Base(m.DSO.Path), f.Addr-m.Start+m.PgOff)
	}
	if f.Kernel {
		s = "K:" + s
	}
	if f.Guest {
		s = "G:" + s
	}
	if f.Adjusted {
		s += "-"
	}
	return s
}

func (l *lines) Switch(s Switch) error {
	where := "on"
	if s.Out {
		where = "off"
	}
	l.lines = append(l.lines, fmt.Sprintf("%d %d/%d %s", s.Time, s.PID, s.TID, where))
	return nil
}

const (
	// perf record -e cpu-clock -c 1 -g
	clockAttr = "header\nattr type=software config=0 sample_period=1 sample_type=IP|TID|TIME|CALLCHAIN flags=sample_id_all\n"

	bySimpleperf = "\nfeature META_INFO\nmeta key=\"simpleperf_version\" value=\"1\"\n"

	// A program with a library, and the kernel.
	app = `MMAP misc=KERNEL pid=-1 tid=0 start=0xffffffff81000000 len=0x1000000 filename="[kernel.kallsyms]_text"
COMM pid=10 tid=10 comm="app"
MMAP2 misc=USER pid=10 tid=10 start=0x400000 len=0x1000 pgoff=0x1000 prot=READ|EXEC filename="/bin/app"
MMAP2 misc=USER pid=10 tid=10 start=0x700000 len=0x2000 prot=READ|EXEC filename="/lib/libx.so"
`
)

// Both are in the program of app.
func sampleOf(pid, tid, time int) string {
	return fmt.Sprintf("SAMPLE misc=USER ip=0x400010 pid=%d tid=%d time=%d\n", pid, tid, time)
}

func sampleID(pid, tid, time int) string {
	return fmt.Sprintf(" sample_id={pid=%d,tid=%d,time=%d}\n", pid, tid, time)
}

// TestReplayFormats: what a recording says does not depend on how it is written.
func TestReplayFormats(t *testing.T) {
	attrs := []string{
		"type=software config=0 sample_period=1 sample_type=IP|TID|TIME|ID|CALLCHAIN|PERIOD flags=sample_id_all|%s ids=[7]",
		"type=hardware config=1 sample_period=1 sample_type=IP|TID|TIME|ID|CALLCHAIN|PERIOD flags=sample_id_all|%s ids=[8,9]",
	}
	records := app + `
FORK pid=10 ppid=10 tid=11 ptid=10 time=5 sample_id={pid=10,tid=10,time=5,id=7}
SAMPLE misc=USER ip=0x400010 pid=10 tid=11 time=11 id=8 period=300 ips=[PERF_CONTEXT_USER,0x400010,0x700021]
SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=10 tid=10 time=12 id=7 period=0x100000001 ips=[PERF_CONTEXT_KERNEL,0xffffffff81000020,PERF_CONTEXT_USER,0x400020]
COMM pid=10 tid=11 comm="worker" sample_id={pid=10,tid=11,time=10,id=9}
SAMPLE misc=USER ip=0x400030 pid=10 tid=11 time=14 id=9 period=1
LOST id=8 lost=5 sample_id={time=15,id=7}
FINISHED_ROUND
`
	want := []string{
		"11 app/worker app+1010 libx.so+20- event=1 weight=300",
		"12 app/app K:[kernel.kallsyms]+20 app+1020 weight=4294967297",
		"14 app/worker app+1030 event=1",
	}
	file := func(head, flags string) string {
		for _, a := range attrs {
			head += "\nattr " + fmt.Sprintf(a, flags)
		}
		return head + "\n" + records
	}
	pipe := func(head string) string {
		for _, a := range attrs {
			fields, ids, _ := strings.Cut(fmt.Sprintf(a, "mmap"), " ids=")
			head += "\nHEADER_ATTR attr={" + strings.ReplaceAll(fields, " ", ",") + "} ids=" + ids
		}
		return head + "\n" + records
	}
	compressed := file("header", "mmap")
	at := strings.Index(compressed, "FORK")
	compressed = compressed[:at] + "COMPRESSED\n| " +
		strings.Replace(strings.ReplaceAll(strings.TrimSpace(compressed[at:]), "\n", "\n| "), "| FINISHED_ROUND", "FINISHED_ROUND", 1) +
		"\nfeature COMPRESSED comp_ver=1 comp_type=1 comp_level=1 comp_ratio=2 comp_mmap_len=4096\n"
	for _, test := range []replayTest{
		{name: "little-endian", text: file("header", "mmap")},
		{name: "big-endian", text: file("header byte_order=big", "mmap")},
		{name: "pipe", text: pipe("header pipe")},
		{name: "big-endian pipe", text: pipe("header pipe byte_order=big")},
		{name: "compressed", text: compressed},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, got := replayText(t, test.text)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			stats := Stats{Samples: 3, Lost: map[int]int64{1: 5}, First: 11, Last: 14}
			if diff := cmp.Diff(stats, s.Stats); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReplayOrder: records are replayed in the order of their times as far as the
// recording allows that.
func TestReplayOrder(t *testing.T) {
	comm := func(time int, name string) string {
		return fmt.Sprintf("COMM pid=10 tid=10 comm=%q", name) + sampleID(10, 10, time)
	}
	const untimed = "header\nattr type=software config=0 sample_period=1 sample_type=IP|TID flags=sample_id_all\n"
	runReplayTests(t, []replayTest{
		{
			"buffers of two CPUs",
			clockAttr + sampleOf(10, 10, 2) + sampleOf(10, 10, 4) + comm(1, "a") + comm(3, "b") + "FINISHED_ROUND\n" +
				sampleOf(10, 10, 6) + sampleOf(10, 10, 8) + comm(5, "c") + comm(7, "d") + "FINISHED_ROUND\n",
			[]string{"2 a/a ?400010", "4 b/b ?400010", "6 c/c ?400010", "8 d/d ?400010"},
		},
		{
			"the newest record of a round waits for what the next one has before it",
			clockAttr + comm(1, "a") + sampleOf(10, 10, 5) + "FINISHED_ROUND\n" +
				comm(4, "b") + sampleOf(10, 10, 6) + "FINISHED_ROUND\n",
			[]string{"5 b/b ?400010", "6 b/b ?400010"},
		},
		{
			"no rounds",
			clockAttr + sampleOf(10, 10, 3) + comm(2, "b") + sampleOf(10, 10, 1),
			[]string{"1 ?/? ?400010", "3 b/b ?400010"},
		},
		{
			"of equal times the first in the file comes first",
			clockAttr + comm(5, "a") + sampleOf(10, 10, 5) + comm(5, "b") + sampleOf(10, 10, 5) + sampleOf(10, 10, 6) + comm(5, "c"),
			[]string{"5 a/a ?400010", "5 b/b ?400010", "6 c/c ?400010"},
		},
		{
			"the state at the start, which has no time, comes before all",
			clockAttr + sampleOf(10, 10, 3) + "COMM pid=10 tid=10 comm=\"start\"" + sampleID(10, 10, 0),
			[]string{"3 start/start ?400010"},
		},
		{
			"or has all bits of it set",
			clockAttr + sampleOf(10, 10, 3) + "COMM pid=10 tid=10 comm=\"start\" sample_id={pid=10,tid=10,time=18446744073709551615}\n",
			[]string{"3 start/start ?400010"},
		},
		{
			"without times that of the file",
			untimed + "COMM pid=10 tid=10 comm=\"a\"\nSAMPLE misc=USER ip=0x1 pid=10 tid=10\nFINISHED_ROUND\nCOMM pid=10 tid=10 comm=\"b\"\nSAMPLE misc=USER ip=0x2 pid=10 tid=10\n",
			[]string{"0 a/a ?1", "0 b/b ?2"},
		},
		{
			"simpleperf writes in order, times or not",
			clockAttr + comm(9, "a") + sampleOf(10, 10, 3) + comm(1, "b") + sampleOf(10, 10, 2) + bySimpleperf,
			[]string{"3 a/a ?400010", "2 b/b ?400010"},
		},
	})
}

// TestReplayLate: records that come after newer ones have been replayed are counted,
// and replayed as they come. Those without a time are not late.
func TestReplayLate(t *testing.T) {
	s, got := replayText(t, clockAttr+sampleOf(10, 10, 10)+sampleOf(10, 10, 20)+"FINISHED_ROUND\n"+
		sampleOf(10, 10, 30)+"FINISHED_ROUND\n"+ // 10 and 20 go
		"COMM pid=10 tid=10 comm=\"untimed\""+sampleID(10, 10, 0)+
		"COMM pid=10 tid=10 comm=\"late\""+sampleID(10, 10, 15)+sampleOf(10, 10, 40)+sampleOf(10, 10, 19))
	want := []string{"10 ?/? ?400010", "20 ?/? ?400010", "19 late/late ?400010", "30 late/late ?400010", "40 late/late ?400010"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s.Stats.Late != 2 {
		t.Errorf("%d late records, want 2", s.Stats.Late)
	}
}

func TestStats(t *testing.T) {
	const (
		two = `header
attr type=hardware config=0 sample_period=99 sample_type=IP|TID|TIME|ID|PERIOD flags=sample_id_all ids=[1]
attr type=hardware config=1 sample_period=99 sample_type=IP|TID|TIME|ID|PERIOD flags=sample_id_all ids=[2,3]
`
		version = "feature VERSION version=%q\n"
	)
	lostBoth := "LOST id=1 lost=10 sample_id={time=1,id=1}\nLOST_SAMPLES lost=4 sample_id={time=1,id=1}\n"
	for _, test := range []struct {
		name, text string
		want       Stats
		handed     int // samples
		lost       int64
	}{
		{
			"samples", two + `SAMPLE misc=USER ip=1 time=50 id=1 period=1
SAMPLE misc=USER ip=1 time=20 id=3 period=1
SAMPLE misc=USER ip=1 time=90 id=2 period=0x7fffffffffffffff
SAMPLE misc=USER ip=1 time=60 id=1 period=0x8000000000000000
SAMPLE misc=USER ip=1 time=70 id=77 period=1
`,
			Stats{Samples: 5, UnknownEvent: 1, BadPeriod: 1, First: 20, Last: 90},
			3, 0,
		},
		{
			"samples without a time", two + "SAMPLE misc=USER ip=1 time=50 id=1 period=1\nSAMPLE misc=USER ip=1 time=0 id=1 period=1\nSAMPLE misc=USER ip=1 time=60 id=1 period=1\n" + bySimpleperf,
			Stats{Samples: 3, First: 50, Last: 60},
			3, 0,
		},
		{
			"lost records by event", two + `LOST id=1 lost=10 sample_id={time=1,id=1}
LOST id=3 lost=20 sample_id={time=1,id=1}
LOST id=2 lost=1 sample_id={time=1,id=1}
LOST_SAMPLES lost=4 sample_id={time=1,id=3}
LOST_SAMPLES lost=3 sample_id={time=1,id=1}
`,
			Stats{Lost: map[int]int64{0: 13, 1: 25}},
			0, 38,
		},
		{
			"losses that there can have been", two + "COMM pid=1 tid=1 comm=\"a\" sample_id={time=1,id=1}\nLOST id=1 lost=5000000 sample_id={time=1000000001,id=1}\n",
			Stats{Lost: map[int]int64{0: 5_000_000}},
			0, 5_000_000,
		},
		{
			"losses that there cannot have been", two + "COMM pid=1 tid=1 comm=\"a\" sample_id={time=1,id=1}\nLOST id=1 lost=7 sample_id={time=2,id=1}\n" +
				"LOST id=1 lost=478582460288 sample_id={time=1000000001,id=1}\nLOST id=1 lost=0xffffffffffffffff sample_id={time=1000000001,id=1}\n",
			Stats{Lost: map[int]int64{0: 7}, Doubted: Doubted{Count: 2, Samples: 1 << 56, First: 0x200, CPUs: 1024, Span: time.Second}},
			0, 7,
		},
		{
			"records of unknown types", two + "RECORD type=99 raw=0000000000000000\nRECORD type=120 raw=0000000000000000\nRECORD type=99 raw=0000000000000000\nSAMPLE misc=USER ip=1 time=50 id=1 period=1\n",
			Stats{Samples: 1, First: 50, Last: 50, Unread: Unread{Count: 3, Types: map[perffile.RecordType]UnreadType{99: {Count: 2, First: 416}, 120: {Count: 1, First: 432}}}},
			1, 0,
		},
		{"samples that a BPF filter dropped are not lost", two + "LOST_SAMPLES misc=LOST_SAMPLES_BPF lost=4 sample_id={time=1,id=1}\n", Stats{}, 0, 0},
		{"perf 6.1 counts each loss twice", two + lostBoth + fmt.Sprintf(version, "6.1.187"), Stats{Lost: map[int]int64{0: 4}}, 0, 4},
		{"so do later ones", two + lostBoth + fmt.Sprintf(version, "7.0.rc1"), Stats{Lost: map[int]int64{0: 4}}, 0, 4},
		{"those before do not", two + lostBoth + fmt.Sprintf(version, "5.15.g8bb7eca972ad"), Stats{Lost: map[int]int64{0: 14}}, 0, 14},
		{"nor 6.0", two + lostBoth + fmt.Sprintf(version, "6.0.9"), Stats{Lost: map[int]int64{0: 14}}, 0, 14},
		{"a version that is no number", two + lostBoth + fmt.Sprintf(version, "next"), Stats{Lost: map[int]int64{0: 14}}, 0, 14},
		{
			"throttled, once for each pause", two + `THROTTLE time=1 id=1 stream_id=1 sample_id={time=1,id=1}
UNTHROTTLE time=2 id=1 stream_id=1 sample_id={time=2,id=1}
THROTTLE time=3 id=1 stream_id=1 sample_id={time=3,id=1}
`,
			Stats{Throttled: 2},
			0, 0,
		},
		{
			"hardware traces", two + `AUX aux_size=256 flags=TRUNCATED|PARTIAL sample_id={time=1,id=1}
AUX aux_size=256 flags=PARTIAL sample_id={time=2,id=1}
AUX aux_size=0 flags=0 sample_id={time=3,id=1}
AUXTRACE_INFO type=3
AUXTRACE size=8 idx=2 tid=-1 cpu=2
hex 0011223344556677
`,
			Stats{AuxTruncated: 1, Trace: Trace{Recorded: true, Kind: "Arm CoreSight", Bytes: 8}},
			0, 0,
		},
		{
			"stacks that are not unwound",
			"header\nattr type=software sample_period=1 sample_type=IP|TID|TIME|STACK_USER sample_stack_user=16\n" + `
SAMPLE misc=USER ip=1 time=1 stack_user={data=0011223344556677,dyn_size=8}
SAMPLE misc=KERNEL ip=1 time=2
SAMPLE misc=USER ip=1 time=3 stack_user={data=0011223344556677,dyn_size=0}
`,
			Stats{Samples: 3, RawStacks: 1, First: 1, Last: 3},
			3, 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, got := replayText(t, test.text)
			if test.want.Lost == nil {
				test.want.Lost = map[int]int64{}
			}
			if diff := cmp.Diff(test.want, s.Stats); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if len(got) != test.handed || s.Stats.LostSamples() != test.lost {
				t.Errorf("%d samples, %d lost; want %d, %d", len(got), s.Stats.LostSamples(), test.handed, test.lost)
			}
		})
	}
}

func TestReplayErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"short COMM", clockAttr + "+12 COMM raw=01000000", "COMM"},
		{"short MMAP2", clockAttr + "+16 MMAP2 raw=0100000002000000", "MMAP2"},
		{"short FORK", clockAttr + "+16 FORK raw=0100000002000000", "FORK"},
		{"short EXIT", clockAttr + "+16 EXIT raw=0100000002000000", "EXIT"},
		{"short LOST", clockAttr + "+16 LOST raw=0100000002000000", "LOST"},
		{"short AUX", clockAttr + "+16 AUX raw=0100000002000000", "AUX"},
		{"short KSYMBOL", clockAttr + "+16 KSYMBOL raw=0100000002000000", "KSYMBOL"},
		{"short UNWINDING_RESULT", clockAttr + "+16 SIMPLEPERF_UNWINDING_RESULT raw=0100000002000000" + bySimpleperf, "UNWINDING_RESULT"},
		{"long call chain", clockAttr + "SAMPLE ip=1 time=1 nr=5 ips=[0x1,0x2]", "SAMPLE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := tryReplay(t, perffiletest.Fixture(t, test.text))
			if format := (*perffile.FormatError)(nil); !errors.As(err, &format) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want a FormatError with %q", err, test.want)
			}
		})
	}
}

// failing is a Handler that has enough at the n-th call.
type failing struct{ n int }

var errEnough = errors.New("enough")

func (f *failing) call() error {
	if f.n--; f.n == 0 {
		return errEnough
	}
	return nil
}

func (f *failing) Sample(*Sample) error { return f.call() }
func (f *failing) Switch(Switch) error  { return f.call() }

// TestHandlerError: replaying stops with the error of the handler.
func TestHandlerError(t *testing.T) {
	sw := "SWITCH misc=SWITCH_OUT" + sampleID(10, 10, 3)
	for name, text := range map[string]string{
		"at the end":       clockAttr + sampleOf(10, 10, 1) + sampleOf(10, 10, 2) + sampleOf(10, 10, 3),
		"of a round":       clockAttr + sampleOf(10, 10, 1) + sampleOf(10, 10, 2) + sampleOf(10, 10, 3) + "FINISHED_ROUND\nFINISHED_ROUND\nRECORD type=10 raw=00\n",
		"of a switch":      clockAttr + sampleOf(10, 10, 1) + sw + sampleOf(10, 10, 5),
		"of simpleperf's":  clockAttr + sampleOf(10, 10, 1) + sampleOf(10, 10, 2) + sw + bySimpleperf,
		"without ordering": clockAttr + sampleOf(10, 10, 0) + sampleOf(10, 10, 0) + sampleOf(10, 10, 0),
	} {
		f := failing{n: 2}
		if err := New(openData(t, perffiletest.Fixture(t, text))).Replay(&f); !errors.Is(err, errEnough) || f.n != 0 {
			t.Errorf("%s: got error %v with %d calls left", name, err, f.n)
		}
	}
}

func TestSwitches(t *testing.T) {
	runReplayTests(t, []replayTest{
		{
			"of the thread of the record",
			clockAttr + sampleOf(10, 11, 3) + "SWITCH misc=SWITCH_OUT" + sampleID(10, 11, 4) + "SWITCH" + sampleID(10, 11, 2),
			[]string{"2 10/11 on", "3 ?/? ?400010", "4 10/11 off"},
		},
		{
			"not of the one before or after it",
			clockAttr + "SWITCH_CPU_WIDE misc=SWITCH_OUT next_prev_pid=7 next_prev_tid=8" + sampleID(10, 11, 4),
			[]string{"4 10/11 off"},
		},
		{
			"of no one knows whom",
			"header\nattr type=software sample_period=1 sample_type=IP|TID|TIME\nSWITCH\n",
			[]string{"0 -1/-1 on"},
		},
	})
}

// TestKallsyms: the last ones that simpleperf recorded count, and are no part of its
// file.
func TestKallsyms(t *testing.T) {
	s, _ := replayText(t, clockAttr+`SIMPLEPERF_KERNEL_SYMBOL kallsyms="1 T old\n"
SIMPLEPERF_KERNEL_SYMBOL kallsyms="ffffffff81000000 T _text\n"
`+strings.Repeat(fmt.Sprintf("SIMPLEPERF_DEBUG s=%q\n", strings.Repeat("x", 60_000)), 80)+bySimpleperf)
	if got, want := string(s.Kallsyms), "ffffffff81000000 T _text\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
