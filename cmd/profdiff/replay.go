package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"profdiff/internal/looks"
	"profdiff/internal/record"
	"profdiff/internal/run"
)

// pairRuns are the runs of a folder that are looked at, each read once.
type pairRuns struct {
	loader *loader
	dir    string
	runs   map[string]*run.Run // by file
}

// first are the runs of the first so many pairs, in the order of recording.
func (p *pairRuns) first(rec *record.Recording, pairs int) (base, head []*run.Run, err error) {
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
