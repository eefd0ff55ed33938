package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"profdiff/internal/probe"
)

// Schema is the first field of the file. Files of the first version, which have only costs
// of misses, all of them, are still read.
const (
	Schema      = "profdiff.calibrate/v2"
	firstSchema = "profdiff.calibrate/v1"
)

// A File is what a calibration is kept in, as JSON.
type File struct {
	Schema   string `json:"schema"`
	Profdiff string `json:"profdiff"` // version
	OS       string `json:"os"`       // as GOOS
	Arch     string `json:"arch"`     // as GOARCH
	Clock    string `json:"clock"`
	Method   string `json:"method"`
	// Branches is how many a repetition has at most.
	Branches int    `json:"branches"`
	Cores    []Core `json:"cores"`
}

// NewFile returns a file without cores.
func NewFile(version, system, arch string) *File {
	return &File{
		Schema: Schema, Profdiff: version, OS: system, Arch: arch,
		Clock:    "monotonic; a cycle is the time of an addition in a chain",
		Method:   "medians of repetitions between two guards of full width and of the same cycle, 95 % intervals by order statistics, and 0.5 % for what a run has in common; misses: random less known outcomes, half mispredicted; their centre is of a branch behind a load, lo and hi are the ends of all kinds",
		Branches: branches,
	}
}

// Write writes the file.
func (f *File) Write(w io.Writer) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// largest bounds a file, in bytes.
const largest = 1 << 20

// Read reads a file.
func Read(r io.Reader) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(r, largest+1))
	if err != nil {
		return nil, err
	}
	if len(text) > largest {
		return nil, fmt.Errorf("longer than %d bytes", largest)
	}
	var f File
	if err := json.Unmarshal(text, &f); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("offset %d: %w", syntax.Offset, err)
		}
		return nil, err
	}
	if f.Schema != Schema && f.Schema != firstSchema {
		return nil, fmt.Errorf("schema is %q, not %q: write it with profdiff calibrate -o", f.Schema, Schema)
	}
	if len(f.Cores) == 0 {
		return nil, errors.New("has no cores")
	}
	for i := range f.Cores {
		if err := f.Cores[i].valid(f.Schema); err != nil {
			return nil, fmt.Errorf("cores: entry %d: %w", i, err)
		}
	}
	return &f, nil
}

// most is more than anything that is measured, in its unit.
const most = 10000

// valid says what of a core cannot have been measured, or is missing.
func (c *Core) valid(schema string) error {
	for _, e := range []struct {
		field string
		value *probe.Estimate
	}{
		{"cost_cycles", c.Cost},
		{"cost_ns", c.CostNS},
		{"refill_cycles", c.Register},
		{"with_load_cycles", c.Load},
		{"with_two_loads_cycles", c.TwoLoads},
		{"cycle_ns", c.CycleNS},
		{"taken_branches_per_cycle", c.TakenPerCycle},
	} {
		if e.value == nil {
			if schema == firstSchema {
				return fmt.Errorf("%s is missing", e.field)
			}
			continue
		}
		if err := validEstimate(e.field, *e.value); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Probes)) {
		if err := validEstimate("probes: "+name, c.Probes[name].Estimate); err != nil {
			return err
		}
	}
	if s := c.Select; s != nil && (math.Abs(s.Lo) > most || math.Abs(s.Hi) > most) {
		return fmt.Errorf("branchless_difference_cycles: %g to %g", s.Lo, s.Hi)
	}
	return nil
}

func validEstimate(field string, e probe.Estimate) error {
	if !(e.Lo > 0 && e.Lo <= e.Centre && e.Centre <= e.Hi && e.Hi <= most) {
		return fmt.Errorf("%s: 0 < lo %g <= centre %g <= hi %g <= %d does not hold", field, e.Lo, e.Centre, e.Hi, most)
	}
	return nil
}
