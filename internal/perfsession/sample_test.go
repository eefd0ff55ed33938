package perfsession

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chain is a sample in the program of app with a call chain.
func chain(misc string, ip uint64, ips string) string {
	return fmt.Sprintf("SAMPLE misc=%s ip=%#x pid=10 tid=10 time=10 ips=[%s]\n", misc, ip, ips)
}

// TestCallChains: the frames of a sample, which addresses are return addresses, and
// where each belongs.
func TestCallChains(t *testing.T) {
	const (
		user        = "PERF_CONTEXT_USER"
		kernel      = "PERF_CONTEXT_KERNEL"
		noIP        = "header\nattr type=software config=0 sample_period=1 sample_type=TID|TIME|CALLCHAIN flags=sample_id_all\n"
		guestKernel = "MMAP misc=GUEST_KERNEL pid=-1 tid=0 start=0xffffffff81000000 len=0x1000000 filename=\"[guest.kernel.kallsyms]_text\"\n"
	)
	one := func(name, text, want string) replayTest {
		return replayTest{name, text, []string{"10 app/app " + want}}
	}
	runReplayTests(t, []replayTest{
		one("no call chain", clockAttr+app+chain("USER", 0x400010, ""), "app+1010"),
		one("user", clockAttr+app+chain("USER", 0x400010, user+",0x400010,0x700021,0x400101"), "app+1010 libx.so+20- app+1100-"),
		one("callers only", clockAttr+app+chain("USER", 0x400010, user+",0x700021,0x400101"), "app+1010 libx.so+20- app+1100-"),
		one("the same address again is recursion", clockAttr+app+chain("USER", 0x400010, user+",0x400010,0x400010"), "app+1010 app+100f-"),
		one("a return address at the start of a mapping", clockAttr+app+chain("USER", 0x400010, user+",0x400010,0x700000"), "app+1010 ?6fffff-"),
		one(
			"kernel, entered by a fault or a call of the user", clockAttr+app+
				chain("KERNEL", 0xffffffff81000010, kernel+",0xffffffff81000010,0xffffffff81000021,"+user+",0x400020,0x700031"),
			"K:[kernel.kallsyms]+10 K:[kernel.kallsyms]+20- app+1020 libx.so+30-",
		),
		one("kernel only", clockAttr+app+chain("KERNEL", 0xffffffff81000010, kernel+",0xffffffff81000010,0xffffffff81000021"), "K:[kernel.kallsyms]+10 K:[kernel.kallsyms]+20-"),
		one("kernel sample with user callers only", clockAttr+app+chain("KERNEL", 0xffffffff81000010, user+",0x400020,0x700031"), "K:[kernel.kallsyms]+10 app+1020 libx.so+30-"),
		one("no markers", clockAttr+app+chain("USER", 0x400010, "0x400010,0x700021"), "app+1010 libx.so+20-"),
		one("hypervisor", clockAttr+app+chain("USER", 0x400010, "PERF_CONTEXT_HV,0xffffffff81000010,"+user+",0x400020"), "app+1010 K:[kernel.kallsyms]+f- app+1020"),
		one(
			"guest kernel and guest user", clockAttr+app+guestKernel+
				chain("GUEST_KERNEL", 0xffffffff81000010, "PERF_CONTEXT_GUEST_KERNEL,0xffffffff81000010,0xffffffff81000021,PERF_CONTEXT_GUEST_USER,0x400020"),
			"G:K:[guest.kernel.kallsyms]+10 G:K:[guest.kernel.kallsyms]+20- G:?40001f-",
		),
		one(
			"guest below the host's kernel", clockAttr+app+guestKernel+
				chain("KERNEL", 0xffffffff81000010, kernel+",0xffffffff81000010,PERF_CONTEXT_GUEST,0x400021,"+user+",0x400031"),
			"K:[kernel.kallsyms]+10 G:?400020- app+1030-",
		),
		one("markers without addresses", clockAttr+app+chain("USER", 0x400010, kernel+","+user), "app+1010"),
		one("unknown markers", clockAttr+app+chain("USER", 0x400010, user+",0x400010,0xfffffffffffff123,0x700021"), "app+1010 libx.so+20-"),
		one("unwinding went wrong", clockAttr+app+chain("USER", 0x400010, user+",0x400010,0x0"), "app+1010 ?0 incomplete"),
		one("or nearly so", clockAttr+app+chain("USER", 0x400010, user+",0x400010,0x1,0x700021"), "app+1010 ?1 libx.so+20- incomplete"),
		one("2 is an address", clockAttr+app+chain("USER", 0x400010, user+",0x400010,0x2"), "app+1010 ?1-"),
		one("no ip: the first of the chain is the leaf", noIP+app+"SAMPLE misc=USER pid=10 tid=10 time=10 ips=["+user+",0x400010,0x700021]\n", "app+1010 libx.so+20-"),
		one("no ip, kernel", noIP+app+"SAMPLE misc=KERNEL pid=10 tid=10 time=10 ips=["+kernel+",0xffffffff81000010,"+user+",0x400020,0x700021]\n", "K:[kernel.kallsyms]+10 app+1020 libx.so+20-"),
		one("nothing at all", noIP+app+"SAMPLE misc=USER pid=10 tid=10 time=10 ips=[]\n", "?0"),
		one("simpleperf has adjusted addresses", clockAttr+app+chain("USER", 0x400010, user+",0x400010,0x700021,0x400101")+bySimpleperf, "app+1010 libx.so+21 app+1101"),
		one("and drops the leaf only", clockAttr+app+chain("USER", 0x400010, user+",0x700021,0x400010")+bySimpleperf, "app+1010 libx.so+21 app+1010"),
	})
}

