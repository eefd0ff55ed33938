package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/budget"
	"profdiff/internal/input"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
)

// lookFlags are the flags for two planned looks, and what is known of these.
type lookFlags struct {
	look int
	file string

	notes  *budget.Looks
	inputs []budget.LookInput
}

func (f *lookFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVar(&f.look, "look", 1, "take the `N`th look of two that the budget file plans: 2 with twice the runs of the first")
	fs.StringVar(&f.file, "look-file", "", "note in `FILE` what looks were taken, where the budget file plans two")
}

// begin says whether the look may be taken. A proof is none.
func (f *lookFlags) begin(cmd *cobra.Command, file *budget.File, check *checkFlags, in *budget.Inputs, proof bool) error {
	switch planned := file.Defaults.Looks == 2; {
	case f.look != 1 && f.look != 2:
		return usagef(cmd, "--look is 1 or 2, not %d: another look would not be worth its level", f.look)
	case !planned && f.look == 2:
		return &usageError{nil, fmt.Errorf("%s: %w", check.budget, budget.ErrNoSecondLook)}
	case !planned && f.file != "":
		return usagef(cmd, "--look-file needs defaults.looks: 2 in %s", check.budget)
	case !planned:
		return nil
	case check.stored != "":
		return usagef(cmd, "--stored-baseline can warn only: no looks are taken at it")
	case f.file == "-":
		return usagef(cmd, "--look-file is a file that later looks read, not -")
	case f.file == "" && !proof:
		return usagef(cmd, "%s plans two looks: give --look-file FILE to note them", check.budget)
	}
	in.TakeLook(f.look)
	if proof {
		return nil
	}
	var err error
	if f.notes, err = readLooks(f.file); err != nil {
		return err
	}
	if f.inputs, err = lookInputs(check); err != nil {
		return err
	}
	if err := f.notes.Admit(in.Look, check.hash, f.inputs); err != nil {
		return &usageError{nil, fmt.Errorf("%s: %w", f.file, err)}
	}
	return nil
}

// note writes down that the look was taken.
func (f *lookFlags) note(std *stdio, o *budget.Outcome, check *checkFlags) error {
	if !o.Planned() {
		return nil
	}
	return std.writeOutput(f.file, func(w io.Writer) error {
		return text.WriteJSON(w, f.notes.Add(o, check.hash, f.inputs))
	})
}

// readLooks reads notes of looks, nil if there are none.
func readLooks(name string) (l *budget.Looks, err error) {
	err = withFile(name, func(r io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(r, budget.MaxLooksSize+1))
		if err == nil {
			l, err = budget.ParseLooks(data)
		}
		return err
	})
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return l, err
}

// lookInputs are the files that are looked at.
func lookInputs(f *checkFlags) (list []budget.LookInput, err error) {
	recordings, _, err := f.files()
	if err != nil {
		return nil, err
	}
	add := func(side int, stream string, files []string) error {
		for _, name := range files {
			sum, err := hashFile(name)
			if err != nil {
				return err
			}
			list = append(list, budget.LookInput{Side: []string{"base", "head"}[side], Stream: stream, Name: name, SHA256: sum})
		}
		return nil
	}
	for side := range recordings {
		if slices.Contains(recordings[side], "-") {
			return nil, errors.New("a look at standard input cannot be noted: name files")
		}
		if err := add(side, "", recordings[side]); err != nil {
			return nil, err
		}
		for _, text := range f.values[side] {
			stream, path, _ := strings.Cut(text, "=")
			files, _, err := input.Files([]string{path})
			if err != nil {
				return nil, err
			}
			if err := add(side, stream, files); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

func hashFile(name string) (sum string, err error) {
	err = withFile(name, func(r io.Reader) error {
		h := sha256.New()
		if _, err := io.Copy(h, r); err != nil {
			return err
		}
		sum = hex.EncodeToString(h.Sum(nil))
		return nil
	})
	return sum, err
}

// stopped says what looks decided that ended the recording of both sides.
func (f *checkFlags) stopped(cmd *cobra.Command, l *loader, in *budget.Inputs, file *budget.File) error {
	if f.stored != "" || len(in.Base) == 0 || len(in.Head) == 0 {
		return nil
	}
	rec, err := folderOf(fileNames(slices.Concat(in.Base, in.Head)))
	if err != nil || rec == nil {
		return err
	}
	switch two := file.Defaults.Looks == 2; {
	case two && rec.LooksPlan != nil:
		return &usageError{nil, fmt.Errorf("%s plans two looks, and %s was recorded by looks of its own: remove defaults.looks", f.budget, rec.dir)}
	case !two && len(rec.Looks) > 0:
		l.io.warn("%s was recorded until its total was decided: a single look at it fails wrongly more often than alpha says; plan defaults.looks: 2", rec.dir)
	}
	defaults := !changedAny(cmd, readingFlags) && !changedAny(cmd, []string{"focus"})
	ended, err := l.stopped(in.Base, in.Head, defaults)
	if err != nil || ended == nil {
		return err
	}
	asked := defaults && !changedAny(cmd, questionFlags)
	in.Options.Stopped, in.Declared = ended.comparison(asked), ended.course.Declared(in.Today)
	if !asked || !ended.whole {
		in.Declared.Targets = nil
	}
	return nil
}

// fileNames are where runs were read from.
func fileNames(runs []*run.Run) (list []string) {
	for _, r := range runs {
		list = append(list, r.Name)
	}
	return list
}
