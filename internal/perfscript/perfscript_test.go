package perfscript

import (
	"strings"
	"testing"

	"profdiff/internal/input"
)

func TestRecognise(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       bool
		why        string
	}{
		{"default", "app  1234 [000] 12.345678:     250000 cycles:u: \n\t          401136 main+0x6 (/app)\n\n", true, ""},
		{"one line", "app  1234 12.345678:     250000 cycles:u:           401136 main (/app)\n", true, ""},
		{"branch stacks", " 0x401310/0x4012f0/P/-/-/22//-  0x4012fa/0x4012ff/M/-/-/3//-\n", true, ""},
		{"mapping", "PERF_RECORD_MMAP2 7/7: [0x1000(0x1000) @ 0x1000 fe:01 5 6]: r-xp /app\n", true, ""},
		{"header alone", "# ========\n# hostname : a\n", true, ""},
		{"ftrace", "          <idle>-0       [001] d..2.   123.456789: sched_switch: prev_comm=swapper/1\n", false, "they are of ftrace"},
		{"trace-cmd", "          <idle>-0     [001]   100.123456: sched_switch: swapper/1:0 [120]\n", false, "they are of ftrace"},
		{"keys and numbers", "MemTotal:       65792028 kB\nHugePages_Total:       0\n", false, "none has a process"},
		{"a header with lines that are none of perf script", "# ========\n# hostname : a\n# ========\nnot a sample\nnor one more\n", false, "none has a process"},
		{"names and numbers of threads alone", "app  1234\napp  1234\nworker  1235\n", false, "none has a process"},
		{"within other text", "PERF_RECORD_FORK(9:9):(7:7)\n" + strings.Repeat("hello\n", 9), false, "too many are others"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := Recognise(input.Head(tt.text))
			if e.Is != tt.want || !e.Is && !strings.HasPrefix(e.Why, tt.why) || e.Known > e.Seen || strings.HasPrefix(e.Why, "none has") && e.Known > 0 {
				t.Errorf("got %+v, want %v, %q", e, tt.want, tt.why)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("app 1/1 1.0: 100 cycles: 0x401310/0x4012f0/P/-/-/22//-  0x1(/a b)/0x2/MN/-/-/8/COND/SPEC_WRONG_PATH"))
	f.Add([]byte("\t          401136 main+0x6 (/app (deleted))"))
	f.Add([]byte("a 1/1 1.0: PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0x10 fe:01 1 2]: r-xp /app"))
	f.Add([]byte("# event : name = cycles, , id = { 1 }, { sample_period, sample_freq } = 4000, freq = 1, branch_sample_type = ANY|USER"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if e := Recognise(line); e.Known > e.Seen {
			t.Errorf("%d of %d lines", e.Known, e.Seen)
		}
		if h, ok := ParseHeader(line); ok && (h.Rest > len(line) || h.fields() == 0) {
			t.Errorf("header %+v", h)
		}
		if fr, ok := ParseFrame(line); ok && len(fr.Symbol)+len(fr.DSO) > len(line) {
			t.Errorf("frame %+v", fr)
		}
		for rest := line[FirstBranch(line):]; len(rest) > 0; {
			_, n, err := ParseBranch(rest)
			if err != nil || n <= 0 {
				break
			}
			rest = rest[n:]
		}
		if record := FindRecord(line); record != nil {
			_, _ = ParseRecord(record)
		}
		if _, value, ok := ParseComment(line); ok {
			ParseEventDesc(value)
		}
	})
}