// TestBranchStacks: a branch stack of the call-stack mode is the user's call chain, as
// perf script shows it; other branch stacks have nothing to do with it.
func TestBranchStacks(t *testing.T) {
	const (
		attr  = "header\nattr type=hardware config=0 sample_period=1 sample_type=%sTID|TIME|CALLCHAIN|BRANCH_STACK flags=sample_id_all branch_sample_type=%s\n"
		calls = " lbr=[{from=0x400200,to=0x700300},{from=0x400100,to=0x400180}]\n"
		user  = "SAMPLE misc=USER ip=0x700310 pid=10 tid=10 time=10 ips=[PERF_CONTEXT_USER,0x700310,0x400444]"
		kern  = "SAMPLE misc=KERNEL ip=0xffffffff81000010 pid=10 tid=10 time=10 ips=[PERF_CONTEXT_KERNEL,0xffffffff81000010,0xffffffff81000021%s]"
	)
	callStack := fmt.Sprintf(attr, "IP|", "USER|CALL_STACK") + app
	one := func(name, text, want string) replayTest {
		return replayTest{name, text, []string{"10 app/app " + want}}
	}
	runReplayTests(t, []replayTest{
		one("user", callStack+user+calls, "libx.so+310 app+1200 app+1100"),
		one("kernel", callStack+fmt.Sprintf(kern, ",PERF_CONTEXT_USER,0x700310,0x400444")+calls, "K:[kernel.kallsyms]+10 K:[kernel.kallsyms]+20- libx.so+300 app+1200 app+1100"),
		one("kernel without user callers", callStack+fmt.Sprintf(kern, "")+calls, "K:[kernel.kallsyms]+10 K:[kernel.kallsyms]+20- libx.so+300 app+1200 app+1100"),
		one("no branches: the call chain is what there is", callStack+user+"\n", "libx.so+310 app+1443-"),
		one("no ip", fmt.Sprintf(attr, "", "USER|CALL_STACK")+app+strings.Replace(user, "ip=0x700310 ", "", 1)+calls, "libx.so+300 app+1200 app+1100"),
		one("any branches", fmt.Sprintf(attr, "IP|", "USER|ANY")+app+user+calls, "libx.so+310 app+1443-"),
		one("any calls", fmt.Sprintf(attr, "IP|", "USER|ANY_CALL")+app+user+calls, "libx.so+310 app+1443-"),
	})
}

