package recording

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/stacks"
	"profdiff/internal/perffile/perffiletest"
)

const (
	brAttr = "header\nattr type=raw config=0x20c4 sample_period=1000 sample_type=IP|TID|TIME|BRANCH_STACK flags=sample_id_all branch_sample_type=USER|ANY\n"
	brApp  = "COMM pid=10 tid=10 comm=\"app\" sample_id={pid=10,tid=10,time=1}\n" +
		"MMAP2 misc=USER pid=10 tid=10 start=0x400000 len=0x10000 pgoff=0x1000 prot=READ|EXEC filename=\"/app\" sample_id={pid=10,tid=10,time=1}\n"
	brIntel = "feature CPUID cpuid=\"GenuineIntel,6,78,3\"\n"
)

// brSample is a sample of process pid at a time.
func brSample(pid, time int, entries ...string) string {
	return fmt.Sprintf("SAMPLE misc=USER ip=0x400000 pid=%d tid=%d time=%d lbr=[{%s}]\n", pid, pid, time, strings.Join(entries, "},{"))
}

const (
	hit  = "from=0x400100,to=0x400000,flags=PREDICTED"
	miss = "from=0x400100,to=0x400000,flags=MISPRED"
)

func readFixture(t *testing.T, text string, opt *branch.Options) (*branch.Table, error) {
	t.Helper()
	data := perffiletest.Fixture(t, text)
	return readBytes("app.data", data, opt)
}

func TestPerfData(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // branches: dso, address, taken, mispredicted
		dropped    map[string]int64
		unknown    string
	}{
		{
			"a mapping", brAttr + brApp + brSample(10, 5, hit, miss) + brIntel,
			[]string{"/app 1100 2 1"},
			nil, "",
		},
		{
			"mapped over", brAttr + brApp + brSample(10, 5, miss) +
				"MMAP2 misc=USER pid=10 tid=10 start=0x400000 len=0x1000 pgoff=0 prot=READ|EXEC filename=\"/new\" sample_id={pid=10,tid=10,time=6}\n" +
				brSample(10, 7, miss, "from=0x401200,to=0x400000,flags=MISPRED") + brIntel,
			[]string{"/app 1100 1 1", "/app 2200 1 1", "/new 100 1 1"},
			nil, "",
		},
		{
			"forked", brAttr + brApp + "FORK pid=11 ppid=10 tid=11 ptid=10 time=2 sample_id={pid=11,tid=11,time=2}\n" +
				"FORK pid=10 ppid=10 tid=12 ptid=10 time=2 sample_id={pid=10,tid=10,time=2}\n" + brSample(11, 5, hit, miss) + brIntel,
			[]string{"/app 1100 2 1"},
			nil, "",
		},
		{
			"not mapped", brAttr + brSample(12, 5, miss) + brIntel,
			[]string{"[unmapped] 400100 1 1"},
			nil, "",
		},
		{
			"kernel", brAttr + "MMAP misc=KERNEL pid=-1 tid=0 start=0xffffffff81000000 len=0x100000 pgoff=0xffffffff81000000 filename=\"[kernel.kallsyms]_text\" sample_id={pid=0,tid=0,time=0}\n" +
				brSample(10, 5, "from=0xffffffff81000100,to=0xffffffff81000000,flags=MISPRED") + brIntel,
			[]string{"[kernel.kallsyms] ffffffff81000100 1 1"},
			nil, "",
		},
		{
			"halves", brAttr + brApp + brSample(10, 5, miss, "from=0x0,to=0x400000,flags=PREDICTED", "from=0x400100,to=0x0,flags=PREDICTED") + brIntel,
			[]string{"/app 1100 1 1"},
			map[string]int64{stacks.DropHalf: 2},
			"",
		},
		{
			"no flags", brAttr + brApp + brSample(10, 5, "from=0x400100,to=0x400000,flags=0") + brIntel,
			[]string{"/app 1100 1 0"},
			nil, "no entry says whether it was predicted",
		},
		{
			"all predicted", brAttr + brApp + brSample(10, 5, hit) + brIntel,
			[]string{"/app 1100 1 0"},
			nil, "none of 1 entries is mispredicted, as from hardware or tools that do not tell",
		},
		{
			"injected", brAttr + brApp + brSample(10, 5, miss) + brIntel + "feature CMDLINE args=[\"/usr/bin/perf\",\"inject\",\"-i\",\"x\"]\n",
			[]string{"/app 1100 1 0"},
			nil, "stacks were made by perf inject, which does not know predictions",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := readFixture(t, test.text, &branch.Options{})
			if err != nil {
				t.Fatal(err)
			}
			branchtest.CheckTable(t, table)
			var got []string
			for _, b := range table.Branches {
				got = append(got, fmt.Sprintf("%s %x %d %d", b.DSO, b.Address, b.Stacks.Taken, b.Stacks.Mispredicted))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("branches: %s", diff)
			}
			if diff := cmp.Diff(test.dropped, table.Stacks.Entries.Dropped); diff != "" {
				t.Errorf("dropped: %s", diff)
			}
			if table.Unknown != test.unknown {
				t.Errorf("unknown %q, want %q", table.Unknown, test.unknown)
			}
			if e := table.Events[0]; e.Counts != branch.CountsTaken || e.Period != 1000 {
				t.Errorf("event %+v", e)
			}
		})
	}
}

