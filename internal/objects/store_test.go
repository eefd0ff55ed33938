package objects_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/fstest"

	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
)

// The binary of a case study, with symbols and debug information.
const (
	heapBinary  = "../../profiles/message-heap/symbols/data/local/tmp/message-heap/before/message-heap"
	otherBinary = "../../profiles/message-heap/symbols/data/local/tmp/message-heap/after/message-heap"
	heapID      = "128cc5d6793eb04ee6c21e4bef13754f9687420e"
	heapPath    = "/data/local/tmp/message-heap/before/message-heap"
)

// TestFind finds files with code, where those with symbols alone are no help.
func TestFind(t *testing.T) {
	heap, other := objectstest.ReadFile(t, heapBinary), objectstest.ReadFile(t, otherBinary)
	archive := objectstest.APK(t, "lib/libx.so", heap.Data)
	start := uint64(bytes.Index(archive.Data, heap.Data[:64]))
	id := func(suffix string) string { return ".build-id/" + heapID[:2] + "/" + heapID[2:] + suffix }
	debug := debugOf(t, heap.Data)
	for _, test := range []struct {
		name     string
		files    fstest.MapFS
		path, id string
		off      uint64
		found    string
		base     uint64
		entry    string
		err      error
	}{
		{"by its path", fstest.MapFS{heapPath[1:]: heap}, heapPath, heapID, 0, "symfs0" + heapPath, 0, "", nil},
		{"the code, not the symbols", fstest.MapFS{id(".debug"): debug, "x": heap}, heapPath, heapID, 0, "symfs0/x", 0, "", nil},
		{"the symbols alone", fstest.MapFS{id(".debug"): debug}, heapPath, heapID, 0, "", 0, "", objects.ErrNoFile},
		{"another build", fstest.MapFS{heapPath[1:]: other}, heapPath, heapID, 0, "", 0, "", objects.ErrOtherBuild},
		{"nothing", fstest.MapFS{}, heapPath, heapID, 0, "", 0, "", objects.ErrNoFile},
		{"in an archive", fstest.MapFS{"base.apk": archive}, "/data/base.apk", "", start + 0x1000, "symfs0/base.apk", start, "lib/libx.so", nil},
		{"no code in an archive", fstest.MapFS{"base.apk": archive}, "/data/base.apk", "", 0, "", 0, "", objects.ErrNoFile},
		{"in an archive, by name", fstest.MapFS{"base.apk": archive}, "/data/base.apk!/lib/libx.so", heapID, 0, "symfs0/base.apk", 0, "", nil},
		{"no archive", fstest.MapFS{"base.apk": heap}, "/data/base.apk", "", 0x1000, "", 0, "", objects.ErrNoFile},
	} {
		files := objectstest.Stored(test.files)
		for range 2 { // the second from what is known
			o, base, err := files.Code(objects.Recorded{Path: test.path, BuildID: test.id}, test.off)
			switch {
			case !errors.Is(err, test.err) || (o == nil) == (err == nil) || base != test.base:
				t.Errorf("%s: %v at %#x, %v", test.name, o, base, err)
			case o != nil && (o.Name() != test.found || o.Entry() != test.entry || o.Symbols() == nil || o.Lines() == nil || o.File().BuildID() != heapID):
				t.Errorf("%s: %s, %s in it", test.name, o.Name(), o.Entry())
			}
		}
	}
}

// debugOf is the separate debug file of a program.
func debugOf(t *testing.T, data []byte) *fstest.MapFile {
	t.Helper()
	if _, err := exec.LookPath("objcopy"); err != nil {
		t.Skip("objcopy is not installed")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("objcopy", "--only-keep-debug", in, out).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v: %s", err, text)
	}
	return objectstest.ReadFile(t, out)
}

// TestObjectPath tells which objects are files of their own.
func TestObjectPath(t *testing.T) {
	dir := t.TempDir()
	heap := objectstest.ReadFile(t, heapBinary)
	if err := os.WriteFile(filepath.Join(dir, "heap"), heap.Data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "base.apk"), objectstest.APK(t, "lib/libx.so", heap.Data).Data, 0o666); err != nil {
		t.Fatal(err)
	}
	files := objectstest.Dir(dir)
	for path, want := range map[string]string{"/heap": filepath.Join(dir, "heap"), "/data/base.apk!/lib/libx.so": ""} {
		o, _, err := files.Code(objects.Recorded{Path: path, BuildID: heapID}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := o.Path(); got != want || ok != (want != "") {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

// TestInTurn has a view look for files only when it may.
func TestInTurn(t *testing.T) {
	waits := 0
	s := objects.New(objects.Options{Symfs: []objects.SearchPath{{Name: "none", FS: fstest.MapFS{}}}}).InTurn(func() { waits++ })
	v := s.Of(objects.Recording{Dir: t.TempDir()})
	if v.File("/bin/a"); v.Empty() || waits != 0 {
		t.Errorf("waited %d times to make a view and to open a file", waits)
	}
	for i, look := range []func(){
		func() { _, _ = v.Names(objects.Recorded{Path: "/bin/a"}) }, func() { v.Tried("/bin/a", "") }, v.Await,
	} {
		if look(); waits != i+1 {
			t.Errorf("look %d: waited %d times", i, waits)
		}
	}
	var none *objects.Store
	none.Await()
	none.InTurn(func() { t.Error("waited") }).View()
}
