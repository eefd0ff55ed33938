package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/callgrind"
)

// A count is what Callgrind counted at an instruction of a listing.
type count struct {
	p        float64
	side     string
	function string
	line     int
	offset   uint64 // in the function, bytes
	text     string
	executed int64
	taken    int64   // of conditional branches, else as often as executed
	misses   int64   // of Valgrind's predictor
	known    float64 // that no predictor can avoid
}

// total is the function of the counts that are sums over the whole call.
const total = "(total)"

// seed makes the data of the counts.
const countSeed = 1

// countCase runs both sides of a case below Callgrind.
func countCase(ctx context.Context, c *Case, dir string) ([]count, error) {
	program, err := build(ctx, c, dir, 0)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, c.Name+".callgrind")
	args := []string{
		"-q", "--tool=callgrind", "--branch-sim=yes", "--dump-instr=yes", "--collect-jumps=yes",
		"--combine-dumps=yes", "--callgrind-out-file=" + out,
	}
	for _, side := range Sides {
		args = append(args, "--dump-after="+sideSymbol(c.Function, side))
	}
	args = append(args, program, "count", strconv.Itoa(countSeed), strconv.Itoa(c.Units))
	for _, p := range Probabilities {
		args = append(args, strconv.FormatFloat(p, 'g', -1, 64))
	}
	if _, err := output(ctx, "valgrind", args...); err != nil {
		return nil, err
	}
	return readCounts(c, program, out)
}

