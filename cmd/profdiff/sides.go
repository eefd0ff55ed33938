package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"profdiff/internal/compare"
	"profdiff/internal/exchange"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// filesOf lists the files of both sides.
func (l *loader) filesOf(base, head *sideFlags) (files [2][]string, err error) {
	if err := input.Present(slices.Concat(base.paths, head.paths)); err != nil {
		return files, err
	}
	for i, side := range []*sideFlags{base, head} {
		if files[i], _, err = input.Files(side.paths); err != nil {
			return files, err
		}
	}
	return files, nil
}

// loadSides reads the runs of both sides.
func (l *loader) loadSides(base, head *sideFlags) (baseRuns, headRuns []*run.Run, err error) {
	baseFiles, err := l.io.files(base.paths)
	if err != nil {
		return nil, nil, err
	}
	headFiles, err := l.io.files(head.paths)
	if err != nil {
		return nil, nil, err
	}
	if err := checkDistinct(slices.Concat(baseFiles, headFiles)); err != nil {
		return nil, nil, err
	}
	// Of a single run, the order of samples tells how they cluster.
	l.opt.Timeline = l.opt.Timeline || len(baseFiles) == 1 && len(headFiles) == 1
	jobs, err := l.jobsOf(base, baseFiles)
	if err != nil {
		return nil, nil, err
	}
	ofHead, err := l.jobsOf(head, headFiles)
	if err != nil {
		return nil, nil, err
	}
	runs, err := loadJobs(append(jobs, ofHead...))
	if err != nil {
		return nil, nil, err
	}
	baseRuns, headRuns = runs[:len(baseFiles)], runs[len(baseFiles):]
	if err := addNotes(baseFiles, baseRuns); err != nil {
		return nil, nil, err
	}
	if err := addNotes(headFiles, headRuns); err != nil {
		return nil, nil, err
	}
	return baseRuns, headRuns, l.io.joinMerged(&baseRuns, &headRuns)
}

// jobsOf are the inputs of one side, to be read with the names that are its own.
func (l *loader) jobsOf(side *sideFlags, files []string) (jobs []job, err error) {
	own := *l
	if err := own.readNames(side.kallsyms, side.mappings); err != nil {
		return nil, err
	}
	for _, name := range files {
		jobs = append(jobs, job{&own, name})
	}
	return jobs, nil
}

// loadSide reads the runs of one side with the names that are its own.
func (l *loader) loadSide(side *sideFlags, files []string) ([]*run.Run, error) {
	jobs, err := l.jobsOf(side, files)
	if err != nil {
		return nil, err
	}
	runs, err := loadJobs(jobs)
	if err != nil {
		return nil, err
	}
	return runs, addNotes(files, runs)
}

// addNotes adds what the notes of a recorder say of its recordings.
func addNotes(files []string, runs []*run.Run) error {
	recorded, err := folderOf(files)
	if err != nil || recorded == nil {
		return err
	}
	for _, r := range runs {
		if err := recorded.addWork(r); err != nil {
			return err
		}
		recorded.addConditions(r)
	}
	return nil
}

// loadPaths reads the runs of one side, files or directories, where there is no other.
func (l *loader) loadPaths(paths []string) ([]*run.Run, error) {
	files, err := l.io.files(paths)
	if err != nil {
		return nil, err
	}
	if err := checkDistinct(files); err != nil {
		return nil, err
	}
	return l.loadSide(&sideFlags{}, files)
}

// lookBeside looks for object files beside all of these inputs, for recordings that say no more
// of their files than a path. If these are of several sets, it does not: a path may have another
// file in each.
func (l *loader) lookBeside(inputs []string) {
	var dirs []string
	for _, name := range inputs {
		if exchange.Is(name) {
			continue
		}
		if info, err := os.Stat(name); err != nil || !info.IsDir() || input.IsRecording(name) {
			name = filepath.Dir(name)
		}
		if dirs = append(dirs, name); filepath.Join(name, "..") != filepath.Join(dirs[0], "..") {
			return
		}
	}
	for _, dir := range dirs {
		l.opt.Objects = l.opt.Objects.Beside(dir)
	}
}

// files lists the recordings of a side, and says what is none.
func (s *stdio) files(paths []string) ([]string, error) {
	files, note, err := input.Files(paths)
	s.note(note)
	return files, err
}

// checkDistinct refuses a file that is named twice.
func checkDistinct(files []string) error {
	type place struct {
		info os.FileInfo
		name string
	}
	known := make(map[[2]int64][]place) // by what one file has under all of its names
	for i, name := range files {
		if name == "-" && slices.Contains(files[:i], name) {
			return fmt.Errorf("%w: standard input is named twice", compare.ErrSameRecording)
		}
		if exchange.Is(name) && slices.Contains(files[:i], name) {
			return fmt.Errorf("%w: %s is named twice; a run counts once", compare.ErrSameRecording, exchange.Shown(name))
		}
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
			continue // reading it tells why, or it is a pipe
		}
		key := [2]int64{info.Size(), info.ModTime().UnixNano()}
		for _, other := range known[key] {
			if os.SameFile(info, other.info) {
				return fmt.Errorf("%w: %s and %s are one file; a run counts once", compare.ErrSameRecording, other.name, name)
			}
		}
		known[key] = append(known[key], place{info, name})
	}
	return nil
}

// accountSide prints what became of the samples of a side's runs. What is wrong with them is
// said where they are compared.
func (l *loader) accountSide(name string, runs []*run.Run) {
	if len(runs) > 1 {
		name = fmt.Sprintf("%s, %d runs", name, len(runs))
	} else {
		name = runs[0].Name
	}
	for _, r := range runs {
		l.io.noteMerged(r)
	}
	l.io.say("%s: %s", name, run.Account(runs...))
}

// accountAlone is accountSide for a side that is compared with nothing.
func (l *loader) accountAlone(runs []*run.Run) {
	l.accountSide("side", runs)
	l.io.warnAll(compare.RunWarnings(runs, nil))
}
