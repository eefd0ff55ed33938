package query

import (
	"strings"
	"testing"
)

// TestSQL checks that what is put in place is where it belongs, and that nothing else is.
func TestSQL(t *testing.T) {
	plain := Query{Question{"A", "B", cpu, Share}, Function, Self}
	text, err := plain.SQL()
	if err != nil || text != functionsSQL {
		t.Fatalf("release A against B is not the text itself: %v", err)
	}
	for _, x := range []struct {
		q      Query
		has    []string
		hasNot []string
	}{
		{Query{Question{"1'0", "B", cpu, Share}, Function, Self}, []string{"IN ('1''0', 'B')", "'1''0' AS release_a"}, []string{"'A'"}},
		{Query{Question{"B", "A", cpu, Share}, Model, Self}, []string{"IN ('B', 'A')", "device_model AS model, function_id, CAST(1 AS DOUBLE) AS wgt", "'model' AS row_of"}, []string{"'' AS model"}},
		{Query{Question{"1", "2", "alloc/bytes", Work}, Function, Total}, []string{"work_units AS divisor", "SUM(CAST(f.total_value", "f.total_value > 0", "'total' AS counted", "'work' AS per", "f.sample_type = 'alloc/bytes'"}, []string{"self", "nanoseconds", "weight AS divisor"}},
		{Query{Question{"1", "2", cpu, Second}, Category, Self}, []string{"duration_ns AS divisor", "FROM profile_categories f", "'second' AS per"}, []string{"functions", "renames", "'share'"}},
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
	for _, q := range []Query{{Question{`1\`, "2", cpu, Share}, Function, Self}, {Question{"1", "2\n", cpu, Share}, Function, Self}, {Question{"1", "2", cpu, Share}, Category, Total}} {
		if _, err := q.SQL(); err == nil {
			t.Errorf("%q is not refused", q)
		}
	}
}