// readCounts reads what Callgrind wrote: a part for each probability and side.
func readCounts(c *Case, program, out string) ([]count, error) {
	symbols, err := functions(program)
	if err != nil {
		return nil, err
	}
	lines := make(map[string]map[int]line) // by side
	for _, side := range Sides {
		text, err := os.ReadFile(c.listing(side, "x86-64"))
		if err != nil {
			return nil, err
		}
		lines[side] = make(map[int]line)
		for _, l := range parseListing(string(text)) {
			lines[side][l.number] = l
		}
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	type key struct {
		part    int
		address uint64
	}
	counts := make(map[key]*count)
	parts := make(map[*callgrind.Part]int)
	// at returns the counts of an instruction, nil if it belongs to the driver.
	at := func(part *callgrind.Part, place *callgrind.Place) (*count, error) {
		if !strings.HasSuffix(place.File, ".x86-64.s") {
			return nil, nil
		}
		n, ok := parts[part]
		if !ok {
			n = len(parts)
			parts[part] = n
		}
		if n >= len(Probabilities)*len(Sides) {
			return nil, fmt.Errorf("part %d: the program has ended before", n)
		}
		k := key{n, place.Address}
		if counts[k] == nil {
			i, side := n/len(Sides), Sides[n%len(Sides)]
			l, ok := lines[side][int(place.Line)]
			if !ok || filepath.Base(place.File) != filepath.Base(c.listing(side, "x86-64")) {
				return nil, fmt.Errorf("part %d: %s line %d is not in the listing of %s", n, place.File, place.Line, side)
			}
			symbol := symbols.at(place.Address)
			if plainSymbol(symbol.Name, side) != l.function {
				return nil, fmt.Errorf("%#x is in %s, line %d in %s", place.Address, symbol.Name, l.number, l.function)
			}
			counts[k] = &count{
				p: Probabilities[i], side: side, function: l.function, line: l.number,
				offset: place.Address - symbol.Value, text: l.text,
			}
		}
		return counts[k], nil
	}
	events := make(map[*callgrind.Part][3]int)
	file, err := callgrind.Read(f, callgrind.Visitor{
		Cost: func(cost *callgrind.Cost) error {
			n, err := at(cost.Part, &cost.Place)
			if n == nil {
				return err
			}
			index, ok := events[cost.Part]
			if !ok {
				for i, name := range []string{"Ir", "Bc", "Bcm"} {
					index[i] = slices.Index(cost.Part.Events, name)
					if index[i] < 0 {
						return fmt.Errorf("event %s is missing", name)
					}
				}
				events[cost.Part] = index
			}
			n.executed += cost.Costs[index[0]]
			n.misses += cost.Costs[index[2]]
			return nil
		},
		Jump: func(jump *callgrind.Jump) error {
			if !jump.Conditional {
				return nil
			}
			n, err := at(jump.Part, &jump.From)
			if n == nil {
				return err
			}
			n.taken += jump.Taken
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", out, err)
	}
	if len(parts) != len(Probabilities)*len(Sides) {
		return nil, fmt.Errorf("%s: %d parts with counts in %d, want %d", out, len(parts), len(file.Parts), len(Probabilities)*len(Sides))
	}

	// Instructions of a line behind the first are padding that .p2align put there.
	first := make(map[[2]int]uint64) // address by part and line
	for k, n := range counts {
		at := [2]int{k.part, n.line}
		if old, ok := first[at]; !ok || k.address < old {
			first[at] = k.address
		}
	}
	var kept []count
	sums := make([]count, len(parts))
	for k, n := range counts {
		padding := first[[2]int{k.part, n.line}] != k.address
		i := k.part / len(Sides)
		l := lines[n.side][n.line]
		sum := &sums[k.part]
		sum.p, sum.side, sum.function = n.p, n.side, total
		switch {
		case padding:
		case l.branches("x86-64"):
			n.known = float64(n.executed) * c.known(n.side, "x86-64", n.line, i)
		case l.transfers("x86-64"):
			n.taken = n.executed
		}
		sum.executed += n.executed
		sum.taken += n.taken
		sum.misses += n.misses
		sum.known += n.known
		if !padding && (n.offset == 0 || l.transfers("x86-64")) {
			kept = append(kept, *n)
		}
	}
	kept = append(kept, sums...)
	slices.SortFunc(kept, func(a, b count) int {
		return cmp.Or(
			cmp.Compare(a.p, b.p),
			cmp.Compare(slices.Index(Sides[:], a.side), slices.Index(Sides[:], b.side)),
			cmp.Compare(a.line, b.line),
		)
	})
	return kept, nil
}

// functionSymbols are the functions of a program by address.
type functionSymbols []elf.Symbol

func functions(program string) (functionSymbols, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	symbols = slices.DeleteFunc(symbols, func(s elf.Symbol) bool { return elf.ST_TYPE(s.Info) != elf.STT_FUNC })
	slices.SortFunc(symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return symbols, nil
}

// at returns the function at an address, or an empty symbol.
func (f functionSymbols) at(address uint64) elf.Symbol {
	i, found := slices.BinarySearchFunc(f, address, func(s elf.Symbol, a uint64) int { return cmp.Compare(s.Value, a) })
	if !found {
		i--
	}
	if i < 0 || address >= f[i].Value+f[i].Size {
		return elf.Symbol{}
	}
	return f[i]
}

// countColumns names the columns of counts.tsv.
const countColumns = "p\tside\tfunction\tline\toffset\ttext\texecuted\ttaken\tmisses\tknown"

// formatCounts returns counts.tsv.
func formatCounts(c *Case, counts []count, valgrind string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: %d units a call, seed %d, %s\n", c.Name, c.Units, countSeed, valgrind)
	for _, side := range Sides {
		sum, err := fileSum(c.listing(side, "x86-64"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "# %s  %s\n", sum, filepath.Base(c.listing(side, "x86-64")))
	}
	fmt.Fprintln(&b, countColumns)
	for _, n := range counts {
		fmt.Fprintf(&b, "%g\t%s\t%s\t%d\t%d\t%s\t%d\t%d\t%d\t%s\n",
			n.p, n.side, n.function, n.line, n.offset, n.text, n.executed, n.taken, n.misses,
			strconv.FormatFloat(n.known, 'f', -1, 64))
	}
	return b.Bytes(), nil
}

// Columns of counts.tsv.
const (
	functionColumn = 2
	executedColumn = 6
	knownColumn    = 9
)

// totals returns a column of counts.tsv of the whole call per unit of work, by p and
// side.
func totals(c *Case, column int) (map[float64]map[string]float64, error) {
	text, err := os.ReadFile(c.counts())
	if err != nil {
		return nil, err
	}
	perUnit := make(map[float64]map[string]float64)
	for s := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(s, "\n"), "\t")
		if len(f) != strings.Count(countColumns, "\t")+1 || f[functionColumn] != total {
			continue
		}
		p, err := strconv.ParseFloat(f[0], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.counts(), err)
		}
		n, err := strconv.ParseFloat(f[column], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.counts(), err)
		}
		if perUnit[p] == nil {
			perUnit[p] = make(map[string]float64)
		}
		perUnit[p][f[1]] = n / float64(c.Units)
	}
	return perUnit, nil
}
