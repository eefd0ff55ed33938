package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"profdiff/internal/fleet/table"
	"profdiff/internal/input"
)

// A Receipt says what became of a spec: of each profile that it lists, and of all samples in those that were read.
type Receipt struct {
	Spec     string   `json:"spec"`
	Release  string   `json:"release"`
	Batches  []string `json:"batches"`
	Profiles Account  `json:"profiles"`
	// Samples are those of profiles that are in the store: what their readers say of them.
	Samples Account `json:"samples"`
	// Lost are samples that never reached a profile, as its recorder says.
	Lost int64 `json:"lost,omitempty"`
	// Weights are the sums of what the ledger has, by sample type.
	Weights map[string]int64 `json:"weights"`
	// Rows are the rows of the files, by table.
	Rows map[string]int64 `json:"rows"`
	// Bytes are the sizes of the profiles that are in the store.
	Bytes int64 `json:"bytes"`
	// Dropped are the profiles that are not.
	Dropped []Dropped `json:"dropped,omitempty"`
}

// An Account is what came in, what came out, and why the rest did not: In = Out + all that was dropped.
type Account struct {
	In      int64            `json:"in"`
	Out     int64            `json:"out"`
	Dropped map[string]int64 `json:"dropped,omitempty"`
}

// Drop counts n that did not come out.
func (a *Account) Drop(reason string, n int64) {
	if n == 0 {
		return
	}
	if a.Dropped == nil {
		a.Dropped = make(map[string]int64)
	}
	a.Dropped[reason] += n
}

// Balanced reports whether all is accounted for.
func (a *Account) Balanced() bool {
	left := a.In - a.Out
	for _, n := range a.Dropped {
		left -= n
	}
	return left == 0
}

// Add adds another account.
func (a *Account) Add(b Account) {
	a.In += b.In
	a.Out += b.Out
	for reason, n := range b.Dropped {
		a.Drop(reason, n)
	}
}

// Add adds another receipt. Rows and weights, which are of one store, stay.
func (r *Receipt) Add(b *Receipt) {
	r.Batches = append(r.Batches, b.Batches...)
	r.Profiles.Add(b.Profiles)
	r.Samples.Add(b.Samples)
	r.Lost += b.Lost
	r.Bytes += b.Bytes
	r.Dropped = append(r.Dropped, b.Dropped...)
}

// A Dropped is a profile that is not in the store.
type Dropped struct {
	Source string `json:"source"`
	Reason string `json:"reason"` // one of few
	Detail string `json:"detail,omitempty"`
}

// Receipts is where a store has its receipts: receipts/r-SPEC.json.
const Receipts = "receipts"

// WriteReceipt keeps a receipt in the store that lies in dir.
func WriteReceipt(dir string, r *Receipt) error {
	dir = filepath.Join(dir, Receipts)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return input.PathError(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, table.Unfinished+"*")
	if err != nil {
		return input.PathError(err)
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, "r-"+r.Spec+".json"))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// maxReceipt bounds the size of a receipt.
const maxReceipt = 256 << 20

// Receipts are the receipts of the specs that were worked on, by spec.
func (s *Store) Receipts() ([]*Receipt, error) {
	found, err := named(filepath.Join(s.dir, Receipts), "r-", ".json")
	if err != nil {
		return nil, err
	}
	var all []*Receipt
	for _, f := range found {
		r := new(Receipt)
		if err := input.Read(f.path, nil, func(src *input.Source) error {
			data, err := io.ReadAll(io.LimitReader(src.Reader, maxReceipt))
			if err == nil {
				err = json.Unmarshal(data, r)
			}
			if err != nil {
				return fmt.Errorf("is no receipt: %w", err)
			}
			return nil
		}); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
