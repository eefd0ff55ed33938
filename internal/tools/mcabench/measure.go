package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A plan says how much is measured.
type plan struct {
	rounds      int // runs of each program for each probability
	repetitions int // undisturbed ones in a run
	cpu         int
}

// leastWidth is what share of the full width of the core a repetition must have before and
// after it. Another thread on the core takes more.
const leastWidth = 0.97

// fullQuantile of the widths that were seen is the full width: alone on the core, a
// thread has it again and again, and next to another one never.
const fullQuantile = 0.995

// A run with too few undisturbed repetitions is repeated up to so many times, after a pause if it had none.
const (
	attempts = 1000
	pause    = 5 * time.Millisecond
)

// A round is what one run of a program measured.
type round struct {
	timings   map[string][]timed // by side
	disturbed map[string]int     // repetitions that do not count, by side
	checks
}

// A timed repetition took so many cycles for each unit of work, on a core of at least
// this width.
type timed struct{ cycles, width float64 }

// clean returns the cycles of the repetitions of a side that no other thread disturbed.
func (r *round) clean(side string, full float64) (list []float64) {
	for _, t := range r.timings[side] {
		if t.width >= leastWidth*full {
			list = append(list, t.cycles)
		}
	}
	return list
}

// checks tell whether cycles are what they are taken for.
type checks struct {
	// multiplication is the time of a multiplication in cycles: 3, if a cycle is one.
	multiplication float64
	// width is how many additions run in a cycle if none waits for another. It is less
	// if another thread uses the core.
	width float64
}

// parseRound reads what the driver wrote of so many units of work.
func parseRound(text []byte, units int) (*round, error) {
	r := &round{timings: make(map[string][]timed), disturbed: make(map[string]int)}
	type timing struct {
		side string
		Repetition
		wide [2]float64
	}
	var timings []timing
	var nothing, products, wide, sums []float64
	additions := 0.0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		f := strings.Fields(lines.Text())
		var v []float64
		for _, s := range f[min(1, len(f)):] {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil || !(x >= 0) {
				return nil, fmt.Errorf("line %d: %q is not a time", n, s)
			}
			v = append(v, x)
		}
		switch {
		case len(v) == 1 && f[0] == "adds":
			additions = v[0]
		case len(v) == 4 && f[0] == "checks":
			nothing, products = append(nothing, v[0]), append(products, v[1])
			wide, sums = append(wide, v[2]), append(sums, v[3])
		case len(v) == 5 && slices.Contains(Sides[:], f[0]):
			timings = append(timings, timing{f[0], Repetition{v[0], v[1], v[2]}, [2]float64{v[3], v[4]}})
		default:
			return nil, fmt.Errorf("line %d: %q is not known", n, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if additions == 0 || len(nothing) == 0 {
		return nil, fmt.Errorf("not the output of a driver")
	}
	slices.Sort(nothing)
	overhead := quantile(nothing, lowQuantile)
	multiplications, widths := make([]float64, len(sums)), make([]float64, len(sums))
	for i, sum := range sums {
		multiplications[i] = (products[i] - overhead) / (sum - overhead)
		widths[i] = (sum - overhead) / (wide[i] - overhead)
	}
	r.multiplication, r.width = median(multiplications), median(widths)
	for _, t := range timings {
		chains := t.Repetition
		chains.Before, chains.After = chains.Before-overhead, chains.After-overhead
		cycles, ok := chains.cycles(additions, overhead)
		if !ok {
			r.disturbed[t.side]++
			continue
		}
		width := min((t.Before-overhead)/(t.wide[0]-overhead), (t.After-overhead)/(t.wide[1]-overhead))
		r.timings[t.side] = append(r.timings[t.side], timed{cycles / float64(units), width})
	}
	return r, nil
}

// runRound runs a program once, or more often if too many repetitions are disturbed. It
// adds the widths of all repetitions to widths.
func runRound(ctx context.Context, c *Case, program string, p float64, seed int, pl *plan, widths *fullWidth) (*round, error) {
	sum := &round{timings: make(map[string][]timed), disturbed: make(map[string]int)}
	clean := func() int {
		return min(len(sum.clean(Sides[0], widths.full())), len(sum.clean(Sides[1], widths.full())))
	}
	for attempt := range attempts {
		out, err := output(ctx, program, "measure", strconv.Itoa(seed*attempts+attempt), strconv.Itoa(c.Units),
			strconv.FormatFloat(p, 'g', -1, 64), strconv.Itoa(pl.repetitions), strconv.Itoa(pl.cpu))
		if err != nil {
			return nil, err
		}
		r, err := parseRound(out, c.Units)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", program, err)
		}
		before := clean()
		for _, side := range Sides {
			sum.timings[side] = append(sum.timings[side], r.timings[side]...)
			sum.disturbed[side] += r.disturbed[side]
			for _, t := range r.timings[side] {
				widths.add(t.width)
			}
		}
		sum.checks = r.checks
		got := clean()
		if got >= pl.repetitions*9/10 {
			return sum, nil
		}
		if got == before {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(pause):
			}
		}
	}
	return nil, fmt.Errorf("%s: too much else runs on the machine: %d of %d repetitions are undisturbed",
		c.Name, clean(), len(sum.timings[Sides[0]])+sum.disturbed[Sides[0]])
}

