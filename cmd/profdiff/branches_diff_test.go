package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"profdiff/internal/report/branches"
)

// countProgram counts values below a limit, with a branch that cannot be predicted or
// without.
const countProgram = `
static unsigned values[4096];
__attribute__((noinline)) static unsigned below(unsigned limit) {
	unsigned count = 0;
	for (unsigned i = 0; i < 4096; i++) {
#ifdef BRANCHLESS
		count += values[i] < limit;
#else
		if (values[i] < limit) { // the branch
			count++;
			__asm__ volatile("");
		}
#endif
	}
	return count;
}
int main(void) {
	unsigned random = 1, sum = 0;
	for (unsigned i = 0; i < 4096; i++) {
		random = random * 1103515245 + 12345;
		values[i] = random >> 16;
	}
	for (unsigned i = 0; i < 20; i++)
		sum += below(32768 + i);
	return sum == 0;
}
`

// tool runs a program, without its environment. The test is skipped without it.
func tool(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

// runProfdiff returns the standard output of profdiff.
func runProfdiff(t *testing.T, args ...string) string {
	t.Helper()
	var out, stderr bytes.Buffer
	if code := execute(context.Background(), args, strings.NewReader(""), &out, &stderr); code != exitOK {
		t.Fatalf("profdiff %s: exit code %d: %s", strings.Join(args, " "), code, stderr.String())
	}
	return out.String()
}

// TestBranchesValgrind runs a program of our own in Callgrind, with a branch and without:
// the totals are what callgrind_annotate prints, the branch that costs most is named by
// its line, a second run gives the same bytes, and after the change the branch is gone.
func TestBranchesValgrind(t *testing.T) {
	if testing.Short() {
		t.Skip("runs valgrind several times")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "count.c"), []byte(countProgram), 0o666); err != nil {
		t.Fatal(err)
	}
	record := func(name, program string) string {
		file := name + ".out"
		tool(t, dir, "valgrind", "-q", "--tool=callgrind", "--branch-sim=yes", "--dump-instr=yes", "--collect-jumps=yes", "--callgrind-out-file="+file, "./"+program)
		return file
	}
	for _, side := range []string{"before", "after"} {
		if err := os.Mkdir(filepath.Join(dir, side), 0o777); err != nil {
			t.Fatal(err)
		}
		args := []string{"-g", "-O1", "-fno-unroll-loops", "-o", side + "/count", "count.c"}
		if side == "after" {
			args = append([]string{"-DBRANCHLESS"}, args...)
		}
		tool(t, dir, "gcc", args...)
		record(side, side+"/count")
		record(side+"2", side+"/count")
	}
	t.Chdir(dir)

	totals := regexp.MustCompile(`(?m)^(.*)PROGRAM TOTALS$`)
	for _, side := range []string{"before", "after"} {
		m := totals.FindStringSubmatch(tool(t, dir, "callgrind_annotate", "--auto=no", side+".out"))
		if m == nil {
			t.Fatal("callgrind_annotate prints no totals")
		}
		var want []float64
		for _, field := range regexp.MustCompile(`\([^)]*\)`).Split(m[1], -1) {
			if field = strings.ReplaceAll(strings.TrimSpace(field), ",", ""); field != "" {
				var n float64
				if err := json.Unmarshal([]byte(field), &n); err != nil {
					t.Fatal(err)
				}
				want = append(want, n)
			}
		}
		var doc branches.Document
		if err := json.Unmarshal([]byte(runProfdiff(t, "branches", side+".out", "--all", "--format", "json")), &doc); err != nil {
			t.Fatal(err)
		}
		if len(want) != len(doc.Events) {
			t.Fatalf("%s: %d totals, %d events", side, len(want), len(doc.Events))
		}
		for i, e := range doc.Events {
			if e.Weight+e.Unplaced != want[i] {
				t.Errorf("%s: %s %v, callgrind_annotate has %v", side, e.Name, e.Weight+e.Unplaced, want[i])
			}
		}
		var misses float64
		for _, b := range doc.Branches {
			misses += *b.Misses
		}
		if misses != doc.Events[2].Weight+doc.Events[4].Weight {
			t.Errorf("%s: branches have %v misses of %v and %v", side, misses, doc.Events[2].Weight, doc.Events[4].Weight)
		}
		if b := doc.Branches[0]; side == "before" && (b.Function != "below" || b.Line != lineOf(countProgram, "// the branch") || filepath.Base(b.File) != "count.c" || *b.Misses < 20000 || b.Kind != "conditional") {
			t.Errorf("most misses are those of %s line %d: %v", b.Function, b.Line, *b.Misses)
		}
	}

	diff := func(base, head string, flags ...string) string {
		return runProfdiff(t, append([]string{"branches", base, head}, flags...)...)
	}
	for _, flags := range [][]string{{}, {"--symfs", "/"}, {"--format", "json"}} {
		first := diff("before.out", "after.out", flags...)
		for _, name := range []string{"before", "after"} {
			if err := os.Rename(name+".out", name+"1.out"); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(name+"2.out", name+".out"); err != nil {
				t.Fatal(err)
			}
		}
		if second := diff("before.out", "after.out", flags...); first != second {
			t.Errorf("%v: a second run gives\n%sand not\n%s", flags, second, first)
		}
		for _, name := range []string{"before", "after"} {
			if err := os.Rename(name+".out", name+"2.out"); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(name+"1.out", name+".out"); err != nil {
				t.Fatal(err)
			}
		}
	}

	var doc branches.DiffDocument
	if err := json.Unmarshal([]byte(diff("before.out", "after.out", "--symfs", "/", "--format", "json")), &doc); err != nil {
		t.Fatal(err)
	}
	if b := doc.Branches[0]; b.Verdict != "removed" || b.Head != nil || b.Base == nil || b.Base.Line != lineOf(countProgram, "// the branch") ||
		b.Function == nil || b.Function.Name != "below" || b.Function.BaseBranches != 2 || b.Function.HeadBranches != 1 {
		t.Errorf("the branch is %s: %+v, function %+v", b.Verdict, b.Base, b.Function)
	}
	if r := doc.Branches[0].ReplacedBy; r == nil || r.By == "" || r.HeadInstructions <= r.BaseInstructions {
		t.Errorf("the branch is replaced by %+v", r)
	}
	loop := false
	for _, b := range doc.Branches {
		if b.Base != nil && b.Base.Function == "below" && b.Head != nil {
			// The simulator mixes the history of all branches into each.
			loop = b.Match != "" && b.Base.Line == b.Head.Line && b.Head.NMisses < 100 && b.Base.N == b.Head.N
		}
	}
	if !loop {
		t.Error("the end of the loop is not the same branch")
	}
	if text := diff("before.out", "after.out"); !regexp.MustCompile(`gone .* gone .* below \(count\.c:9\)`).MatchString(text) {
		t.Errorf("the branch is not said to be removed:\n%s", text)
	}

	// What is told before the change is what the change did.
	advice := runProfdiff(t, "branches", "before.out", "--symfs", "/", "--limit", "1")
	if !strings.Contains(advice, " below (count.c:9): if-convert\n") || strings.Contains(advice, "the code is not there") {
		t.Errorf("no advice to do without the branch:\n%s", advice)
	}
}

// lineOf is the number of the line that has a comment.
func lineOf(program, comment string) int64 {
	before, _, _ := strings.Cut(program, comment)
	return int64(strings.Count(before, "\n")) + 1
}
