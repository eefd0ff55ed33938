package main

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/objfile"
)

// source has functions to keep, to name in calls, and to leave out.
const source = `
	.text
	.globl first, called, other, last
first:	.cfi_startproc
	call called
	ret
	.cfi_endproc
	.size first, .-first
	.type first, @function
	.fill 4096, 1, 0x90
called:	ret
	.size called, .-called
	.type called, @function
	.fill 4096, 1, 0x90
other:	ret
	.size other, .-other
	.type other, @function
	.fill 4096, 1, 0x90
last:	nop
	ret
	.type last, @function
	.data
	.fill 100000
`

func TestSlim(t *testing.T) {
	dir := t.TempDir()
	assembly, program := filepath.Join(dir, "a.s"), filepath.Join(dir, "a")
	if err := os.WriteFile(assembly, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	link(t, "-nostdlib", "-static", "-Wl,--build-id=sha1", "-Wl,-e,first", "-o", program, assembly)
	file, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	small, err := slim(file, []string{"first", "last", "unknown"}, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(small) > 8000 {
		t.Errorf("%d bytes of %d are left", len(small), len(file))
	}
	if _, err := elf.NewFile(bytes.NewReader(small)); err != nil {
		t.Error(err)
	}
	before, after := open(t, file), open(t, small)
	if x, y := before.BuildID(), after.BuildID(); x == "" || x != y {
		t.Errorf("build ID %q, was %q", y, x)
	}
	was, err := before.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	is, err := after.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for s := range was.All() {
		got, found := is.Lookup(s.Addr)
		if want := s.Name != "other"; found != want || found && (got.Name != s.Name || got.Len != s.Len) {
			t.Errorf("symbol %+v, was %+v", got, s)
		}
		code, err := after.Text(s.Addr, s.Len)
		if want := s.Name == "first" || s.Name == "last"; want != (err == nil) {
			t.Errorf("code of %s: %v", s.Name, err)
		}
		if whole, _ := before.Text(s.Addr, s.Len); err == nil && !bytes.Equal(code, whole) {
			t.Errorf("code of %s differs", s.Name)
		}
	}
	if x, _ := before.VaddrOfOffset(0x1010); x == 0 {
		t.Error("the program has no code at 0x1010")
	} else if y, _ := after.VaddrOfOffset(0x1010); x != y {
		t.Errorf("offset 0x1010 is %#x, was %#x", y, x)
	}
	unwindable, err := slim(file, nil, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(section(t, file, ".eh_frame"), section(t, unwindable, ".eh_frame")); diff != "" {
		t.Errorf(".eh_frame (-want +got):\n%s", diff)
	}
	deep, err := slim(file, []string{"first"}, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	called, _ := is.Lookup(symbol(t, before, "called"))
	if _, err := open(t, deep).Text(called.Addr, 1); err != nil {
		t.Errorf("one call deep: %v", err)
	}
}

func TestSlimErrors(t *testing.T) {
	for _, file := range []string{"", "text", strings.Repeat("\x00", 5000)} {
		if _, err := slim([]byte(file), nil, 0, false); err == nil {
			t.Errorf("%.10q: no error", file)
		}
	}
}

func open(t *testing.T, file []byte) *objfile.File {
	t.Helper()
	f, err := objfile.New(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func symbol(t *testing.T, f *objfile.File, name string) uint64 {
	t.Helper()
	table, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for s := range table.All() {
		if s.Name == name {
			return s.Addr
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}

func link(t *testing.T, args ...string) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	if out, err := exec.CommandContext(t.Context(), gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
}

// section has the contents of a section.
func section(t *testing.T, file []byte, name string) []byte {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(name)
	if s == nil {
		t.Fatalf("there is no %s", name)
	}
	data, err := s.Data()
	if err != nil || len(data) == 0 {
		t.Fatalf("%s: %d bytes, %v", name, len(data), err)
	}
	return data
}
