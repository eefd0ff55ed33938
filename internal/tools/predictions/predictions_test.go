package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWinner(t *testing.T) {
	for _, test := range []struct {
		speed interval
		want  int
	}{
		{interval{1.5, 1.1, 2}, 1},
		{interval{0.5, 0.4, 0.9}, -1},
		{interval{1.5, 0.9, 2}, 0},
		{interval{1.5, 1, 2}, 0},
	} {
		if got := test.speed.winner(); got != test.want {
			t.Errorf("winner of %v is %d, want %d", test.speed, got, test.want)
		}
	}
}

// What is measured on a core that another thread uses does not count, and one slow run of the programs
// does not decide.
func TestTable(t *testing.T) {
	dir := t.TempDir()
	p := pair{name: "halved", title: "half", language: "sh", unit: "piece"}
	s := settings{dir: dir, pairs: []pair{p}}
	var steps strings.Builder
	steps.WriteString("# full width 4.0000\nround\tside\tcycles\twidth\n")
	for round, factor := range []string{"0", "0", "50"} {
		for i := range 20 {
			disturbed := []string{"4.0", "2.0"}[i%2]
			extra := []string{"0", "999"}[i%2]
			steps.WriteString(strings.Join([]string{string(rune('0' + round)), "before", "2" + factor + extra, disturbed}, "\t") + "\n")
			steps.WriteString(strings.Join([]string{string(rune('0' + round)), "after", "1" + factor + extra, disturbed}, "\t") + "\n")
		}
	}
	for name, text := range map[string]string{
		"before":       "#!/bin/sh\necho 10\n",
		"measured.tsv": steps.String(),
		"prediction":   "$ profdiff predict\n\npredicted     ×1.40 [1.10, 1.90], faster (90% interval)\nflag  measured ×1.9 is beyond what the\n      code explains, ×1.40 [1.10,\n      1.70]\n\nexit code 0, 1.3 s, of CPUs 0.9 s\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, p.name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p.name, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m, err := s.measured(&p)
	if err != nil {
		t.Fatal(err)
	}
	if m.clean != 60 || m.all != 120 {
		t.Errorf("%d of %d steps count, want 60 of 120", m.clean, m.all)
	}
	if math.Abs(m.speed.centre-2) > 1e-9 || m.speed.lo > 2 || m.speed.hi < 2 {
		t.Errorf("measured %v, want ×2", m.speed)
	}
	var table strings.Builder
	if err := s.table(&table); err != nil {
		t.Fatal(err)
	}
	want := "| `halved`: half | sh | own | 20.00 → 10.00 per piece | ×1.40 [1.10, 1.90], of the code alone [1.10, 1.70] | " + m.speed.String() + " | **no**, of the code alone **no** | right | 1.3 (0.9) |"
	if !strings.Contains(table.String(), want) {
		t.Errorf("the table is\n%s\nand has no row\n%s", &table, want)
	}
}
