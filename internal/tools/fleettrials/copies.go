package main

import (
	"flag"
	"fmt"
	"path/filepath"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
	"profdiff/internal/fleet/table"
)

// copiesCommand makes a large store of a small one: the same rows again, as profiles of other devices. Sizes and times
// of a comparison are those of a large store; what is significant is not. Samples and stacks, of which flame graphs
// are made, stay behind.
func copiesCommand(args []string) error {
	flags := flag.NewFlagSet("copies", flag.ExitOnError)
	dir := flags.String("store", "", "copy the store in `DIR`")
	out := flags.String("o", "", "write to `DIR`")
	n := flags.Int("n", 5, "make `N` copies")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := store.Open(*dir)
	if err != nil {
		return err
	}
	ledger, err := s.Files(fleet.TableProfiles)
	if err != nil {
		return err
	}
	for i := range *n {
		for _, name := range ledger {
			if err := copyBatch(*dir, name, *out, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyBatch copies the batch whose ledger is in a file.
func copyBatch(dir, ledger, out string, n int) error {
	var b store.Batch
	partition, err := filepath.Rel(filepath.Join(dir, fleet.TableProfiles), ledger)
	if err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(dir, name, partition) }
	another := func(id string) string { return fleet.ProfileID(fmt.Append(nil, n, id)) }
	if b.Profiles, err = rows(ledger, func(r *fleet.Profile) {
		r.ProfileID = another(r.ProfileID)
		r.DeviceID = fleet.Device(fmt.Sprint(n), r.DeviceID)
		r.UnitID = fleet.UnitID(r.DeviceID)
	}); err != nil {
		return err
	}
	// Rows come by function: the same few ids again and again.
	ids := make(map[string]string)
	rename := func(id *string) {
		if _, ok := ids[*id]; !ok {
			ids[*id] = another(*id)
		}
		*id = ids[*id]
	}
	if b.Functions, err = rows(in(fleet.TableFunctions), func(*fleet.Function) {}); err != nil {
		return err
	}
	if b.Facts, err = rows(in(fleet.TableProfileFunctions), func(r *fleet.ProfileFunction) { rename(&r.ProfileID) }); err != nil {
		return err
	}
	if b.Categories, err = rows(in(fleet.TableProfileCategories), func(r *fleet.ProfileCategory) { rename(&r.ProfileID) }); err != nil {
		return err
	}
	_, err = b.Write(out)
	return err
}

// rows are the rows of a file, changed.
func rows[T table.Row](name string, change func(*T)) (all []T, err error) {
	err = table.Read(name, func(some []T) error {
		for _, r := range some {
			change(&r)
			all = append(all, r)
		}
		return nil
	})
	return all, err
}
