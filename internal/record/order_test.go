package record

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A seed means the same order for ever, and a longer one begins with a shorter.
func TestSeeds(t *testing.T) {
	for _, test := range []struct {
		name string
		seed uint64
		want string
	}{
		{Drawn, 20, "AB BA BA AB AB BA BA BA"},
		{Drawn, 3, "BA BA AB AB BA BA BA AB"},
		{Drawn, 1 << 63, "AB BA AB BA AB AB AB BA"},
		{ABBA, 20, "AB BA AB BA AB BA AB BA"},
		{"", 20, "AB BA AB BA AB BA AB BA"},
	} {
		for pairs := range 9 {
			want := strings.Join(strings.Fields(test.want)[:pairs], " ")
			if got := newOrder(test.name, test.seed, pairs).String(); got != want {
				t.Errorf("%s, seed %d: %s, want %s", test.name, test.seed, got, want)
			}
		}
	}
}

// The first four pairs are balanced, each of the six ways to do so as likely as any other.
// After them each pair is a coin: what has any period meets both sides alike.
func TestDrawnOrder(t *testing.T) {
	const seeds, pairs = 6000, 20
	ways := make(map[string]int)
	var first, same [pairs]int
	for seed := range uint64(seeds) {
		o := newOrder(Drawn, seed+1, pairs)
		ways[order{o.firsts[:balanced]}.String()]++
		for i, side := range o.firsts {
			if side == Before {
				first[i]++
			}
			if i > balanced && side == o.firsts[i-1] {
				same[i]++
			}
		}
	}
	if len(ways) != 6 {
		t.Errorf("the first four pairs: %v", ways)
	}
	near := func(what string, got int, want float64) {
		t.Helper()
		if p := want / seeds; math.Abs(float64(got)-want) > 5*math.Sqrt(seeds*p*(1-p)) {
			t.Errorf("%s: %d times of %d", what, got, seeds)
		}
	}
	for way, n := range ways {
		if strings.Count(way, "AB") != balanced/2 {
			t.Errorf("%s is not balanced", way)
		}
		near(way, n, seeds/6)
	}
	for i := range pairs {
		near(fmt.Sprintf("before is first in pair %d", i+1), first[i], seeds/2)
		if i > balanced {
			near(fmt.Sprintf("pair %d is as the one before it", i+1), same[i], seeds/2)
		}
	}
}

// Without a seed each recording draws its own. It is in the notes before the first run, and
// with it the order, which a recording that goes on keeps.
func TestSeedOfRecording(t *testing.T) {
	seeds := make(map[uint64]bool)
	for range 3 {
		dir := t.TempDir()
		f := &fake{fail: 1}
		if _, err := (&Recorder{Backend: f}).Record(t.Context(), dir, plan(0, 5)); err == nil {
			t.Fatal("no error")
		}
		begun, err := Open(dir)
		if err != nil || len(begun.Runs) != 0 || begun.Plan.Seed == 0 || begun.Order != Drawn {
			t.Fatalf("after no run: %+v, %v", begun, err)
		}
		seeds[begun.Plan.Seed] = true
		rec, err := (&Recorder{Backend: new(fake)}).Record(t.Context(), dir, plan(0, 8))
		if err != nil {
			t.Fatal(err)
		}
		want := newOrder(Drawn, begun.Plan.Seed, 8).String()
		if rec.Plan.Seed != begun.Plan.Seed || rec.Drawn != want || !strings.HasPrefix(want, begun.Drawn) || recorded(rec) != want {
			t.Errorf("begun with %s, went on with %s, recorded %s, want %s", begun.Drawn, rec.Drawn, recorded(rec), want)
		}
		if _, err := (&Recorder{Backend: new(fake)}).Record(t.Context(), dir, plan(begun.Plan.Seed+1, 8)); err == nil || !strings.Contains(err.Error(), "the seed was ") {
			t.Errorf("another seed: %v", err)
		}
	}
	if len(seeds) < 2 {
		t.Errorf("three recordings have the seeds %v", seeds)
	}
}

// recorded is the order of the pairs as they were recorded.
func recorded(rec *Recording) string {
	var o order
	for _, p := range rec.Pairs() {
		o.firsts = append(o.firsts, p.First)
	}
	return o.String()
}

// A folder of an earlier version goes on in its fixed order.
func TestABBA(t *testing.T) {
	dir := t.TempDir()
	if _, err := (&Recorder{Backend: new(fake)}).Record(t.Context(), dir, plan(20, 2)); err != nil { // which begins as ABBA does
		t.Fatal(err)
	}
	notes := filepath.Join(dir, FileName)
	text, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	earlier := strings.NewReplacer("order: drawn\ndrawn: AB BA\n", "order: ABBA\n", "  seed: 20\n", "").Replace(string(text))
	if strings.Contains(earlier, "seed") || strings.Contains(earlier, "drawn") {
		t.Fatalf("notes: %s", earlier)
	}
	if err := os.WriteFile(notes, []byte(earlier), 0o666); err != nil {
		t.Fatal(err)
	}
	f := new(fake)
	rec, err := (&Recorder{Backend: f}).Record(t.Context(), dir, plan(0, 6))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"before", "after", "after", "before", "before", "after", "after", "before"}, f.calls); diff != "" {
		t.Errorf("order: %s", diff)
	}
	if rec.Order != ABBA || rec.Plan.Seed != 0 || rec.Drawn != "" {
		t.Errorf("notes %s, seed %d, drawn %q", rec.Order, rec.Plan.Seed, rec.Drawn)
	}
}

