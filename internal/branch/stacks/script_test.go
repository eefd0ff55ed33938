package stacks

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/branch/code"
	"profdiff/internal/verdict"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/perfsession"
)

func readText(text string, opt *branch.Options) (*branch.Table, error) {
	return ReadScript("text", strings.NewReader(text), int64(len(text)), opt)
}

func TestScriptErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no stacks", "app 1/1 1.0: 100 cycles:u: 401000 main (/app)\n", "no branch stacks: print them with perf script -F +brstack, addresses as numbers"},
		{"names for addresses", " main+0x10/main+0x20/P/-/-/0\n", "no branch stacks: print them with perf script -F +brstack, addresses as numbers"},
		{"flag", "\n 0x1/0x2/Q/-/-/0\n", `line 2: prediction "Q" is none of M, P and - in "0x1/0x2/Q/-/-/0"`},
		{"no flags", " 0x1/0x2\n", `line 1: no flags in "0x1/0x2"`},
		{"no prediction", " 0x1/0x2/\n", `line 1: no prediction in "0x1/0x2/"`},
		{"cycles", " 0x1/0x2/P/-/-/70000\n", `line 1: "70000" cycles in "0x1/0x2/P/-/-/70000"`},
		{"address", " 0x1/0x12345678901234567/P\n", `line 1: no address in "0x12345678901234567/P"`},
		{"file name", " 0x1/0x2(/app/P\n", `line 1: no end of the file name in "0x2(/app/P"`},
		{"mapping", "a 1/1 1.0: PERF_RECORD_MMAP2 1/1: [0x1000 @ 0 fe:01 1 2]: r-xp /app\n", `line 1: PERF_RECORD_MMAP2: no [START(LEN) @ OFFSET] in "1/1: [0x1000 @ 0 fe:01 1 2]: r-xp /app"`},
		{"mapping of nobody", "PERF_RECORD_MMAP [0x1000(0x1000) @ 0]: x /app\n", `line 1: PERF_RECORD_MMAP: no process in "[0x1000(0x1000) @ 0]: x /app"`},
		{"fork", "PERF_RECORD_FORK(1:1):2\n", "line 1: PERF_RECORD_FORK: is not (pid:tid):(ppid:ptid)"},
		{"long line", strings.Repeat("x", maxLine+1), "line 1: longer than 1048576 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := readText(test.text, &branch.Options{})
			if err == nil || table != nil || err.Error() != test.want {
				t.Errorf("got %v, %v, want %s", table != nil, err, test.want)
			}
		})
	}
}

// TestScriptForms reads the same two samples in forms of perf script.
func TestScriptForms(t *testing.T) {
	const (
		first  = "0x1010/0x1000/P/-/-/0//- 0x1014/0x1000/M/-/-/0//- 0x0/0x1000/P/-/-/0//-"
		second = "0x1010/0x1000/M/-/-/0//-  0x1010/0x1000/-/-/-/0/COND/SPEC_WRONG_PATH"
		maps   = "app 7/7 0.0: PERF_RECORD_MMAP2 7/7: [0x1000(0x1000) @ 0x1000 fe:01 5 6]: r-xp /app\n" +
			"app 7/7 0.0: PERF_RECORD_MMAP2 7/7: [0x2000(0x1000) @ 0 fe:01 5 6]: r--p /data\n"
	)
	for _, test := range []struct{ name, text, event, dso string }{
		{"fields", maps + "app 7/8 [000] 1.5: 100 br:taken: " + first + "\napp 7/7 1.6: 100 br:taken: " + second + "\n", "br:taken", "/app"},
		{"one process", maps + "       100 br:taken: " + first + "\n       100 br:taken: " + second + "\n", "br:taken", "/app"},
		{"only stacks", first + "\n " + second + "\n", "unknown", "[unmapped]"},
		{"call chains", maps + "app 7/7 1.5: 100 br:taken: \n\t 1010 main+0x10 (/app)\n\t 999 [unknown] (0x12/0x3)\n " + first + "\n\napp 7/7 1.6: 100 br:taken: \n\t1 x\n " + second + "\n\n", "br:taken", "/app"},
		{"forked", maps + "PERF_RECORD_FORK(9:9):(7:7)\napp 9/9 1.5: 100 br:taken: " + first + "\napp 9/9 1.6: 100 br:taken: " + second, "br:taken", "/app"},
		{"names of files", maps + "app 7/7 1.5: 100 br:taken: " + strings.ReplaceAll(first, "/0x1000/", "(/app)/0x1000(/app)/") + "\napp 7/7 1.6: 100 br:taken: " + second + "\n", "br:taken", "/app"},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := readText(test.text, &branch.Options{})
			if err != nil {
				t.Fatal(err)
			}
			branchtest.CheckTable(t, table)
			want := branch.Account{In: 2, Used: 2}
			if diff := cmp.Diff(want, table.Samples); diff != "" {
				t.Errorf("samples: %s", diff)
			}
			want = branch.Account{In: 5, Used: 3, Dropped: map[string]int64{DropHalf: 1, dropWrongPath: 1}}
			if diff := cmp.Diff(want, table.Stacks.Entries); diff != "" {
				t.Errorf("entries: %s", diff)
			}
			if table.Events[0].Name != test.event || table.Branches[0].DSO != test.dso {
				t.Errorf("event %q, dso %q", table.Events[0].Name, table.Branches[0].DSO)
			}
			var got []string
			for _, b := range table.Branches {
				got = append(got, fmt.Sprintf("%x %d %d", b.Address, b.Stacks.Taken, b.Stacks.Mispredicted))
			}
			if diff := cmp.Diff([]string{"1010 2 1", "1014 1 1"}, got); diff != "" {
				t.Errorf("branches: %s", diff)
			}
		})
	}
}

