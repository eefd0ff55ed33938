package trace

import "testing"

// BenchmarkTimeline makes a timeline of eight CPUs that switch among forty threads, each of which
// has slices, and reads it: the time is that of one event.
func BenchmarkTimeline(b *testing.B) {
	b.ReportAllocs()
	tb := NewBuilder()
	var threads []ThreadID
	for i := range 40 {
		threads = append(threads, tb.Thread(0, int64(100+i/10*10), int64(100+i)))
	}
	name := tb.NameString("slice")
	depth := make([]int, len(threads))
	for i := range b.N {
		cpu, at := uint32(i%8), int64(i)*100
		// Threads of a CPU are its own.
		k := int(cpu)*5 + i/8%5
		switch i % 3 {
		case 0:
			tb.CompactSwitch(cpu, at, RawState(int64(i&1)), threads[k])
		case 1:
			tb.CompactWaking(cpu, at, threads[k], false)
		default:
			if depth[k]++; depth[k]%2 == 1 {
				tb.Begin(tb.ThreadTrack(threads[k]), at, name, 0)
			} else {
				tb.End(tb.ThreadTrack(threads[k]), at, 0, 0)
			}
		}
	}
	t := tb.Finish()
	for _, id := range threads {
		t.Slices(t.Threads[id].Track, nil)
		t.States(id, func(*Interval) {})
	}
}
