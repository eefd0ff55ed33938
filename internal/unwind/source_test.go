package unwind

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/objfile"
)

// TestSources finds the same rules wherever the tables of a program were put.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	do := func(name string, args ...string) { run(t, dir, name, args...) }
	source, err := filepath.Abs("testdata/src/stack.c")
	if err != nil {
		t.Fatal(err)
	}
	build := func(program string, args ...string) {
		do("gcc", append(args, "-O2", "-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-no-pie", "-o", program, source)...)
	}
	build("eh_frame", "-Wl,--eh-frame-hdr")
	build("debug_frame", "-g", "-fno-asynchronous-unwind-tables")
	do("objcopy", "--compress-debug-sections=zlib", "debug_frame", "compressed")
	do("objcopy", "--compress-debug-sections=zlib-gnu", "debug_frame", "zdebug")
	do("objcopy", "--only-keep-debug", "debug_frame", "separate")
	do("strip", "-o", "stripped", "debug_frame")
	// As Fedora makes it, but with the table too.
	do("objcopy", "-S", "--only-keep-debug", "--keep-section=.debug_frame", "debug_frame", "mini")
	do("xz", "-k", "mini")
	do("objcopy", "--add-section", ".gnu_debugdata=mini.xz", "stripped", "debugdata")
	do("llvm-strip", "--strip-sections", "-o", "sectionless", "eh_frame")

	file := func(name string) *objfile.File { return open(t, filepath.Join(dir, name)) }
	original := module(t, Source{File: file("debug_frame")})
	functions := original.frames(original.source.File, ".debug_frame").(*frameTable).fdes
	rules := func(source Source) map[uint64]location {
		m := module(t, source)
		list := make(map[uint64]location)
		for _, f := range functions {
			for addr := f.start; addr < f.start+uint64(f.size); addr++ {
				if r := m.find(addr, false); r.kind != ruleNone {
					list[addr] = r.cfa
				}
			}
		}
		return list
	}
	want := rules(Source{File: file("debug_frame")})
	if len(want) < 500 {
		t.Fatalf("%d addresses", len(want))
	}
	asked := 0
	tests := []struct {
		name   string
		source Source
		want   map[uint64]location
	}{
		{"compressed", Source{File: file("compressed")}, want},
		{".zdebug_frame", Source{File: file("zdebug")}, want},
		{"separate", Source{File: file("stripped"), Debug: func() *objfile.File { asked++; return file("separate") }}, want},
		{"no separate file", Source{File: file("stripped"), Debug: func() *objfile.File { return nil }}, map[uint64]location{}},
		{".gnu_debugdata", Source{File: file("debugdata")}, want},
		{"without section headers", Source{File: file("sectionless")}, rules(Source{File: file("eh_frame")})},
	}
	for _, test := range tests {
		got := rules(test.source)
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(location{})); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.name, diff)
		}
	}
	if asked != 1 {
		t.Errorf("the separate file was asked for %d times", asked)
	}
}
