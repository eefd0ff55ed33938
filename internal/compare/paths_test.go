package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/run"
)

// randomRun is a run of few functions in deep stacks, some inlined, most with several addresses.
func randomRun(t *testing.T, seed uint64) *run.Run {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	b := run.NewBuilder("r")
	events := []uint32{b.Event(run.Event{Name: "cpu-clock", Unit: "nanoseconds"}), b.Event(run.Event{Name: "faults"})}
	mapping := b.Mapping(run.Mapping{File: "/bin/program", Limit: 1 << 30})
	labels := b.Labels(run.Labels{PID: -1, TID: -1, CPU: -1})
	var functions, locations []uint32
	for i := range 6 {
		functions = append(functions, b.Function(run.Function{Name: fmt.Sprint("f", i)}))
	}
	for i := range 20 {
		lines := []run.Line{{Function: functions[rng.IntN(6)]}, {Function: functions[rng.IntN(6)]}}
		locations = append(locations, b.Location(mapping, uint64(64*i), lines[:1+rng.IntN(2)]...))
	}
	for range 200 {
		var stack run.StackID
		for range rng.IntN(8) {
			stack = b.Stack(stack, locations[rng.IntN(len(locations))])
		}
		b.AddSum(events[rng.IntN(2)], stack, labels, 1, 1+rng.Int64N(100), 1)
		b.Run().Accounting.In++
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPaths(t *testing.T) {
	for seed := range uint64(20) {
		r := randomRun(t, seed)
		s := newSide([]*run.Run{r})
		p := &s.paths[0]
		room := newSpent(s)
		ended := slices.Clone(room.of(r, p, 1))
		got := room.of(r, p, 1)
		got.addUp(p)
		// Names of functions, outermost first, of each stack, and what was spent in these.
		own, all, total := make(map[string]int64), make(map[string]int64), make(map[int32]int64)
		for i := range r.Samples {
			x := &r.Samples[i]
			if x.Event != 1 {
				continue
			}
			var symbols []int32
			for _, at := range slices.Backward(r.Stacks.Append(nil, x.Stack)) {
				for _, line := range slices.Backward(r.Locations[at].Lines) {
					id, _ := s.ids.Find(s.symbols, symbol{r.Functions[line.Function].Name, "program"})
					symbols = append(symbols, int32(id))
				}
			}
			own[fmt.Sprint(symbols)] += x.Weight
			for k := range len(symbols) + 1 {
				all[fmt.Sprint(symbols[:k])] += x.Weight
			}
			slices.Sort(symbols)
			for _, symbol := range slices.Compact(symbols) {
				total[symbol] += x.Weight
			}
		}
		gotOwn, gotAll, gotTotal := make(map[string]int64), make(map[string]int64), make(map[int32]int64)
		outer := make(outermost, len(s.symbols))
		for id := range p.len() {
			var symbols []int32
			for at := int32(id); at != 0; at = p.parent[at] {
				symbols = append(symbols, p.symbol[at])
			}
			slices.Reverse(symbols)
			if w := ended[id].Weight; w != 0 {
				gotOwn[fmt.Sprint(symbols)] += w
			}
			if w := got[id].Weight; w != 0 {
				gotAll[fmt.Sprint(symbols)] += w
			}
			if id > 0 && outer.is(p, id, p.symbol[id]) && got.has(id) {
				gotTotal[p.symbol[id]] += got[id].Weight
			}
			if id > 0 && (int(p.parent[id]) >= id || p.end[id] <= int32(id) || p.end[id] > p.end[p.parent[id]]) {
				t.Errorf("seed %d: path %d from %d to %d has the parent %d", seed, id, id, p.end[id], p.parent[id])
			}
		}
		for _, d := range []string{cmp.Diff(own, gotOwn), cmp.Diff(all, gotAll), cmp.Diff(total, gotTotal)} {
			if d != "" {
				t.Errorf("seed %d (-want +got):\n%s", seed, d)
			}
		}
	}
}
