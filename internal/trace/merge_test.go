package trace

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestInOrder has events come a little late, very late, in runs that all have the same times and on
// several tracks of one thread: what is visited is what a stable sort of all makes.
func TestInOrder(t *testing.T) {
	const count = 40_000 // several chunks
	times := map[string]func(r *rand.Rand, i int) int64{
		"in order":    func(_ *rand.Rand, i int) int64 { return int64(i / 3) },
		"a bit late":  func(r *rand.Rand, i int) int64 { return int64(i) - r.Int64N(50) },
		"copies":      func(_ *rand.Rand, i int) int64 { return int64(i % 9000 / 2) },
		"backwards":   func(_ *rand.Rand, i int) int64 { return int64(-i / 2) },
		"any":         func(r *rand.Rand, _ int) int64 { return r.Int64N(5000) - 2500 },
		"one is late": func(_ *rand.Rand, i int) int64 { return int64(i % (count - 1)) },
	}
	for name, at := range times {
		for _, tracks := range []int{1, 3} {
			r := rand.New(rand.NewPCG(1, uint64(tracks)))
			b := NewBuilder()
			thread := b.Thread(0, 1, 1)
			var ids []TrackID
			for range tracks {
				ids = append(ids, b.NewTrack(Track{Thread: thread}))
			}
			want := make([][]trackEvent, tracks)
			for i := range count {
				k := r.IntN(tracks)
				// Each event has a name of its own.
				e := trackEvent{ts: at(r, i), name: NameID(i + 1), category: NameID(i % 4), kind: byte(i % 3)}
				switch e.kind {
				case beginRecord:
					b.Begin(ids[k], e.ts, e.name, e.category)
				case endRecord:
					b.End(ids[k], e.ts, e.name, e.category)
				case completeRecord:
					e.number = uint64(i)
					b.Complete(ids[k], e.ts, int64(e.number), e.name, e.category)
				}
				want[k] = append(want[k], e)
			}
			all := slices.Concat(want...)
			slices.SortStableFunc(all, func(a, b trackEvent) int { return cmp.Compare(a.ts, b.ts) })
			var got []trackEvent
			b.Finish().Tracks[ids[0]].inOrder(func(e *trackEvent) { got = append(got, *e) })
			if !slices.Equal(got, all) {
				t.Errorf("%s, %d tracks: %d events are not what a stable sort makes of %d", name, tracks, len(got), len(all))
			}
		}
	}
}
