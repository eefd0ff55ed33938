package predict

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/input"
	"profdiff/internal/predict/hot"
	"profdiff/internal/run"
)

// NewSideInput is one side of runs whose binary has a name, or else is in a symfs. If there
// is an error, the side is nil or its binary is open.
func NewSideInput(name string, runs []*run.Run, binary string, symfs []string, event string) (side *SideInput, err error) {
	side = &SideInput{Name: name}
	if binary != "" {
		side.Binary, err = openNamed(binary)
	} else {
		side.Binary, err = findBinary(runs, symfs)
	}
	if err != nil {
		return nil, err
	}
	side.Profile, err = hot.NewProfile(runs, side.Binary, event)
	return side, err
}

// CPUNames are what recordings say of their CPU.
func CPUNames(runs []*run.Run) (names []string) {
	for _, r := range runs {
		names = append(names, r.Recording.CPUID, r.Recording.Device)
	}
	return names
}

func openNamed(name string) (*hot.Binary, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, input.PathError(err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory", name)
	}
	b, err := hot.Open(name)
	if err != nil {
		if !strings.HasPrefix(err.Error(), name) {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return nil, err
	}
	return b, nil
}

// A binaryName is what recordings call a binary.
type binaryName struct{ File, BuildID string }

// findBinary opens the binary with most samples that is in the symfs.
func findBinary(runs []*run.Run, symfs []string) (*hot.Binary, error) {
	weights := make(map[binaryName]int64)
	for _, r := range runs {
		for i := range r.Samples {
			sample := &r.Samples[i]
			if sample.Stack == 0 {
				continue
			}
			m := &r.Mappings[r.Locations[r.Stacks.Location(sample.Stack)].Mapping]
			if m.File != "" && m.Kind != run.KernelMapping && m.Kind != run.ModuleMapping {
				weights[binaryName{m.File, m.BuildID}] += sample.Weight
			}
		}
	}
	if len(weights) == 0 {
		return nil, errors.New("no samples in a binary: --binary-before and --binary-after name those of the loops")
	}
	b, err := heaviestBinary(weights, symfs)
	if errors.Is(err, errNoBinary) {
		return nil, fmt.Errorf("%w: --symfs, or --binary-before and --binary-after, say where it is", err)
	}
	return b, err
}

// errNoBinary is returned if no binary was found.
var errNoBinary = errors.New("no binary of")

// heaviestBinary opens the binary with most samples that is in the symfs.
func heaviestBinary(weights map[binaryName]int64, symfs []string) (*hot.Binary, error) {
	names := slices.SortedFunc(maps.Keys(weights), func(a, b binaryName) int {
		return cmp.Or(-cmp.Compare(weights[a], weights[b]), strings.Compare(a.File, b.File), strings.Compare(a.BuildID, b.BuildID))
	})
	var other error
	for _, name := range names {
		for _, dir := range symfs {
			for _, candidate := range candidates(dir, name.File, name.BuildID) {
				b, err := hot.Open(candidate)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					other = cmp.Or(other, err)
					continue
				}
				if id := name.BuildID; id != "" && b.BuildID != "" && !hot.SameBuildID(id, b.BuildID) {
					other = cmp.Or(other, fmt.Errorf("%s has build ID %s, %s was recorded with %s: give the binary that ran", candidate, b.BuildID, name.File, id))
					b.Close()
					continue
				}
				return b, nil
			}
		}
	}
	if other != nil {
		return nil, other
	}
	return nil, fmt.Errorf("%w %s", errNoBinary, names[0].File)
}

// candidates are where a binary may be under a directory.
func candidates(dir, name, id string) (list []string) {
	if len(id) > 2 {
		at := filepath.Join(dir, ".build-id", id[:2], id[2:])
		list = append(list, filepath.Join(at, "elf"), at, at+".debug")
	}
	clean := path.Clean(strings.TrimSuffix(name, " (deleted)"))
	return append(list, filepath.Join(dir, filepath.FromSlash(clean)), filepath.Join(dir, path.Base(clean)))
}
