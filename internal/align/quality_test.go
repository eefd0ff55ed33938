package align

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The recordings are two runs of Go's compiler on one package, so the truth is that
// every function has its own name on the other side, or was not sampled there.
// Renaming functions of the second run gives matches to find whose truth is known.

const (
	firstRun  = "testdata/compile-1.folded.gz"
	secondRun = "testdata/compile-2.folded.gz"
)

// A renaming changes the names of a recording.
type renaming struct {
	name string
	of   func(name string, r *rand.Rand) string
	// minRecall is what was reached, rounded down.
	minRecall float64
}

// own splits the name of a Go function before its own part.
func own(name string) (prefix, last string) {
	i := strings.LastIndexByte(name, '.')
	return name[:i+1], name[i+1:]
}

func invented(r *rand.Rand) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for range 3 + r.IntN(2) {
		b.WriteByte(consonants[r.IntN(len(consonants))])
		b.WriteByte(vowels[r.IntN(len(vowels))])
	}
	return b.String()
}

var renamings = []renaming{
	{"version", func(name string, _ *rand.Rand) string { return name + "V2" }, 0.98},
	{"one word", func(name string, r *rand.Rand) string {
		prefix, last := own(name)
		words := splitWords(last)
		words[r.IntN(len(words))] = invented(r)
		return prefix + strings.Join(words, "_")
	}, 0.84},
	{"type", func(name string, _ *rand.Rand) string {
		if !strings.Contains(name, "(*") {
			return name + "New"
		}
		return strings.Replace(name, "(*", "(*new", 1)
	}, 0.98},
	{"package", func(name string, _ *rand.Rand) string {
		prefix, last := own(name)
		return "example.com/internal/" + strings.ReplaceAll(prefix, "/", "/x") + last
	}, 0.96},
	{"all words", func(_ string, r *rand.Rand) string { return "p." + invented(r) }, 0.58},
}

func splitWords(s string) []string {
	var words []string
	for len(s) > 0 {
		n := wordEnd(s, 0)
		words = append(words, s[:n])
		s = s[n:]
	}
	return words
}

type quality struct{ right, wrong, eligible int }

func (q quality) precision() float64 { return float64(q.right) / float64(max(1, q.right+q.wrong)) }
func (q quality) recall() float64    { return float64(q.right) / float64(max(1, q.eligible)) }

