package callgrind

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/input"
)

// lines joins lines.
func lines(s ...string) string { return strings.Join(s, "\n") + "\n" }

func TestRead(t *testing.T) {
	const header = "part 1 thread=0 pid=0 cmd=\"\" creator=\"\" desc=[] positions=[2] events=[Ir] definitions=[]"
	const plain = "part 0 thread=0 pid=0 cmd=\"\" creator=\"\" desc=[] positions=[2] events=[Ir] definitions=[]"
	for _, tt := range []struct {
		name, in, want string
	}{
		{
			"costs",
			lines("events: Cycles Instructions Flops", "fl=file.f", "fn=main", "15 90 14 2", "16 20 12", "17"),
			lines("part 0 thread=0 pid=0 cmd=\"\" creator=\"\" desc=[] positions=[2] events=[Cycles Instructions Flops] definitions=[]",
				"cost main file.f:15 [90 14 2]", "cost main file.f:16 [20 12 0]", "cost main file.f:17 [0 0 0]"),
		},
		{
			"header",
			lines("# callgrind format", "version: 1", "creator: tool-1", "pid: 7", "cmd: prog a b", "part: 1", "thread: 2",
				"desc: I1 cache: 32 B", "desc: nothing", "later: keys", "positions: instr bb line", "event: Ir : Instruction Fetches", "event: Sum = Ir + 2 Dr", "events: Ir Dr",
				"summary: 3 4", "", "# comment", "ob=o", "fl=f", "fn=g", "0x10 0x8 1 3 0x4", "totals: 3 4"),
			lines(`part 1 thread=2 pid=7 cmd="prog a b" creator="tool-1" desc=[{I1 cache 32 B} {nothing }] positions=[0 1 2] events=[Ir Dr] definitions=[{Ir  Instruction Fetches} {Sum Ir + 2 Dr }]`,
				"cost g@o f:1 0x10 bb=0x8 [3 4]"),
		},
		{
			"relative positions",
			lines("positions: instr line", "events: Ir", "fl=f", "fn=g", "0x80001234 90 1", "+3 * 5", "-1 +0x1 6", "* -91 7", "18446744073709551615 9223372036854775807 8"),
			lines("part 0 thread=0 pid=0 cmd=\"\" creator=\"\" desc=[] positions=[0 2] events=[Ir] definitions=[]",
				"cost g f:90 0x80001234 [1]", "cost g f:90 0x80001237 [5]", "cost g f:91 0x80001236 [6]", "cost g f:0 0x80001236 [7]",
				"cost g f:9223372036854775807 0xffffffffffffffff [8]"),
		},
		{
			"without positions",
			lines("positions:", "events: Ir Dr", "fn=g", "3 4", "5"),
			lines("part 0 thread=0 pid=0 cmd=\"\" creator=\"\" desc=[] positions=[] events=[Ir Dr] definitions=[]", "cost g :0 [3 4]", "cost g :0 [5 0]"),
		},
		{
			"number of names, by kind",
			lines("events: Ir", "ob=(1) o", "fl=(1) f", "fn=(1) g", "1 1", "cob=(2) p", "cfi=(2) h.c", "cfn=(2) h", "calls=2 5", "1 10", "ob=(2)", "fl=(2)", "fn=(2)", "5 10", "fn=(1) k", "6 1", "fn=(below main)", "7 1"),
			lines(plain, "cost g@o f:1 [1]", "call g@o f:1 -> h@p h.c:5 count=2 [10]", "cost h@p h.c:5 [10]", "cost k@p h.c:6 [1]", "cost (below main)@p h.c:7 [1]"),
		},
		{
			"callees have the place of the caller unless they are named",
			lines("events: Ir", "ob=o", "fl=f", "fn=g", "fi=inlined.h", "cob=p", "cfl=q.c", "cfn=q", "calls=1 3", "2 4", "cfn=h", "calls=1 +3", "+1 4", "+1 5"),
			lines(plain, "call g@o(f) inlined.h:2 -> q@p q.c:3 count=1 [4]", "call g@o(f) inlined.h:3 -> h@o inlined.h:5 count=1 [4]", "cost g@o(f) inlined.h:4 [5]"),
		},
		{
			"a callee without calls is no place of the next",
			lines("events: Ir", "fl=f", "fn=g", "cob=p", "cfi=q.c", "cfn=q", "cfn=h", "calls=1 3", "# comment", "", "2 4"),
			lines(plain, "call g f:2 -> h f:3 count=1 [4]"),
		},
		{
			"inlined",
			lines("events: Ir", "fl=f", "fn=g", "1 1", "fi=h", "9 2", "fe=f", "2 3", "fn=k", "3 4"),
			lines(plain, "cost g f:1 [1]", "cost g(f) h:9 [2]", "cost g f:2 [3]", "cost k f:3 [4]"),
		},
		{
			"jumps",
			lines("events: Ir", "fl=f", "fn=g", "1 1", "jump=5 +3", "+1", "jcnd=3/8 10", "* ", "jcnd=8 3 10", "*", "jfi=h", "jfn=(4) k", "jump=1 7", "* ", "jump=2 8", "9 6", "jump=3 1", "fn=(4)", "jump=4 1"),
			lines(plain, "cost g f:1 [1]", "jump g f:2 -> g f:4 conditional=false 5/5", "jump g f:2 -> g f:10 conditional=true 3/8",
				"jump g f:2 -> g f:10 conditional=true 3/8", "jump g f:2 -> k h:7 conditional=false 1/1",
				"jump g f:9 -> g f:8 conditional=false 2/2", "cost g f:9 [6]", "jump g f:9 -> g f:1 conditional=false 3/3", "jump k f:9 -> k f:1 conditional=false 4/4"),
		},
		{
			"callers and recursion levels",
			lines("events: Ir", "fn=(1) a", "fn=(2) b'c", "fn=(3) (1)'2'(2)", "1 1", "frfn=(9) x", "rec=1", "fn=(4) (1)", "1 2", "bb=0x10 1 2", "ln=5"),
			lines(plain, "cost a'2'b'c :1 [1]", "cost a :1 [2]"),
		},
		{
			"parts",
			lines("version: 1", "creator: tool", "cmd: prog", "part: 1", "events: Ir", "ob=(1) o", "fn=(1) g", "5 1", "totals: 1",
				"part: 2", "positions: line", "events: Dr Ir", "fn=(1)", "+1 2 3", "totals: 2 3"),
			lines(`part 1 thread=0 pid=0 cmd="prog" creator="tool" desc=[] positions=[2] events=[Ir] definitions=[]`, "cost g@o :5 [1]",
				`part 2 thread=0 pid=0 cmd="prog" creator="tool" desc=[] positions=[2] events=[Dr Ir] definitions=[]`, "cost g :1 [2 3]"),
		},
		{
			"files",
			lines("version: 1", "cmd: a", "part: 1", "events: Ir", "fn=(1) g", "5 1", "# callgrind format", "version: 1", "part: 1", "events: Ir", "fn=(1) h", "5 1"),
			lines(strings.Replace(header, `cmd=""`, `cmd="a"`, 1), "cost g :5 [1]", header, "cost h :5 [1]"),
		},
		{
			"CR LF, tabs, byte order mark, no end",
			"\ufeffevents:\tIr \r\n\r\nfl=f\r\nfn= g \r\n\t1\t2\t\r\n2 3",
			lines(plain, "cost g f:1 [2]", "cost g f:2 [3]"),
		},
		{
			"negative costs",
			lines("desc: Files compared: a; b", "cmd: p; p", "events: Ir Dr", "fl=f", "fn=g", "0 -4 5", "summary: -4 5"),
			lines(`part 0 thread=0 pid=0 cmd="p; p" creator="" desc=[{Files compared a; b}] positions=[2] events=[Ir Dr] definitions=[]`, "cost g f:0 [-4 5]"),
		},
		{
			"long line",
			lines("events: Ir", "fn="+strings.Repeat("x", 200_000), "1 1"),
			lines(plain, "cost "+strings.Repeat("x", 200_000)+" :1 [1]"),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, dump(t, []byte(tt.in))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i, i)
		}
		return b.String()
	}
	const start = "events: Ir Dr\nfl=f\nfn=g\n"
	for _, tt := range []struct {
		name, in, want string
	}{
		{"empty", "", "line 0: ends without a line events:"},
		{"header only", "version: 1\n", "line 1: ends without a line events:"},
		{"version", "version: 2\n", "line 1: version 2 of the format is not read"},
		{"no events", "events: \n", "line 1: events: names none"},
		{"event twice", "events: Ir Ir\n", "line 1: event Ir is there twice"},
		{"events twice", "events: Ir\nevents: Ir\n", "line 2: a second line events:"},
		{"many events", "events:" + many(1001, " e%d_%d") + "\n", "line 1: there are more than 1000 events"},
		{"positions", "positions: line column\n", `line 1: "column" is no kind of position`},
		{"positions twice", "positions: line line\n", "line 1: a kind of position is there twice"},
		{"costs first", "1 2\n", "line 1: costs before the line events:"},
		{"names first", "fn=f\n", "line 1: fn= before the line events:"},
		{"sum first", "summary: 2\n", "line 1: summary: before the line events:"},
		{"no function", "events: Ir\nfl=f\n1 2\n", "line 3: costs before a line fn="},
		{"jump without function", "events: Ir\njump=1 2\n", "line 2: a jump before a line fn="},
		{"many costs", start + "1 2 3 4\n", "line 4: has more costs than the 2 events"},
		{"text", start + "hello\n", `line 4: "hello" is no line of the format`},
		{"binary", start + "\x00\n", `line 4: "\x00" is no line of the format`},
		{"key", start + "xy=1\n", `line 4: "xy=1" is no line of the format`},
		{"number", start + "1 2x\n", `line 4: "2x" is no number`},
		{"hexadecimal", start + "1 0x\n", `line 4: "0x" is no number`},
		{"fraction", start + "1 2.5\n", `line 4: "2.5" is no number`},
		{"position", start + "1x 2\n", `line 4: "1x" is no number`},
		{"sign", start + "+ 2\n", `line 4: "+" is no number`},
		{"same position", start + "*1 2\n", `line 4: "*1" is no number`},
		{"large cost", start + "1 9223372036854775808\n", "line 4: 9223372036854775808 exceeds 2^63"},
		{"larger cost", start + "1 18446744073709551616\n", "line 4: 18446744073709551616 exceeds 2^64"},
		{"hexadecimal cost", start + "1 0x10000000000000000\n", "line 4: 0x10000000000000000 exceeds 2^64"},
		{"sum", start + "1 9223372036854775807\n1 1\n", "line 5: costs of Ir sum to more than 2^63"},
		{"negative sum", start + "1 0 -9223372036854775807\n1 0 -2\n", "line 5: costs of Dr sum to more than 2^63"},
		{"below zero", start + "5 1\n-6 1\n", "line 5: position -6 is below zero"},
		{"above", start + "5 1\n+18446744073709551611 1\n", "line 5: position +18446744073709551611 is above 2^64"},
		{"line", start + "0xffffffffffffffff 1\n", "line 4: line number 18446744073709551615 exceeds 2^63"},
		{"no such name", "events: Ir\nfl=(1) f\nfn=(1)\n", "line 3: there is no function (1) so far"},
		{"names end with their file", "version: 1\nevents: Ir\nfl=(1) f\nversion: 1\nevents: Ir\nfl=(1)\n", "line 6: there is no file (1) so far"},
		{"name", "events: Ir\nfl=(1 f\n", "line 2: the number of a name has no closing parenthesis"},
		{"names in names", "events: Ir\nfn=(1) (2)'3\n", "line 2: there is no function (2) so far"},
		{"calls", start + "calls=1 2\n1 2\n", "line 4: calls= without cfn="},
		{"calls of calls", start + "cfn=h\ncalls=1 2\n1 2\ncalls=1 2\n", "line 7: calls= without cfn="},
		{"negative calls", start + "cfn=h\ncalls=-1 2\n1 2\n", "line 5: -1 calls"},
		{"calls without target", start + "cfn=h\ncalls=1\n1 2\n", "line 5: ends where a number is expected"},
		{"calls without costs", start + "cfn=h\ncalls=1 2\nfn=k\n", `line 6: "fn=k" where the costs of calls are expected`},
		{"sum instead of calls", start + "cfn=h\ncalls=1 2\ntotals: 1\n", `line 6: "totals: 1" where the costs of calls are expected`},
		{"part instead of calls", start + "cfn=h\ncalls=1 2\npart: 1\n", `line 6: "part: 1" where the costs of calls are expected`},
		{"calls at the end", start + "cfn=h\ncalls=1 2\n", "line 5: ends where the costs of calls are expected"},
		{"jump without target", start + "jump=1\n", "line 4: ends where a number is expected"},
		{"negative jump", start + "jcnd=-1/2 3\n", "line 4: -1 jumps"},
		{"jump of negative", start + "jcnd=1/-2 3\n", `line 4: "1/-2" is no number`},
		{"parts", many(maxParts+1, "events: a%d\nfn=f%d\n"), "there are more than 65536 parts"},
		{"expanded name", "events: Ir\nfn=(1) " + strings.Repeat("x", 1000) + "\nfn=(2) (1)" + strings.Repeat("'(1)", 100) + "\n", "line 3: a name of several others is longer than 65536 bytes"},
		{"long line", start + "fn=" + strings.Repeat("x", input.MaxLine) + "\n", "line 4: is longer than 16777216 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := Read(strings.NewReader(tt.in), Visitor{})
			if err == nil || file != nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, %v, want the error %q", file, err, tt.want)
			}
		})
	}
}

