package diff

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/shape"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/verdict"
)

// replacedProgram has a branch that becomes a conditional move, in a function that keeps
// other branches or none.
const replacedProgram = `
#define BARRIER __asm__ volatile("")
__attribute__((noinline)) int choose(const int *in, int n, int limit) {
	int sum = 0;
	for (int i = 0; i < n; i++) {
		int v = in[i];
#ifdef BRANCHLESS
		int w = v > limit ? limit : v * 3;
		__asm__ volatile("" : "+r"(w));
#else
		int w = v * 3;
		if (v > limit) { BARRIER; w = limit; BARRIER; }
		__asm__ volatile("" : "+r"(w));
#endif
		sum ^= w;
	}
	return sum;
}
__attribute__((noinline)) int larger(int a, int b) {
#ifdef BRANCHLESS
	return a > b ? a * 3 : b;
#else
	int r = b;
	if (a > b) { BARRIER; r = a * 3; BARRIER; }
	return r;
#endif
}
int main(int argc, char **argv) { int in[4] = {argc, 2, 3, 4}; return choose(in, 4, argc) + larger(argc, 7); }
`

// TestDiffReplaced finds what compilers made of branches that are gone.
func TestDiffReplaced(t *testing.T) {
	for _, cc := range []string{"gcc", "aarch64-linux-gnu-gcc", "clang"} {
		t.Run(cc, func(t *testing.T) {
			dir := t.TempDir()
			source := filepath.Join(dir, "a.c")
			if err := os.WriteFile(source, []byte(replacedProgram), 0o666); err != nil {
				t.Fatal(err)
			}
			var sides [2][]branch.Branch
			for i, side := range []string{"before", "after"} {
				program := filepath.Join(dir, side, "program")
				if err := os.Mkdir(filepath.Dir(program), 0o777); err != nil {
					t.Fatal(err)
				}
				args := []string{"-g", "-O2", "-fno-tree-vectorize", "-shared", "-nostdlib", "-fPIC", "-o", program, source}
				if i == 1 {
					args = append([]string{"-DBRANCHLESS"}, args...)
				}
				runIn(t, dir, cc, args...)
				for _, function := range []string{"choose", "larger"} {
					list, lines := branchesOf(t, program, "/"+side+"/program", function)
					for j := range list {
						list[j].Line, list[j].File = lines[list[j].Address], "a.c"
					}
					sides[i] = append(sides[i], list...)
				}
			}
			d, err := Compare([]*branch.Table{simulatedTableOf(sides[0]...)}, []*branch.Table{simulatedTableOf(sides[1]...)}, Options{Objects: objectstest.Dir(dir)})
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]*Replacement)
			for i := range d.Branches {
				if b := &d.Branches[i]; b.Misses.Verdict == verdict.Removed && b.ReplacedBy != nil {
					got[b.Base.Branch.Function] = b.ReplacedBy
				} else if b.ReplacedBy != nil {
					t.Errorf("%s is %s, and replaced by %v", b.Base.Branch.Function, b.Misses.Verdict, b.ReplacedBy)
				}
			}
			r := got["choose"]
			if r == nil || r.Head <= r.Base {
				t.Fatalf("choose: %+v", r)
			}
			// clang puts the conditional move elsewhere in the loop.
			if cc != "clang" && (r.By != shape.ConditionalMove || filepath.Base(r.File) != "a.c" || !strings.Contains(r.String(), "now a conditional move (0x")) {
				t.Errorf("choose: %+v", r)
			}
			// Nothing of larger is left in the table of head.
			if r := got["larger"]; r == nil || r.Head <= r.Base {
				t.Errorf("larger: %+v", r)
			}
		})
	}
}
