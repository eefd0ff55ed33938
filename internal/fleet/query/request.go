package query

import (
	"strings"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
)

// A Request is what profdiff-duckdb is asked for.
type Request struct {
	// Views are statements that have no rows: views of files, and what queries have in common.
	Views   []string `json:"views"`
	Queries []string `json:"queries"`
	Memory  string   `json:"memory,omitempty"` // as "1GB"
	Threads int      `json:"threads,omitempty"`
}

// NewRequest asks DuckDB for all rows of a question: functions by self and by total cost, categories, and if they are
// wanted functions by model. base is where the store is.
//
// Facts are read once, and summed by device and function once: that takes nearly all of the time. The ledger is a table and
// no view.
func NewRequest(s *store.Store, base string, q Question, models bool) (*Request, error) {
	files, err := FilesOf(s, base, q)
	if err != nil {
		return nil, err
	}
	// Several threads have groups each, which they put together afterwards: two take half as much time again on the CPU, and twice the memory.
	r := &Request{Threads: 1}
	wanted := make([]string, 0, len(tables))
	for _, t := range tables {
		wanted = append(wanted, t.name)
	}
	if r.Views, err = Views(DuckDB, files, wanted); err != nil {
		return nil, err
	}
	for i, v := range r.Views {
		if ledger, ok := strings.CutPrefix(v, view(DuckDB, fleet.TableProfiles, "")); ok {
			r.Views[i] = "CREATE TEMP TABLE " + fleet.TableProfiles + " AS\n" + ledger
		}
	}
	functions := []Query{{q, Function, Self}, {q, Function, Total}}
	if models {
		functions = append(functions, Query{q, Model, Self}, Query{q, Model, Total})
	}
	renamed := len(files[fleet.TableRenames]) > 0
	add := func(to *[]string, k *Query, name string, on stage) error {
		text, err := k.statement(name, &on)
		*to = append(*to, text)
		return err
	}
	staged := !q.RolledUp
	if staged {
		for _, name := range []string{"device_numbers", "members", "function_moments"} {
			if err := add(&r.Views, &functions[0], name, stage{}); err != nil {
				return nil, err
			}
		}
		// Of the files of both releases, those of one are read at a time.
		for _, release := range []string{q.Before, q.After} {
			of, err := FilesOf(s, base, Question{Before: release, After: release})
			if err != nil {
				return nil, err
			}
			facts, err := Views(DuckDB, of, []string{fleet.TableProfileFunctions})
			if err != nil {
				return nil, err
			}
			r.Views = append(r.Views, facts...)
			if err := add(&r.Views, &functions[0], "release_moments", stage{renamed: renamed, release: release}); err != nil {
				return nil, err
			}
		}
		if err := add(&r.Queries, &Query{q, Category, Self}, "compare", stage{renamed: renamed}); err != nil {
			return nil, err
		}
	}
	for _, k := range functions {
		if err := add(&r.Queries, &k, "compare", stage{staged: staged, renamed: renamed}); err != nil {
			return nil, err
		}
	}
	return r, nil
}
