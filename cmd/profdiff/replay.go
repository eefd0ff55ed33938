package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"profdiff/internal/compare"
	"profdiff/internal/looks"
	"profdiff/internal/objects"
	"profdiff/internal/record"
	"profdiff/internal/run"
)

// pairRuns are the runs of a folder that are looked at, each read once.
type pairRuns struct {
	loader *loader
	dir    string
	runs   map[string]*run.Run // by file
	// unnamed runs have no names of functions.
	unnamed bool
}

// first are the runs of the first so many pairs, in the order of recording. Files that have come to lie
// beside them since the last time are found, and those that were there are not read again.
func (p *pairRuns) first(rec *record.Recording, pairs int) (base, head []*run.Run, err error) {
	p.loader.opt.Objects = p.loader.opt.Objects.Again(objects.Options{})
	p.loader.opt.Unnamed = p.unnamed
	for _, pair := range rec.Pairs()[:pairs] {
		for _, side := range []struct {
			file string
			to   *[]*run.Run
		}{{pair.Before.File, &base}, {pair.After.File, &head}} {
			r, err := p.load(filepath.Join(p.dir, filepath.FromSlash(side.file)))
			if err != nil {
				return nil, nil, err
			}
			*side.to = append(*side.to, r)
		}
	}
	return base, head, nil
}

func (p *pairRuns) load(file string) (*run.Run, error) {
	if r, ok := p.runs[file]; ok {
		return r, nil
	}
	runs, err := p.loader.loadSide(&sideFlags{}, []string{file})
	if err != nil {
		return nil, err
	}
	if p.runs == nil {
		p.runs = make(map[string]*run.Run)
	}
	p.runs[file] = runs[0]
	return runs[0], nil
}

// A stopped is a folder whose recording went on until something was decided.
type stopped struct {
	*folder
	course *looks.Course
	// whole is set if its runs are those that are compared, all of them.
	whole bool
}

// stopped repeats the looks of the folder that runs of both sides are from, nil if they are from
// none that was looked at. Runs that were read with the flags for reading at their defaults are
// not read again.
func (l *loader) stopped(base, head []*run.Run, defaults bool) (*stopped, error) {
	all := slices.Concat(base, head)
	f, err := folderOf(fileNames(all))
	if err != nil || f == nil || f.LooksPlan == nil {
		return nil, err
	}
	pairs := &pairRuns{loader: &loader{io: l.io}, dir: f.dir, runs: make(map[string]*run.Run)}
	for _, r := range all {
		if defaults {
			pairs.runs[filepath.Clean(r.Name)] = r
		}
	}
	course, err := replay(f.dir, f.Recording, pairs)
	if err != nil || course.Pairs() == 0 {
		return nil, err
	}
	s := &stopped{folder: f, course: course, whole: len(all) == len(f.Runs)}
	if course.Early() && !s.whole {
		l.io.warn("%s was recorded until it was decided, and these are not all of its runs: what they show is a lead", f.dir)
	}
	return s, nil
}

// comparison is what a comparison has to know of it. asked says whether it is what was planned.
func (s *stopped) comparison(asked bool) *compare.Stopped {
	if s == nil {
		return nil
	}
	c := s.course.Stopped()
	if !asked || !s.whole {
		c.Total, c.Functions = nil, nil
	}
	return c
}

// replay takes the looks of a folder again. Notes that do not follow from the runs are a wrong
// use: what they say is not what was recorded.
func replay(dir string, rec *record.Recording, pairs *pairRuns) (*looks.Course, error) {
	if err := rec.CheckLooks(dir); err != nil {
		return nil, &usageError{nil, err}
	}
	n := 0
	if len(rec.Planned) > 0 {
		n = rec.Planned[len(rec.Planned)-1].Pairs
	}
	base, head, err := pairs.first(rec, n)
	if err != nil {
		return nil, err
	}
	course, err := looks.Replay(rec, base, head)
	if errors.Is(err, looks.ErrDiffers) {
		err = &usageError{nil, fmt.Errorf("%s: %w", filepath.Join(dir, record.FileName), err)}
	}
	return course, err
}

// readingFlags are flags that change what is read of a recording, and questionFlags those that
// change what is asked of it: looks were taken without them.
var (
	readingFlags = []string{
		"event", "symfs", "kallsyms", "proguard-mapping", "process", "thread", "dso", "ignore", "unknown", "label", "show-art-frames", "allow-truncated",
		"base-kallsyms", "head-kallsyms", "base-proguard-mapping", "head-proguard-mapping",
	}
	questionFlags = []string{"normalize", "work", "ops", "reference", "rename", "margin", "categories"}
)

// changedAny reports whether any of the flags was given.
func changedAny(cmd *cobra.Command, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return cmd.Flags().Changed(name) })
}