// TestExpandedNames shows that names of names do not multiply.
func TestExpandedNames(t *testing.T) {
	var b strings.Builder
	b.WriteString("events: Ir\nfn=(0) " + strings.Repeat("x", 60_000) + "\n")
	for i := 1; i < 2000; i++ {
		fmt.Fprintf(&b, "fn=(%d) (0)'%d\n", i, i)
	}
	_, err := Read(strings.NewReader(b.String()), Visitor{})
	if err == nil || !strings.Contains(err.Error(), "names of several others have more than 67108864 bytes") {
		t.Errorf("got the error %v", err)
	}
}

func TestSums(t *testing.T) {
	const body = "fl=f\nfn=g\n1 100 5\n"
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"equal", "events: Ir Dr\nsummary: 100 5\n" + body + "totals: 100 5\n", nil},
		{"none", "events: Ir Dr\n" + body, nil},
		{"missing zeros", "events: Ir Dr\nsummary: 100\n" + body, []string{"line 2: the summary of Dr is 0, but lines sum to 5"}},
		{"totals", "events: Ir Dr\nsummary: 100 5\n" + body + "totals: 101 5\n", []string{"line 6: totals of Ir are 101, but the lines above sum to 100"}},
		{"more than the summary", "events: Ir Dr\nsummary: 99 5\n" + body + "totals: 100 5\n", []string{"line 2: the summary of Ir is 99, but lines sum to 100"}},
		{"little less", "events: Ir Dr\nsummary: 101 5\n" + body + "totals: 100 5\n", nil},
		{"much less", "events: Ir Dr\nsummary: 200 5\n" + body + "totals: 100 5\n", []string{"line 2: lines have only 100 of 200 Ir in the summary"}},
		{"less, without totals", "cmd: p\nevents: Ir Dr\n" + body + "summary: 101 5\n", []string{"line 6: the summary of Ir is 101, but lines sum to 100"}},
		{"of another part", "part: 1\nevents: Ir Dr\n" + body + "totals: 99 5\npart: 2\nevents: Ir\ntotals: 0\n", []string{"line 6: totals of Ir are 99, but the lines above sum to 100"}},
		{"many", strings.Repeat("events: Ir Dr\n"+body+"totals: 99 5\n", 23), append(func() (w []string) {
			for i := range 20 {
				w = append(w, fmt.Sprintf("line %d: totals of Ir are 99, but the lines above sum to 100", 5*i+5))
			}
			return w
		}(), "3 more sums differ")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := Read(strings.NewReader(tt.in), Visitor{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, file.Warnings); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTruncated(t *testing.T) {
	const callgrind = "version: 1\ncreator: callgrind-3.19.0\nevents: Ir\nfn=g\n1 100\ncfn=h\ncalls=1 2\n3 400\n4 500\ntotals: 600\n"
	const cachegrind = "desc: I1 cache: x\ncmd: p\nevents: Ir\nfl=f\nfn=g\n1 100\n4 500\nsummary: 600\n"
	for _, tt := range []struct {
		name, in string
		format   Format
		cut      bool
		sum      int64
	}{
		{"callgrind", callgrind, Callgrind, false, 600},
		{"callgrind, no end", strings.TrimSpace(callgrind), Callgrind, false, 600},
		{"within costs", callgrind[:strings.Index(callgrind, "00\ntotals")], Callgrind, true, 100},
		{"behind costs", callgrind[:strings.Index(callgrind, "totals")], Callgrind, true, 600},
		{"within calls", callgrind[:strings.Index(callgrind, "00\n4")], Callgrind, true, 100},
		{"within a key", callgrind[:strings.Index(callgrind, "fn=h")], Callgrind, true, 100},
		{"cachegrind", cachegrind, Cachegrind, false, 600},
		{"within lines", cachegrind[:strings.Index(cachegrind, "0\nsummary")], Cachegrind, true, 100},
		{"of another program", "creator: p\nevents: Ir\nfn=g\n1 100", Callgrind, false, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := Read(strings.NewReader(tt.in), Visitor{})
			if err != nil {
				t.Fatal(err)
			}
			if file.Format != tt.format || file.Truncated != tt.cut || file.Parts[0].Sum[0] != tt.sum || len(file.Warnings) > 0 {
				t.Errorf("got %v, truncated %v, sum %d, warnings %q, want %v, %v, %d",
					file.Format, file.Truncated, file.Parts[0].Sum[0], file.Warnings, tt.format, tt.cut, tt.sum)
			}
		})
	}
}

// TestVisitorErrors shows that errors of a visitor end reading.
func TestVisitorErrors(t *testing.T) {
	const in = "events: Ir\nfn=g\njump=1 2\n1\ncfn=h\ncalls=1 2\n3 4\n5 6\n"
	stop := errors.New("stop")
	for want, v := range map[string]Visitor{
		"line 4: stop": {Jump: func(*Jump) error { return stop }},
		"line 7: stop": {Call: func(*Call) error { return stop }},
		"line 8: stop": {Cost: func(*Cost) error { return stop }},
	} {
		if _, err := Read(strings.NewReader(in), v); !errors.Is(err, stop) || err.Error() != want {
			t.Errorf("got the error %v, want %s", err, want)
		}
	}
}
