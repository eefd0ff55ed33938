package objfile

import (
	"debug/elf"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var stubLine = regexp.MustCompile(`(?m)^([0-9a-f]+) <(.*@plt)>:$`)

// objdumpStubs are the stubs that objdump finds, by address.
func objdumpStubs(t *testing.T, objdump, path string) map[uint64]string {
	args := []string{"-d", path}
	for _, s := range pltSections {
		args = append(args, "-j", s)
	}
	out, _ := exec.Command(objdump, args...).Output() // fails if a section is not there
	stubs := make(map[uint64]string)
	for _, m := range stubLine.FindAllStringSubmatch(string(out), -1) {
		addr, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		stubs[addr] = m[2]
	}
	return stubs
}

// ownStubs are the stubs that Symbols finds, by address.
func ownStubs(t *testing.T, f *File) map[uint64]string {
	table, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	stubs := make(map[uint64]string)
	for s := range table.All() {
		if strings.HasSuffix(s.Name, "@plt") && s.Name != "@plt" {
			stubs[s.Addr] = s.Name
		}
	}
	return stubs
}

// explain leaves out where objdump is known to differ: it takes relocations of thread-local
// storage in the table of AArch64 (TLSDESC) for stubs at its end, and has none of what only
// chooses functions (IRELATIVE) in static programs and on Arm, and elsewhere no name of it.
func explain(t *testing.T, path string, want, got map[uint64]string) {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s := f.Section(".rela.plt"); s != nil && f.Machine == elf.EM_AARCH64 {
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for ; len(data) >= 24; data = data[24:] {
			if elf.R_AARCH64(f.ByteOrder.Uint32(data[8:])) == elf.R_AARCH64_TLSDESC {
				if last := slices.Max(slices.Collect(maps.Keys(want))); got[last] == "" {
					delete(want, last)
				}
			}
		}
	}
	maps.DeleteFunc(want, func(addr uint64, name string) bool {
		if got[addr] == "" || !strings.HasPrefix(name, "*ABS*+") {
			return false
		}
		delete(got, addr)
		return true
	})
	if f.Section(".interp") == nil || f.Machine == elf.EM_ARM {
		maps.DeleteFunc(got, func(addr uint64, _ string) bool { return want[addr] == "" })
	}
}

var longMode = flag.Bool("long", false, "look at all programs and libraries of this machine")

// TestStubsOfSystem compares the stubs of the libraries of compilers, and with -long of all
// programs and libraries of this machine, with objdump's.
func TestStubsOfSystem(t *testing.T) {
	for _, of := range []struct {
		compiler, objdump, arch string
		patterns                []string // with -long
	}{
		{"gcc", "objdump", "x86_64", []string{"/usr/bin/*", "/usr/sbin/*", "/usr/lib/x86_64-linux-gnu/*.so*", "/usr/lib/x86_64-linux-gnu/*/*.so*", "/usr/lib/*/*.so"}},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", "aarch64", []string{"/usr/aarch64-linux-gnu/lib/*.so*"}},
		{"arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf-objdump", "arm", []string{"/usr/arm-linux-gnueabihf/lib/*.so*"}},
	} {
		t.Run(of.objdump, func(t *testing.T) {
			var paths []string
			for _, name := range []string{"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"} {
				paths = append(paths, strings.TrimSpace(run(t, "", of.compiler, "-print-file-name="+name)))
			}
			if *longMode {
				for _, pattern := range of.patterns {
					more, err := filepath.Glob(pattern)
					if err != nil {
						t.Fatal(err)
					}
					paths = append(paths, more...)
				}
			}
			files, stubs := 0, 0
			for _, path := range paths {
				// What a compiler does not have it returns without a directory.
				if info, err := os.Stat(path); err != nil || !filepath.IsAbs(path) || !info.Mode().IsRegular() {
					continue
				}
				f, err := Open(path)
				if err != nil {
					continue // no ELF file
				}
				if _, err := f.Symbols(); err == nil && f.Arch() == of.arch {
					want := objdumpStubs(t, of.objdump, path)
					got := ownStubs(t, f)
					explain(t, path, want, got)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s: stubs (-objdump +got):\n%s", path, diff)
					}
					files++
					stubs += len(want)
				}
				f.Close()
			}
			if files == 0 {
				t.Skipf("libraries of %s are not installed", of.compiler)
			}
			t.Logf("%d files, %d stubs", files, stubs)
		})
	}
}

// TestStubsOfLinkers compares the stubs that linkers make for protected and other code with
// objdump's.
func TestStubsOfLinkers(t *testing.T) {
	const source = `
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void free(void *);
int puts(const char *);
size_t strlen(const char *);
int main(int n, char **v) {
	void *volatile p = malloc(n);
	int (*volatile f)(const char *) = puts;
	f(v[0]);
	free(p);
	return (int)strlen(v[0]);
}`
	for _, test := range []struct {
		compiler, objdump string
		flags             []string
	}{
		{"gcc", "objdump", nil},
		{"gcc", "objdump", []string{"-Wl,-z,lazy"}},
		{"gcc", "objdump", []string{"-fcf-protection", "-Wl,-z,ibtplt"}},
		{"gcc", "objdump", []string{"-fcf-protection", "-Wl,-z,ibtplt,-z,now"}},
		{"gcc", "objdump", []string{"-no-pie"}},
		{"gcc", "objdump", []string{"-static"}},
		{"gcc", "objdump", []string{"-fuse-ld=gold"}},
		{"gcc", "objdump", []string{"-fuse-ld=lld"}},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", nil},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", []string{"-Wl,-z,force-bti"}},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", []string{"-Wl,-z,pac-plt"}},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", []string{"-Wl,-z,force-bti,-z,pac-plt"}},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", []string{"-Wl,-z,force-bti,-z,now"}},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", []string{"-fuse-ld=lld", "-Wl,-z,force-bti,-z,pac-plt"}},
		{"arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf-objdump", nil},
		{"arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf-objdump", []string{"-mthumb", "-Wl,-z,now"}},
		{"arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf-objdump", []string{"-Wl,--long-plt"}},
	} {
		t.Run(strings.Join(append([]string{test.compiler}, test.flags...), " "), func(t *testing.T) {
			for _, tool := range []string{test.compiler, test.objdump} {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skipf("%s is not installed", tool)
				}
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "p")
			if err := os.WriteFile(path+".c", []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"-O1", "-o", path, path + ".c"}, test.flags...)
			if test.compiler != "gcc" { // there may be no C library
				args = append(args, "-shared", "-fPIC", "-nostdlib")
			}
			if out, err := exec.Command(test.compiler, args...).CombinedOutput(); err != nil {
				t.Skipf("%s %q: %s", test.compiler, args, out)
			}
			want, got := objdumpStubs(t, test.objdump, path), ownStubs(t, open(t, path))
			explain(t, path, want, got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("stubs (-objdump +got):\n%s", diff)
			}
			if len(want) == 0 && !slices.Contains(test.flags, "-static") {
				t.Error("no stubs")
			}
		})
	}
}
