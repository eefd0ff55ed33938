package compare

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"profdiff/internal/run"
)

// timed draws a run of 10,000 samples of which f has a twentieth: one by one, or in
// bursts of length samples in a row.
func timed(t testing.TB, rng *rand.Rand, length int) *run.Run {
	t.Helper()
	b := run.NewBuilder("run")
	b.KeepTimeline()
	event := b.Event(run.Event{Name: "cpu-clock", Unit: "nanoseconds"})
	mapping := b.Mapping(run.Mapping{File: "/bin/program", Limit: 1 << 20})
	labels := b.Labels(run.Labels{Thread: "program", PID: -1, TID: -1, CPU: -1})
	location := func(name string) uint32 {
		return b.Location(mapping, 0, run.Line{Function: b.Function(run.Function{Name: name})})
	}
	root := b.Stack(0, location("main"))
	f, g := b.Stack(root, location("f")), b.Stack(root, location("g"))
	for i := 0; i < 10000; {
		stack, n := g, 1
		if rng.Float64() < 0.05/float64(length) {
			stack, n = f, length
		}
		for range n {
			b.Add(event, stack, labels, 1_000_000)
			b.Run().Accounting.In++
			i++
		}
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBursts draws both sides from one source: whether samples come one by one or in
// bursts, about 5 % of intervals leave out 1. Without the timeline, the negative control,
// most do for bursts.
func TestBursts(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for _, length := range []int{1, 5, 20} {
		builds := 400
		if testing.Short() {
			builds = 100
		}
		wrong, naive := 0, 0
		for range builds {
			base, head := []*run.Run{timed(t, rng, length)}, []*run.Run{timed(t, rng, length)}
			if !function(t, &mustCompare(t, base, head, Options{Normalize: None}).Events[0], "f").Self.CI.Contains(1) {
				wrong++
			}
			base[0].Timeline, head[0].Timeline = nil, nil
			if !function(t, &mustCompare(t, base, head, Options{Normalize: None}).Events[0], "f").Self.CI.Contains(1) {
				naive++
			}
		}
		name := fmt.Sprintf("bursts of %d", length)
		if rate := float64(wrong) / float64(builds); rate > 0.09 {
			t.Errorf("%s: %.3f of intervals leave out 1, about 0.05 expected", name, rate)
		}
		if rate := float64(naive) / float64(builds); length > 1 && rate < 0.3 {
			t.Errorf("%s: without the timeline only %.3f of intervals leave out 1: this test has no teeth", name, rate)
		}
		t.Logf("%s: %.3f, without the timeline %.3f", name, float64(wrong)/float64(builds), float64(naive)/float64(builds))
	}
}

// TestBurstsAreKept checks that filters and the order of events keep a timeline in step
// with the samples.
func TestBurstsAreKept(t *testing.T) {
	r := timed(t, rand.New(rand.NewPCG(1, 1)), 5)
	var weight int64
	for _, s := range r.Timeline {
		weight += s.Weight
	}
	if len(r.Timeline) < 10000 || weight != r.Events[0].Weight {
		t.Errorf("%d samples of %d in the timeline", weight, r.Events[0].Weight)
	}
}
