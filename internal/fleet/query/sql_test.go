package query

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files")

// TestSQL checks that what is put in place is where it belongs, and that nothing else is.
func TestSQL(t *testing.T) {
	for name, q := range map[string]Query{
		"functions": {Question{"A", "B", cpu, Share, false}, Function, Self}, "categories": {Question{"A", "B", cpu, Share, false}, Category, Self},
		"rolled-up": {Question{"A", "B", cpu, Share, true}, Function, Total},
	} {
		text, err := q.SQL()
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.Join("testdata", name+".sql")
		if *update {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("%s differs, -update writes it:\n%s", name, diff)
		}
	}
	for _, x := range []struct {
		q      Query
		has    []string
		hasNot []string
	}{
		{Query{Question{"1'0", "B", cpu, Share, false}, Function, Self}, []string{"IN ('1''0', 'B')", "'1''0' AS release_a"}, []string{"'A'"}},
		{Query{Question{"B", "A", cpu, Share, false}, Model, Self}, []string{"IN ('B', 'A')", "device_model AS model, function_id, CAST(1 AS DOUBLE) AS wgt", "'model' AS row_of"}, []string{"'' AS model"}},
		{Query{Question{"1", "2", "alloc/bytes", Work, false}, Function, Total}, []string{"work_units AS divisor", "SUM(CAST(f.total_value", "f.total_value > 0", "'total' AS counted", "'work' AS per", "f.sample_type = 'alloc/bytes'"}, []string{"self", "nanoseconds", "weight AS divisor"}},
		{Query{Question{"1", "2", cpu, Second, false}, Category, Self}, []string{"duration_ns AS divisor", "FROM profile_categories f", "'second' AS per"}, []string{"functions", "renames", "'share'"}},
	} {
		text, err := x.q.SQL()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range x.has {
			if !strings.Contains(text, s) {
				t.Errorf("%v: no %q", x.q, s)
			}
		}
		for _, s := range x.hasNot {
			if strings.Contains(text, s) {
				t.Errorf("%v: has %q", x.q, s)
			}
		}
	}
	for _, q := range []Query{{Question{`1\`, "2", cpu, Share, false}, Function, Self}, {Question{"1", "2\n", cpu, Share, false}, Function, Self}, {Question{"1", "2", cpu, Share, false}, Category, Total}} {
		if _, err := q.SQL(); err == nil {
			t.Errorf("%v is not refused", q)
		}
	}
}
