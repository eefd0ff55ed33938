package recording

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/stacks"
	"profdiff/internal/input"
	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
)

// readFile reads a perf.data file with binaries from dirs.
func readFile(t testing.TB, file string, dirs ...string) *branch.Table {
	t.Helper()
	opt := &branch.Options{}
	for _, dir := range dirs {
		opt.Names.Objects = opt.Names.Objects.View(objects.SearchPath{Name: dir, FS: os.DirFS(dir)})
	}
	var table *branch.Table
	err := input.Read(file, nil, func(src *input.Source) (err error) {
		table, err = Read(src, opt)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	return table
}

// truthRow is a row of NAME.from.tsv.
type truthRow struct {
	Module               string
	Offset               uint64
	Taken, Missed, Right int64
}

func readTSV(t *testing.T, file string) (rows []map[string]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var head []string
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if head == nil {
			head = f
			continue
		}
		row := make(map[string]string)
		for i, v := range f {
			row[head[i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, text string, base int) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func truthRows(t *testing.T, file string) (rows []truthRow) {
	for _, r := range readTSV(t, file) {
		row := truthRow{Module: r["module"], Offset: number(t, r["offset_hex"], 16)}
		row.Taken = int64(number(t, r["taken"], 10))
		row.Missed = int64(number(t, r["mispred"], 10))
		row.Right = int64(number(t, r["pred"], 10))
		rows = append(rows, row)
	}
	return rows
}

// truthOf turns a table into rows as the truth has them: with file offsets, and
// addresses in the kernel. The module of unmapped addresses is as the truth names it.
func truthOf(table *branch.Table) (rows []truthRow) {
	for i := range table.Branches {
		b := &table.Branches[i]
		if b.Stacks.Taken == 0 {
			continue // not taken
		}
		row := truthRow{Module: b.DSO, Offset: b.Stacks.Rel, Taken: b.Stacks.Taken, Missed: b.Stacks.Mispredicted, Right: b.Stacks.Predicted}
		if table.Unknown != "" {
			row.Right = row.Taken // not told
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, compareRows)
	return rows
}

func compareRows(a, b truthRow) int {
	return cmp.Or(-cmp.Compare(a.Missed, b.Missed), -cmp.Compare(a.Taken, b.Taken), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Offset, b.Offset))
}

// TestTruth compares tables with what two other readers made of the recordings.
func TestTruth(t *testing.T) {
	dir := branchtest.Recording(t, "branch-truth")
	for _, index := range readTSV(t, filepath.Join(dir, "INDEX.tsv")) {
		t.Run(index["name"], func(t *testing.T) {
			table := readFile(t, branchtest.Recording(t, index["path"]))
			want := truthRows(t, filepath.Join(dir, index["name"]+".from.tsv"))
			// Entries without a source are no branches: the truth has them at address 0.
			want = slices.DeleteFunc(want, func(r truthRow) bool {
				if r.Module != "[unmapped]" || r.Offset != 0 {
					return false
				}
				if n := table.Stacks.Entries.Dropped[stacks.DropHalf]; n != r.Taken {
					t.Errorf("%d entries without a source dropped, want %d", n, r.Taken)
				}
				return true
			})
			for i := range want {
				if strings.HasPrefix(want[i].Module, "[kernel.kallsyms]") {
					want[i].Module = perfsession.KernelPath
				}
			}
			slices.SortFunc(want, compareRows)
			got := truthOf(table)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("branches (-want +got):\n%s", diff)
			}
			if got, want := table.Stacks.Entries.In, int64(number(t, index["entries"], 10)); got != want {
				t.Errorf("%d entries, want %d", got, want)
			}
			if got, want := table.Samples.In-table.Samples.Dropped[branch.DropEvent], int64(number(t, index["samples"], 10)); got != want {
				t.Errorf("%d samples, want %d", got, want)
			}
			wantMisses := int64(number(t, index["mispred"], 10))
			if table.Misses != wantMisses {
				t.Errorf("%d misses, want %d", table.Misses, wantMisses)
			}
			if refused := table.Unknown != ""; refused != (wantMisses == 0) {
				t.Errorf("prediction unknown: %q, with %d misses", table.Unknown, wantMisses)
			}
			top := truthRows(t, filepath.Join(dir, index["name"]+".top20.tsv"))
			for i, w := range top {
				if strings.HasPrefix(w.Module, "[kernel.kallsyms]") {
					w.Module = perfsession.KernelPath
				}
				// Rows with equal counts are in another order.
				if !slices.Contains(got[:min(len(got), len(top))], w) && (w.Missed > got[len(top)-1].Missed || w.Taken > got[len(top)-1].Taken) {
					t.Errorf("rank %d: %+v is not among the first %d", i+1, w, len(top))
				}
			}
		})
	}
}

// TestNotTaken compares executions that were not taken, found from the code between
// branches, with those of the truth.
func TestNotTaken(t *testing.T) {
	table := readFile(t, branchtest.Recording(t, "lbr/test.lbr"), branchtest.Recording(t, "lbr"))
	got := make(map[uint64]*branch.Branch)
	for i := range table.Branches {
		if b := &table.Branches[i]; strings.HasSuffix(b.DSO, "/test.binary") {
			got[b.Stacks.Runtime] = b
		}
	}
	n := 0
	for _, row := range readTSV(t, branchtest.Recording(t, "branch-truth/autofdo_test.lbr.cond.tsv")) {
		b := got[number(t, row["addr"], 16)]
		if b == nil || b.Kind != branch.Conditional {
			t.Errorf("%s %s: %+v", row["addr"], row["insn"], b)
			continue
		}
		n++
		want := fmt.Sprint(row["taken"], " ", row["not_taken"], " ", row["mispred_when_taken"], " ", row["func"])
		if got := fmt.Sprint(b.Stacks.Taken, " ", *b.Stacks.NotTaken, " ", b.Stacks.Mispredicted, " ", b.Function); got != want {
			t.Errorf("%s: taken, not taken, mispredicted %s, want %s", row["addr"], got, want)
		}
	}
	if n < 100 {
		t.Errorf("only %d conditional branches", n)
	}
	t.Logf("%d conditional branches; samples %+v; ranges %+v", n, table.Samples, table.Stacks.Ranges)
}

// TestScriptOfPerf checks that the text of perf script gives the table of perf.data.
func TestScriptOfPerf(t *testing.T) {
	perf, err := exec.LookPath("perf")
	if err != nil {
		t.Skip("perf is not installed")
	}
	for _, name := range []string{"lbr/test.lbr", "linux/perf.data.branch-4.14", "linux/perf.data.branch_stack_spec", "linux/perf.data.callgraph_and_branch-3.8"} {
		t.Run(name, func(t *testing.T) {
			file := branchtest.Recording(t, name)
			want := readFile(t, file, branchtest.Recording(t, "lbr"))
			out, err := exec.Command(perf, "script", "-i", file, "--header", "-F", "comm,pid,tid,time,event,period,brstack", "--show-mmap-events", "--show-task-events").Output()
			if err != nil {
				t.Fatal(err)
			}
			dir := branchtest.Recording(t, "lbr")
			opt := &branch.Options{Names: symbolizer.Options{Objects: objectstest.Dir(dir)}}
			got, err := stacks.ReadScript(name, bytes.NewReader(out), int64(len(out)), opt)
			if err != nil {
				t.Fatal(err)
			}
			branchtest.CheckTable(t, got)
			if diff := gocmp.Diff(truthOf(want), truthOf(got)); diff != "" {
				t.Errorf("branches (-perf.data +text):\n%s", diff)
			}
			if got.Scaled != want.Scaled || got.Tier != want.Tier || got.Unknown != want.Unknown {
				t.Errorf("scaled %v, tier %v, unknown %q; want %v, %v, %q", got.Scaled, got.Tier, got.Unknown, want.Scaled, want.Tier, want.Unknown)
			}
			if diff := gocmp.Diff(rates(want), rates(got)); diff != "" {
				t.Errorf("rates (-perf.data +text):\n%s", diff)
			}
		})
	}
}

func rates(table *branch.Table) (list []string) {
	for i := range table.Branches {
		b := &table.Branches[i]
		line := fmt.Sprintf("%x %s", b.Stacks.Runtime, b.Kind)
		if b.Stacks.TakenRate != nil {
			line += fmt.Sprintf(" %.9f", *b.Stacks.TakenRate)
		}
		if b.Rate != nil {
			line += fmt.Sprintf(" %.9f %.9f", b.Rate.Bounds, b.Rate.CI)
		}
		if b.Misses != nil {
			line += fmt.Sprintf(" %.6g", *b.Misses)
		}
		list = append(list, line)
	}
	return list
}
