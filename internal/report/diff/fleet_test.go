package diff

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/fleet/fleettest"
	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/verdict"
)

// fleetDocument is the document of a fleet with effects.
func fleetDocument(t *testing.T, per query.Per) *Document {
	t.Helper()
	dir := fleettest.Fleet{
		Seed: 4, Profiles: 600, Devices: 150, Models: 3, Functions: 30, Batch: 200, Effects: map[int]float64{3: 1.8, 8: 0.5, 12: 0}, Fresh: 4,
	}.Write(t, t.TempDir())
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := query.Ask(s, query.Question{Before: "1.0", After: "1.1", SampleType: fleettest.SampleType, Per: per}, query.Scan{ByModel: true})
	if err != nil {
		t.Fatal(err)
	}
	stacks, err := query.AskStacks(s, a.Population)
	if err != nil {
		t.Fatal(err)
	}
	return NewFleet(a.Judge(verdict.Rule{Margin: verdict.Margin, FalseDiscovery: verdict.FalseDiscovery}), stacks)
}

// TestFleet writes a comparison of two releases in all forms, in which devices stand where runs do.
func TestFleet(t *testing.T) {
	shares, work := fleetDocument(t, query.Share), fleetDocument(t, query.Work)
	for file, write := range map[string]func(io.Writer) error{
		"fleet.txt": func(w io.Writer) error {
			if err := WriteReleases(w, shares, ""); err != nil {
				return err
			}
			return WriteSummary(w, shares, false)
		},
		"fleet-full.txt":   func(w io.Writer) error { return WriteText(w, work, Options{Limit: 8}) },
		"fleet-models.txt": func(w io.Writer) error { return WriteText(w, shares, Options{Limit: 8, By: ByModel}) },
		"fleet.md":         func(w io.Writer) error { return WriteMarkdown(w, work, Options{Limit: 8}) },
	} {
		got := reporttest.Written(t, write)
		reporttest.Golden(t, "testdata/"+file, got)
		for _, word := range []string{" run ", " runs", "operation"} {
			if strings.Contains(string(got), word) {
				t.Errorf("%s says %q: a fleet has devices, profiles and units of work", file, word)
			}
		}
	}
	reporttest.Validate(t, reporttest.Schema[Document](t, "diff.schema.json"), reporttest.Written(t, func(w io.Writer) error { return WriteJSON(w, shares) }))
}

// TestFleetFrames has frames that add up to what functions cost.
func TestFleetFrames(t *testing.T) {
	d := fleetDocument(t, query.Work)
	e := &d.Events[0]
	sums := make([][2]float64, len(e.Functions))
	flagged := 0
	for i, fn := range e.Frames.Function {
		if fn >= 0 {
			sums[fn][0] += e.Frames.Base[i]
			sums[fn][1] += e.Frames.Head[i]
		}
		if e.Frames.Flags[i]&(Grew|Shrank) != 0 {
			flagged++
		}
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }
	for i := range e.Functions {
		if f := &e.Functions[i]; !near(sums[i][0], f.Self.Base) || !near(sums[i][1], f.Self.Head) {
			t.Errorf("frames of %s add up to %v, and it costs %v and %v", f.Name, sums[i], f.Self.Base, f.Self.Head)
		}
	}
	if flagged < 3 {
		t.Errorf("%d frames are marked as changed, of functions that are in one place each", flagged)
	}
}

// TestFleetUntested says first that nothing could be tested, and how many devices that takes.
func TestFleetUntested(t *testing.T) {
	dir := fleettest.Fleet{Seed: 6, Profiles: 6, Devices: 3, Models: 1, Functions: 10, Batch: 20}.Write(t, t.TempDir())
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := query.Ask(s, query.Question{Before: "1.0", After: "1.1", SampleType: fleettest.SampleType, Per: query.Share}, query.Scan{})
	if err != nil {
		t.Fatal(err)
	}
	d := NewFleet(a.Judge(verdict.Rule{Margin: verdict.Margin, FalseDiscovery: verdict.FalseDiscovery}), nil)
	got := string(reporttest.Written(t, func(w io.Writer) error { return WriteSummary(w, d, false) }))
	const want = "No function can be tested: there are 3 devices of release 1.0 and 3 of 1.1 to compare, and a function has to be on 10 of both together: at least 4 more devices are needed.\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("the first screen is\n%s", got)
	}
	// All functions are there all the same, and why there is no verdict.
	if len(d.Functions) != 14 || d.Design.Fleet.Few != 10 {
		t.Errorf("%d functions, of which %d have few devices: want 14 and 10", len(d.Functions), d.Design.Fleet.Few)
	}
	for _, f := range d.Functions {
		const few = "6 devices have it, of at least 10"
		self := few
		if !strings.HasPrefix(f.Name, "leaf") {
			self = "nothing was spent in it"
		}
		if f.Self.Untested != self || f.Total.Untested != few || f.Total.Base == 0 || f.Total.Verdict != verdict.Inconclusive {
			t.Errorf("%s: %+v, %+v", f.Name, f.Self, f.Total)
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(reporttest.Written(t, func(w io.Writer) error { return WriteCSV(w, d) }))).ReadAll()
	if err != nil || len(rows) != 15 {
		t.Fatalf("%d lines of CSV, %v: want 15 of as many columns each", len(rows), err)
	}
	if i := slices.Index(rows[0], "self.untested"); i < 0 || !strings.HasPrefix(rows[1][i], "6 devices") {
		t.Errorf("the columns are %q, the first row is %q", rows[0], rows[1])
	}
}