// TestPerfDataWeights drops samples whose period had not settled, and takes what
// counters say that ran for a part of the time.
func TestPerfDataWeights(t *testing.T) {
	const attr = "header\nattr type=raw config=0x20c4 sample_period=1000 sample_type=IP|TID|TIME|PERIOD|BRANCH_STACK|READ|ID flags=sample_id_all|freq read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID branch_sample_type=USER|ANY ids=[1]\n" +
		"attr type=hardware config=1 sample_period=1000 sample_type=IP|TID|TIME|PERIOD|BRANCH_STACK|READ|ID flags=sample_id_all|freq read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID branch_sample_type=USER|ANY ids=[2]\n"
	sample := func(time, id, period, value int, running float64, entries ...string) string {
		return fmt.Sprintf("SAMPLE misc=USER ip=0x400000 pid=10 tid=10 time=%d id=%d period=%d read={value=%d,time_enabled=%d,time_running=%d,id=%d} lbr=[{%s}]\n",
			time, id, period, value, time*1000, int(float64(time)*1000*running), id, strings.Join(entries, "},{"))
	}
	recording := func(instructions float64) string {
		var b strings.Builder
		b.WriteString(attr + brApp)
		value := 0
		for i, period := range []int{1, 30, 999, 1000, 100000, 100000, 100000, 100000, 100000, 100000} {
			value += period
			b.WriteString(sample(10+i, 1, period, value, 0.5, hit, miss, hit, miss, hit, miss, hit, miss))
		}
		b.WriteString(sample(50, 2, 4000000, 4000000, instructions, hit) + brIntel)
		return b.String()
	}
	table, err := readFixture(t, recording(0.8), &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	// 1 % of the median is 1000; half the time is as long again.
	if b := table.Branches[0]; b.Stacks.Taken != 81 || b.N >= 81-24 || b.N < 7 {
		t.Errorf("%+v of %d", b.Stacks, b.N)
	}
	if e := table.Events[0]; e.Samples != 10 || e.Unsettled != 3 || e.Weight != 601000 || !table.Scaled || table.Stacks.Rated != 2*602030 {
		t.Errorf("%+v, rated %v", e, table.Stacks.Rated)
	}
	if *table.Instructions != 5000000 {
		t.Errorf("%v instructions", *table.Instructions)
	}
	all := strings.Join(table.Warnings, "\n")
	for _, want := range []string{"3 of 10 samples of r20c4 came before its period had settled", "r20c4 counted 1204060, its samples stand for 601000: the counter is taken", "r20c4 ran 50 % of the time: its count is extrapolated", "instructions ran 80 % of the time"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in:\n%s", want, all)
		}
	}
	for running, want := range map[float64]string{0.2: "instructions is not used: it ran 20 % of the time only", 0.5: "instructions is not used: it did not run at the same time as r20c4: record them as a group"} {
		table, err := readFixture(t, recording(running), &branch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(table.Warnings, "\n"); table.Instructions != nil || !strings.Contains(all, want) {
			t.Errorf("%v: instructions %v, warnings:\n%s", running, table.Instructions, all)
		}
	}
}

func TestPerfDataErrors(t *testing.T) {
	const callStack = "header\nattr type=hardware config=0 sample_period=1 sample_type=IP|TID|TIME|CALLCHAIN|BRANCH_STACK flags=sample_id_all branch_sample_type=USER|CALL_STACK\n"
	for _, test := range []struct {
		name, text string
		events     []string
		want       string
	}{
		{"no stacks", "header\nattr type=hardware sample_period=1 sample_type=IP|TID|TIME flags=sample_id_all\nSAMPLE misc=USER ip=0x400000 pid=1 tid=1 time=1\n", nil, "no branch stacks: record them with perf record -b or simpleperf record -b, or samples of branch misses with perf record -e '{branch-misses:u,branches:u,instructions:u,cycles:u}' -c 100003"},
		{"call stacks", callStack + "SAMPLE misc=USER ip=0x400000 pid=1 tid=1 time=1 ips=[PERF_CONTEXT_USER,0x400000] lbr=[{" + hit + "}]\n", nil, "holds call stacks of the hardware (--call-graph lbr), no branch stacks: record them with perf record -b or simpleperf record -b, or samples of branch misses with perf record -e '{branch-misses:u,branches:u,instructions:u,cycles:u}' -c 100003"},
		{"event", brAttr + brApp + brSample(10, 5, hit), []string{"cycles"}, `no event "cycles", there are r20c4`},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := readFixture(t, test.text, &branch.Options{Events: test.events})
			if table != nil || err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
