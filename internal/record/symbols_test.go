package record

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/objfile"
	"profdiff/internal/perffile/perffiletest"
)

const (
	heapProgram = "../../profiles/message-heap/symbols/data/local/tmp/message-heap/before/message-heap"
	heapID      = "128cc5d6793eb04ee6c21e4bef13754f9687420e"
)

// stripped puts a program without symbols into a folder, and what was split off it beside it.
func stripped(t *testing.T) (program, debug string) {
	t.Helper()
	if _, err := exec.LookPath("objcopy"); err != nil {
		t.Skip("objcopy is not installed")
	}
	dir := t.TempDir()
	program, debug = filepath.Join(dir, "heap"), filepath.Join(dir, ".debug", "heap.debug")
	if err := os.Mkdir(filepath.Dir(debug), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--only-keep-debug", heapProgram, debug},
		{"--strip-all", "--add-gnu-debuglink=" + debug, heapProgram, program},
	} {
		if text, err := exec.Command("objcopy", args...).CombinedOutput(); err != nil {
			t.Fatalf("objcopy: %v: %s", err, text)
		}
	}
	return program, debug
}

// functions counts the functions that a kept file names, -1 if there is none.
func functions(t *testing.T, name string) int {
	t.Helper()
	f, err := openObject(name, "", MaxObject)
	if err != nil {
		return -1
	}
	defer f.close()
	list, err := f.Symbols()
	if errors.Is(err, objfile.ErrNotFound) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for s := range list.All() {
		if !strings.HasSuffix(s.Name, "@plt") { // which are of the code
			n++
		}
	}
	return n
}

// TestKeep: a stripped file is kept with the symbols that were split off it.
func TestKeep(t *testing.T) {
	program, debug := stripped(t)
	kept := filepath.Join(SymbolsName, ".build-id", heapID[:2], heapID[2:])
	all := functions(t, heapProgram)
	for _, test := range []struct {
		name    string
		prepare func() error
		elf     func(functions int) bool
		debug   int
		note    string
	}{
		{"with its debug file", func() error { return nil }, func(n int) bool { return n >= 0 && n < all/2 }, all, ""},
		{"of which there is none", func() error { return os.Remove(debug) }, func(n int) bool { return n >= 0 && n < all/2 }, -1, ""},
		{"where a FIFO has its name", func() error { return syscall.Mkfifo(debug, 0o666) }, func(n int) bool { return n >= 0 && n < all/2 }, -1, ""},
		{"where another build has its name", func() error {
			return errors.Join(os.Remove(debug), copyFile(strings.Replace(heapProgram, "before", "after", 1), debug))
		}, func(n int) bool { return n >= 0 && n < all/2 }, -1, ""},
		{"where it is very large", func() error { return os.Truncate(debug, MaxDebug+1) }, func(n int) bool { return n >= 0 && n < all/2 }, -1, program + ": " + debug + " is not kept: it is larger than 256 MB"},
		{"with symbols of its own", func() error { return copyFile(heapProgram, program) }, func(n int) bool { return n == all }, -1, ""},
		{"built anew meanwhile", func() error { return copyFile(strings.Replace(heapProgram, "before", "after", 1), program) }, func(n int) bool { return n == -1 }, -1, program + ": is not kept: its build ID is "},
		{"removed meanwhile", func() error { return os.Remove(program) }, func(n int) bool { return n == -1 }, -1, program + ": is not kept: "},
		{"a FIFO by now", func() error { return syscall.Mkfifo(program, 0o666) }, func(n int) bool { return n == -1 }, -1, program + ": is not kept: it is no regular file"},
	} {
		if err := test.prepare(); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		var b Perf
		objects := []Object{{program, heapID}}
		notes, err := b.keepObjects(dir, objects)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(notes, "; "); !strings.HasPrefix(got, test.note) || test.note == "" && got != "" {
			t.Errorf("%s: notes %q, want %q", test.name, got, test.note)
		}
		if n := functions(t, filepath.Join(dir, kept, "elf")); !test.elf(n) {
			t.Errorf("%s: the file has %d functions of %d", test.name, n, all)
		}
		if n := functions(t, filepath.Join(dir, kept+".debug")); n != test.debug {
			t.Errorf("%s: the debug file has %d functions, want %d", test.name, n, test.debug)
		}
		if notes, err := b.keepObjects(dir, objects); err != nil || len(notes) > 0 {
			t.Errorf("%s: again: %q, %v", test.name, notes, err)
		}
	}
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

// TestSampled: what samples and their callers are in, and nothing else that was mapped.
func TestSampled(t *testing.T) {
	const (
		chains = "header\nattr type=software config=0 sample_period=1 sample_type=IP|TID|TIME|CALLCHAIN flags=sample_id_all\n"
		maps   = `MMAP2 misc=USER pid=10 tid=10 start=0x1000 len=0x1000 prot=EXEC filename="/bin/app" sample_id={pid=10,tid=10,time=1}
MMAP2 misc=USER pid=10 tid=10 start=0x3000 len=0x1000 prot=EXEC filename="/lib/caller.so" sample_id={pid=10,tid=10,time=2}
MMAP2 misc=USER pid=10 tid=10 start=0x5000 len=0x1000 prot=EXEC filename="/lib/unused.so" sample_id={pid=10,tid=10,time=3}
`
	)
	objects := []Object{{"/bin/app", "aa01"}, {"/lib/caller.so", "aa02"}, {"/lib/unused.so", "aa03"}}
	name := filepath.Join(t.TempDir(), "perf.data")
	data := perffiletest.Fixture(t, chains+maps+`MMAP2 misc=USER pid=11 tid=11 start=0x7000 len=0x1000 prot=EXEC filename="//anon" sample_id={pid=11,tid=11,time=4}
MMAP2 misc=USER pid=12 tid=12 start=0x9000 len=0x1000 prot=EXEC filename="/home/u/.debug/jit/jit-12.dump" sample_id={pid=12,tid=12,time=4}
MMAP2 misc=USER pid=10 tid=10 start=0xb000 len=0x1000 prot=EXEC filename="/home/u/jit-10.dump" sample_id={pid=10,tid=10,time=4}
MMAP2 misc=USER pid=11 tid=11 start=0xd000 len=0x1000 prot=EXEC filename="/home/u/jit-11.dump" sample_id={pid=11,tid=11,time=4}
SAMPLE misc=USER ip=0x1010 pid=10 tid=10 time=5 ips=[PERF_CONTEXT_USER,0x1010,0x3011]
SAMPLE misc=USER ip=0x7010 pid=11 tid=11 time=6 ips=[PERF_CONTEXT_USER,0x7010]
SAMPLE misc=USER ip=0x9010 pid=12 tid=12 time=7 ips=[PERF_CONTEXT_USER,0x9010]
`)
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	got, names, err := sampled(name, objects)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(objects[:2], got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/home/u/.debug/jit/jit-12.dump", "/home/u/jit-11.dump", "/tmp/perf-11.map"}, names); diff != "" {
		t.Errorf("files of names (-want +got):\n%s", diff)
	}
}
