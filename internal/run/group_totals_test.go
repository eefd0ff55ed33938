package run

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGroupTotals compares totals with those that every frame of every sample gives.
func TestGroupTotals(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	b := NewBuilder("random")
	events := []uint32{b.Event(Event{Name: "cycles"}), b.Event(Event{Name: "misses"})}
	locations := make([]uint32, 12)
	for i := range locations {
		lines := []Line{{Function: b.Function(Function{Name: string(rune('a' + rng.IntN(6)))})}}
		if rng.IntN(3) == 0 {
			lines = append(lines, Line{Function: b.Function(Function{Name: string(rune('a' + rng.IntN(6)))})})
		}
		locations[i] = b.Location(0, uint64(i+1), lines...)
	}
	stacks := []StackID{0}
	for range 300 {
		stacks = append(stacks, b.Stack(stacks[rng.IntN(len(stacks))], locations[rng.IntN(len(locations))]))
	}
	for range 500 {
		b.Add(events[rng.IntN(2)], stacks[rng.IntN(len(stacks))], 0, int64(rng.IntN(50)))
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string][]Sum)
	for i := range r.Samples {
		s := &r.Samples[i]
		seen := map[string]bool{}
		if s.Stack == 0 {
			seen[noStack] = true
		}
		for id := s.Stack; id != 0; id = r.Stacks.Parent(id) {
			for _, l := range r.Locations[r.Stacks.Location(id)].Lines {
				seen[r.Functions[l.Function].Name] = true
			}
		}
		for name := range seen {
			if want[name] == nil {
				want[name] = make([]Sum, 2)
			}
			want[name][s.Event].Add(&s.Sum)
		}
	}
	got := make(map[string][]Sum)
	for _, row := range r.Group(ByFunction) {
		got[row.Name] = row.Total
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
