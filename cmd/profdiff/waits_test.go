package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
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
