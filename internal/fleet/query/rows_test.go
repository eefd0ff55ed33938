package query

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/fleet/fleettest"
)

// TestRows writes rows as engines do and takes them back, and refuses those of another question.
func TestRows(t *testing.T) {
	s, _ := openStore(t, small)
	q := Question{"1.0", "1.1", fleettest.SampleType, Share, false}
	want, err := Ask(s, q, Scan{ByModel: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := want.WriteRows(&out, append(want.Rows, want.Categories...)); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	got, err := Take(s, q, strings.NewReader(text), "test")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Rows, got.Rows) + cmp.Diff(want.Categories, got.Categories); diff != "" {
		t.Errorf("rows that were written and read again differ:\n%s", diff)
	}
	// Some engines quote integers of 64 bits, print sums of integers as decimals, and add columns.
	first := strings.SplitAfter(text, "\n")[0]
	quoted := strings.NewReplacer(`"function_id":`, `"name":"f","function_id":"`, `,"device_model"`, `","device_model"`, `,"devices_b"`, `.0,"devices_b"`).Replace(first)
	if rows, err := want.ReadRows(strings.NewReader(quoted)); err != nil || !cmp.Equal(rows[0], want.Categories[0]) && !cmp.Equal(rows[0], want.Rows[0]) {
		t.Errorf("%s: %v, %v", quoted, rows, err)
	}
	for name, x := range map[string]struct{ rows, says string }{
		"none":                 {"", "no rows"},
		"no JSON":              {"function_id\n", "row 1: invalid character"},
		"twice":                {first + first, "two rows of"},
		"another release":      {strings.Replace(first, `"1.1"`, `"1.2"`, 1), `row 1: is of release "1.0" against "1.2"`},
		"another divisor":      {strings.Replace(first, `"share"`, `"work"`, 1), "per work, and not of"},
		"another sample type":  {strings.Replace(first, "cpu/nanoseconds", "alloc/bytes", 1), "alloc/bytes per share, and not of"},
		"another store":        {strings.Replace(first, `"profiles_b":300`, `"profiles_b":299`, 1), "was computed of 299 profiles of release 1.1, of which the store has 300"},
		"another kind":         {strings.Replace(first, `"self"`, `"wall"`, 1), `by "wall"`},
		"an infinite variance": {strings.Replace(first, `"var_a":`, `"var_a":1e999,"x":`, 1), "var_a is"},
		"no number":            {strings.Replace(first, `"mean_a":`, `"mean_a":null,"x":`, 1), "mean_a is"},
		"an unknown function":  {strings.Replace(strings.Split(text, "\n")[1], `"function_id":`, `"function_id":12,"x":`, 1), "the store has no function 12"},
	} {
		if _, err := Take(s, q, strings.NewReader(x.rows), "test"); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v, want %q", name, err, x.says)
		}
	}
}