// A fullWidth is the width that a core has for a thread that is alone on it.
type fullWidth struct {
	seen  []float64
	known float64
	at    int // how many had been seen when it was looked for last
}

func (w *fullWidth) add(width float64) { w.seen = append(w.seen, width) }

func (w *fullWidth) full() float64 {
	if len(w.seen) > w.at+w.at/10 {
		w.at = len(w.seen)
		sorted := slices.Clone(w.seen)
		slices.Sort(sorted)
		w.known = max(w.known, quantile(sorted, fullQuantile))
	}
	return w.known
}

// A measurement is one row of measured cycles.
type measurement struct {
	name, cpu string
	p         float64
	side      string
	Estimate
	disturbed    int
	instructions float64
	sum          string // of the listing
}

// measuredColumns names the columns of measured cycles.
const measuredColumns = "case\tarch\tcpu\tp\tside\tcycles\tlo\thi\tmedian\trepetitions\tdisturbed\tinstructions\tlisting_sha256"

func (m *measurement) row() string {
	return fmt.Sprintf("%s\tx86-64\t%s\t%g\t%s\t%.4f\t%.4f\t%.4f\t%.4f\t%d\t%d\t%.4f\t%s",
		m.name, m.cpu, m.p, m.side, m.Cycles, m.Lo, m.Hi, m.Median, m.Repetitions, m.disturbed, m.instructions, m.sum)
}

// measure builds and measures cases. The rounds of all cases are interleaved, so that
// what happens on the machine for a while does not fall on one of them.
func measure(ctx context.Context, cases []*Case, dir, cpu string, pl *plan, progress func(string)) (rows []measurement, all []checks, err error) {
	programs := make([][]string, len(cases)) // by case and layout
	for i, c := range cases {
		for layout := range layouts {
			program, err := build(ctx, c, dir, layout)
			if err != nil {
				return nil, nil, err
			}
			programs[i] = append(programs[i], program)
		}
	}
	rounds := make(map[[2]int][]*round) // by case and probability
	var widths fullWidth
	for n := range pl.rounds {
		for i, c := range cases {
			for j, p := range Probabilities {
				seed := 1 + (n*len(cases)+i)*len(Probabilities) + j
				r, err := runRound(ctx, c, programs[i][n%layouts], p, seed, pl, &widths)
				if err != nil {
					return nil, nil, err
				}
				rounds[[2]int{i, j}] = append(rounds[[2]int{i, j}], r)
				all = append(all, r.checks)
			}
		}
		progress(fmt.Sprintf("round %d of %d", n+1, pl.rounds))
	}
	for i, c := range cases {
		executed, err := totals(c, executedColumn)
		if err != nil {
			return nil, nil, err
		}
		for j, p := range Probabilities {
			for _, side := range Sides {
				m := measurement{name: c.Name, cpu: cpu, p: p, side: side, instructions: executed[p][side]}
				if m.sum, err = fileSum(c.listing(side, "x86-64")); err != nil {
					return nil, nil, err
				}
				cycles := make([][][]float64, min(layouts, pl.rounds)) // by layout and round
				for n, r := range rounds[[2]int{i, j}] {
					clean := r.clean(side, widths.full())
					cycles[n%layouts] = append(cycles[n%layouts], clean)
					m.disturbed += r.disturbed[side] + len(r.timings[side]) - len(clean)
				}
				m.Estimate = estimate(cycles)
				rows = append(rows, m)
			}
		}
	}
	return rows, all, nil
}

// fileSum returns the SHA-256 of a file in hexadecimal.
func fileSum(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