// TestScriptFacts: comments tell the machine, the periods and where stacks are from.
func TestScriptFacts(t *testing.T) {
	const header = `# ========
# perf version : 6.14
# arch : x86_64
# cpudesc : Some CPU
# cpuid : GenuineIntel,6,44,2
# cmdline : %s
# event : name = br_inst_exec:taken, , id = { 1 }, type = 4, size = 96, config = 0x534088, { sample_period, sample_freq } = 500000, sample_type = IP
# event : name = cycles, , id = { 1 }, type = 0, { sample_period, sample_freq } = 4000, freq = 1, x = 2
`
	table, err := readText(fmt.Sprintf(header, "/usr/bin/perf record -b app")+"a 1/1 1.0: br_inst_exec:taken: 0x1/0x2/M/-/-/0\na 1/1 1.0: cycles:u: 0x1/0x2/P/-/-/0\nPERF_RECORD_LOST lost 3\n", &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := &branch.Table{
		Name: "text", Format: "perf script", Tool: "perf 6.14", Arch: "x86_64", CPU: "Some CPU", Recorded: verdict.Moment{Clock: 1e9},
		Tier: branch.TierStacks, Stacks: &branch.StackTable{FirstIndex: 4, Entries: branch.Account{In: 2, Used: 2}},
		Events: []branch.Event{
			{Name: "br_inst_exec:taken", Samples: 1, Weight: 500000, Period: 500000, Counts: branch.CountsTaken, HasStacks: true, Rates: true},
			{Name: "cycles:u", Samples: 1, Weight: 1, Counts: branch.CountsCycles, HasStacks: true},
		},
		Samples: branch.Account{In: 2, Used: 2, Lost: 3}, Misses: 1,
		Cost: &branch.Cost{Lo: 16, Centre: 25.6, Hi: 32, Source: "nehalem: 16 cycles by LLVM 22, in practice up to twice that"},
	}
	if diff := cmp.Diff(want, table, cmpopts.IgnoreFields(branch.Table{}, "Branches", "Warnings"), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Error(diff)
	}
	for _, test := range []struct{ command, event, want string }{
		{"/usr/bin/perf inject -i x", "cycles", "stacks were made by perf inject, which does not know predictions"},
		{"simpleperf inject", "cycles", "stacks were made by simpleperf inject, which does not know predictions"},
		{"perf record -- perf inject", "cycles", ""},
		{"perf record", "intel_pt//", "stacks were made from a trace of intel_pt, which does not have predictions"},
		{"perf record", "cs_etm/@tmc/u", "stacks were made from a trace of cs_etm, which does not have predictions"},
	} {
		table, err := readText(fmt.Sprintf(header, test.command)+"a 1/1 1.0: "+test.event+": 0x1/0x2/M/-/-/0\n", &branch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if table.Unknown != test.want {
			t.Errorf("%s of %s: prediction unknown %q, want %q", test.command, test.event, table.Unknown, test.want)
		}
	}
}

// TestUnknownPrediction: without predictions there are no misses, no rates and no cost,
// but executions.
func TestUnknownPrediction(t *testing.T) {
	for _, test := range []struct{ flag, want string }{
		{"P", "none of 400 entries is mispredicted, as from hardware or tools that do not tell"},
		{"-", "no entry says whether it was predicted"},
	} {
		line := strings.Repeat(" 0x1010/0x1000/"+test.flag+"/-/-/5", 8)
		table, err := readText(strings.Repeat("      1000 br:taken:"+line+"\n", 50), &branch.Options{Cost: &branch.Cost{Lo: 1, Centre: 1, Hi: 1}})
		if err != nil {
			t.Fatal(err)
		}
		branchtest.CheckTable(t, table)
		if table.Unknown != test.want {
			t.Errorf("unknown %q, want %q", table.Unknown, test.want)
		}
		b := table.Branches[0]
		if b.Misses != nil || b.Stacks.TakenRate != nil || b.Rate != nil || b.CyclesLost != nil || b.MissShare != nil || b.MPKI != nil || b.Classes != nil || b.Stacks.Predicted != 0 {
			t.Errorf("%s: %+v", test.flag, b)
		}
		if b.Taken == nil || math.Abs(*b.Taken-50000) > 1e-6 || !b.Enough {
			t.Errorf("%s: taken %v", test.flag, b.Taken)
		}
	}
}

// TestNotTakenEntries: samples of Arm's SPE are of single branches, taken or not, and
// misses of both are seen.
func TestNotTakenEntries(t *testing.T) {
	var text strings.Builder
	add := func(n int, flag, to string) {
		for range n {
			fmt.Fprintf(&text, "a 1/1 1.0: 1000 branch: 0x1004/%s/%s/-/-/11/COND/-\n", to, flag)
		}
	}
	add(60, "P", "0x1010")
	add(20, "M", "0x1010")
	add(90, "PN", "0x1008")
	add(30, "MN", "0x1008")
	table, err := readText(text.String(), &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	b := table.Branches[0]
	if table.Tier != branch.TierPrecise || len(table.Branches) != 1 || b.N != 200 || b.NMisses != 50 || *b.Stacks.NotTaken != 120 {
		t.Errorf("tier %s, branch %+v", table.Tier, b)
	}
	if b.Rate == nil || b.Rate.Method != branch.AllSeen || math.Abs(*b.Rate.Value-0.25) > 1e-9 || math.Abs(b.PTaken.Value-0.4) > 1e-9 || math.Abs(b.Stacks.TakenRate.Value-0.25) > 1e-9 {
		t.Errorf("rate %+v, P %+v, of taken %+v", b.Rate, b.PTaken, b.Stacks.TakenRate)
	}
	if diff := cmp.Diff([]branch.Class{branch.PartlyLearnt}, b.Classes); diff != "" {
		t.Errorf("class: %s", diff)
	}
}

// TestSlowPaths reads real stacks with cycles: the path with one branch that is not
// taken shows 32 of 53 executions slow by a miss, which costs 21 cycles.
func TestSlowPaths(t *testing.T) {
	data, err := os.ReadFile(branchtest.Recording(t, "branch-truth/llvm_cmov_3.part.perfscript"))
	if err != nil {
		t.Fatal(err)
	}
	// The code of the loop in LLVM's cmov_3.c, as the stacks show it.
	text := program{}
	for a := uint64(0x4012f0); a < 0x401312; a++ {
		text[a] = code.Instruction{Len: 1}
	}
	text[0x4012fa] = code.Instruction{Len: 2, Kind: branch.Conditional, Target: 0x4012ff, Direct: true}
	text[0x401310] = code.Instruction{Len: 2, Kind: branch.Conditional, Target: 0x4012f0, Direct: true}
	s := newScript(&branch.Options{})
	s.c = collectorOf(text, perfsession.Mapping{PID: -1, Start: 0x401000, End: 0x402000, PgOff: 0x401000}, "/cmov")
	// The numbers known are of the samples of both events.
	for _, name := range []string{"br_inst_retired.near_taken:upp", "br_misp_retired.all_branches:upp"} {
		s.events[name] = s.c.event(branch.Event{Name: name, Precise: true, Counts: branch.CountsTaken}, true)
	}
	if err := eachLine(bytes.NewReader(data), int64(len(data)), s.line); err != nil {
		t.Fatal(err)
	}
	s.end()
	table := &branch.Table{}
	s.c.Finish(table, s.opt, nil, "")
	branchtest.CheckTable(t, table)
	for i := range table.Branches {
		b := &table.Branches[i]
		if b.Stacks.Runtime != 0x4012fa {
			continue
		}
		if b.Stacks.Taken != 68 || b.Stacks.Mispredicted != 25 || *b.Stacks.NotTaken < 53 {
			t.Errorf("entries %+v", b.Stacks)
		}
		if c := b.Cost; c == nil || c.Centre != 21 || !c.Measured {
			t.Errorf("cost %+v, want 21", b.Cost)
		}
		site := s.c.sites[code.Place{DSO: 0, Rel: 0x4012fa}]
		if site.slow != 32 || site.fast != 21 {
			t.Errorf("%d slow and %d fast, want 32 and 21", site.slow, site.fast)
		}
		r := b.Rate
		if r == nil || r.Value == nil || math.Abs(*r.Value-0.47) > 0.02 || math.Abs(r.Bounds[0]-0.21) > 0.02 || math.Abs(r.Bounds[1]-0.64) > 0.02 {
			t.Errorf("rate %+v, want 0.47 between 0.21 and 0.64", r)
		} else {
			t.Logf("rate %.3f, bounds %.3f, interval %.3f, cost %+v", *r.Value, r.Bounds, r.CI, *b.Cost)
		}
		return
	}
	t.Error("the branch is not there")
}

// TestFilter: of branches of some kinds, what lies between two is not known.
func TestFilter(t *testing.T) {
	for kinds, want := range map[string]bool{"ANY": false, "USER|ANY": false, "USER|ANY_CALL": true, "COND": true} {
		table, err := readText("# event : name = br:taken, , id = { 1 }, { sample_period, sample_freq } = 100, branch_sample_type = "+kinds+", x = 1\n"+
			"a 1/1 1.0: br:taken: 0x1/0x2/M/-/-/0 0x3/0x1/P/-/-/0\n", &branch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		const warning = "br:taken records branches of some kinds only: executions that are not taken are not known"
		if got := slices.Contains(table.Warnings, warning); got != want {
			t.Errorf("%s: warnings %q", kinds, table.Warnings)
		}
		if got := table.Stacks.Ranges == (branch.Ranges{}); got != want {
			t.Errorf("%s: ranges %+v", kinds, table.Stacks.Ranges)
		}
	}
}

// TestTotals: executions add up to what the event counted, and what is lost is in
// proportion.
func TestTotals(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		text.WriteString("a 1/1 1.0: 1000 br:taken:")
		for j := range 16 {
			flag := "P"
			if (i+j)%4 == 0 {
				flag = "M"
			}
			fmt.Fprintf(&text, " 0x%x/0x1000/%s/-/-/0/IND", 0x1000+16*(j%2), flag)
		}
		text.WriteString("\na 1/1 1.0: 5000 instructions:u:\na 1/1 1.0: 4000 cycles:u:\n")
	}
	table, err := readText(text.String(), &branch.Options{Cost: &branch.Cost{Lo: 10, Centre: 15, Hi: 20}})
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	if !table.Scaled || *table.Instructions != 500000 || *table.Cycles != 400000 {
		t.Errorf("scaled %v, instructions %v, cycles %v", table.Scaled, *table.Instructions, *table.Cycles)
	}
	// Of the entries 4 to 14 of each stack, 6 of 11 are of the first branch.
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got/want-1) > 1e-9 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	for i := range table.Branches {
		b := &table.Branches[i]
		n := 6.0
		if b.Address == 0x1010 {
			n = 5
		}
		near("taken", b.Taken, 100000*n/11)
		near("executed", b.Executed, 100000*n/11)
		rate := float64(b.NMisses) / float64(b.N)
		near("rate", b.Rate.Value, rate)
		near("misses", b.Misses, 100000*n/11*rate)
		near("mpki", &b.MPKI.Value, 1000**b.Misses/500000)
		near("share", b.Share, 15**b.Misses/400000)
		if b.CyclesLost[0] >= 10**b.Misses || b.CyclesLost[1] <= 20**b.Misses || b.Kind != branch.Indirect || b.N != int64(100*n) {
			t.Errorf("%+v", b)
		}
	}
	if len(table.Branches) != 2 {
		t.Errorf("%d branches", len(table.Branches))
	}
}

// TestScriptUnsettled leaves samples whose period had not settled out of rates.
func TestScriptUnsettled(t *testing.T) {
	var text strings.Builder
	for i, period := range []int{1, 9, 5000, 5000, 5000} {
		fmt.Fprintf(&text, "a 1/1 %d.0: %d br:taken: 0x1000/0x2000/P/-/-/0/IND 0x1000/0x2000/P/-/-/0/IND 0x1000/0x2000/P/-/-/0/IND 0x1000/0x2000/M/-/-/0/IND 0x1000/0x2000/P/-/-/0/IND 0x1000/0x2000/P/-/-/0/IND 0x1000/0x2000/P/-/-/0/IND\n", i, period)
	}
	table, err := readText(text.String(), &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	if e, b := table.Events[0], table.Branches[0]; e.Samples != 5 || e.Unsettled != 2 || e.Weight != 15000 || b.Stacks.Taken != 35 || b.N != 6 {
		t.Errorf("%+v, %+v, %d", e, b.Stacks, b.N)
	}
}

// FuzzStacks counts stacks of a program that may contradict it.
func FuzzStacks(f *testing.F) {
	f.Add([]byte{0x10, 0x00, 1, 5, 0x04, 0x10, 2, 30, 0x14, 0x00, 1, 1})
	f.Add([]byte{0x10, 0x00, 7, 0, 0x00, 0x00, 9, 0, 0x08, 0xf0, 16, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := withProgram(loop)
		event := c.event(branch.Event{Name: "br:taken", Precise: len(data)%2 == 0, Counts: branch.CountsTaken}, true)
		s := &stack{event: event, pid: 1, weight: 1000}
		for ; len(data) >= 4; data = data[4:] {
			e := entry{
				from: 0x1000 + uint64(data[0]), to: 0x1000 + uint64(data[1]), cycles: uint16(data[3]),
				mispredicted: data[2]&1 != 0, predicted: data[2]&2 != 0, wrongPath: data[2]&4 != 0,
			}
			if data[2]&8 != 0 {
				e.from = 0
			}
			if data[2]&16 != 0 {
				e.to |= 1 << 63
			}
			s.entries = append(s.entries, e)
			if len(s.entries) == 16 || data[2]&32 != 0 {
				c.add(s)
				s.entries = s.entries[:0]
			}
		}
		c.add(s)
		table := &branch.Table{}
		c.Finish(table, &branch.Options{}, nil, "")
		branchtest.CheckTable(t, table)
	})
}

func FuzzScript(f *testing.F) {
	f.Add("app 7/8 [000] 1.5: 100 br:taken: 0x1010/0x1000/P/-/-/0//- 0x1014/0x1000/M/-/-/3/COND/SPEC_WRONG_PATH\n")
	f.Add("PERF_RECORD_MMAP2 7/7: [0x1000(0x1000) @ 0x1000 fe:01 5 6]: r-xp /app\n 0x1(/a)/0x2(b)/MN/-/-/8/RET\n")
	f.Add("PERF_RECORD_FORK(9:9):(7:7)\n# cpuid : GenuineIntel,6,44,2\n0x0/0x1/-\n")
	f.Add("# event : name = br:taken, , { sample_period, sample_freq } = 9\nr20c4:upp: 0x1/0x2/M\n")
	f.Add("PERF_RECORD_MMAP -1/0: [0(0xffffffff9fffffff) @ 0xffffffff80200000]: x [kernel.kallsyms]_text\n 0xffffffff80330812/0xffffffff8032d7c0/P/X/A/65535/\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := readText(text, &branch.Options{})
		if (table == nil) == (err == nil) {
			t.Fatalf("table %v and error %v", table != nil, err)
		}
		if err == nil {
			branchtest.CheckTable(t, table)
		}
	})
}
