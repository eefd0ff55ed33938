// Package branchtest has what tests of several packages of branches need: recordings,
// programs that are built for a test, and what holds for every table.
package branchtest

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/llvm"
	"profdiff/internal/objfile"
)

// AddressOf is the address of a symbol, 0 if there is none.
func AddressOf(symbols *objfile.SymbolTable, name string) uint64 {
	for s := range symbols.All() {
		if s.Name == name {
			return s.Addr
		}
	}
	return 0
}

// tool skips the test if a program is not installed.
func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(name + " is not installed")
	}
	return path
}

// RunIn runs a tool in a directory. The test is skipped where it is not installed.
func RunIn(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(tool(t, name), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// ArmPrograms builds armSource as Thumb and as A32 code, with the compilers there are.
func ArmPrograms(t *testing.T) map[string]string {
	t.Helper()
	if _, err := llvm.Find(context.Background(), ""); err != nil {
		t.Skipf("llvm-objdump is not installed: %v", err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, []byte(armSource), 0o666); err != nil {
		t.Fatal(err)
	}
	programs := make(map[string]string)
	for _, mode := range []string{"-mthumb", "-marm"} {
		if cc, err := exec.LookPath("arm-linux-gnueabihf-gcc"); err == nil {
			out := filepath.Join(dir, "gcc"+mode)
			RunIn(t, dir, cc, "-O2", "-g", mode, "-nostdlib", "-static", "-Wl,--build-id=sha1", "-o", out, source)
			programs["gcc "+mode] = out
		}
		_, errLD := exec.LookPath("ld.lld")
		if cc, err := exec.LookPath("clang"); err == nil && errLD == nil {
			object, out := filepath.Join(dir, "clang"+mode+".o"), filepath.Join(dir, "clang"+mode)
			RunIn(t, dir, cc, "--target=armv7-linux-gnueabihf", "-O2", "-g", mode, "-c", "-o", object, source)
			RunIn(t, dir, "ld.lld", "--build-id=sha1", "-o", out, object)
			programs["clang "+mode] = out
		}
	}
	if len(programs) == 0 {
		t.Skip("arm-linux-gnueabihf-gcc is not installed, nor clang with ld.lld")
	}
	return programs
}

// MustLLVM finds the tools of LLVM. The test is skipped where they are not installed.
func MustLLVM(t *testing.T) *llvm.Toolchain {
	t.Helper()
	tools, err := llvm.Find(context.Background(), "")
	if err != nil {
		t.Skip(err)
	}
	return tools
}

// RunTool returns what a tool prints. The test is skipped where it is not installed.
func RunTool(t *testing.T, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

const recordings = "../../../../shared/perfdata"

// Recording returns the path of a recording, or skips the test.
func Recording(t testing.TB, name string) string {
	t.Helper()
	file := filepath.Join(recordings, name)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recordings in ../shared/perfdata are not here")
	}
	return file
}

// PickSource has a function with one conditional branch that is no loop.
const PickSource = `
int sink;
__attribute__((noinline)) int pick(int *p, int n) {
	int sum = 0;
	for (int i = 0; i < n; i++) {
		if (p[i] & 1) { sink += p[i]; __asm__ volatile(""); }
		sum += p[i];
	}
	return sum;
}
`

// armSource has a branch on data, a table of jumps, and what compilers put into IT
// blocks.
const armSource = PickSource + `
__attribute__((noinline)) int kinds(unsigned k, int *p) {
	switch (k) {
	case 0: return p[1];
	case 1: return p[0] * 3;
	case 2: p[3]++; return 7;
	case 3: return pick(p, 4);
	case 4: p[2] = pick(p, 3); return 1;
	case 5: return p[8] + p[9];
	case 6: return 99;
	case 7: p[0] = 0; return 12;
	}
	return 0;
}
__attribute__((noinline)) int early(int *p) {
	if (!p) return 1;
	if (p[0] == 3) return 2;
	sink = p[1];
	return p[2];
}
int _start(void) {
	static int values[64];
	int n = 0;
	for (int i = 0; i < 100; i++) { n += pick(values, i & 63); n += kinds(i & 7, values); n += early(values + i % 3); }
	return n;
}
`

// Stored is an APK with a library that is mapped straight out of it.
func Stored(t testing.TB, entry string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if _, err := z.Create("classes.dex"); err != nil {
		t.Fatal(err)
	}
	w, err := z.CreateHeader(&zip.FileHeader{Name: entry, Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
