package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/skid"
	"profdiff/internal/disasm"
	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// An answer is a sample of which the branch is known.
type answer struct{ ip, from uint64 }

// An experiment is what a recording has for the evaluation.
type experiment struct {
	code    *disasm.Code
	all     map[uint64]float64 // samples by address
	answers []answer
}

// read reads a recording and the binary that it is of, known by its name.
func read(recording, binary string) (*experiment, error) {
	bin, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	object, err := objfile.New(bytes.NewReader(bin), int64(len(bin)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	code, err := disasm.New(object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	data, err := os.Open(recording)
	if err != nil {
		return nil, err
	}
	defer data.Close()
	info, err := data.Stat()
	if err != nil {
		return nil, err
	}
	file, err := perffile.New(data, info.Size(), perffile.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", recording, err)
	}
	r := &reader{name: path.Base(binary), object: object, experiment: experiment{code: code, all: make(map[uint64]float64)}}
	if err := perfsession.New(file).Replay(r); err != nil {
		return nil, fmt.Errorf("%s: %w", recording, err)
	}
	if len(r.answers) == 0 {
		return nil, fmt.Errorf("%s: no sample has a mispredicted conditional branch of %s as its newest entry", recording, r.name)
	}
	return &r.experiment, nil
}

// A reader collects the samples in one file.
type reader struct {
	name   string
	object *objfile.File
	experiment
}

// Sample implements [perfsession.Handler].
func (r *reader) Sample(s *perfsession.Sample) error {
	m := s.Frames[0].Map
	if m == nil || path.Base(m.DSO.Path) != r.name {
		return nil
	}
	ip, ok := r.object.VaddrOfOffset(s.Raw.IP - m.Start + m.PgOff)
	if !ok {
		return nil
	}
	r.all[ip]++
	if len(s.Raw.Branches) == 0 || !s.Raw.Branches[0].Mispredicted || s.Raw.Branches[0].From-m.Start >= m.End-m.Start {
		return nil
	}
	from, ok := r.object.VaddrOfOffset(s.Raw.Branches[0].From - m.Start + m.PgOff)
	if !ok {
		return nil
	}
	if i, err := r.code.Decode(from); err == nil && i.Kind == disasm.Conditional {
		r.answers = append(r.answers, answer{ip, from})
	}
	return nil
}

// Switch implements [perfsession.Handler].
func (r *reader) Switch(perfsession.Switch) error { return nil }

// A score counts samples.
type score struct {
	samples, function, set int
	first                  [3]int                        // answers among the first 1, 2, 3 candidates
	confidence             map[branch.Confidence]*[2]int // samples, with the first candidate right
	candidates             []int                         // numbers of candidates
	// distance is that between the shares of branches as found and as they are: the
	// part of the samples that is with the wrong branch. equal is it if samples were
	// shared equally, nearest if each were the nearest candidate's.
	distance, equal, nearest float64
}

func part(n, of int) float64 { return float64(n) / float64(of) }

// evaluate attributes the samples of answers. learned are those whose addresses tell
// how far samples are behind branches; without any, candidates are ranked by distance.
func (e *experiment) evaluate(answers, learned []answer, ran bool) (*score, skid.Skid) {
	w := skid.NewWalker(e.code)
	for _, ip := range slices.Sorted(maps.Keys(e.all)) {
		n := e.all[ip]
		if !ran {
			n = 0
		}
		// Addresses without a function are counted when they are looked up.
		_ = w.Add(ip, n)
	}
	var distances skid.Skid
	if learned != nil {
		var sets [][]skid.Candidate
		var weights []float64
		for _, a := range learned {
			if set, err := w.Walk(a.ip); err == nil && len(set) > 0 {
				sets, weights = append(sets, set), append(weights, 1)
			}
		}
		distances = skid.Learn(sets, weights)
	}
	s := &score{samples: len(answers), confidence: make(map[branch.Confidence]*[2]int)}
	truth, found, equal, nearest := make(map[uint64]float64), make(map[uint64]float64), make(map[uint64]float64), make(map[uint64]float64)
	for _, a := range answers {
		truth[a.from]++
		if f, err := w.Flow(a.ip); err == nil && a.from >= f.Function.Start && a.from < f.Function.End {
			s.function++
		}
		set, err := w.Walk(a.ip)
		if err != nil || len(set) == 0 {
			s.candidates = append(s.candidates, 0)
			continue
		}
		nearest[set[0].Address]++
		if learned != nil {
			set = distances.Rank(set)
		}
		s.candidates = append(s.candidates, len(set))
		c := skid.Confide(set)
		if s.confidence[c] == nil {
			s.confidence[c] = new([2]int)
		}
		s.confidence[c][0]++
		if set[0].Address == a.from {
			s.confidence[c][1]++
		}
		for i := range set {
			found[set[i].Address] += set[i].Part
			equal[set[i].Address] += 1 / float64(len(set))
			if set[i].Address == a.from {
				s.set++
				for k := i; k < len(s.first); k++ {
					s.first[k]++
				}
			}
		}
	}
	slices.Sort(s.candidates)
	for from, n := range truth {
		total := float64(len(answers))
		s.distance += max(0, n-found[from]) / total
		s.equal += max(0, n-equal[from]) / total
		s.nearest += max(0, n-nearest[from]) / total
	}
	return s, distances
}

// A result is a way to rank and what came of it.
type result struct {
	name string
	*score
	skid skid.Skid
}

// results evaluates ways to rank candidates. The last is the one that tables have.
func (e *experiment) results() []result {
	var even, odd []answer
	for i, a := range e.answers {
		if i%2 == 0 {
			even = append(even, a)
		} else {
			odd = append(odd, a)
		}
	}
	var list []result
	for _, way := range []struct {
		name             string
		answers, learned []answer
		ran              bool
	}{
		{"by distance", e.answers, nil, false},
		{"by learned skid", e.answers, e.answers, false},
		{"by learned skid and samples in the block; odd samples, skid of the even", odd, even, true},
		{"by learned skid and samples in the block; even samples, skid of the odd", even, odd, true},
		{"by learned skid and samples in the block", e.answers, e.answers, true},
	} {
		s, skid := e.evaluate(way.answers, way.learned, way.ran)
		list = append(list, result{way.name, s, skid})
	}
	return list
}

// table writes the evaluation as Markdown.
func table(e *experiment) string {
	var b strings.Builder
	percent := func(n, of int) string { return fmt.Sprintf("%.1f %%", 100*part(n, of)) }
	results := e.results()
	fmt.Fprintf(&b, "| candidates ranked | samples | function | first | first 2 | first 3 | in the set | median set |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s | %d |\n", r.name, r.samples, percent(r.function, r.samples),
			percent(r.first[0], r.samples), percent(r.first[1], r.samples), percent(r.first[2], r.samples), percent(r.set, r.samples), r.candidates[len(r.candidates)/2])
	}
	last := results[len(results)-1]
	fmt.Fprintf(&b, "\n| samples shared | with the wrong branch |\n|---|---|\n")
	fmt.Fprintf(&b, "| by likelihood | %.1f %% |\n| equally | %.1f %% |\n| the nearest has all | %.1f %% |\n", 100*last.distance, 100*last.equal, 100*last.nearest)
	fmt.Fprintf(&b, "\n| confidence | samples | first is right |\n|---|---|---|\n")
	for _, c := range slices.SortedFunc(maps.Keys(last.confidence), func(a, b branch.Confidence) int {
		return cmp.Compare(b.Rank(), a.Rank())
	}) {
		n := last.confidence[c]
		fmt.Fprintf(&b, "| %s | %d | %s |\n", c, n[0], percent(n[1], n[0]))
	}
	fmt.Fprintf(&b, "\nLearned skid in instructions, from 0:")
	for _, p := range last.skid {
		fmt.Fprintf(&b, " %.3f", p)
	}
	b.WriteString("\n")
	return b.String()
}
