package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// drawn is the order of n runs of each of two sides, drawn pair by pair: 0 is the version before.
func drawn(n int) (order []int) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for range n {
		first := r.IntN(2)
		order = append(order, first, 1-first)
	}
	return order
}

// bareTimes are the CPU seconds of each run of the bare commands, kept in a file.
func bareTimes(file string, commands [2][]string, n int) (times sides[float64], err error) {
	if data, err := os.ReadFile(file); err == nil {
		for line := range strings.Lines(string(data)) {
			var side int
			var seconds float64
			if _, err := fmt.Sscan(line, &side, &seconds); err != nil {
				return times, fmt.Errorf("%s: %w", file, err)
			}
			times[side] = append(times[side], seconds)
		}
		return times, nil
	}
	var text strings.Builder
	for i, side := range append([]int{0, 1}, drawn(n)...) {
		cmd := exec.Command(commands[side][0], commands[side][1:]...)
		if err := cmd.Run(); err != nil {
			return times, err
		}
		if i < 2 { // to warm up
			continue
		}
		seconds := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		times[side] = append(times[side], seconds)
		fmt.Fprintln(&text, side, seconds)
	}
	return times, os.WriteFile(file, []byte(text.String()), 0o644)
}

// sharesByPerf are the shares of functions by their own samples, of each run that perf records.
func sharesByPerf(dir string, commands [2][]string, n int) (shares sides[map[string]float64], err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return shares, err
	}
	for i, side := range drawn(n) {
		file := filepath.Join(dir, fmt.Sprintf("%d-%d.data", i, side))
		if _, err := os.Stat(file); err != nil {
			args := append([]string{"record", "-q", "-N", "-e", "cpu-clock", "-F", "1999", "-o", file, "--"}, commands[side]...)
			if err := run(dir, "", "perf", args...); err != nil {
				return shares, err
			}
		}
		out, err := exec.Command("perf", "script", "-i", file, "-F", "ip,sym").Output()
		if err != nil {
			return shares, fmt.Errorf("perf script: %w", err)
		}
		counts, all := make(map[string]float64), 0.0
		for line := range strings.Lines(string(out)) {
			if _, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				counts[strings.TrimSpace(name)]++
				all++
			}
		}
		for name := range counts {
			counts[name] /= all
		}
		shares[side] = append(shares[side], counts)
	}
	return shares, nil
}

// instructions are those of each function by callgrind, its own only. Valgrind crashes in the
// runtime of Go, of whose programs they are not known.
func instructions(dir string, commands [2][]string) (counts sides[map[string]float64], err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return counts, err
	}
	for side, command := range commands {
		file := filepath.Join(dir, fmt.Sprintf("%d.out", side))
		if _, err := os.Stat(file); err != nil {
			args := append([]string{"--tool=callgrind", "--callgrind-out-file=" + file, "--compress-strings=no", "--compress-pos=no"}, command...)
			if err := run(dir, "", "valgrind", args...); err != nil {
				return counts, err
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return counts, err
		}
		counts[side] = append(counts[side], selfCosts(data))
	}
	return counts, nil
}

// selfCosts sums the lines of costs of each function. The line after "calls=" is of what was called.
func selfCosts(data []byte) map[string]float64 {
	costs := make(map[string]float64)
	name, called := "", false
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "fn="):
			name, _, _ = strings.Cut(line[len("fn="):], "'") // recursion
		case strings.HasPrefix(line, "calls="):
			called = true
		case line != "" && (line[0] >= '0' && line[0] <= '9' || line[0] == '+' || line[0] == '-' || line[0] == '*'):
			fields := strings.Fields(line)
			if !called && len(fields) > 1 {
				if v, err := strconv.ParseFloat(fields[1], 64); err == nil {
					costs[name] += v
				}
			}
			called = false
		}
	}
	return costs
}

func sum(m map[string]float64) (s float64) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		s += m[k]
	}
	return s
}

// An estimate is a ratio with its 95 % interval.
type estimate struct{ ratio, lo, hi float64 }

func (e estimate) String() string {
	return strings.ReplaceAll(fmt.Sprintf("×%.3f [%.3f, %.3f]", e.ratio, e.lo, e.hi), "+Inf", "∞")
}

// truth is the ratio of the CPU times, or of those of functions, which are in base the sum of
// some and in head of others. The interval is by bootstrap over the runs: of medians of times, and of
// means of shares.
func truth(times sides[float64], shares sides[map[string]float64], functions *[2][]string) estimate {
	r := rand.New(rand.NewPCG(2, 3))
	value := func(side int, pick func(n int) int) float64 {
		list := make([]float64, len(times[side]))
		for i := range list {
			list[i] = times[side][pick(len(list))]
		}
		slices.Sort(list)
		v := (list[(len(list)-1)/2] + list[len(list)/2]) / 2
		if functions == nil {
			return v
		}
		share, n := 0.0, len(shares[side])
		for range n {
			m := shares[side][pick(n)]
			for _, name := range functions[side] {
				share += m[name] / float64(n)
			}
		}
		return v * share
	}
	next := 0
	inTurn := func(n int) int { next++; return (next - 1) % n }
	at := func(side int) float64 { next = 0; return value(side, inTurn) }
	e := estimate{ratio: at(1) / at(0)}
	ratios := make([]float64, 4000)
	for i := range ratios {
		ratios[i] = value(1, r.IntN) / value(0, r.IntN)
		if math.IsNaN(ratios[i]) {
			ratios[i] = math.Inf(1)
		}
	}
	slices.Sort(ratios)
	e.lo, e.hi = ratios[len(ratios)/40], ratios[len(ratios)-1-len(ratios)/40]
	return e
}
