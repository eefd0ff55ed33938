package calibrate

import (
	"fmt"
	"slices"
	"time"

	"profdiff/internal/probe"
)

// The rule by which a repetition counts. mcabench has the same.
const (
	// leastWidth is what share of its full width the core must have before a repetition and
	// after it. Another thread on the core, where it has two, takes more.
	leastWidth = 0.97
	// drift is how far a cycle before a repetition and one after it may differ: more, and
	// something interrupted one of them, or the clock of the core changed in between.
	drift = 0.02
)

// Whether there is a full width.
const (
	// leastClean is the share of the guards that has to have the full width.
	leastClean = 0.003
	// leastSeen is how many guards have it at least.
	leastSeen = 8
	// gapFrom is where the widths end that a core has with another thread on it: those
	// between this share of the full one and leastWidth are from a change in between, and
	// have to be fewer than this part of the full ones.
	gapFrom     = 0.9
	mostBetween = 0.25
)

// A guard is what the core did just before a repetition or just after it, in two runs:
// additions of which each waits for the one before, and as many again in eight chains.
type guard struct {
	cycle float64 // nanoseconds of an addition in a chain
	width float64 // additions a cycle, side by side
	cpu   int     // that it ran on
}

// steady reports whether nothing changed the cycle between two guards, nor moved what
// runs to another CPU.
func (g guard) steady(next guard) bool {
	least := min(g.cycle, next.cycle)
	return least > 0 && max(g.cycle, next.cycle) <= least*(1+drift) && g.cpu == next.cpu
}

// guard runs the two.
func (s *sampler) guard() (guard, error) {
	chain, chains := &s.chain, &s.chains
	t0 := s.machine.now()
	err := s.machine.run(chain.kernel, chain.n)
	t1 := s.machine.now()
	if err == nil {
		err = s.machine.run(chains.kernel, chains.n)
	}
	t2 := s.machine.now()
	if err != nil {
		return guard{}, err
	}
	g := guard{cpu: s.machine.cpu(), cycle: s.net(t1-t0) / chain.pieces()}
	if t := s.net(t2 - t1); t > 0 {
		g.width = g.cycle * chains.pieces() / t
	}
	if s.last.steady(g) && g.cpu == s.home {
		s.widths = append(s.widths, g.width)
	}
	s.last = g
	return g, nil
}

// net is a time without what taking it costs, in nanoseconds.
func (s *sampler) net(d time.Duration) float64 { return float64(d) - s.overhead }

// A FullWidth is how many additions a core does in a cycle while nothing else runs on it,
// as far as that was seen.
type FullWidth struct {
	// Additions a cycle, 0 if too few guards agree.
	Additions float64 `json:"additions_per_cycle"`
	// Clean is the share of guards that have it, of so many.
	Clean  float64 `json:"clean_share"`
	Guards int     `json:"guards"`
	// Refused says why widths cannot be told, "" if they can.
	Refused string `json:"refused,omitempty"`
}

// findFull finds the full width among those of guards so far, or takes the known one.
func (s *sampler) findFull() {
	s.full, s.seen = fullWidth(s.widths), len(s.widths)
	if s.full.Additions < leastWidth*s.known {
		s.full.Refused = fmt.Sprintf("the core had %.3g additions a cycle at most, and %.3g in an earlier run: another thread was on it all the time", s.full.Additions, s.known)
		s.full.Additions, s.full.Clean = s.known, 0
	}
}

// fullWidth finds the full width among those of guards: the middle of the highest group of
// them. It is no quantile of all, for other threads may be there most of the time.
func fullWidth(widths []float64) FullWidth {
	w := FullWidth{Guards: len(widths)}
	sorted := slices.Sorted(slices.Values(widths))
	// below is how many are less.
	below := func(v float64) int {
		i, _ := slices.BinarySearch(sorted, v)
		return i
	}
	need := max(leastSeen, int(leastClean*float64(len(sorted))))
	highest := len(sorted) - 1
	for highest >= 0 && highest+1-below(sorted[highest]*(1-drift)) < need {
		highest--
	}
	if highest < 0 {
		w.Refused = "no width was seen often enough"
		return w
	}
	// From above, the median of what is near comes closer to the middle of the group.
	w.Additions = sorted[highest]
	for last := 0.; w.Additions != last && w.Additions > gapFrom*sorted[highest]; {
		last = w.Additions
		w.Additions = sorted[(below(last*(1-drift))+below(last*(1+drift)))/2]
	}
	clean := len(sorted) - below(leastWidth*w.Additions)
	w.Clean = float64(clean) / float64(len(sorted))
	switch between := len(sorted) - clean - below(gapFrom*w.Additions); {
	case w.Clean < leastClean:
		w.Refused = "the core was hardly ever alone"
	case float64(between) > mostBetween*float64(clean) || w.Additions <= gapFrom*sorted[highest]:
		w.Refused = "widths have no gap below the largest: the core may never have been alone"
	}
	return w
}

// chainName and chainsName are the kernels of guards.
const (
	chainName  = probe.Chain
	chainsName = probe.Chains
)
