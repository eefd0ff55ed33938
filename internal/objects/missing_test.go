package objects_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/debuginfod"
	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
)

// noServer is a debuginfod that has nothing.
type noServer struct{}

func (noServer) Find(debuginfod.Kind, string, string) (string, error) {
	return "", debuginfod.ErrNotFound
}

// TestMissing asks why files have no names.
func TestMissing(t *testing.T) {
	if _, err := exec.LookPath("objcopy"); err != nil {
		t.Skip("objcopy is not installed")
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	write := func(name string, data []byte) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("whole", objectstest.ReadFile(t, heapBinary).Data)
	if out, err := exec.Command("objcopy", "--strip-all", filepath.Join(root, "whole"), filepath.Join(dir, "stripped")).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v: %s", err, out)
	}
	stripped := objectstest.ReadFile(t, filepath.Join(dir, "stripped")).Data
	for _, name := range []string{"usr/bin/packaged", "usr/lib/libc.so.6", "opt/stripped"} {
		write(name, stripped)
	}
	write("other", objectstest.ReadFile(t, otherBinary).Data)
	write("var/lib/dpkg/info/heap:arm64.list", []byte("/.\n/usr\n/usr/bin/packaged\n"))
	write("var/lib/dpkg/info/later.list", []byte("/.\n/usr/bin/packaged\n"))
	write("var/lib/dpkg/info/libc6:amd64.list", []byte("/lib/libc.so.6"))

	const folder, ask = "--symfs DIR names a folder with the recorded files", "set DEBUGINFOD_URLS=https://debuginfod.elfutils.org"
	for _, test := range []struct {
		path, id           string
		fetcher            objects.Fetcher
		why, install, help string
	}{
		{"/whole", heapID, nil, "it has none at these addresses", "", ""},
		{"/usr/bin/packaged", heapID, nil, "stripped, without a debug file under /usr/lib/debug", "heap-dbgsym", ask},
		{"/usr/lib/libc.so.6", heapID, nil, "stripped, without a debug file under /usr/lib/debug", "libc6-dbg", ask},
		{"/usr/bin/packaged", heapID, noServer{}, "stripped, and neither is its debug file here nor has debuginfod it", "", folder},
		{"/opt/stripped", heapID, nil, "stripped, without a debug file", "", folder + ", or " + ask},
		{"/other", heapID, nil, "ROOT/other is of another build", "", folder},
		{"/gone", heapID, nil, "not at ROOT/gone, ROOT/usr/lib/debug", "", folder},
		{"/usr/bin/gone", heapID, nil, "not at ROOT/usr/bin/gone, ROOT/usr/lib/debug", "", folder + ", or " + ask},
		{"/usr/bin/gone", heapID, noServer{}, "not at ROOT/usr/bin/gone, ROOT/usr/lib/debug, debuginfod", "", folder},
	} {
		machine := objects.ThisMachine(func(name string) string { return map[string]string{"PROFDIFF_SYSROOT": root}[name] })
		s := objects.New(objects.Options{Machine: machine, Fetcher: test.fetcher})
		why, install, help := s.Missing(objects.Recorded{Path: test.path, BuildID: test.id})
		if why = strings.ReplaceAll(why, root, "ROOT"); why != test.why || install != test.install || help != test.help {
			t.Errorf("%s: got %q, %q, %q, want %q, %q, %q", test.path, why, install, help, test.why, test.install, test.help)
		}
	}
}

// TestSplit finds debug information that the compiler split off.
func TestSplit(t *testing.T) {
	compile := func(dir, flag string) {
		t.Helper()
		if _, err := exec.LookPath("gcc"); err != nil {
			t.Skip("gcc is not installed")
		}
		source := filepath.Join(dir, "p.c")
		if err := os.WriteFile(source, []byte("static int inlined(int n) { return n * 7 + 1; }\nint main(int n, char **v) { return inlined(n); }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"-g", "-O2", "-gsplit-dwarf", flag, "-c", "p.c"}, {"-Wl,--build-id", "-o", "p", "p.o"}} {
			cmd := exec.Command("gcc", args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("gcc: %v: %s", err, out)
			}
		}
	}
	built, other := t.TempDir(), t.TempDir()
	compile(built, "-DA")
	compile(other, "-DB")
	rename := func(t *testing.T, from, to string) {
		t.Helper()
		data, err := os.ReadFile(from)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, data, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name string
		from string // of the .dwo file
		to   string // below the search path, "" for nowhere
		want bool
	}{
		{"where the compiler ran", built, built + "/p.dwo", true},
		{"beside the program", built, "bin/p.dwo", true},
		{"as a package", built, "bin/p.dwp", true},
		{"nowhere", built, "", false},
		{"of another build", other, "bin/p.dwo", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			rename(t, filepath.Join(built, "p"), filepath.Join(dir, "bin/p"))
			if test.to != "" {
				rename(t, filepath.Join(test.from, "p.dwo"), filepath.Join(dir, test.to))
			}
			s := objectstest.Dir(dir)
			o, err := s.Names(objects.Recorded{Path: "/bin/p"})
			if err != nil {
				t.Fatal(err)
			}
			main, ok := uint64(0), false
			for y := range o.Symbols().All() {
				if y.Name == "main" {
					main, ok = y.Addr, true
				}
			}
			if !ok {
				t.Fatal("no main")
			}
			inlined := false
			for at := main; at < main+16; at++ {
				for _, f := range o.Lines().Frames(at) {
					inlined = inlined || f.Name == "inlined"
				}
			}
			all := strings.Join(s.Warnings(), "\n")
			if inlined != test.want || strings.Contains(all, "inlined calls are missing: the compiler put them into "+built+"/p.dwo") == test.want {
				t.Errorf("inlined %v, warnings %q", inlined, all)
			}
		})
	}
}
