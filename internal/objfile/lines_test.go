package objfile

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testFramesConcurrently looks the same addresses up in several goroutines.
func testFramesConcurrently(t *testing.T, exe string) {
	f := open(t, exe)
	addrs := addresses(t, f, 300)
	want := framesAt(lines(t, f), addrs)
	l := lines(t, f)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if diff := cmp.Diff(want, framesAt(l, addrs)); diff != "" {
				t.Errorf("frames (-alone +together):\n%s", diff)
			}
		})
	}
	wg.Wait()
}

// testBrokenLines checks that functions are found without a line number program.
func testBrokenLines(t *testing.T, exe string) {
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	f := parseELF(t, data)
	addrs := addresses(t, f, 300)
	want := framesAt(lines(t, f), addrs)
	for i := range want {
		for j := range want[i] {
			want[i][j].File, want[i][j].Origin = "", ""
			if j == 0 {
				want[i][j].Line, want[i][j].Column, want[i][j].Discriminator = 0, 0, 0
			}
		}
		if len(want[i]) == 1 && want[i][0].Name == "" {
			want[i] = nil
		}
	}
	section, _ := f.Section(".debug_line")
	binary.NativeEndian.PutUint16(data[section.Offset+4:], 0xffff) // version
	l, err := parseELF(t, data).Lines()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if diff := cmp.Diff(want, framesAt(l, addrs)); diff != "" {
			t.Fatalf("frames (-with lines +without):\n%s", diff)
		}
	}
	if err := l.Err(); err == nil || err.Error() != ".debug_line: version 65535 at 0x0" {
		t.Errorf("got error %v", err)
	}
}

// testQualifiedNames checks names of functions without linkage name.
func testQualifiedNames(t *testing.T, exe string) {
	f := open(t, exe)
	l := lines(t, f)
	s, _ := f.Section(".text")
	seen := make(map[string]bool)
	for a := range s.Size {
		for _, frame := range l.Frames(s.Vaddr + a) {
			if frame.LinkageName == "" {
				seen[frame.Name] = true
			}
		}
	}
	for _, name := range []string{
		"main", "entry",
		"app::(anonymous namespace)::Local::times<int>",
		"app::run::Inner::twice",
		"app::run::{lambda}::operator()",
	} {
		if !seen[name] {
			t.Errorf("no function is called %s", name)
		}
	}
}

// TestReferenceCycles checks that entries which refer to each other, to themselves
// or to nothing end without a name.
func TestReferenceCycles(t *testing.T) {
	const (
		header = 11 // of a unit in DWARF 4
		root   = header
		first  = root + 1 + 16
		size   = 1 + 16 + 4 // of a function
	)
	abbrev := []byte{
		1, byte(dwarf.TagCompileUnit), 1, byte(dwarf.AttrLowpc), byte(formAddr), byte(dwarf.AttrHighpc), byte(formData8), 0, 0,
		2, byte(dwarf.TagSubprogram), 0, byte(dwarf.AttrLowpc), byte(formAddr), byte(dwarf.AttrHighpc), byte(formData8), byte(dwarf.AttrAbstractOrigin), byte(formRef4), 0, 0,
		0,
	}
	info := newWriter(false)
	function := func(addr uint64, ref uint32) {
		info.WriteByte(2)
		info.u64(addr)
		info.u64(0x10)
		info.u32(ref)
	}
	info.u32(first + 4*size + 1 - 4)
	info.u16(4)
	info.u32(0)
	info.WriteByte(8)
	info.WriteByte(1)
	info.u64(0x1000)
	info.u64(0x1000)
	function(0x1000, first+size)     // to the second
	function(0x1010, first)          // to the first
	function(0x1020, first+2*size)   // to itself
	function(0x1030, first+100*size) // to nothing
	info.WriteByte(0)
	f := elfImage{typ: elf.ET_DYN, machine: elf.EM_X86_64, sections: []testSection{
		text(".text", 0x1000, 0x1000),
		{name: ".debug_info", typ: elf.SHT_PROGBITS, data: info.Bytes()},
		{name: ".debug_abbrev", typ: elf.SHT_PROGBITS, data: abbrev},
	}}.parse(t)
	l, err := f.Lines()
	if err != nil {
		t.Fatal(err)
	}
	for addr := uint64(0x1000); addr < 0x1030; addr += 0x10 {
		if frames := l.Frames(addr); frames != nil {
			t.Errorf("frames at %#x: got %v", addr, frames)
		}
	}
	if err := l.Err(); err != nil {
		t.Errorf("got error %v", err)
	}
	l.Frames(0x1030)
	if err := l.Err(); err == nil || !strings.Contains(err.Error(), ".debug_info: reference to no unit") {
		t.Errorf("got error %v", err)
	}
	if frames := l.Frames(0x1040); frames != nil {
		t.Errorf("got %v where no function is", frames)
	}
}

// TestGoFrames compares with what a Go program knows of itself.
func TestGoFrames(t *testing.T) {
	dir := filepath.Join(source(t, "goframes"))
	exe := filepath.Join(t.TempDir(), "goframes")
	run(t, dir, "go", "build", "-trimpath=false", "-o", exe, ".")
	f := open(t, exe)
	l := lines(t, f)
	table, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	addrs := addresses(t, f, 1000)
	var in strings.Builder
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command(exe)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	// The runtime shortens type arguments, and has no names of functions that are
	// inlined everywhere.
	typeArguments := regexp.MustCompile(`\[.*\]`)
	permitted := make(map[string]int)
	for _, block := range strings.Split("\n"+string(out), "\n0x")[1:] {
		head, rest, _ := strings.Cut(strings.TrimSpace(block), "\n")
		addr, err := strconv.ParseUint(head, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		frames := l.Frames(addr)
		if len(frames) == 0 {
			permitted["padding"]++
			continue
		}
		here, outer := frames[0], frames[len(frames)-1]
		switch got := fmt.Sprintf("%s\t%s\t%d", typeArguments.ReplaceAllString(here.Name, "[...]"), here.File, here.Line); {
		case here.Line == 0:
			permitted["no line"]++
		case got == rest || strings.HasSuffix(got, rest):
			permitted["equal"]++
		default:
			t.Errorf("%#x: got %s, want %s", addr, got, rest)
		}
		if s, _ := table.Lookup(addr); strings.TrimSuffix(s.Name, ".abi0") != outer.Name {
			t.Errorf("%#x: outermost function is %s, symbol is %s", addr, outer.Name, s.Name)
		}
	}
	if permitted["equal"] < len(addrs)*9/10 {
		t.Errorf("too few agree: %v of %d", permitted, len(addrs))
	}
	t.Logf("%d addresses: %v", len(addrs), permitted)
}