// Pairs of which a run is missing are recorded again as a whole, after all others, and that
// is said.
func TestIncompletePairs(t *testing.T) {
	remove := func(names ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	again := func(pair int) string {
		return fmt.Sprintf("pair %d was incomplete: both runs of it are recorded again", pair)
	}
	for _, test := range []struct {
		name     string
		first    fake                     // records four pairs
		broken   bool                     // which fails
		lose     func(*testing.T, string) // then this happens
		pairs    []int                    // in the order in which they are recorded, in the end
		repeated []int
		notes    []string // said by both
	}{
		{
			name: "its first run fails", first: fake{crash: []int{3}},
			pairs: []int{1, 3, 4, 2, 5, 6}, repeated: []int{2},
			notes: []string{"after, run 2: fake: signal: aborted: the pair is recorded again at the end", again(2)},
		},
		{
			name: "its second run fails, twice", first: fake{crash: []int{4, 10}},
			pairs: []int{1, 3, 4, 2, 5, 6}, repeated: []int{2, 2},
			notes: []string{
				"before, run 2: fake: signal: aborted: the pair is recorded again at the end", again(2),
				"before, run 2: fake: signal: aborted: the pair is recorded again at the end", again(2),
			},
		},
		{
			name: "interrupted", first: fake{fail: 6}, broken: true,
			pairs: []int{1, 2, 4, 5, 6, 3}, repeated: []int{3}, notes: []string{again(3)},
		},
		{
			name: "one run lost", lose: remove("after/03.data"),
			pairs: []int{1, 2, 4, 5, 6, 3}, repeated: []int{3},
			notes: []string{"DIR/after/03.data is missing: its pair is recorded again", again(3)},
		},
		{
			name: "both runs lost", lose: remove("after/03.data", "before/03.data"),
			pairs: []int{1, 2, 4, 3, 5, 6},
			notes: []string{"DIR/after/03.data is missing: its pair is recorded again", "DIR/before/03.data is missing: its pair is recorded again"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			var notes []string
			r := &Recorder{Backend: &test.first, Tell: func(p Progress) {
				if p.Note != "" && p.Note != "chose cpu-clock" {
					place := ""
					if p.Job.Number > 0 {
						place = fmt.Sprintf("%s, run %d: ", p.Job.Side, p.Job.Number)
					}
					notes = append(notes, place+strings.ReplaceAll(p.Note, dir, "DIR"))
				}
			}}
			if _, err := r.Record(t.Context(), dir, plan(20, 4)); (err != nil) != test.broken {
				t.Fatal(err)
			}
			if test.lose != nil {
				test.lose(t, dir)
			}
			r.Backend = new(fake)
			var last Progress
			own, tell := *r, r.Tell
			own.Tell = func(p Progress) { last = p; tell(p) }
			rec, err := own.Record(t.Context(), dir, plan(20, 6))
			if err != nil {
				t.Fatal(err)
			}
			var pairs []int
			for _, p := range rec.Pairs() {
				pairs = append(pairs, p.Number)
				if p.Before.Side != Before || p.After.Side != After {
					t.Errorf("pair %d is %s and %s", p.Number, p.Before.Side, p.After.Side)
				}
			}
			if diff := cmp.Diff(test.notes, notes); diff != "" {
				t.Errorf("notes: %s", diff)
			}
			if !slices.Equal(pairs, test.pairs) || !slices.Equal(rec.Repeated, test.repeated) || len(rec.Runs) != 12 {
				t.Errorf("pairs %v, repeated %v, %d runs", pairs, rec.Repeated, len(rec.Runs))
			}
			if last.Done != 12 || last.Total != 12 {
				t.Errorf("in the end %d of %d runs", last.Done, last.Total)
			}
			for _, side := range sides {
				files, err := filepath.Glob(filepath.Join(dir, string(side), "*"))
				if err != nil || len(files) != 6 {
					t.Errorf("files of %s: %v, %v", side, files, err)
				}
			}
		})
	}
}

// The order of the notes of others is none that this version could go on with.
func TestOrderOfNotes(t *testing.T) {
	for text, want := range map[string]string{
		"order: random\n": `has the order "random", want drawn or ABBA`,
		"order: drawn\n":  "has the order drawn without its seed",
	} {
		if _, err := parse([]byte("schema: profdiff.recording/v1\n" + text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A folder that runs out of luck says so: what always fails is not tried for ever.
func TestFailures(t *testing.T) {
	dir := t.TempDir()
	f := &fake{crash: []int{3, 4, 5}}
	rec, err := (&Recorder{Backend: f}).Record(t.Context(), dir, plan(20, 6))
	if err == nil || err.Error() != "before, run 4: fake: signal: aborted" || len(rec.Pairs()) != 1 {
		t.Errorf("three pairs in a row: %v, %d pairs", err, len(rec.Pairs()))
	}
	// A command that never worked is not tried again.
	f = &fake{crash: []int{1}, exits: true}
	if _, err := (&Recorder{Backend: f}).Record(t.Context(), t.TempDir(), plan(20, 6)); err == nil || err.Error() != "before, run 1: fake: exit status 3" || len(f.calls) != 1 {
		t.Errorf("the first run: %v, %v", err, f.calls)
	}
	warm := plan(20, 6)
	warm.Warmup = 1
	f = &fake{crash: []int{1}, exits: true}
	if _, err := (&Recorder{Backend: f}).Record(t.Context(), t.TempDir(), warm); err != nil {
		t.Errorf("the first run after warming up: %v", err)
	}
	f = &fake{crash: []int{1, 2, 5, 6}}
	if rec, err = (&Recorder{Backend: f}).Record(t.Context(), dir, plan(20, 6)); err != nil || len(rec.Pairs()) != 6 {
		t.Errorf("now and then: %v", errors.Unwrap(err))
	}
}
