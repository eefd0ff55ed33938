package main

import (
	"cmp"
	"path/filepath"
	"time"

	"profdiff/internal/run"
)

// addConditions adds what the folder notes of a run: what was recorded, and what the machine
// did meanwhile.
func (f *folder) addConditions(r *run.Run) {
	r.Recording.Bound = f.Plan.Window()
	r.Recording.Conditions.Governor = f.Machine.Governor
	for i := range f.Runs {
		noted := &f.Runs[i]
		if filepath.Join(f.dir, filepath.FromSlash(noted.File)) != filepath.Clean(r.Name) {
			continue
		}
		recorded := f.Plan.Side(noted.Side)
		r.Recording.Command, r.Recording.Commit = recorded.Run, recorded.Commit.String()
		if c := recorded.Commit; c != nil {
			r.Recording.Tree, r.Recording.Dir = cmp.Or(c.Tree, c.ID), recorded.Dir
		}
		r.Recording.CommandTime = time.Duration(noted.CommandSeconds * float64(time.Second))
		r.Recording.Conditions = noted.On(&f.Machine)
	}
}
