package main

import (
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/looks"
	"profdiff/internal/record"
)

// The total of runs without names is judged as that of runs with names, so that what a recording notes of
// its looks is what diff and check find.
func TestLooksWithoutNames(t *testing.T) {
	const from = "../../profiles/message-heap/go"
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		budget string
		focus  string
		want   bool // named
	}{
		{name: "total"},
		{name: "everything", budget: "version: 1\nbudgets:\n  - id: everything\n    limit: {fail: +3%}\n"},
		{name: "focus", focus: "main.compare", want: true},
		{name: "function", budget: "version: 1\nbudgets:\n  - id: compare\n    match: {function: main.compare}\n    limit: {fail: +3%}\n", want: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &looks.Declaration{Focus: tt.focus, Today: "2026-01-02", Name: "budget"}
			if tt.budget != "" {
				d.Budget = []byte(tt.budget)
			}
			plan, err := looks.Declare(d)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := record.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got := looks.Named(plan, &rec.Plan); got != tt.want {
				t.Fatalf("named %v, want %v", got, tt.want)
			}
			rec.LooksPlan = plan
			var taken [2]*record.PlannedLook
			for i, unnamed := range []bool{false, !tt.want} {
				pairs := &pairRuns{loader: &loader{io: &stdio{err: io.Discard}}, dir: dir, unnamed: unnamed}
				base, head, err := pairs.first(rec, plan.First)
				if err != nil {
					t.Fatal(err)
				}
				named := 0
				for j := range base[0].Functions {
					if !base[0].Functions[j].Unknown {
						named++
					}
				}
				if unnamed != (named == 0) {
					t.Errorf("%d functions have names, unnamed %v", named, unnamed)
				}
				notes := &record.Recording{LooksPlan: plan}
				course, err := looks.Replay(notes, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				if taken[i], err = course.Look(base, head); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(taken[0], taken[1]); diff != "" {
				t.Errorf("looks with and without names differ:\n%s", diff)
			}
		})
	}
}
