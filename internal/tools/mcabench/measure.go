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

// leastWidth is what share of the usual width a run must have. Another thread on the core
// takes more.
const leastWidth = 0.9

// A disturbed run is repeated up to so many times, after a pause.
const (
	attempts = 100
	pause    = 200 * time.Millisecond
)

// A round is what one run of a program measured.
type round struct {
	cycles    map[string][]float64 // per unit of work, by side
	disturbed map[string]int       // repetitions that do not count, by side
	checks
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
	r := &round{cycles: make(map[string][]float64), disturbed: make(map[string]int)}
	type timing struct {
		side string
		Repetition
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
		case len(v) == 3 && slices.Contains(Sides[:], f[0]):
			timings = append(timings, timing{f[0], Repetition{v[0], v[1], v[2]}})
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
		r.cycles[t.side] = append(r.cycles[t.side], cycles/float64(units))
	}
	return r, nil
}

// runRound runs a program once, or more often if too many repetitions are disturbed. It
// adds the widths of all runs to widths.
func runRound(ctx context.Context, c *Case, program string, p float64, seed int, pl *plan, widths *[]float64) (*round, error) {
	sum := &round{cycles: make(map[string][]float64), disturbed: make(map[string]int)}
	for attempt := range attempts {
		if attempt > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(pause):
			}
		}
		out, err := output(ctx, program, "measure", strconv.Itoa(seed*attempts+attempt), strconv.Itoa(c.Units),
			strconv.FormatFloat(p, 'g', -1, 64), strconv.Itoa(pl.repetitions), strconv.Itoa(pl.cpu))
		if err != nil {
			return nil, err
		}
		r, err := parseRound(out, c.Units)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", program, err)
		}
		*widths = append(*widths, r.width)
		if r.width < leastWidth*median(slices.Clone(*widths)) {
			for _, side := range Sides {
				sum.disturbed[side] += len(r.cycles[side]) + r.disturbed[side]
			}
			continue
		}
		enough := true
		for _, side := range Sides {
			sum.cycles[side] = append(sum.cycles[side], r.cycles[side]...)
			sum.disturbed[side] += r.disturbed[side]
			enough = enough && len(sum.cycles[side]) >= pl.repetitions*9/10
		}
		sum.checks = r.checks
		if enough {
			return sum, nil
		}
	}
	return nil, fmt.Errorf("%s: too much else runs on the machine: %d of %d repetitions are undisturbed",
		c.Name, len(sum.cycles[Sides[0]]), len(sum.cycles[Sides[0]])+sum.disturbed[Sides[0]])
}

// A measurement is one row of measured.tsv.
type measurement struct {
	name, cpu string
	p         float64
	side      string
	Estimate
	disturbed    int
	instructions float64
	sum          string // of the listing
}

// measuredColumns names the columns of measured.tsv.
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
	var widths []float64
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
					cycles[n%layouts] = append(cycles[n%layouts], r.cycles[side])
					m.disturbed += r.disturbed[side]
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
