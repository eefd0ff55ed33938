package traces

import (
	"testing"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
	"profdiff/internal/trace"
)

// FuzzRead reads damaged traces, with the options that keep most.
func FuzzRead(f *testing.F) {
	type M = perfettotest.Message
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.ProcessTrack(10, 10, "com.example")
	s.ThreadTrack(11, 10, 10, 10, "main")
	s.Track(12, 10, "async")
	s.CounterTrack(13, 10, "counter", 0, 2, true)
	s.Descriptor(new(M).Uint(1, 14).Uint(5, 14).Message(18, new(M)))
	s.Begin(1000, 11, "cat", "outer")
	s.Begin(1100, 12, "cat", "aside")
	s.Counter(1150, 13, 7)
	s.Event(1160, new(M).Uint(11, 14).Uint(9, 5).String(23, "state"))
	s.Event(1170, new(M).String(23, "legacy").Message(6, new(M).Uint(2, 'b').Uint(6, 3).String(7, "scope")))
	s.Event(1175, new(M).String(23, "legacy").Message(6, new(M).Uint(2, 'X').Uint(3, 30)))
	s.Event(1180, new(M).String(23, "legacy").Message(6, new(M).Uint(2, 'e').Uint(6, 3).String(7, "scope")))
	s.End(1900, 12)
	s.End(2000, 11)
	f.Add(tr.Bytes())

	tr = perfettotest.Trace{}
	s = tr.Sequence(1)
	tree(s, "10 com.example 10001", "11<10 worker")
	packageList(s, "com.example", 10001)
	s.Bundle(0).Switch(100, task(0), 0, task(10)).
		Print(110, 10, "B|10|monitor contention with owner w (11) at void A.b(C)(D.java:1) waiters=0 blocking from void E.f()(G.java:2)").
		Print(120, 10, "E|10").Print(121, 2, "S|2|launchingActivity#1|0").Switch(130, task(10), 2, task(0)).Done()
	s.Bundle(1).Start(90).CompactSwitch(100, 0, task(11)).CompactWaking(140, 0x10, task(10), 0).CompactSwitch(150, 0x100, task(0)).
		Blocked(141, 11, 10, "futex_wait", true).
		Event(145, 11, perfetto.TaskNewTask, new(M).Uint(1, 12).String(2, "new").Uint(3, cloneThread)).Done()
	s.Bundle(0).Print(200, 2, "F|2|launchingActivity#1|0").Print(201, 2, "I|2|launchingActivity#1:completed-cold:com.example").Done()
	s.Frame(100, 150, perfettotest.SurfaceFrame{Cookie: 1, Token: 2, PID: 10, Jank: 64})
	s.Packet(300, new(M).Message(int(perfetto.GenericTaskState), new(M).Uint(1, 0).String(2, "g").Uint(3, 10).Uint(4, 3)))
	f.Add(tr.Bytes())

	f.Fuzz(func(t *testing.T, data []byte) {
		ingesttest.Fuzz(t, Read, data, &reading.Options{PID: true, TID: true, Waits: true, Timeline: true})
		for _, text := range []string{"startup", "jank", "slice *"} {
			during, err := trace.ParseDuring(text)
			if err != nil {
				t.Fatal(err)
			}
			ingesttest.Fuzz(t, Read, data, &reading.Options{During: during})
		}
	})
}
