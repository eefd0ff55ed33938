package predict

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/objects"
	"profdiff/internal/predict/hot"
	"profdiff/internal/run"
)

// A Finder finds the binaries of recordings.
type Finder struct {
	Objects *objects.Store
	// Branches tell which file at a path of this machine ran, if the runs do not: its code
	// has these branches.
	Branches []*branch.Table
	// Event is whose samples say what is hot, "" for the first.
	Event string
	// Warn is told of binaries with more samples that are passed over.
	Warn func(format string, args ...any)
}

// Side is one side of runs whose binary has a name, or else is the one with most samples.
func (f *Finder) Side(name string, runs []*run.Run, binary string) (side *SideInput, err error) {
	side = &SideInput{Name: name}
	if binary != "" {
		if side.Binary, err = f.named(binary); err != nil {
			return nil, err
		}
		return side, f.profile(side, runs)
	}
	passed := make(map[string]bool) // binaries, as recordings call them
	var first error
	for {
		if side.Binary, err = f.hottest(runs, passed); err != nil {
			return nil, cmp.Or(first, err)
		}
		file := side.Binary.Recorded
		if err := f.profile(side, runs); err != nil {
			return nil, cmp.Or(first, err)
		}
		if !side.Profile.Addressed() {
			return side, nil
		}
		_, err := side.Profile.Loops(side.Binary)
		if !errors.Is(err, hot.ErrNoLoop) {
			if first != nil {
				f.Warn("%v: loops of %s are predicted, which has fewer samples", first, side.Binary.Path)
			}
			return side, nil
		}
		// A library has most samples, and what calls it the loop.
		first = cmp.Or(first, err)
		if passed[file] {
			return nil, first
		}
		passed[file] = true
	}
}

// profile sums the samples of the binary of a side.
func (f *Finder) profile(side *SideInput, runs []*run.Run) (err error) {
	if side.Binary.Recorded == "" {
		side.Binary.Recorded = f.recordedName(side.Binary, runs)
	}
	side.Profile, err = hot.NewProfile(runs, side.Binary, f.Event)
	return err
}

// recordedName is what recordings call a binary that the user named, by its build ID or its
// branches, "" if that is not known.
func (f *Finder) recordedName(b *hot.Binary, runs []*run.Run) string {
	for _, r := range runs {
		for i := range r.Mappings {
			if m := &r.Mappings[i]; m.BuildID != "" && b.BuildID != "" && b.Is(m.File, m.BuildID) {
				return m.File
			}
		}
	}
	for _, t := range f.Branches {
		if rows, err := branchesOf(b, f.Objects, t); err == nil {
			return rows[0].DSO
		}
	}
	return ""
}

// CPUNames are what recordings say of their CPU.
func CPUNames(runs []*run.Run) (names []string) {
	for _, r := range runs {
		names = append(names, r.Recording.CPUID, r.Recording.Device)
	}
	return names
}

func (f *Finder) named(name string) (*hot.Binary, error) {
	o, err := f.Objects.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := hot.New(o, "")
	if err != nil {
		return nil, err
	}
	b.Path = name
	return b, nil
}

// A binaryName is what recordings call a binary.
type binaryName struct{ File, BuildID string }

// hottest is the binary with most samples that is found, of those that are not passed over.
func (f *Finder) hottest(runs []*run.Run, passed map[string]bool) (*hot.Binary, error) {
	weights := make(map[binaryName]int64)
	for _, r := range runs {
		for i := range r.Samples {
			sample := &r.Samples[i]
			if sample.Stack == 0 {
				continue
			}
			m := &r.Mappings[r.Locations[r.Stacks.Location(sample.Stack)].Mapping]
			if m.File != "" && m.Kind != run.KernelMapping && m.Kind != run.ModuleMapping && !passed[m.File] {
				weights[binaryName{m.File, m.BuildID}] += sample.Weight
			}
		}
	}
	if len(weights) == 0 {
		return nil, errors.New("no samples in a binary: --binary-before and --binary-after name those of the loops")
	}
	b, err := f.heaviest(weights)
	if errors.Is(err, errNoBinary) {
		return nil, fmt.Errorf("%w: --symfs, or --binary-before and --binary-after, say where it is", err)
	}
	return b, err
}

// errNoBinary is returned if no binary was found.
var errNoBinary = errors.New("no binary of")

// heaviest is the binary with most weight that is found. The search passes over others if what
// is found has at least half the weight of each of them, or if the user named a directory that
// has it: else a library with a few samples would stand for a program that was rebuilt.
func (f *Finder) heaviest(weights map[binaryName]int64) (*hot.Binary, error) {
	names := slices.SortedFunc(maps.Keys(weights), func(a, b binaryName) int {
		return cmp.Or(-cmp.Compare(weights[a], weights[b]), strings.Compare(a.File, b.File), strings.Compare(a.BuildID, b.BuildID))
	})
	var missing error // why there is none of the first
	for _, name := range names {
		recorded := objects.Recorded{Path: name.File, BuildID: name.BuildID}
		o, _, err := f.Objects.Code(recorded, 0)
		if err != nil {
			var why string
			if o, why = f.here(name); o == nil {
				missing = cmp.Or(missing, fmt.Errorf("%w %s: %s", errNoBinary, name.File, cmp.Or(why, f.Objects.NotFound(recorded))))
				continue
			}
		}
		if 2*weights[name] < weights[names[0]] && !o.Given() {
			continue
		}
		b, err := hot.New(o, name.File)
		if err != nil {
			missing = cmp.Or(missing, err)
			continue
		}
		if missing != nil {
			f.Warn("%v: %s is predicted, which has fewer samples", missing, b.Path)
		}
		return b, nil
	}
	return nil, missing
}

// here is the file at the path of a binary without a build ID, which was not found, if the
// branches that were counted are those of its code. why says why it is not, if there are such.
func (f *Finder) here(name binaryName) (o *objects.Object, why string) {
	if name.BuildID != "" {
		return nil, ""
	}
	for _, t := range f.Branches {
		var rows []branch.Branch
		for i := range t.Branches {
			if b := &t.Branches[i]; b.DSO == name.File && b.BuildID == "" {
				rows = append(rows, *b)
			}
		}
		if len(rows) == 0 {
			continue
		}
		o, err := f.Objects.Open(name.File)
		if err != nil {
			return nil, ""
		}
		b, err := hot.New(o, name.File)
		if err != nil {
			return nil, err.Error()
		}
		if checked, wrong := misfits(b, rows); wrong*maxWrong > checked {
			return nil, fmt.Sprintf("it was built again since it was recorded: %d of %d branches are none there", wrong, checked)
		}
		return o, ""
	}
	return nil, ""
}
