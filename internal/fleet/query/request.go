package query

import "profdiff/internal/fleet/store"

// A Request is what profdiff-duckdb is asked for.
type Request struct {
	Views   []string `json:"views"`
	Queries []string `json:"queries"`
	Memory  string   `json:"memory,omitempty"` // as "1GB"
}

// NewRequest asks DuckDB for all rows of a question: functions by self and by total cost, categories, and if they are
// wanted functions by model. base is where the store is.
func NewRequest(s *store.Store, base string, q Question, models bool) (*Request, error) {
	files, err := FilesOf(s, base, q)
	if err != nil {
		return nil, err
	}
	list := []Query{{q, Function, Self}, {q, Function, Total}, {q, Category, Self}}
	if models {
		list = append(list, Query{q, Model, Self}, Query{q, Model, Total})
	}
	r := &Request{}
	wanted := make([]string, 0, len(tables))
	for _, t := range tables {
		wanted = append(wanted, t.name)
	}
	if r.Views, err = Views(DuckDB, files, wanted); err != nil {
		return nil, err
	}
	for _, k := range list {
		text, err := k.SQL()
		if err != nil {
			return nil, err
		}
		r.Queries = append(r.Queries, text)
	}
	return r, nil
}
