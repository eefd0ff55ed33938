package llvm

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// A Kinship is how near a core is to the one whose scheduling model stands for it.
type Kinship string

// Kinships, from near to far.
const (
	KinOwn        Kinship = "own"        // LLVM's model is of this core
	KinCore       Kinship = "core"       // of the same core under another name
	KinFamily     Kinship = "family"     // of a core of the same family
	KinGeneration Kinship = "generation" // of the same vendor, another generation
	KinVendor     Kinship = "vendor"     // of another vendor, or of another kind of core
)

//go:embed cores.tsv
var coreTable string

// coreRow is a CPU of a row of cores.tsv.
type coreRow struct {
	arch     arch
	cpu      string
	core     string // whose model stands for it
	kinship  Kinship
	from, to int  // versions of LLVM
	dispatch int  // 0 for that of models.tsv
	better   bool // than LLVM's choice in these versions
}

var cores = sync.OnceValue(func() []coreRow {
	rows, err := parseCores(coreTable)
	if err != nil {
		panic(err) // a file of this package, like models.tsv
	}
	return rows
})

func parseCores(table string) (rows []coreRow, err error) {
	err = eachRow(table, 7, func(f []string) error {
		row := coreRow{arch: archNamed(f[0]), core: f[1], kinship: Kinship(f[2]), from: minMajor, to: maxMajor}
		if row.arch == archOther {
			return fmt.Errorf("architecture %q", f[0])
		}
		switch row.kinship {
		case KinCore, KinFamily, KinGeneration, KinVendor:
		default:
			return fmt.Errorf("kinship %q", f[2])
		}
		if row.better = f[3] != "-"; row.better {
			if row.from, row.to, err = span(f[3]); err != nil {
				return err
			}
		}
		if f[4] != "-" {
			if row.dispatch, err = strconv.Atoi(f[4]); err != nil {
				return err
			}
		}
		for cpu := range strings.FieldsSeq(f[5]) {
			row.cpu = cpu
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// archNamed is an architecture as the tables of this package name it.
func archNamed(name string) arch {
	switch name {
	case "aarch64":
		return archARM64
	case "arm":
		return archARM
	case "x86":
		return archX86
	}
	return archOther
}

// chosen is the model that stands for a CPU best: LLVM's choice, or that of another core
// if cores.tsv says so.
func (m Model) chosen(a arch, major int) Model {
	if m.StandIn == "" {
		m.Kinship = KinOwn
		return m
	}
	for _, row := range cores() {
		if row.arch != a || row.cpu != m.CPU || major < row.from || row.to < major {
			continue
		}
		if row.core == m.StandIn {
			m.Kinship = row.kinship
			return m
		}
		if !row.better {
			continue // it is about LLVM's choice in another version
		}
		other, ok := modelOf(a, major, row.core)
		if !ok {
			continue
		}
		other.CPU, other.StandIn, other.Kinship, other.TakenPerCycle = m.CPU, row.core, row.kinship, m.TakenPerCycle
		m = other
		if row.dispatch > 0 {
			m.Dispatch, m.Width = row.dispatch, row.dispatch
		}
		return m
	}
	return m
}

// modelOf is LLVM's own choice.
func modelOf(a arch, major int, cpu string) (Model, bool) {
	for _, row := range models() {
		if row.arch == a && row.model.CPU == cpu && row.from <= major && major <= row.to {
			return row.model, true
		}
	}
	return Model{}, false
}
