package perfettotest

import (
	"fmt"
	"math/rand/v2"

	"profdiff/internal/perfetto"
)

// A System makes traces as a phone that is busy has them: threads that are woken, run, are
// switched away from and write slices, on several CPUs, in bundles of some milliseconds. The
// same numbers give the same trace.
type System struct {
	CPUs, ThreadsPerCPU int

	random *rand.Rand
	now    []uint64 // by CPU
	run    []int    // index of the thread that runs, -1 for none
	awake  [][]bool
	open   [][][]int // by CPU and thread, indices of names of the slices that are open
	began  bool
}

// threadID is the number of a thread, of which four are a process.
func (y *System) threadID(cpu, i int) int { return 1000 + cpu*y.ThreadsPerCPU + i }

func (y *System) processOf(tid int) int { return tid - (tid-1000)%4 }

// start sets the state that a trace begins with.
func (y *System) start(s *Sequence) {
	y.random = rand.New(rand.NewPCG(1, 2))
	y.now, y.run = make([]uint64, y.CPUs), make([]int, y.CPUs)
	y.awake, y.open = make([][]bool, y.CPUs), make([][][]int, y.CPUs)
	var list []Process
	for cpu := range y.CPUs {
		y.now[cpu], y.run[cpu] = 1_000_000_000, -1
		y.awake[cpu], y.open[cpu] = make([]bool, y.ThreadsPerCPU), make([][]int, y.ThreadsPerCPU)
		for i := range y.ThreadsPerCPU {
			tid := y.threadID(cpu, i)
			pid := y.processOf(tid)
			if pid == tid {
				list = append(list, Process{PID: pid, Parent: 1, Name: fmt.Sprintf("com.example.app%d", pid)})
				continue
			}
			p := &list[len(list)-1]
			p.Threads = append(p.Threads, Thread{TID: tid, Name: fmt.Sprintf("worker-%d", tid)})
		}
	}
	s.System("5.10.0", 34)
	s.Processes(1_000_000_000, list...)
	y.began = true
}

// Write adds the next bundle of each CPU, of so many events each.
func (y *System) Write(s *Sequence, events int) {
	if !y.began {
		y.start(s)
	}
	for cpu := range y.CPUs {
		b := s.Bundle(cpu)
		for range events {
			y.now[cpu] += uint64(5_000 + y.random.IntN(40_000))
			y.step(b, cpu)
		}
		b.Done()
	}
}

// others are the kinds of events that are about something else, with their share in percent
// of all: softirq_entry and softirq_exit, irq_handler_entry and irq_handler_exit, and
// cpu_frequency.
var others = [...]perfetto.EventKind{24, 25, 36, 37, 11}

const shareOfOthers = 45

// step adds one event: who runs writes, wakes another, or is switched away from.
func (y *System) step(b *Bundle, cpu int) {
	now, run := y.now[cpu], y.run[cpu]
	tid := 0
	if run >= 0 {
		tid = y.threadID(cpu, run)
	}
	if y.random.IntN(100) < shareOfOthers {
		b.Event(now, tid, others[y.random.IntN(len(others))], new(Message).Uint(1, uint64(y.random.IntN(300))).Uint(2, uint64(cpu)))
		return
	}
	other := y.random.IntN(y.ThreadsPerCPU)
	task := Task{PID: y.threadID(cpu, other), Prio: 120, Comm: fmt.Sprintf("worker-%d", y.threadID(cpu, other))}
	kind := y.random.IntN(100)
	switch {
	case kind < 16 && run >= 0 && len(y.open[cpu][run]) < 6:
		b.Print(now, tid, fmt.Sprintf("B|%d|%s\n", y.processOf(tid), sliceNames[y.begin(cpu, run)]))
	case kind < 32 && run >= 0 && len(y.open[cpu][run]) > 0:
		b.Print(now, tid, fmt.Sprintf("E|%d\n", y.processOf(tid)))
		y.open[cpu][run] = y.open[cpu][run][:len(y.open[cpu][run])-1]
	case kind < 66 && !y.awake[cpu][other]:
		b.CompactWaking(now, 0, task, cpu)
		y.awake[cpu][other] = true
	case y.awake[cpu][other] && other != run:
		state := int64(1)
		if kind%4 == 0 {
			state = 0
		}
		b.CompactSwitch(now, state, task)
		if run >= 0 {
			y.awake[cpu][run] = state == 0
		}
		y.run[cpu] = other
	default:
		b.CompactSwitch(now, 1, Task{Prio: 120, Comm: fmt.Sprintf("swapper/%d", cpu)})
		if run >= 0 {
			y.awake[cpu][run] = false
		}
		y.run[cpu] = -1
	}
}

// begin opens a slice: one of few, as each function calls a few others.
func (y *System) begin(cpu, thread int) int {
	name := y.random.IntN(3)
	if open := y.open[cpu][thread]; len(open) > 0 {
		name += 3 * open[len(open)-1]
	}
	name %= len(sliceNames)
	y.open[cpu][thread] = append(y.open[cpu][thread], name)
	return name
}

// sliceNames are names as apps and the system write them.
var sliceNames = [...]string{
	"Choreographer#doFrame 3145728", "measure", "layout", "draw", "DrawFrames 3145728", "dequeueBuffer",
	"eglSwapBuffersWithDamageKHR", "binder transaction", "binder reply", "inflate",
	"RV Scroll", "RV OnBindView", "performTraversals", "postAndWait", "syncFrameState", "flush commands",
	"monitor contention with owner main (1000) at void com.example.Store.write(byte[])(Store.java:120) waiters=0 blocking from int com.example.Store.size()(Store.java:80)",
	"Lock contention on thread list lock (owner tid: 1004)", "AssetManager::OpenXmlAsset(res/layout/list_item.xml)",
	"VerifyClass com.example.ui.MainActivity$$ExternalSyntheticLambda0",
}

// Kernel is a trace of about so many bytes, all of it from the kernel.
func Kernel(size int) *Trace {
	t := new(Trace)
	s := t.Sequence(1)
	s.Snapshot(perfetto.BootTime, Clock{ID: perfetto.BootTime, Time: 1_000_000_000}, Clock{ID: perfetto.Monotonic, Time: 900_000_000})
	y := System{CPUs: 8, ThreadsPerCPU: 24}
	for len(t.b.b) < size {
		y.Write(s, 400)
	}
	return t
}
