package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"profdiff/internal/perfetto/perfettotest"
)

// perfettoTrace NAME FILE writes a trace:
//
//	published   the contentions whose figures Perfetto publishes, a slice each, as the runtime of Android names it
func perfettoTrace(ts *testscript.TestScript, _ bool, args []string) {
	var tr perfettotest.Trace
	switch args[0] {
	case "published":
		publishedTrace(ts, &tr)
	default:
		ts.Fatalf("perfettotrace: no trace %s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), tr.Bytes(), 0o666))
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
