package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Schema is the first field of the file.
const Schema = "profdiff.calibrate/v1"

// A File is what a calibration is kept in, as JSON.
type File struct {
	Schema   string `json:"schema"`
	Profdiff string `json:"profdiff"` // version
	OS       string `json:"os"`       // as GOOS
	Arch     string `json:"arch"`     // as GOARCH
	Clock    string `json:"clock"`
	Method   string `json:"method"`
	// Branches is how many a trial runs, a round having one trial of each kind.
	Branches int    `json:"branches"`
	Cores    []Core `json:"cores"`
}

// NewFile returns a file without cores.
func NewFile(version, system, arch string) *File {
	return &File{
		Schema: Schema, Profdiff: version, OS: system, Arch: arch,
		Clock:    "monotonic; a cycle is the time of an addition in a chain",
		Method:   "random less known outcomes, half mispredicted; medians of rounds, 95 % intervals by order statistics; centre is of a branch behind a load, lo and hi are the ends of all kinds",
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
	if f.Schema != Schema {
		return nil, fmt.Errorf("schema is %q, not %q: write it with profdiff calibrate -o", f.Schema, Schema)
	}
	if len(f.Cores) == 0 {
		return nil, errors.New("has no cores")
	}
	for i := range f.Cores {
		if err := f.Cores[i].valid(); err != nil {
			return nil, fmt.Errorf("cores: entry %d: %w", i, err)
		}
	}
	return &f, nil
}

// valid says what of a core cannot have been measured.
func (c *Core) valid() error {
	const most = 10000
	for _, e := range []struct {
		field string
		Estimate
	}{
		{"cost_cycles", c.Cost},
		{"cost_ns", c.CostNS},
		{"refill_cycles", c.Register},
		{"with_load_cycles", c.Load},
		{"with_two_loads_cycles", c.TwoLoads},
		{"cycle_ns", c.CycleNS},
		{"taken_branches_per_cycle", c.TakenPerCycle},
	} {
		if !(e.Lo > 0 && e.Lo <= e.Centre && e.Centre <= e.Hi && e.Hi <= most) {
			return fmt.Errorf("%s: 0 < lo %g <= centre %g <= hi %g <= %d does not hold", e.field, e.Lo, e.Centre, e.Hi, most)
		}
	}
	if s := c.Select; math.Abs(s.Lo) > most || math.Abs(s.Hi) > most {
		return fmt.Errorf("branchless_difference_cycles: %g to %g", s.Lo, s.Hi)
	}
	return nil
}
