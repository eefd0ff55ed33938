package predict

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"

	"github.com/goccy/go-yaml"
)

// A Case is a kernel in two versions, a directory of mca-cases.
type Case struct {
	Name      string
	Origin    string // recorded, published or synthetic
	Set       string // of recorded cases: tune, report or blind
	Mechanism string
	Function  string
	Unit      string // of work
	Units     int    // of one call
	Counts    []CaseCount
}

// The sides of a case.
const (
	Branchy    = "branchy"
	Branchless = "branchless"
)

// A CaseCount says how often an instruction was executed.
type CaseCount struct {
	P, Side, Function string
	Line              int // of the listing
	Executed, Taken   float64
	// Misses are simulated, Known those that no predictor can avoid.
	Misses, Known float64
}

// A CaseCycles is what a kernel takes.
type CaseCycles struct {
	Case, Arch, CPU, P, Side string
	Cycles, Lo, Hi           float64 // per unit of work
}

// ReadCase reads a case but for its listings.
func ReadCase(dir fs.FS) (*Case, error) {
	const file = "case.yaml"
	text, err := fs.ReadFile(dir, file)
	if err != nil {
		return nil, err
	}
	var c struct {
		Name, Origin, Set, Mechanism, Function, Unit string
		Units                                        int
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: %s", file, strings.SplitN(yaml.FormatError(err, false, false), "\n", 2)[0])
	}
	out := &Case{Name: c.Name, Origin: c.Origin, Set: c.Set, Mechanism: c.Mechanism, Function: c.Function, Unit: c.Unit, Units: c.Units}
	counts, err := fs.ReadFile(dir, "counts.tsv")
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.Counts, err = parseCounts(counts)
	if err != nil {
		return nil, fmt.Errorf("counts.tsv: %w", err)
	}
	return out, nil
}

// Listing is the name of the listing of a side of a case.
func (c *Case) Listing(side string, arch asm.Arch) string {
	return side + "." + strings.ReplaceAll(string(arch), "_", "-") + ".s"
}

// Ps are the probabilities that there are counts of, in order.
func (c *Case) Ps() (ps []string) {
	for i := range c.Counts {
		if p := c.Counts[i].P; !slices.Contains(ps, p) {
			ps = append(ps, p)
		}
	}
	return ps
}

// tsv reads a table: a line of column names, then rows; # begins a comment.
func tsv(text []byte, columns []string, row func(cell func(string) string) error) error {
	index := make(map[string]int)
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if i := bytes.IndexByte(line, '#'); i == 0 {
			continue
		}
		cells := strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")
		if len(cells) == 1 && cells[0] == "" {
			continue
		}
		if len(index) == 0 {
			for i, name := range cells {
				index[name] = i
			}
			for _, c := range columns {
				if _, ok := index[c]; !ok {
					return fmt.Errorf("line %d: no column %q", n, c)
				}
			}
			continue
		}
		if len(cells) != len(index) {
			return fmt.Errorf("line %d: %d columns instead of %d", n, len(cells), len(index))
		}
		if err := row(func(name string) string { return cells[index[name]] }); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}

// numbers reads cells as numbers that are not negative.
func numbers(cell func(string) string, to map[string]*float64) error {
	for name, v := range to {
		f, err := strconv.ParseFloat(cell(name), 64)
		if err != nil || !(f >= 0 && f < 1e18) {
			return fmt.Errorf("%s: %q is no count", name, cell(name))
		}
		*v = f
	}
	return nil
}

func parseCounts(text []byte) (counts []CaseCount, err error) {
	columns := []string{"p", "side", "function", "line", "executed", "taken", "misses", "known"}
	err = tsv(text, columns, func(cell func(string) string) error {
		c := CaseCount{P: cell("p"), Side: cell("side"), Function: cell("function")}
		var line float64
		if err := numbers(cell, map[string]*float64{"line": &line, "executed": &c.Executed, "taken": &c.Taken, "misses": &c.Misses, "known": &c.Known}); err != nil {
			return err
		}
		c.Line = int(line)
		counts = append(counts, c)
		return nil
	})
	return counts, err
}

// ReadCaseCycles reads what was measured on a CPU.
func ReadCaseCycles(text []byte) (rows []CaseCycles, err error) {
	err = tsv(text, []string{"case", "arch", "cpu", "p", "side", "cycles", "lo", "hi"}, func(cell func(string) string) error {
		c := CaseCycles{Case: cell("case"), Arch: cell("arch"), CPU: cell("cpu"), P: cell("p"), Side: cell("side")}
		if err := numbers(cell, map[string]*float64{"cycles": &c.Cycles, "lo": &c.Lo, "hi": &c.Hi}); err != nil {
			return err
		}
		rows = append(rows, c)
		return nil
	})
	return rows, err
}

// side is a side of the case with the branches of one p.
func (c *Case) side(l *asm.Listing, side, p string, source Source) (*Side, error) {
	f, ok := l.Function(c.Function)
	if !ok {
		return nil, fmt.Errorf("%s: no function %s", c.Listing(side, l.Arch), c.Function)
	}
	byLine := make(map[int]flow.Branch)
	for i := range c.Counts {
		k := &c.Counts[i]
		if k.Side != side || k.P != p || k.Executed == 0 || k.Function == "(total)" {
			continue
		}
		b := flow.Branch{Taken: k.Taken / k.Executed, Miss: k.Known / k.Executed, Executed: k.Executed}
		if source == SourceSimulated {
			b.Miss = k.Misses / k.Executed
		}
		byLine[k.Line] = b
	}
	code := flow.CodeOf(l, f)
	loop, err := code.Root.MainLoop()
	if err != nil {
		return nil, err
	}
	return &Side{
		Name: c.Name + ", " + side, Code: code, Loop: loop, Work: 1,
		Rates: Rates{Source: source, Branch: func(g *flow.Graph, at int) (flow.Branch, bool) {
			b, ok := byLine[g.Insts[at].Line]
			return b, ok
		}},
	}, nil
}
