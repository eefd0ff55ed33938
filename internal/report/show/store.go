package show

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"profdiff/internal/fleet/store"
	"profdiff/internal/report/text"
)

// A Store is what is shown of a store of many profiles.
type Store struct {
	*store.Summary
	// Top are the functions in which the release spent most of the sample type.
	Top *StoreTop `json:"top,omitempty"`
}

// A StoreTop is where a release spent most.
type StoreTop struct {
	Release    string        `json:"release"`
	SampleType string        `json:"sample_type"`
	Weight     float64       `json:"weight"`
	Functions  []store.Spent `json:"functions"`
}

// WriteStore writes what a store has: releases, device models, tables, what was dropped and why, and the functions of a release.
func WriteStore(w io.Writer, d *Store) error {
	for _, part := range []func(io.Writer, *Store) error{writeReleases, writeModels, writeTables, writeDropped, writeStoreTop} {
		if err := part(w, d); err != nil {
			return err
		}
	}
	return nil
}

func writeReleases(w io.Writer, d *Store) error {
	t := text.Table{Right: []bool{false, true, true, true, false, true, false, false, true, true}}
	t.Add("release", "profiles", "devices", "models", "days", "batches", "rolled up", "sample type", "samples", "weight")
	for i := range d.Releases {
		r := &d.Releases[i]
		days := r.First
		if r.Last != r.First {
			days += " to " + r.Last
		}
		switch {
		case r.Undated == r.Profiles:
			days = "not known"
		case r.Undated > 0:
			days += fmt.Sprintf(", %s of %s not known", text.Count(r.Undated), text.Count(r.Profiles))
		}
		row := []string{r.Release, text.Count(r.Profiles), text.Count(r.Devices), text.Count(r.Models), days, text.Count(int64(r.Batches)), yesNo(r.RolledUp)}
		for j := range r.Types {
			s := &r.Types[j]
			_, unit, _ := strings.Cut(s.SampleType, "/")
			t.Add(append(row, s.SampleType, text.Count(s.Samples), text.Weight(s.Weight, unit))...)
			row = make([]string, len(row))
		}
	}
	return t.Write(w)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// shownModels are the models that are listed one by one.
const shownModels = 20

func writeModels(w io.Writer, d *Store) error {
	t := text.Table{Right: []bool{false}}
	head := []string{"device model"}
	for i := range d.Releases {
		head = append(head, "profiles of "+d.Releases[i].Release, "devices")
		t.Right = append(t.Right, true, true)
	}
	t.Add(head...)
	models := slices.Clone(d.Models)
	most := func(m store.ModelSummary) (n int64) {
		for _, p := range m.Profiles {
			n += p
		}
		return n
	}
	slices.SortStableFunc(models, func(a, b store.ModelSummary) int { return int(most(b) - most(a)) })
	for i, m := range models {
		if i == shownModels {
			break
		}
		row := []string{m.Model}
		if m.Model == "" {
			row[0] = "not known"
		}
		for j := range m.Profiles {
			row = append(row, text.Count(m.Profiles[j]), text.Count(m.Devices[j]))
		}
		t.Add(row...)
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if n := len(models) - shownModels; n > 0 {
		if _, err := fmt.Fprintf(w, "and %d %s\n", n, text.Plural(n, "model with fewer profiles", "models with fewer profiles")); err != nil {
			return err
		}
	}
	return nil
}

func writeTables(w io.Writer, d *Store) error {
	t := text.Table{Right: []bool{false, true, true}}
	t.Add("table", "files", "bytes")
	var files, bytes int64
	for _, s := range d.Tables {
		if s.Files > 0 {
			t.Add(s.Table, text.Count(int64(s.Files)), text.Count(s.Bytes))
			files, bytes = files+int64(s.Files), bytes+s.Bytes
		}
	}
	t.Add("all", text.Count(files), text.Count(bytes))
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return t.Write(w)
}

func writeDropped(w io.Writer, d *Store) error {
	if d.Specs > 0 {
		fmt.Fprintf(w, "\nsaid by %s %s:\nprofiles: %s in = %s\n", text.Count(int64(d.Specs)), text.Plural(d.Specs, "receipt", "receipts"), text.Count(d.Listed.In), accounted(&d.Listed))
		fmt.Fprintf(w, "samples: %s in = %s\n", text.Count(d.Samples.In), accounted(&d.Samples))
	}
	for _, reason := range slices.Sorted(maps.Keys(d.Dropped)) {
		fmt.Fprintf(w, "dropped, %s: such as %s\n", reason, text.CleanLine(d.Dropped[reason]))
	}
	if d.Shared > 0 {
		fmt.Fprintf(w, "%s %s the same bytes in several releases, and %s in each\n", text.Count(d.Shared), text.Plural(int(d.Shared), "profile has", "profiles have"), text.Plural(int(d.Shared), "counts", "count"))
	}
	if d.Hidden > 0 {
		fmt.Fprintf(w, "%s %s in several batches, and %s once\n", text.Count(d.Hidden), text.Plural(int(d.Hidden), "row of a profile is", "rows of profiles are"), text.Plural(int(d.Hidden), "counts", "count"))
	}
	if d.Disputed != nil {
		fmt.Fprintln(w, d.Disputed)
	}
	if d.Orphans > 0 {
		fmt.Fprintf(w, "%d %s whose worker has not ended, or died, and that nobody counts\n", d.Orphans, text.Plural(d.Orphans, "batch", "batches"))
	}
	return nil
}

// accounted writes what became of what came in.
func accounted(a *store.Account) string {
	var dropped int64
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(a.Dropped)) {
		dropped += a.Dropped[reason]
		reasons = append(reasons, fmt.Sprintf("%s: %s", reason, text.Count(a.Dropped[reason])))
	}
	s := fmt.Sprintf("%s out + %s dropped", text.Count(a.Out), text.Count(dropped))
	if len(reasons) > 0 {
		s += " (" + strings.Join(reasons, ", ") + ")"
	}
	return s
}

func writeStoreTop(w io.Writer, d *Store) error {
	if d.Top == nil {
		return nil
	}
	_, unit, _ := strings.Cut(d.Top.SampleType, "/")
	if _, err := fmt.Fprintf(w, "\nrelease %s, %s: %s\n", text.Printable(d.Top.Release), d.Top.SampleType, text.Weight(d.Top.Weight, unit)); err != nil {
		return err
	}
	t := text.Table{Right: []bool{true, true, false, false}, Names: []int{2}}
	t.Add("self", "total", "function", "module")
	for _, f := range d.Top.Functions {
		t.Add(text.Percent(f.Self), text.Percent(f.Total), f.Name, f.Module)
	}
	return t.Write(w)
}

// WriteReceipt writes what became of profiles that were just read.
func WriteReceipt(w io.Writer, dir string, r *store.Receipt) error {
	n := len(r.Batches)
	_, err := fmt.Fprintf(w, "%s: %d %s\nprofiles: %s in = %s\nsamples: %s in = %s\n", dir, n, text.Plural(n, "batch", "batches"),
		text.Count(r.Profiles.In), accounted(&r.Profiles), text.Count(r.Samples.In), accounted(&r.Samples))
	return err
}