// TestEvents: the event and the weight of a sample.
func TestEvents(t *testing.T) {
	const sample = "SAMPLE misc=USER ip=1 pid=1 tid=1 time=1"
	attr := func(fields string) string { return "attr type=hardware " + fields + "\n" }
	runReplayTests(t, []replayTest{
		{
			"the period of the sample",
			"header\n" + attr("sample_period=99 sample_type=IP|TID|TIME|PERIOD") + sample + " period=7\n" + sample + " period=0\n",
			[]string{"1 ?/? ?1 weight=7", "1 ?/? ?1 weight=0"},
		},
		{
			"that of the event",
			"header\n" + attr("sample_period=99 sample_type=IP|TID|TIME") + sample + "\n",
			[]string{"1 ?/? ?1 weight=99"},
		},
		{
			"by frequency there is none",
			"header\n" + attr("sample_period=99 sample_type=IP|TID|TIME flags=freq") + sample + "\n",
			[]string{"1 ?/? ?1"},
		},
		{
			"events by the ids of samples",
			"header\n" + attr("sample_period=1 sample_type=IP|TID|TIME|ID ids=[5,6]") + attr("config=1 sample_period=2 sample_type=IP|TID|TIME|ID ids=[7]") +
				sample + " id=6\n" + sample + " id=7\n" + sample + " id=5\n",
			[]string{"1 ?/? ?1", "1 ?/? ?1 event=1 weight=2", "1 ?/? ?1"},
		},
		{
			"samples of perf's own making have none",
			"header\n" + attr("sample_period=3 sample_type=IP|TID|TIME|ID ids=[5]") + attr("config=1 sample_period=2 sample_type=IP|TID|TIME|ID ids=[7]") +
				sample + " id=0\n",
			[]string{"1 ?/? ?1 weight=3"},
		},
		{
			"before Linux 3.x, samples without ids are of the first event",
			"header\nattr size=64 type=hardware sample_period=1000 sample_type=IP|TID|TIME\nattr size=64 type=hardware config=3 sample_period=10 sample_type=IP|TID|TIME\n" +
				"MMAP misc=USER pid=1 tid=1 start=0x0 len=4096 filename=\"/bin/sh\"\nCOMM pid=1 tid=1 comm=\"sh\"\n" + sample + "\n",
			[]string{"1 sh/sh sh+1 weight=1000"},
		},
		{
			"events with their ids in different places",
			"header\n" + attr("sample_period=1 sample_type=IP|TID|TIME|ID ids=[5]") + attr("config=1 sample_period=2 sample_type=IP|TID|TIME|ADDR|ID ids=[7]") +
				sample + " id=5\n" + strings.Replace(sample, "SAMPLE", "SAMPLE event=1", 1) + " id=7\n",
			[]string{"1 ?/? ?1", "1 ?/? ?1 event=1 weight=2"},
		},
	})
}

