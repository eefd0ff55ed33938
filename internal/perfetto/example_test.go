package perfetto_test

import (
	"bytes"
	"fmt"

	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
)

// A trace is opened, which tells of tracks, and its packets are decoded one after the other.
func Example() {
	var made perfettotest.Trace
	s := made.Sequence(1).Clock(perfetto.BootTime)
	s.Begin(1000, 7, "input", "deliverInputEvent")
	s.End(5000, 7)
	s.Bundle(0).CompactSwitch(2000, 1, perfettotest.Task{PID: 0, Comm: "swapper/0"}).Done()
	s.ThreadTrack(7, 0, 42, 42, "main") // stands behind what needs it

	src, err := input.New("example", bytes.NewReader(made.Bytes()))
	if err != nil {
		panic(err)
	}
	threads := make(map[uint64]string)
	describe := func(p *perfetto.Packet) {
		if p.Kind != perfetto.TrackDescriptor {
			return
		}
		var uuid uint64
		f := p.Message()
		for f.Next() {
			switch f.Num {
			case 1:
				uuid = f.Uint()
			case 4: // thread
				for m := f.Message(); m.Next(); {
					if m.Num == 5 {
						threads[uuid] = string(m.Bytes())
						continue
					}
					m.Skip()
				}
			default:
				f.Skip()
			}
		}
	}
	t, err := perfetto.Open(src, perfetto.Options{Describe: describe})
	if err != nil {
		panic(err)
	}
	for p := range t.Packets() {
		switch p.Kind {
		case perfetto.TrackEvent:
			var track, name uint64
			f := p.Message()
			for f.Next() {
				switch f.Num {
				case 10:
					name = f.Uint()
				case 11:
					track = f.Uint()
				default:
					f.Skip()
				}
			}
			if f.Err != nil {
				p.Damaged(f.Err)
				continue
			}
			fmt.Printf("%d %s: %q\n", p.Time, threads[track], p.Sequence.Interned(perfetto.EventNames, name).String())
		case perfetto.FtraceEvents:
			b, err := p.Bundle()
			if err != nil {
				p.Damaged(err)
				continue
			}
			for s := range b.Switches() {
				fmt.Printf("%d CPU %d: to %s\n", s.Time, b.CPU, s.NextComm)
			}
		}
	}
	fmt.Println(t.Err(), t.Losses.Lines())
	// Output:
	// 1000 main: "deliverInputEvent"
	// 5000 main: ""
	// 2000 CPU 0: to swapper/0
	// <nil> []
}
