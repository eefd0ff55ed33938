package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"profdiff/internal/perfetto/perfettotest"
)

// TestPhoneTrace checks that the trace that README.md shows is the one that is built here.
func TestPhoneTrace(t *testing.T) {
	const name = "testdata/phone.perfetto-trace"
	var tr perfettotest.Trace
	phoneTrace(&tr)
	if *update {
		if err := os.WriteFile(name, tr.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, tr.Bytes()) {
		t.Errorf("%s is not the trace of phoneTrace, -update writes it", name)
	}
}

// TestChains checks that text, JSON and page tell the same chains of waiting, with the same figures: of a trace with
// contention, a dump with a deadlock, and a recording of time off the CPU.
func TestChains(t *testing.T) {
	dump := filepath.Join(t.TempDir(), "anr.txt")
	err := os.WriteFile(dump, []byte(`----- pid 40 at 2023-11-14 22:13:20 -----
Cmd line: com.example.shop

"main" prio=5 tid=1 Blocked
  | sysTid=40 nice=-10
  at a.Cart.get(Cart.java:3)
  - waiting to lock <0x0a> (a a.Store) held by thread 17
  at a.Cart.draw(Cart.java:9)
  - locked <0x0b> (a a.Cart)

"worker" daemon prio=5 tid=17 Blocked
  | sysTid=52 nice=0
  at a.Cart.put(Cart.java:20)
  - waiting to lock <0x0b> (a a.Cart) held by thread 1
  at a.Store.load(Store.java:8)
  - locked <0x0a> (a a.Store)

"pool-1" prio=5 tid=20 Blocked
  | sysTid=60 nice=0
  at a.Disk.write(Disk.java:4)
  - waiting to lock <0x0c> (a a.Disk) held by thread 21

"pool-2" prio=5 tid=21 Native
  | sysTid=61 nice=0
  at java.io.UnixFileSystem.rename0(Native method)
  at a.Disk.sync(Disk.java:9)
  - locked <0x0c> (a a.Disk)
----- end 40 -----
`), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	type chain struct {
		names   []string // each waits for the next
		circle  bool
		sum     string // as text has it
		totalNS int64
		count   int64
	}
	for _, test := range []struct {
		file   string
		chains []chain
	}{
		{"testdata/phone.perfetto-trace", []chain{
			{names: []string{"com.example.late (main)", "BackgroundExec"}, sum: "22.00 ms in 2 waits, longest 18.00 ms", totalNS: 22e6, count: 2},
			{names: []string{"com.example.start (main)", "loader"}, sum: "20.00 ms in 2 waits, longest 10.00 ms", totalNS: 20e6, count: 2},
			{names: []string{"worker", "BackgroundExec"}, sum: "10.00 ms in 1 wait", totalNS: 10e6, count: 1},
		}},
		{dump, []chain{
			{names: []string{"main", "worker"}, circle: true, count: 1},
			{names: []string{"pool-1", "pool-2"}, count: 1},
		}},
		{"../../profiles/usb-freeze/before/01.data", []chain{
			{names: []string{"main", "HeapTaskDaemon", "usb_barcode"}, sum: "136.2 ms in 10 waits, longest 20.94 ms", totalNS: 136_232_763, count: 10},
		}},
	} {
		page := filepath.Join(t.TempDir(), "page.html")
		shown, _ := profdiff(t, "show", test.file, "--html", page, "--limit", "1")
		text, _ := profdiff(t, "show", test.file, "--format", "json")
		html, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		type link struct {
			Thread struct {
				Name string `json:"name"`
				Main bool   `json:"main"`
			} `json:"thread"`
		}
		type told struct {
			Links   []link `json:"links"`
			Count   int64  `json:"count"`
			TotalNS int64  `json:"total_ns"`
		}
		var document struct {
			Waits struct{ Chains, Cycles []told } `json:"waits"`
		}
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		var figures []string // of the page: names of threads, and what stands above
		for _, figure := range regexp.MustCompile(`(?s)<figure class="chain.*?</figure>`).FindAllString(string(html), -1) {
			var names []string
			for _, m := range regexp.MustCompile(`<b><bdi>(.*?)</bdi></b>`).FindAllStringSubmatch(figure, -1) {
				names = append(names, m[1])
			}
			caption := regexp.MustCompile(`<figcaption>(.*?)</figcaption>`).FindStringSubmatch(figure)[1]
			figures = append(figures, strings.Join(names, " ← ")+": "+strings.TrimSpace(regexp.MustCompile(`<.*?>`).ReplaceAllString(caption, "")))
		}
		for _, want := range test.chains {
			line, figure, list := strings.Join(want.names, " ← "), want.sum, document.Waits.Chains
			if want.circle {
				line, figure, list = "deadlock: "+line+" ← "+want.names[0], "Deadlock", document.Waits.Cycles
			} else if want.sum != "" {
				line += ": " + want.sum
			}
			if !strings.Contains(shown, "\n"+line+"\n") {
				t.Errorf("%s: no line %q in\n%s", test.file, line, shown)
			}
			if figure = strings.Join(want.names, " ← ") + ": " + figure; !slices.Contains(figures, figure) {
				t.Errorf("%s: no figure %q, but %q", test.file, figure, figures)
			}
			if !slices.ContainsFunc(list, func(c told) bool {
				var names []string
				for _, l := range c.Links {
					name := l.Thread.Name
					if l.Thread.Main && name != "main" {
						name += " (main)"
					}
					names = append(names, name)
				}
				return slices.Equal(names, want.names) && c.Count == want.count && c.TotalNS == want.totalNS
			}) {
				t.Errorf("%s: JSON does not have %q of %d ns in %d waits", test.file, want.names, want.totalNS, want.count)
			}
		}
	}
}

// perfettoTrace NAME FILE writes a trace:
//
//	published   the contentions whose figures Perfetto publishes, a slice each, as the runtime of Android names it
//	phone       an app that misses the deadline of a frame, one that does not, and one that is started
//	scroll      400 frames of an app, by the next arguments: a seed, and how many ms each takes in the mean
func perfettoTrace(ts *testscript.TestScript, _ bool, args []string) {
	var tr perfettotest.Trace
	switch args[0] {
	case "published":
		publishedTrace(ts, &tr)
	case "phone":
		phoneTrace(&tr)
	case "scroll":
		scrollTrace(ts, &tr, args[2], args[3])
	default:
		ts.Fatalf("perfettotrace: no trace %s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), tr.Bytes(), 0o666))
}

func scrollTrace(ts *testscript.TestScript, tr *perfettotest.Trace, seed, mean string) {
	const ms = 1_000_000
	n, err := strconv.ParseUint(seed, 10, 64)
	ts.Check(err)
	each, err := strconv.ParseFloat(mean, 64)
	ts.Check(err)
	random := rand.New(rand.NewPCG(n, 1))
	seq := tr.Sequence(1)
	seq.Processes(1, perfettotest.Process{PID: 2000, Name: "com.example.scroll"})
	for i := range uint64(400) {
		took := uint64(ms * each * (0.75 + 0.5*random.Float64()))
		f := perfettotest.SurfaceFrame{Cookie: int64(i + 1), Token: int64(i + 1), PID: 2000, Layer: "list", Present: 1, Jank: 1}
		if took > 16*ms {
			f.Present, f.Jank = 2, 64
		}
		begin := 20*ms*i + ms
		seq.Frame(begin, begin+took, f)
		seq.Bundle(0).Print(begin, 2000, "B|2000|draw").Print(begin+took, 2000, "E|2000").Done()
	}
}

func publishedTrace(ts *testscript.TestScript, tr *perfettotest.Trace) {
	f, err := os.Open("../../internal/wait/testdata/contention.tsv")
	ts.Check(err)
	defer f.Close()
	seq := tr.Sequence(1)
	processes := make(map[int]*perfettotest.Process)
	name := func(pid, tid int) string {
		p := processes[pid]
		if p == nil {
			p = &perfettotest.Process{PID: pid, Name: "process-" + strconv.Itoa(pid)}
			processes[pid] = p
		}
		if pid == tid {
			return p.Name
		}
		thread := perfettotest.Thread{TID: tid, Name: "thread (" + strconv.Itoa(tid) + ")"}
		if !slices.Contains(p.Threads, thread) {
			p.Threads = append(p.Threads, thread)
		}
		return thread.Name
	}
	site := func(s string) string {
		class, _, _ := strings.Cut(s, ".java:")
		return fmt.Sprintf("void android.%s.f(int, java.lang.String)(%s)", class, s)
	}
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		var start, duration, pid, waiter, owner int
		var blocked, held string
		_, err := fmt.Sscan(s.Text(), &start, &duration, &pid, &waiter, &owner, &blocked, &held)
		ts.Check(err)
		name(pid, waiter)
		text := fmt.Sprintf("monitor contention with owner %s (%d) at %s waiters=0 blocking from %s", name(pid, owner), owner, site(held), site(blocked))
		seq.Bundle(0).Print(uint64(start), waiter, fmt.Sprintf("B|%d|%s", pid, text)).
			Print(uint64(start+duration), waiter, fmt.Sprintf("E|%d", pid)).Done()
	}
	for _, p := range processes {
		seq.Processes(1, *p)
	}
}

// phoneTrace is a trace of a phone: three apps whose main threads wait for their MessageQueue, in ms:
//
//	com.example.late    100 to 118, in a frame that misses its deadline, 300 to 304, and 400 to 407 for another lock;
//	                    a thread of it for 10 ms. The executor that has the lock is preempted for 14 ms by a camera.
//	com.example.smooth  500 to 505, in no frame that is late
//	com.example.start   700 to 710, of which 5 are in its start, and 950 to 960
func phoneTrace(tr *perfettotest.Trace) {
	const ms = 1_000_000
	seq := tr.Sequence(1)
	seq.System("5.15.0", 34)
	seq.Processes(
		1, perfettotest.Process{PID: 1000, Name: "system_server"},
		perfettotest.Process{PID: 2000, Name: "com.example.late", Threads: []perfettotest.Thread{{TID: 2010, Name: "BackgroundExec"}, {TID: 2020, Name: "worker"}}},
		perfettotest.Process{PID: 3000, Name: "com.example.smooth", Threads: []perfettotest.Thread{{TID: 3010, Name: "poster"}}},
		perfettotest.Process{PID: 4000, Name: "com.example.start", Threads: []perfettotest.Thread{{TID: 4010, Name: "loader"}}},
		perfettotest.Process{PID: 5000, Name: "camera"},
	)
	print := func(at uint64, tid int, text string) { seq.Bundle(0).Print(at, tid, text).Done() }
	slice := func(pid, tid int, from, to uint64, name string) {
		print(from*ms, tid, fmt.Sprintf("B|%d|%s", pid, name))
		print(to*ms, tid, fmt.Sprintf("E|%d", pid))
	}
	const next = "android.os.Message android.os.MessageQueue.next()(MessageQueue.java:337)"
	const enqueue = "boolean android.os.MessageQueue.enqueueMessage(android.os.Message, long)(MessageQueue.java:554)"
	waits := func(pid, tid int, from, to uint64, owner string, ownerTID int, held, blocked string) {
		slice(pid, tid, from, to, fmt.Sprintf("monitor contention with owner %s (%d) at %s waiters=0 blocking from %s", owner, ownerTID, held, blocked))
	}
	waits(2000, 2000, 100, 118, "BackgroundExecutor", 2010, enqueue, next)
	waits(2000, 2020, 101, 111, "BackgroundExecutor", 2010, enqueue, enqueue)
	waits(2000, 2000, 300, 304, "BackgroundExecutor", 2010, enqueue, next)
	waits(2000, 2000, 400, 407, "worker", 2020, "int com.example.Cart.count()(Cart.java:9)", "int com.example.Cart.get()(Cart.java:12)")
	waits(3000, 3000, 500, 505, "poster", 3010, enqueue, next)
	waits(4000, 4000, 700, 710, "loader", 4010, enqueue, next)
	waits(4000, 4000, 950, 960, "loader", 4010, enqueue, next)

	seq.Frame(95*ms, 125*ms, perfettotest.SurfaceFrame{Cookie: 1, Token: 1, PID: 2000, Layer: "late", Present: 2, Jank: 64})
	seq.Frame(500*ms, 510*ms, perfettotest.SurfaceFrame{Cookie: 2, Token: 2, PID: 3000, Layer: "smooth", Present: 1, Jank: 1})
	seq.Packages([]string{"com.example.start"}, []int{10001})
	print(705*ms, 1000, "S|1000|launchingActivity#1|1")
	print(900*ms, 1000, "F|1000|launchingActivity#1|1")
	print(900*ms, 1000, "I|1000|launchingActivity#1:completed-cold:com.example.start")
	slice(4000, 4000, 720, 730, "bindApplication")
	slice(4000, 4000, 740, 780, "activityResume")

	task := func(tid int, name string) perfettotest.Task {
		return perfettotest.Task{PID: tid, Comm: name, Prio: 120}
	}
	executor, camera := task(2010, "BackgroundExec"), task(5000, "camera")
	seq.Bundle(1).
		Switch(90*ms, perfettotest.Task{}, 0, executor).
		Switch(103*ms, executor, 0x100, camera). // preempted
		Switch(117*ms, camera, 1, executor).
		Switch(120*ms, executor, 1, perfettotest.Task{}).
		Done()
}
