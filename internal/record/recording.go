package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"

	"profdiff/internal/objects"
	"profdiff/internal/record/command"
)

// FileName is the name of the notes in a folder of recordings.
const FileName = objects.NotesName

// Schema names the form of the notes.
const Schema = "profdiff.recording/v1"

// maxNotes is the most bytes of notes that are read.
const maxNotes = 16 << 20

// A Recording is a folder of runs: how they were recorded, and when.
type Recording struct {
	Schema  string `yaml:"schema"`
	Backend string `yaml:"backend"`
	Version string `yaml:"profdiff"`
	// Order is [Drawn], by the seed of the plan, or [ABBA].
	Order string `yaml:"order"`
	// Drawn is that order for the pairs of the plan, as in "AB BA BA AB": A is before, B after.
	// It follows from the seed and is here to be read.
	Drawn string `yaml:"drawn,omitempty"`
	// Repeated are the numbers of pairs that were recorded again because a run was missing,
	// in the order in which that was done.
	Repeated []int   `yaml:"repeated,omitempty,flow"`
	Plan     Plan    `yaml:"plan"`
	Machine  Machine `yaml:"machine"`
	// Runs are in the order of recording.
	Runs []Run `yaml:"runs"`
	// LooksPlan says what ends the recording, nil if it is a number of runs; Planned are the
	// looks that were taken by it.
	LooksPlan *LooksPlan    `yaml:"looks_plan,omitempty"`
	Planned   []PlannedLook `yaml:"planned_looks,omitempty"`
	// Looks are those of earlier versions, which decided on the total at two of them.
	Looks []Look `yaml:"looks,omitempty"`
}

// A Run is one recording of one side.
type Run struct {
	Side    Side      `yaml:"side"`
	Number  int       `yaml:"number"`
	File    string    `yaml:"file"` // in the folder, with slashes
	Start   time.Time `yaml:"start"`
	Seconds float64   `yaml:"seconds"`
	// CommandSeconds is without what the recorder does before and after the command.
	CommandSeconds float64 `yaml:"command_seconds,omitempty"`
	// UserSeconds and SystemSeconds include the recorder.
	UserSeconds   float64    `yaml:"user_seconds,omitempty"`
	SystemSeconds float64    `yaml:"system_seconds,omitempty"`
	Bytes         int64      `yaml:"bytes"`
	Samples       int64      `yaml:"samples,omitempty"`
	Lost          int64      `yaml:"lost,omitempty"`
	Counters      []Counter  `yaml:"counters,omitempty"`
	Conditions    Conditions `yaml:"conditions"`
}

// A Counter is a total of a run: work done, or what the tool counted.
type Counter struct {
	Name  string  `yaml:"name"`
	Value float64 `yaml:"value"`
	Unit  string  `yaml:"unit,omitempty"`
}

// A Look is a comparison that an earlier version made while recording, without a plan that
// could be verified.
type Look struct {
	Runs    int     `yaml:"runs"` // of each side
	Level   float64 `yaml:"level"`
	Decided bool    `yaml:"decided"`
}

// Open reads the notes of a folder. The error wraps [fs.ErrNotExist] if there are none.
func Open(dir string) (*Recording, error) {
	name := filepath.Join(dir, FileName)
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxNotes {
		return nil, fmt.Errorf("%s: is larger than %d bytes", name, maxNotes)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func parse(text []byte) (*Recording, error) {
	r := new(Recording)
	if err := yaml.UnmarshalWithOptions(text, r, yaml.DisallowUnknownField()); err != nil {
		return nil, errors.New(command.LastLine(bytes.SplitN([]byte(err.Error()), []byte("\n"), 2)[0]))
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("has the schema %q, want %q", r.Schema, Schema)
	}
	if err := r.checkOrder(); err != nil {
		return nil, err
	}
	if r.LooksPlan == nil && len(r.Planned) > 0 {
		return nil, errors.New("planned_looks: there is no looks_plan")
	}
	seen := make(map[Job]bool)
	for i, run := range r.Runs {
		job := Job{run.Side, run.Number}
		switch {
		case run.Side != Before && run.Side != After, run.Number < 1:
			return nil, fmt.Errorf("runs[%d]: side %q, number %d", i, run.Side, run.Number)
		case seen[job]:
			return nil, fmt.Errorf("runs[%d]: run %d of %s is there twice", i, run.Number, run.Side)
		case !fs.ValidPath(run.File):
			return nil, fmt.Errorf("runs[%d]: %q is no file of the folder", i, run.File)
		}
		seen[job] = true
	}
	return r, nil
}

// write replaces the notes of a folder.
func (r *Recording) write(dir string) error {
	if r.Order == Drawn {
		r.Drawn = newOrder(Drawn, r.Plan.Seed, r.Plan.Runs).String()
	}
	text, err := yaml.Marshal(r)
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, FileName), bytes.NewReader(text))
}

// perPair is how many runs there are of each pair, by its number.
func (r *Recording) perPair() map[int]int {
	runs := make(map[int]int)
	for _, run := range r.Runs {
		runs[run.Number]++
	}
	return runs
}

// drop takes a pair that is incomplete out of the folder, before it is recorded again.
func (r *Recording) drop(dir string, pair int) error {
	r.Repeated = append(r.Repeated, pair)
	left := r.Runs[:0:0]
	for _, run := range r.Runs {
		if run.Number != pair {
			left = append(left, run)
		} else if err := os.Remove(filepath.Join(dir, filepath.FromSlash(run.File))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	r.Runs = left
	return r.write(dir)
}

// check compares the files that the notes name with what was written. Runs whose files are
// lost are taken out of the notes.
func (r *Recording) check(dir string) (lost []string, err error) {
	left := r.Runs[:0:0]
	for _, run := range r.Runs {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(run.File)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			lost = append(lost, run.File)
			continue
		case err != nil:
			return nil, err
		case info.Size() != run.Bytes:
			return nil, fmt.Errorf("%s: has %d bytes, was recorded with %d", filepath.Join(dir, run.File), info.Size(), run.Bytes)
		}
		left = append(left, run)
	}
	r.Runs = left
	return lost, nil
}

// bytesLeft is about how many bytes so many more runs take.
func (r *Recording) bytesLeft(runs int) int64 {
	var largest int64
	for _, run := range r.Runs {
		largest = max(largest, run.Bytes)
	}
	return largest * int64(runs)
}

// Counters are what was counted beside a file of the folder, given by its path.
func (r *Recording) Counters(dir, path string) []Counter {
	for _, run := range r.Runs {
		if filepath.Join(dir, filepath.FromSlash(run.File)) == filepath.Clean(path) {
			return run.Counters
		}
	}
	return nil
}