func measure(t *testing.T, rn renaming, share float64, seed uint64) quality {
	base := functionsOf(readStacks(t, firstRun))
	stacks := readStacks(t, secondRun)
	r := rand.New(rand.NewPCG(seed, 1))
	original := make(map[string]string) // new name to old
	renamed := make(map[string]string)
	for _, f := range functionsOf(stacks) {
		if Normalize(f.Name) != f.Name || !strings.Contains(f.Name, ".") || r.Float64() >= share {
			continue
		}
		if n := rn.of(f.Name, r); n != "" && n != f.Name && original[n] == "" {
			renamed[f.Name], original[n] = n, f.Name
		}
	}
	for _, s := range stacks {
		for i, fr := range s.frames {
			name, place, _ := strings.Cut(fr, "|")
			if n, ok := renamed[name]; ok {
				s.frames[i] = n + "|" + place
			}
		}
	}
	head := functionsOf(stacks)
	matches, err := Functions(base, head, Options{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, base, head, matches)
	var q quality
	weight := make(map[string]float64)
	for i := range base {
		weight[base[i].Name] = base[i].Weight
	}
	for i := range head {
		if old, ok := original[head[i].Name]; ok && weight[old] >= lightest && head[i].Weight >= lightest && max(weight[old], head[i].Weight) >= heavy {
			q.eligible++
		}
	}
	for _, m := range matches {
		if m.Kind == Exact || m.Kind == Added || m.Kind == Removed {
			continue
		}
		b, h := base[m.Base].Name, head[m.Head].Name
		truth := h
		if old, ok := original[h]; ok {
			truth = old
		}
		if truth == b {
			q.right++
		} else {
			q.wrong++
			if testing.Verbose() {
				t.Logf("wrong: %s -> %s (was %s) %.2f %s [%.4f %.4f]", b, h, truth, m.Confidence, m.Reason, base[m.Base].Weight, head[m.Head].Weight)
			}
		}
	}
	return q
}

// TestQuality measures how many renamed functions are found, and how many matches are
// wrong.
func TestQuality(t *testing.T) {
	for _, rn := range renamings {
		t.Run(rn.name, func(t *testing.T) {
			var all quality
			seeds := uint64(5)
			if testing.Short() {
				seeds = 3
			}
			for _, share := range []float64{0.02, 0.1, 0.3} {
				var sum quality
				for seed := range seeds {
					q := measure(t, rn, share, seed)
					sum.right += q.right
					sum.wrong += q.wrong
					sum.eligible += q.eligible
				}
				t.Logf("%2.0f%% renamed: precision %.3f, recall %.3f (%d right, %d wrong, %d to find)", 100*share, sum.precision(), sum.recall(), sum.right, sum.wrong, sum.eligible)
				all.right += sum.right
				all.wrong += sum.wrong
				all.eligible += sum.eligible
			}
			if all.precision() < 0.995 || all.recall() < rn.minRecall {
				t.Errorf("precision %.3f, recall %.3f", all.precision(), all.recall())
			}
		})
	}
}

// Two runs of one build: what only one of them sampled is not matched.
func TestSameBuild(t *testing.T) {
	for _, swap := range []bool{false, true} {
		base, head := functionsOf(readStacks(t, firstRun)), functionsOf(readStacks(t, secondRun))
		if swap {
			base, head = head, base
		}
		matches, err := Functions(base, head, Options{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, base, head, matches)
		count := make(map[Kind]int)
		for _, m := range matches {
			count[m.Kind]++
			if m.Kind != Exact && m.Kind != Added && m.Kind != Removed {
				t.Errorf("%s -> %s: %+v", base[m.Base].Name, head[m.Head].Name, m)
			}
		}
		t.Log(count)
	}
}

// TestDropped takes heavy functions, with all they call, out of one side or the other,
// which leaves the worst choice: functions that are alike, of which each side has one.
func TestDropped(t *testing.T) {
	var dropped, wrong, weighty int
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		drop := [2]map[string]bool{{}, {}}
		sides := [2][]stack{readStacks(t, firstRun), readStacks(t, secondRun)}
		for _, f := range functionsOf(sides[0]) {
			if f.Weight >= heavy && f.Weight < 0.2 && r.Float64() < 0.1 {
				drop[r.IntN(2)][f.Name] = true
				dropped++
			}
		}
		for k := range sides {
			kept := sides[k][:0]
			for _, s := range sides[k] {
				gone := false
				for _, fr := range s.frames {
					name, _, _ := strings.Cut(fr, "|")
					gone = gone || drop[k][name]
				}
				if !gone {
					kept = append(kept, s)
				}
			}
			sides[k] = kept
		}
		base, head := functionsOf(sides[0]), functionsOf(sides[1])
		matches, err := Functions(base, head, Options{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, base, head, matches)
		for _, m := range matches {
			switch m.Kind {
			case Added, Removed:
				if m.Base >= 0 && base[m.Base].Weight >= heavy || m.Head >= 0 && head[m.Head].Weight >= heavy {
					weighty++
				}
			case Exact:
			default:
				wrong++
				if testing.Verbose() {
					t.Logf("wrong: %s -> %s %s %.2f %s [%.4f %.4f]", base[m.Base].Name, head[m.Head].Name, m.Kind, m.Confidence, m.Reason, base[m.Base].Weight, head[m.Head].Weight)
				}
			}
		}
	}
	t.Logf("%d functions dropped on one side, %d functions of weight on one side only, %d wrong matches", dropped, weighty, wrong)
	if wrong*100 > weighty {
		t.Error("more than 1 % wrong matches")
	}
}
