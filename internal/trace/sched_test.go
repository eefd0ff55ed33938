package trace

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQueue has events that come out of order, within chunks of the tape and across them: they
// are sorted by time, and those of one time stay as they came.
func TestQueue(t *testing.T) {
	for name, ahead := range map[string]int64{"in order": 0, "a little": 50, "far": 1 << 40} {
		random := rand.New(rand.NewPCG(1, 2))
		c := &cpu{}
		type event struct {
			ts int64
			n  uint64
		}
		var want []event
		for i := range 60_000 {
			ts := int64(i / 2)
			if ahead > 0 {
				ts += random.Int64N(ahead)
			}
			c.events.add(wakingRecord, ts, uint64(i), 0)
			want = append(want, event{ts, uint64(i)})
		}
		if n := len(c.events.chunks); n < 5 {
			t.Fatalf("%d chunks", n)
		}
		slices.SortStableFunc(want, func(a, b event) int { return int(a.ts - b.ts) })
		q := newCPUQueue(c)
		for i, w := range want {
			if !q.next() || q.event.ts != w.ts || q.event.a != w.n {
				t.Fatalf("%s: event %d is number %d at %d, want %d at %d", name, i, q.event.a, q.event.ts, w.n, w.ts)
			}
		}
		if q.next() {
			t.Errorf("%s: more events than there were", name)
		}
	}
}
