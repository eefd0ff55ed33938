package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// leastWidth is what share of the full width of the core a step must have before and after it.
	leastWidth = 0.97
	// fullQuantile of the widths that were seen is the full width.
	fullQuantile = 0.995
	// drift is how far the chains around a step may differ: more, and the clock of the CPU changed.
	drift = 0.02
	// lowQuantile of the steps of a run is its estimate: what disturbs adds time.
	lowQuantile = 0.1
	// resamples of the bootstrap.
	resamples = 1000
)

// A step took so many cycles, on a core that makes so many additions a cycle.
type step struct{ cycles, width float64 }

// A round has the steps of one run of both programs, by side.
type round [2][]step

// clean returns the cycles of the steps of a side that no other thread disturbed.
func (r *round) clean(side int, full float64) (list []float64) {
	for _, s := range r[side] {
		if s.width >= leastWidth*full {
			list = append(list, s.cycles)
		}
	}
	return list
}

// runGuard runs both programs of a pair once, and adds their steps.
func (s *settings) runGuard(ctx context.Context, p *pair, r *round) error {
	words := []string{strconv.Itoa(s.cpu), strconv.Itoa(s.repetitions)}
	words = append(words, s.command(p, sides[0], "steps")...)
	words = append(append(words, "--"), s.command(p, sides[1], "steps")...)
	text, err := output(exec.CommandContext(ctx, s.dir+"/guard", words...))
	if err != nil {
		return err
	}
	additions := 0.0
	for line := range strings.Lines(text) {
		var side string
		var v [5]float64
		if _, err := fmt.Sscan(line, &side, &v[0]); err != nil {
			return fmt.Errorf("%q is no line of the guard", line)
		}
		if side == "adds" {
			additions = v[0]
			continue
		}
		if _, err := fmt.Sscan(line, &side, &v[0], &v[1], &v[2], &v[3], &v[4]); err != nil {
			return fmt.Errorf("%q is no line of the guard", line)
		}
		chain := (v[1] + v[3]) / 2
		if math.Abs(v[1]-v[3]) > drift*min(v[1], v[3]) {
			continue
		}
		i := slices.Index(sides[:], side)
		r[i] = append(r[i], step{v[0] / chain * additions, min(v[1]/v[2], v[3]/v[4])})
	}
	return nil
}

// measure measures all pairs that have a prediction, and writes the steps of each to a file.
// The rounds of all take turns, so that what happens on the machine does not fall on one of them.
func (s *settings) measure(ctx context.Context) error {
	for i := range s.pairs {
		if p := &s.pairs[i]; !exists(s.prediction(p, false)) {
			return fmt.Errorf("%s has no prediction", p.name)
		}
	}
	if exists(s.path(&s.pairs[len(s.pairs)-1], "measured.tsv")) {
		return nil
	}
	end := time.Now().Add(s.patience)
	rounds := make([][]round, len(s.pairs))
	var widths []float64
	full := 0.0
	for n := range s.rounds {
		for i := range s.pairs {
			var r round
			enough := func() bool {
				return min(len(r.clean(0, full)), len(r.clean(1, full))) >= s.repetitions*3/4
			}
			for attempt := 0; !enough() && (attempt == 0 || time.Now().Before(end)); attempt++ {
				at := [2]int{len(r[0]), len(r[1])}
				if err := s.runGuard(ctx, &s.pairs[i], &r); err != nil {
					return fmt.Errorf("%s: %w", s.pairs[i].name, err)
				}
				for side := range r {
					for _, step := range r[side][at[side]:] {
						widths = append(widths, step.width)
					}
				}
				full = max(full, quantile(slices.Sorted(slices.Values(widths)), fullQuantile))
			}
			rounds[i] = append(rounds[i], r)
		}
		fmt.Fprintf(os.Stderr, "round %d of %d\n", n+1, s.rounds)
	}
	for i := range s.pairs {
		var text strings.Builder
		fmt.Fprintf(&text, "# full width %.4f\nround\tside\tcycles\twidth\n", full)
		for n, r := range rounds[i] {
			for side := range r {
				for _, step := range r[side] {
					fmt.Fprintf(&text, "%d\t%s\t%.0f\t%.4f\n", n, sides[side], step.cycles, step.width)
				}
			}
		}
		if err := os.WriteFile(s.path(&s.pairs[i], "measured.tsv"), []byte(text.String()), 0o444); err != nil {
			return err
		}
	}
	return nil
}

// A measurement is what was measured of a pair.
type measurement struct {
	speed  interval
	cycles [2]float64 // of a unit of work
	clean  int        // steps that count
	all    int
}

// measured reads what was measured of a pair, with a 95 % interval.
func (s *settings) measured(p *pair) (*measurement, error) {
	f, err := os.Open(s.path(p, "measured.tsv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan()
	full := 0.0
	if _, err := fmt.Sscanf(lines.Text(), "# full width %f", &full); err != nil {
		return nil, err
	}
	lines.Scan()
	m := &measurement{}
	var rounds [][2][]float64
	for lines.Scan() {
		var n int
		var side string
		var cycles, width float64
		if _, err := fmt.Sscan(lines.Text(), &n, &side, &cycles, &width); err != nil {
			return nil, err
		}
		for len(rounds) <= n {
			rounds = append(rounds, [2][]float64{})
		}
		m.all++
		if width >= leastWidth*full {
			i := slices.Index(sides[:], side)
			rounds[n][i] = append(rounds[n][i], cycles)
			m.clean++
		}
	}
	rounds = slices.DeleteFunc(rounds, func(r [2][]float64) bool { return len(r[0]) == 0 || len(r[1]) == 0 })
	if len(rounds) < 2 {
		return nil, fmt.Errorf("%s: too much else ran on the machine", p.name)
	}
	units, err := output(exec.Command(s.command(p, sides[0], "units")[0], s.command(p, sides[0], "units")[1:]...))
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(units), 64)
	if err != nil {
		return nil, err
	}
	m.cycles = typical(rounds)
	m.speed.centre = m.cycles[0] / m.cycles[1]
	m.cycles[0], m.cycles[1] = m.cycles[0]/n, m.cycles[1]/n
	rng := rand.New(rand.NewPCG(1, 2))
	ratios := make([]float64, resamples)
	for i := range ratios {
		drawn := make([][2][]float64, len(rounds))
		for j := range drawn {
			from := &rounds[rng.IntN(len(rounds))]
			for side := range from {
				for range from[side] {
					drawn[j][side] = append(drawn[j][side], from[side][rng.IntN(len(from[side]))])
				}
			}
		}
		cycles := typical(drawn)
		ratios[i] = cycles[0] / cycles[1]
	}
	slices.Sort(ratios)
	m.speed.lo, m.speed.hi = quantile(ratios, 0.025), quantile(ratios, 0.975)
	return m, nil
}

// typical returns the median over rounds of the low quantiles of their steps, of each side.
func typical(rounds [][2][]float64) (cycles [2]float64) {
	for side := range cycles {
		var lows []float64
		for i := range rounds {
			lows = append(lows, quantile(slices.Sorted(slices.Values(rounds[i][side])), lowQuantile))
		}
		cycles[side] = quantile(slices.Sorted(slices.Values(lows)), 0.5)
	}
	return cycles
}

// quantile returns a quantile of sorted values, interpolated between neighbours.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
