package recording

import (
	"bytes"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/input"
)

// readBytes reads an input that holds data.
func readBytes[T ~string | ~[]byte](name string, data T, opt *branch.Options) (*branch.Table, error) {
	src, err := input.New(name, bytes.NewReader([]byte(data)))
	if err != nil {
		return nil, err
	}
	return Read(src, opt)
}

// TestReadErrors reads what is none of the formats, or has no branches.
func TestReadErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "is empty"},
		{"binary", "\x7fELF\x02\x01\x01\x00", "looks like an ELF binary; profdiff reads perf.data, "},
		{"text", "Hello, world!\n", "looks like text of an unknown format, "},
		{"samples", "app 1/1 1.0: 100 cycles:u: 401000 main (/app)\n", "no branch stacks: print them with perf script -F +brstack, addresses as numbers"},
		{"folded stacks", "main;work 5\n", "is folded stacks, which has no branches: give perf.data, "},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := readBytes("text", test.text, &branch.Options{})
			if err == nil || table != nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, %v, want %s", table != nil, err, test.want)
			}
		})
	}
}

// TestReadStat reads what perf stat prints in its formats: the totals are the same.
func TestReadStat(t *testing.T) {
	for _, text := range []string{
		" Performance counter stats for 'a':\n\n 1,000 branch-misses # 5% of all branches (75.00%)\n 20,000 branches\n\n 0.1 seconds time elapsed\n",
		"1000,,branch-misses,750,75.00,,\n20000,,branches,1000,100.00,,\n",
		`{"counter-value" : "1000", "unit" : "", "event" : "branch-misses", "event-runtime" : 750, "pcnt-running" : 75.00}` + "\n" +
			`{"counter-value" : "20000", "unit" : "", "event" : "branches", "event-runtime" : 750, "pcnt-running" : 100.00}` + "\n",
		"Performance counter statistics:\n\n 1,000 branch-misses # 5% (75%)\n 20,000 branches # 1 M/sec\n\nTotal test time: 0.1 seconds.\n",
		"Performance counter statistics,\n1000,branch-misses,5%,miss rate,(75%),\n20000,branches,1,M/sec,\nTotal test time,0.1,seconds,\n",
	} {
		table, err := readBytes("stat", text, &branch.Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if x := table.Totals[0]; x.Misses.Value != 1000 || x.Branches.Value != 20000 || x.Rate == nil {
			t.Errorf("%s: totals %+v", text, x)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add(" Performance counter stats for './app':\n 1,234 branch-misses:u # 7% of all branches ( +- 0.5% ) (83.21%)\n 5 branches\n 1 seconds time elapsed\n")
	f.Add("Performance counter statistics:\n\n# count  event_name # count / runtime\n 5 r22:u # 1.6 M/sec (75%)\n 688.190(ms) task-clock\nTotal test time: 1 seconds.\n")
	f.Add("1000,,branch-misses,750,75.00,,\n20000,,branches,1000,100.00,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := readBytes("x", text, &branch.Options{})
		if (table == nil) == (err == nil) {
			t.Fatalf("table %v and error %v", table != nil, err)
		}
		if err != nil {
			return
		}
		for _, x := range table.Totals {
			branchtest.CheckRatio(t, x.Rate)
			branchtest.CheckRatio(t, x.MPKI)
		}
	})
}