// TestCounters: what the counters of a group have counted between two samples.
func TestCounters(t *testing.T) {
	const attrs = `header
attr type=hardware config=0 sample_period=99 sample_type=IP|TID|TIME|READ|ID|PERIOD read_format=%[1]s flags=sample_id_all%[2]s ids=[1]
attr type=hardware config=1 sample_period=99 sample_type=IP|TID|TIME|READ|ID|PERIOD read_format=%[1]s flags=sample_id_all%[2]s ids=[2,3]
`
	read := func(tid, time int, values ...uint64) string {
		var list []string
		for i := 0; i < len(values); i += 2 {
			list = append(list, fmt.Sprintf("{value=%d,id=%d}", values[i+1], values[i]))
		}
		return fmt.Sprintf("SAMPLE misc=USER ip=1 pid=1 tid=%d time=%d id=1 period=1 read={values=[%s]}\n", tid, time, strings.Join(list, ","))
	}
	const group = "ID|GROUP"
	runReplayTests(t, []replayTest{
		{
			"from sample to sample",
			fmt.Sprintf(attrs, group, "") + read(1, 1, 1, 100, 2, 50) + read(1, 2, 1, 130, 2, 50) + read(1, 3, 1, 131, 2, 60),
			[]string{"1 ?/? ?1 counters=[{0 100} {1 50}]", "2 ?/? ?1 counters=[{0 30}]", "3 ?/? ?1 counters=[{0 1} {1 10}]"},
		},
		{
			"the counters of an event are apart",
			fmt.Sprintf(attrs, group, "") + read(1, 1, 2, 50) + read(1, 2, 3, 70) + read(1, 3, 2, 51, 3, 72),
			[]string{"1 ?/? ?1 counters=[{1 50}]", "2 ?/? ?1 counters=[{1 70}]", "3 ?/? ?1 counters=[{1 1} {1 2}]"},
		},
		{
			"counters of no event",
			fmt.Sprintf(attrs, group, "") + read(1, 1, 9, 50, 2, 5),
			[]string{"1 ?/? ?1 counters=[{1 5}]"},
		},
		{
			"a counter that starts anew counts from there",
			fmt.Sprintf(attrs, group, "") + read(1, 1, 2, 50) + read(1, 2, 2, 10) + read(1, 3, 2, 15),
			[]string{"1 ?/? ?1 counters=[{1 50}]", "2 ?/? ?1", "3 ?/? ?1 counters=[{1 5}]"},
		},
		{
			"threads share a counter",
			fmt.Sprintf(attrs, group, "") + read(1, 1, 2, 50) + read(2, 2, 2, 70),
			[]string{"1 ?/? ?1 counters=[{1 50}]", "2 ?/? ?1 counters=[{1 20}]"},
		},
		{
			"or inherit one each",
			fmt.Sprintf(attrs, group, "|inherit") + read(1, 1, 2, 50) + read(2, 2, 2, 70) + read(1, 3, 2, 51) + read(2, 4, 2, 72),
			[]string{"1 ?/? ?1 counters=[{1 50}]", "2 ?/? ?1 counters=[{1 70}]", "3 ?/? ?1 counters=[{1 1}]", "4 ?/? ?1 counters=[{1 2}]"},
		},
		{
			"a sample without a group has none",
			fmt.Sprintf(attrs, "ID", "") + "SAMPLE misc=USER ip=1 pid=1 tid=1 time=1 id=1 period=1 read={value=100,id=1}\n",
			[]string{"1 ?/? ?1"},
		},
		{
			"simpleperf --add-counter",
			fmt.Sprintf(attrs, group, "|inherit") + read(1, 1, 1, 100, 2, 50) + read(1, 2, 1, 130, 2, 75) + bySimpleperf,
			[]string{"1 ?/? ?1 counters=[{0 100} {1 50}]", "2 ?/? ?1 counters=[{0 30} {1 25}]"},
		},
	})
}

// TestUnwinding: what simpleperf says about stacks that it has unwound.
func TestUnwinding(t *testing.T) {
	result := func(code int) string {
		return fmt.Sprintf("SIMPLEPERF_UNWINDING_RESULT time=1 used_time=1 error_code=%d\n", code)
	}
	runReplayTests(t, []replayTest{
		{
			"a result is that of the next sample",
			clockAttr + sampleOf(1, 1, 1) + result(3) + sampleOf(1, 1, 2) + sampleOf(1, 1, 3) + result(0) + sampleOf(1, 1, 4) + bySimpleperf,
			[]string{"1 ?/? ?400010", "2 ?/? ?400010 incomplete", "3 ?/? ?400010", "4 ?/? ?400010"},
		},
		{
			"also if that cannot be counted",
			"header\nattr type=software sample_period=1 sample_type=IP|TID|TIME|PERIOD\n" +
				result(3) + "SAMPLE misc=USER ip=1 pid=1 tid=1 time=1 period=0x8000000000000000\nSAMPLE misc=USER ip=1 pid=1 tid=1 time=2 period=1\n" + bySimpleperf,
			[]string{"2 ?/? ?1"},
		},
		{
			// They are there to look into how unwinding went: the sample has the
			// chain that counts.
			"call chains beside the sample are not used",
			clockAttr + app + "SIMPLEPERF_CALLCHAIN pid=10 tid=10 chain_type=ORIGINAL_OFFLINE time=10 ips=[0x400010,0x400444] sps=[0x10,0x20]\n" +
				chain("USER", 0x400010, "PERF_CONTEXT_USER,0x400010,0x700020") +
				"SIMPLEPERF_CALLCHAIN pid=10 tid=10 chain_type=JOINED_OFFLINE time=10 ips=[0x400010,0x400555] sps=[0x10,0x20]\n" + bySimpleperf,
			[]string{"10 app/app app+1010 libx.so+20"},
		},
		{
			"a stack that is still to be unwound",
			"header\nattr type=software sample_period=1 sample_type=IP|TID|TIME|STACK_USER sample_stack_user=16\n" +
				"SAMPLE misc=USER ip=1 pid=1 tid=1 time=1 stack_user={data=0011223344556677,dyn_size=8}\nSAMPLE misc=USER ip=1 pid=1 tid=1 time=2\n",
			[]string{"1 ?/? ?1 incomplete", "2 ?/? ?1"},
		},
	})
}

