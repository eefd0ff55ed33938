package llvm

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"profdiff/internal/spelling"
)

// Model is the scheduling model that a version of LLVM has for a CPU.
type Model struct {
	CPU  string // as asked for
	MCPU string // the CPU to ask llvm-mca for
	Name string // LLVM's, such as "CortexA57"
	// StandIn is the CPU whose model it is, "" if it is the CPU's own.
	StandIn string
	Kinship Kinship // of the CPU and the core whose model it is
	// Repairs are the classes of instructions that are rewritten for the model, as it is
	// wrong about them.
	Repairs []Repair

	Width             int // micro-operations dispatched per cycle in the simulation
	Dispatch          int // to pass as -dispatch, 0 if the model's own width is right
	ReorderBuffer     int // entries; 0 if the model is in-order
	MispredictPenalty int // cycles; llvm-mca does not use it
	TakenPerCycle     int // taken branches per cycle, 0 if not known; llvm-mca has no such limit

	resource string // the first resource in llvm-mca's output
}

// inOrder says whether the CPU issues in program order.
func (m Model) inOrder() bool { return m.ReorderBuffer == 0 }

// differs says how llvm-mca's model is not the one of the table, for versions that were
// not at hand when it was written.
func (m Model) differs(resources []string, width int) string {
	switch {
	case len(resources) == 0 || !strings.HasPrefix(resources[0], m.resource):
		return fmt.Sprintf("llvm-mca's model of %s is not %s, which is expected of this version", m.MCPU, m.Name)
	case width != m.Width:
		return fmt.Sprintf("llvm-mca dispatches %d micro-operations per cycle for %s, not %d", width, m.MCPU, m.Width)
	}
	return ""
}

// modelRow is a row of models.tsv.
type modelRow struct {
	arch     arch
	from, to int // versions of LLVM
	model    Model
}

//go:embed models.tsv
var modelTable string

// models are the rows of the table. It is a file of this package: an error in it is a
// bug that the tests find.
var models = sync.OnceValue(func() []modelRow {
	rows, err := parseModels(modelTable)
	if err != nil {
		panic(err)
	}
	return rows
})

func parseModels(table string) ([]modelRow, error) {
	var rows []modelRow
	err := eachRow(table, 12, func(f []string) error {
		row := modelRow{arch: archNamed(f[0])}
		if row.arch == archOther {
			return fmt.Errorf("architecture %q", f[0])
		}
		from, to, err := span(f[2])
		if err != nil {
			return err
		}
		row.from, row.to = from, to
		m := &row.model
		m.CPU, m.MCPU, m.Name, m.resource = f[1], f[1], f[3], f[4]
		for i, field := range []*int{&m.Width, &m.Dispatch, &m.ReorderBuffer, &m.MispredictPenalty} {
			if f[5+i] == "-" {
				continue
			}
			if *field, err = strconv.Atoi(f[5+i]); err != nil {
				return err
			}
		}
		if m.Dispatch > 0 {
			m.Width = m.Dispatch
		}
		if f[9] != "-" {
			m.StandIn = f[9]
		}
		if f[10] != "-" {
			m.MCPU = f[10]
		}
		if f[11] != "-" {
			if m.TakenPerCycle, err = strconv.Atoi(f[11]); err != nil {
				return err
			}
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// eachRow calls f with the fields of each row behind the heading of a table. Lines that
// begin with # are comments.
func eachRow(table string, fields int, f func([]string) error) error {
	number, heading := 0, true
	for line := range strings.Lines(table) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(line, "\t")
		if len(row) != fields {
			return fmt.Errorf("line %d: %d fields, not %d", number, len(row), fields)
		}
		if heading {
			heading = false
			continue
		}
		if err := f(row); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}

// span reads "14-18" or "22".
func span(s string) (from, to int, err error) {
	first, last, ok := strings.Cut(s, "-")
	if !ok {
		last = first
	}
	if from, err = strconv.Atoi(first); err != nil {
		return 0, 0, err
	}
	to, err = strconv.Atoi(last)
	return from, to, err
}

// ModelOf says which model of a version of LLVM stands for a CPU: LLVM's choice, or a better
// one. If it has none the error names the CPUs with the nearest names.
func ModelOf(major int, triple, cpu string) (Model, error) {
	a := archOf(triple)
	if a == archOther {
		return Model{}, fmt.Errorf("triple %q is none of x86, aarch64, arm, thumb", triple)
	}
	if cpu == "" {
		return Model{}, fmt.Errorf("no CPU is named")
	}
	var names []string
	elsewhere := 0 // a version that has a model
	for _, row := range models() {
		if row.arch != a {
			continue
		}
		if row.from <= major && major <= row.to {
			if row.model.CPU == cpu {
				m := row.model.chosen(a, major)
				m.Repairs = repairsOf(a, major, m.Name)
				return m, nil
			}
			names = append(names, row.model.CPU)
		} else if row.model.CPU == cpu {
			elsewhere = row.from
		}
	}
	if len(names) == 0 {
		return Model{}, fmt.Errorf("LLVM %d is not known: LLVM %d to %d are", major, minMajor, maxMajor)
	}
	has := ""
	if elsewhere != 0 {
		has = fmt.Sprintf(" (LLVM %d has one)", elsewhere)
	}
	return Model{}, fmt.Errorf("LLVM %d has no scheduling model of CPU %q%s; nearest names: %s",
		major, cpu, has, strings.Join(spelling.Nearest(cpu, names, 3), ", "))
}
