package objfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDiscriminators compares discriminators of lines and of inlined calls with what
// llvm-dwarfdump prints, also of a separate debug file.
func TestDiscriminators(t *testing.T) {
	for _, tool := range []string{"clang", "llvm-dwarfdump", "objcopy"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	const text = `
static inline int half(int n) { int s = 0; for (int i = 0; i < n; i++) if (i & n) s += i; else if (i ^ 5) s -= n; return s; }
int twice(int n, int m) { if (n > 7) return half(n) + half(m) * half(n + m); return half(m); }
int main(int n, char **v) { int s = twice(n, 3); for (int i = 0; i < n; i++) if (v[i][0] == 'a') s += i; else if (v[i][1]) s -= n; return s; }
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "clang", "-O2", "-g", "-fdebug-info-for-profiling", "-o", program, source)
	out := run(t, dir, "llvm-dwarfdump", "--debug-line", program)
	type place struct {
		line          int
		discriminator uint32
	}
	want := make(map[uint64]place)
	for _, row := range regexp.MustCompile(`(?m)^0x([0-9a-f]{16}) +(\d+) +\d+ +\d+ +\d+ +(\d+)( .*)$`).FindAllStringSubmatch(out, -1) {
		addr, err := strconv.ParseUint(row[1], 16, 64)
		line, errLine := strconv.Atoi(row[2])
		n, errN := strconv.ParseUint(row[3], 10, 32)
		if err != nil || errLine != nil || errN != nil {
			t.Fatal(row)
		}
		want[addr] = place{line, uint32(n)}
		if strings.Contains(row[4], "end_sequence") {
			delete(want, addr)
		}
	}
	f := open(t, program)
	some := 0
	for addr, w := range want {
		frames := lines(t, f).Frames(addr)
		if w.discriminator > 0 {
			some++
		}
		if w.line > 0 && (len(frames) == 0 || frames[0].Discriminator != w.discriminator) {
			t.Errorf("%#x: %+v, want %+v", addr, frames, w)
		}
	}
	if some < 2 {
		t.Errorf("%d of %d rows have discriminators", some, len(want))
	}
	// Calls that were inlined, by the address where their code starts.
	out = run(t, dir, "llvm-dwarfdump", "--debug-info", program)
	calls := make(map[uint32]int)
	for _, m := range regexp.MustCompile(`DW_AT_GNU_discriminator\s*\((?:0x)?([0-9a-f]+)\)`).FindAllStringSubmatch(out, -1) {
		n, err := strconv.ParseUint(m[1], 16, 32)
		if err != nil {
			t.Fatal(m)
		}
		calls[uint32(n)]++
	}
	if len(calls) == 0 {
		t.Fatal("no call has a discriminator")
	}
	seen := make(map[uint32]bool)
	for addr := range want {
		for _, frame := range lines(t, f).Frames(addr) {
			if frame.Discriminator != 0 && calls[frame.Discriminator] > 0 && frame.Name != "half" {
				seen[frame.Discriminator] = true
			}
		}
	}
	if len(seen) != len(calls) {
		t.Errorf("calls have the discriminators %v, of %v", seen, calls)
	}
	debug := filepath.Join(dir, "a.debug")
	run(t, dir, "objcopy", "--only-keep-debug", program, debug)
	for addr := range want {
		if diff := cmp.Diff(lines(t, f).Frames(addr), lines(t, open(t, debug)).Frames(addr)); diff != "" {
			t.Fatalf("%#x: in the separate file: %s", addr, diff)
		}
	}
}