// TestRawSample: a handler sees what was recorded.
func TestRawSample(t *testing.T) {
	s := New(openData(t, fixture(t, "header\nattr type=hardware sample_period=1 sample_type=IP|TID|TIME|CPU|CALLCHAIN|BRANCH_STACK branch_sample_type=ANY\n"+
		"SAMPLE misc=USER ip=0x10 pid=1 tid=2 time=3 cpu=4 ips=[PERF_CONTEXT_USER,0x10,0x21] lbr=[{from=0x10,to=0x20,flags=MISPRED,cycles=5}]\n")))
	var got []string
	h := handlerFunc(func(s *Sample) {
		r := &s.Raw
		got = append(got, fmt.Sprintf("%x %d %d %d %d %x %x", r.IP, r.PID, r.TID, r.Time, r.CPU, r.Callchain[1:], r.Branches[0].To))
	})
	if err := s.Replay(h); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"10 1 2 3 4 [10 21] 20"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCallChainsLikePerf compares call chains with those of perf script, which shows
// addresses as recorded.
func TestCallChainsLikePerf(t *testing.T) {
	perf, err := exec.LookPath("perf")
	if err != nil {
		t.Skip("perf is not here")
	}
	const lbr = " lbr=[{from=0x400200,to=0x700300},{from=0x400100,to=0x400180}]\n"
	var frames strings.Builder
	frames.WriteString(clockAttr)
	for _, ips := range []string{
		"PERF_CONTEXT_USER,0x400010,0x700021,0x400101",
		"PERF_CONTEXT_USER,0x400010,0x400010,0x700021",
		"PERF_CONTEXT_USER,0x400010,0x0",
		"PERF_CONTEXT_KERNEL,0xffffffff81000010,0xffffffff81000021,PERF_CONTEXT_USER,0x400020,0x700031",
		"PERF_CONTEXT_KERNEL,0xffffffff81000010",
	} {
		ip, misc := uint64(0x400010), "USER"
		if strings.Contains(ips, "KERNEL") {
			ip, misc = 0xffffffff81000010, "KERNEL"
		}
		frames.WriteString(chain(misc, ip, ips))
	}
	for name, text := range map[string]string{
		"frames": frames.String(),
		"call stack of the hardware": "header\nattr type=hardware config=0 sample_period=1 sample_type=IP|TID|TIME|CALLCHAIN|BRANCH_STACK flags=sample_id_all branch_sample_type=USER|CALL_STACK\n" +
			strings.TrimSpace(chain("KERNEL", 0xffffffff81000010, "PERF_CONTEXT_KERNEL,0xffffffff81000010,0xffffffff81000021,PERF_CONTEXT_USER,0x700310,0x400444")) + lbr,
	} {
		data := fixture(t, text)
		var got []string
		if err := New(openData(t, data)).Replay(handlerFunc(func(s *Sample) {
			var ips []string
			for _, f := range s.Frames {
				if f.Adjusted {
					f.Addr++
				}
				ips = append(ips, fmt.Sprintf("%x", f.Addr))
			}
			got = append(got, strings.Join(ips, " "))
		})); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "perf.data")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(perf, "script", "-f", "-i", file, "-F", "ip").Output()
		if err != nil {
			t.Fatalf("perf script: %v", err)
		}
		var want []string
		for sample := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n\n") {
			want = append(want, strings.Join(strings.Fields(sample), " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-perf +got):\n%s", name, diff)
		}
	}
}
