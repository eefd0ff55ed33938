package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/heatmap"
	"profdiff/internal/run"
)

// timedRun is a run with samples of several threads, some of which last, and one whose time is not known.
func timedRun(t *testing.T, name string, rng *rand.Rand, threads []string) *run.Run {
	t.Helper()
	b := run.NewBuilder(name)
	b.KeepTimeline()
	clock, off := b.Event(run.Event{Name: "cpu-clock"}), b.Event(run.Event{Name: "off-cpu", Derived: true})
	var stacks []run.StackID
	var caller run.StackID
	for _, f := range []string{"main", "parse", "next", "read", "wait"} {
		caller = b.Stack(caller, b.Location(0, 0, run.Line{Function: b.Function(run.Function{Name: f})}))
		stacks = append(stacks, caller)
	}
	const start = 1e9
	now := int64(start)
	for range 3000 {
		now += rng.Int64N(1e6)
		s := run.TimedSample{Event: clock, Stack: stacks[rng.IntN(len(stacks))], Weight: 1 + rng.Int64N(1e6), Time: now}
		s.Labels = b.Labels(run.Labels{Process: "p", Thread: threads[rng.IntN(len(threads))], PID: -1, TID: -1, CPU: -1})
		if rng.IntN(5) == 0 {
			s.Event, s.Lasts = off, true
			s.Weight = min(s.Weight, now-start)
			if rng.IntN(2) == 0 {
				b.AddSum(s.Event, s.Stack, s.Labels, 1, s.Weight, float64(s.Weight)*float64(s.Weight))
				b.NoteSpan(s)
				continue
			}
		}
		b.AddTimed(s)
	}
	b.AddSum(clock, stacks[0], 0, 1, 77, 77*77)
	b.Run().Recording.FirstSample, b.Run().Recording.LastSample = start, uint64(now)
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTimesRenamed checks that rows have the names of each side.
func TestTimesRenamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	side := func(program string) []*run.Run {
		r := timedRun(t, "run of "+program, rng, []string{program, "worker"})
		r.Recording.CommandLine = "perf record -o x -- ./" + program
		return []*run.Run{r}
	}
	for _, test := range []struct {
		head string
		want []string
	}{{"new", []string{"[unknown]", "new", "worker"}}, {"old", nil}} {
		times := mustCompare(t, side("old"), side(test.head), Options{Normalize: None}).Tree(0).Times()
		slices.Sort(times.Threads)
		slices.Sort(times.After)
		if want := []string{"[unknown]", "old", "worker"}; !slices.Equal(times.Threads, want) || !slices.Equal(times.After, test.want) {
			t.Errorf("rows are %q and %q, want %q and %q", times.Threads, times.After, want, test.want)
		}
	}
}

// TestTimes checks that of each run and thread all is in bins or said to have no time, and that stacks
// have as much of each.
func TestTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	few := []string{"main", "worker-1", "worker-2"}
	var many []string
	for i := range 40 {
		many = append(many, "thread "+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	for _, test := range []struct {
		name    string
		threads []string
		rows    int
		others  int
	}{{"few", few, 4, 0}, {"many", many, mostThreads + 1, 17}} {
		t.Run(test.name, func(t *testing.T) {
			var sides [2][]*run.Run
			for side := range sides {
				for range 3 {
					sides[side] = append(sides[side], timedRun(t, "run", rng, test.threads))
				}
			}
			c := mustCompare(t, sides[0], sides[1], Options{Normalize: None})
			for event := range c.Events {
				tree := c.Tree(event)
				times := tree.Times()
				if times == nil {
					t.Fatal("no times")
				}
				want := test.rows
				if event == 1 {
					want = min(want, len(test.threads)) // all without a time are of the first
				}
				if len(times.Threads) != want || event == 0 && times.Others != test.others {
					t.Errorf("%d rows, %d others: %q", len(times.Threads), times.Others, times.Threads)
				}
				var means [2][]float64 // by thread and bin
				for side := range means {
					means[side] = make([]float64, len(times.Threads)*times.Bins)
				}
				for i, r := range append(sides[0], sides[1]...) {
					of := times.Runs[i]
					sum := of.Untimed
					for k, row := range of.Weights {
						for bin, w := range row {
							sum += w
							side := 0
							if of.Head {
								side = 1
							}
							means[side][k*times.Bins+bin] += float64(w) / of.Divisor / 3
						}
					}
					if sum != r.Events[event].Weight {
						t.Errorf("run %d: %d of %d", i, sum, r.Events[event].Weight)
					}
					if want := int64(77) * int64(1-event); of.Untimed != want {
						t.Errorf("run %d: %d without a time, want %d", i, of.Untimed, want)
					}
				}
				for _, keep := range []int{heatmap.MostFrames, 3, 1} {
					stacks := times.Stacks.Clone()
					stacks.Keep(keep)
					var got [2][]float64
					for side := range got {
						got[side] = make([]float64, len(means[side]))
					}
					stacks.Cells(func(c heatmap.Cell) {
						side := 0
						if c.Head {
							side = 1
						}
						got[side][c.Thread*times.Bins+c.Bin] += c.Weight
					})
					near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, a) })
					if diff := cmp.Diff(means, got, near); diff != "" {
						t.Errorf("with %d frames: %s", keep, diff)
					}
				}
			}
		})
	}
}

// TestTimesUnknown checks that there are no times where one run does not tell.
func TestTimesUnknown(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	with, without := timedRun(t, "a", rng, []string{"main"}), timedRun(t, "b", rng, []string{"main"})
	without.Timeline, without.Spans = nil, nil
	if times := mustCompare(t, []*run.Run{with}, []*run.Run{without}, Options{Normalize: None}).Tree(0).Times(); times != nil {
		t.Errorf("%+v", times)
	}
}
