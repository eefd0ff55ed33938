package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/fleet/store"
)

// A record is a row as engines print it: an object of JSON in a line. Numbers may be in quotes, as some
// engines have those of 64 bits. Names that are not here are passed over.
type record struct {
	RowOf       By         `json:"row_of"`
	Counted     Value      `json:"counted"`
	Per         Per        `json:"per"`
	SampleType  string     `json:"sample_type"`
	ReleaseA    string     `json:"release_a"`
	ReleaseB    string     `json:"release_b"`
	ProfilesA   jsonNumber `json:"profiles_a"`
	ProfilesB   jsonNumber `json:"profiles_b"`
	FunctionID  jsonNumber `json:"function_id"`
	DeviceModel string     `json:"device_model"`
	Category    string     `json:"category"`
	MeanA       jsonNumber `json:"mean_a"`
	MeanB       jsonNumber `json:"mean_b"`
	VarA        jsonNumber `json:"var_a"`
	VarB        jsonNumber `json:"var_b"`
	FreedomA    jsonNumber `json:"freedom_a"`
	FreedomB    jsonNumber `json:"freedom_b"`
	CommonA     jsonNumber `json:"common_a"`
	CommonB     jsonNumber `json:"common_b"`
	DevicesA    jsonNumber `json:"devices_a"`
	DevicesB    jsonNumber `json:"devices_b"`
}

// A jsonNumber is a number, or a number in a string.
type jsonNumber string

// UnmarshalJSON takes the digits.
func (n *jsonNumber) UnmarshalJSON(data []byte) error {
	*n = jsonNumber(bytes.Trim(data, `"`))
	return nil
}

// MarshalJSON writes a number.
func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// ReadRows reads rows that engines computed, and takes those of a question. Rows of another question are an error: so are those of
// a store that had other profiles, and rows that are twice.
func (p *Population) ReadRows(r io.Reader) ([]Row, error) {
	d := json.NewDecoder(r)
	var rows []Row
	for n := 1; ; n++ {
		var x record
		if err := d.Decode(&x); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("row %d: %w", n, err)
		}
		row, err := p.row(&x)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", n, err)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, errors.New("no rows")
	}
	slices.SortFunc(rows, func(a, b Row) int { return compareRows(&a, &b) })
	for i := 1; i < len(rows); i++ {
		if compareRows(&rows[i-1], &rows[i]) == 0 {
			return nil, fmt.Errorf("two rows of %s", rows[i].what())
		}
	}
	return rows, nil
}

// what names a row in a message.
func (r *Row) what() string {
	switch r.By {
	case Category:
		return fmt.Sprintf("category %q", r.Category)
	case Model:
		return fmt.Sprintf("function %d on %q by %s", r.FunctionID, r.Model, r.Value)
	}
	return fmt.Sprintf("function %d by %s", r.FunctionID, r.Value)
}

// row checks a record.
func (p *Population) row(x *record) (r Row, err error) {
	asked := [...]string{p.Before, p.After, p.SampleType, string(p.Per)}
	if got := [...]string{x.ReleaseA, x.ReleaseB, x.SampleType, string(x.Per)}; got != asked {
		return r, fmt.Errorf("is of release %q against %q, %s per %s, and not of %q against %q, %s per %s",
			got[0], got[1], got[2], got[3], asked[0], asked[1], asked[2], asked[3])
	}
	for side, n := range []jsonNumber{x.ProfilesA, x.ProfilesB} {
		if want := strconv.FormatInt(p.ledger[side], 10); string(n) != want {
			return r, fmt.Errorf("was computed of %s profiles of release %s, of which the store has %s: ask the engine again", n, asked[side], want)
		}
	}
	r = Row{By: x.RowOf, Value: x.Counted, Model: x.DeviceModel, Category: x.Category}
	if !slices.Contains([]By{Function, Model, Category}, r.By) || !slices.Contains([]Value{Self, Total}, r.Value) {
		return r, fmt.Errorf("is of %q by %q", r.By, r.Value)
	}
	if r.By != Category {
		if r.FunctionID, err = strconv.ParseInt(string(x.FunctionID), 10, 64); err != nil {
			return r, fmt.Errorf("function_id: %w", err)
		}
	}
	for _, f := range []struct {
		name string
		from jsonNumber
		to   *float64
	}{
		{"mean_a", x.MeanA, &r.Before.Mean},
		{"mean_b", x.MeanB, &r.After.Mean},
		{"var_a", x.VarA, &r.Before.Variance},
		{"var_b", x.VarB, &r.After.Variance},
		{"freedom_a", x.FreedomA, &r.Before.Freedom},
		{"freedom_b", x.FreedomB, &r.After.Freedom},
		{"common_a", x.CommonA, &r.Before.Common},
		{"common_b", x.CommonB, &r.After.Common},
	} {
		if *f.to, err = strconv.ParseFloat(string(f.from), 64); err != nil || !(*f.to >= 0) || math.IsInf(*f.to, 1) {
			return r, fmt.Errorf("%s is %q, and not a number of 0 or more", f.name, string(f.from))
		}
	}
	for side, n := range []jsonNumber{x.DevicesA, x.DevicesB} {
		to := []*int64{&r.Before.Devices, &r.After.Devices}[side]
		// Sums of integers are decimals in some engines.
		text, _, _ := strings.Cut(string(n), ".")
		if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < 0 {
			return r, fmt.Errorf("devices are %q, and not a number", string(n))
		}
	}
	return r, nil
}

// WriteRows writes rows as engines do.
func (p *Population) WriteRows(w io.Writer, rows []Row) error {
	float := func(v float64) jsonNumber { return jsonNumber(strconv.FormatFloat(v, 'g', -1, 64)) }
	integer := func(v int64) jsonNumber { return jsonNumber(strconv.FormatInt(v, 10)) }
	e := json.NewEncoder(w)
	for i := range rows {
		r := &rows[i]
		if err := e.Encode(&record{
			RowOf: r.By, Counted: r.Value, Per: p.Per, SampleType: p.SampleType, ReleaseA: p.Before, ReleaseB: p.After,
			ProfilesA: integer(p.ledger[0]), ProfilesB: integer(p.ledger[1]),
			FunctionID: integer(r.FunctionID), DeviceModel: r.Model, Category: r.Category,
			MeanA: float(r.Before.Mean), MeanB: float(r.After.Mean), VarA: float(r.Before.Variance), VarB: float(r.After.Variance),
			FreedomA: float(r.Before.Freedom), FreedomB: float(r.After.Freedom),
			CommonA: float(r.Before.Common), CommonB: float(r.After.Common),
			DevicesA: integer(r.Before.Devices), DevicesB: integer(r.After.Devices),
		}); err != nil {
			return err
		}
	}
	return nil
}

// Take answers from rows that an engine computed.
func Take(s *store.Store, q Question, rows io.Reader, engine string) (*Answer, error) {
	a, err := prepare(s, q)
	if err != nil {
		return nil, err
	}
	all, err := a.ReadRows(rows)
	if err != nil {
		return nil, err
	}
	a.Engine = engine
	for _, r := range all {
		if _, known := a.Names[r.FunctionID]; !known && r.By != Category {
			return nil, fmt.Errorf("%s: the store has no function %d", r.what(), r.FunctionID)
		}
		if r.By == Category {
			a.Categories = append(a.Categories, r)
		} else {
			a.Rows = append(a.Rows, r)
		}
	}
	return a, nil
}
