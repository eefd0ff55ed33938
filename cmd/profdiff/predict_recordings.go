package main

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

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/input"
	"profdiff/internal/predict"
	report "profdiff/internal/report/predict"
	"profdiff/internal/run"
)

// predictRecordings predicts the hottest loops of recordings.
func (s *stdio) predictRecordings(cmd *cobra.Command, f *predictFlags, inputs []string) (_ *report.Prediction, closeAll func(), err error) {
	var opened []*predict.Binary
	closeAll = func() {
		for _, b := range opened {
			b.Close()
		}
	}
	if len(f.taken)+len(f.miss) > 0 || cmd.Flags().Changed("miss-rate") {
		return nil, closeAll, usagef(cmd, "--taken, --miss and --miss-rate are for listings: --branches-before and --branches-after are for recordings")
	}
	opt := predict.PairOptions{Functions: f.functions(), Loops: [2]int{f.loop, f.loop}, Limit: f.limit}
	if opt.Work, err = f.work(cmd); err != nil {
		return nil, closeAll, err
	}
	var sides [2]*predict.SideInput
	var cpus []string
	for i, input := range inputs {
		side, runs, err := s.recordedSide(cmd, f, input, []string{f.binaryBefore, f.binaryAfter}[i], []string{f.branchesBefore, f.branchesAfter}[i])
		if side != nil {
			opened = append(opened, side.Binary)
		}
		if err != nil {
			return nil, closeAll, err
		}
		sides[i] = side
		cpus = append(cpus, cpuNames(runs)...)
	}
	p, err := s.predictSides(cmd, f, sides, cpus, opt)
	return p, closeAll, err
}

// predictSides predicts the hottest loops of two sides. cpus are what the recordings say
// of their CPU.
func (s *stdio) predictSides(cmd *cobra.Command, f *predictFlags, sides [2]*predict.SideInput, cpus []string, opt predict.PairOptions) (*report.Prediction, error) {
	if a, b := sides[0].Binary.Arch, sides[1].Binary.Arch; a != b {
		return nil, fmt.Errorf("%s is for %s and %s for %s", sides[0].Binary.Path, a, sides[1].Binary.Path, b)
	}
	ctx := cmd.Context()
	tool, machine, err := f.machine(ctx, cmd, sides[0].Binary.Arch, cpus...)
	if err != nil {
		return nil, err
	}
	pairs, err := predict.PairsOf(ctx, tool, sides[0], sides[1], opt)
	if err != nil {
		return nil, err
	}
	return s.finishPrediction(ctx, f, tool, machine, pairs, [2]predict.Heat{sides[0].Heat(), sides[1].Heat()})
}

// recordedSide reads one side: runs, binary and branches.
func (s *stdio) recordedSide(cmd *cobra.Command, f *predictFlags, name, binary, branches string) (*predict.SideInput, []*run.Run, error) {
	l, err := f.in.loader(cmd, s)
	if err != nil {
		return nil, nil, err
	}
	files, err := input.Files([]string{name})
	if err != nil {
		return nil, nil, err
	}
	runs, err := l.loadEach(files)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range runs {
		l.account(r)
	}
	event := ""
	if len(f.in.events) > 0 {
		event = f.in.events[0]
	}
	side, err := sideInput(name, runs, binary, f.in.symfs, event)
	if err != nil {
		return side, nil, err
	}
	if branches != "" {
		options := branch.Options{AllowTruncated: f.in.allowTruncated}
		options.Names.Symfs = l.opt.Symfs
		if side.Branches, err = s.readBranches(branches, &options); err != nil {
			return side, nil, err
		}
	}
	return side, runs, nil
}

// sideInput is one side of runs whose binary has a name, or else is in a symfs. If there
// is an error, the side is nil or its binary is open.
func sideInput(name string, runs []*run.Run, binary string, symfs []string, event string) (side *predict.SideInput, err error) {
	side = &predict.SideInput{Name: name}
	if binary != "" {
		side.Binary, err = openBinary(binary)
	} else {
		side.Binary, err = findBinary(runs, symfs)
	}
	if err != nil {
		return nil, err
	}
	side.Profile, err = predict.NewProfile(runs, side.Binary, event)
	return side, err
}

// cpuNames are what recordings say of their CPU.
func cpuNames(runs []*run.Run) (names []string) {
	for _, r := range runs {
		names = append(names, r.Recording.CPUID, r.Recording.Device)
	}
	return names
}

func openBinary(name string) (*predict.Binary, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, input.PathError(err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory", name)
	}
	b, err := predict.OpenBinary(name)
	if err != nil {
		if !strings.HasPrefix(err.Error(), name) {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return nil, err
	}
	return b, nil
}

// A binaryName is what recordings call a binary.
type binaryName struct{ file, buildID string }

// findBinary opens the binary with most samples that is in the symfs.
func findBinary(runs []*run.Run, symfs []string) (*predict.Binary, error) {
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
func heaviestBinary(weights map[binaryName]int64, symfs []string) (*predict.Binary, error) {
	names := slices.SortedFunc(maps.Keys(weights), func(a, b binaryName) int {
		return cmp.Or(-cmp.Compare(weights[a], weights[b]), strings.Compare(a.file, b.file), strings.Compare(a.buildID, b.buildID))
	})
	var other error
	for _, name := range names {
		for _, dir := range symfs {
			for _, candidate := range candidates(dir, name.file, name.buildID) {
				b, err := predict.OpenBinary(candidate)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					other = cmp.Or(other, err)
					continue
				}
				if id := name.buildID; id != "" && b.BuildID != "" && !predict.SameBuildID(id, b.BuildID) {
					other = cmp.Or(other, fmt.Errorf("%s has build ID %s, %s was recorded with %s: give the binary that ran", candidate, b.BuildID, name.file, id))
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
	return nil, fmt.Errorf("%w %s", errNoBinary, names[0].file)
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
