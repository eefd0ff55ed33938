package disasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/objfile"
)

// pairs is a Decoder of a made-up machine with instructions of two bytes. It counts
// how often it is asked.
type pairs struct {
	insts map[uint64]Decoded
	asked []string
	err   error
}

func (w *pairs) Decode(from, to uint64) ([]Decoded, error) {
	w.asked = append(w.asked, fmt.Sprintf("%x-%x", from, to))
	var list []Decoded
	for _, d := range w.insts {
		list = append(list, d) // in no order, and also what was not asked for
	}
	return list, w.err
}

// armFile is a little-endian ELF file for 32-bit Arm with a section of code at 0x1000
// and functions in it.
func armFile(t *testing.T, size uint32, functions map[string][2]uint32) *objfile.File {
	t.Helper()
	var names, symbols, b bytes.Buffer
	names.WriteByte(0)
	put := func(w *bytes.Buffer, values ...any) {
		for _, v := range values {
			if err := binary.Write(w, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(&symbols, [16]byte{})
	for _, name := range []string{"first", "second"} {
		f, ok := functions[name]
		if !ok {
			continue
		}
		put(&symbols, uint32(names.Len()), f[0]|1, f[1], uint8(0x12), uint8(0), uint16(1)) // a global function, Thumb
		names.WriteString(name + "\x00")
	}
	sections := "\x00.text\x00.symtab\x00.strtab\x00.shstrtab\x00"
	const header, section = 52, 40
	text := uint32(header)
	symtab := text + size
	strtab := symtab + uint32(symbols.Len())
	shstrtab := strtab + uint32(names.Len())
	table := shstrtab + uint32(len(sections))
	put(&b, [16]byte{0x7f, 'E', 'L', 'F', 1, 1, 1}, uint16(3), uint16(40), uint32(1), uint32(0), uint32(0), table, uint32(0x05000400), uint16(header), uint16(32), uint16(0), uint16(section), uint16(5), uint16(4))
	b.Write(make([]byte, size))
	b.Write(symbols.Bytes())
	b.Write(names.Bytes())
	b.WriteString(sections)
	put(&b, [section]byte{})
	entry := func(name, typ, flags, addr, off, size, link, info, align, entsize uint32) {
		put(&b, name, typ, flags, addr, off, size, link, info, align, entsize)
	}
	entry(1, 1, 6, 0x1000, text, size, 0, 0, 2, 0)
	entry(7, 2, 0, 0, symtab, uint32(symbols.Len()), 3, 1, 4, 16)
	entry(15, 3, 0, 0, strtab, uint32(names.Len()), 0, 0, 1, 0)
	entry(23, 3, 0, 0, shstrtab, uint32(len(sections)), 0, 0, 1, 0)
	f, err := objfile.New(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDecoder(t *testing.T) {
	file := armFile(t, 0x40, map[string][2]uint32{"first": {0x1000, 0x20}, "second": {0x1020, 0x20}})
	w := &pairs{insts: make(map[uint64]Decoded)}
	add := func(addr, target uint64, kind Kind, text string) {
		w.insts[addr] = Decoded{Inst: Inst{Addr: addr, Len: 2, Target: target, Kind: kind, Cond: kind == Conditional}, Text: text}
	}
	add(0x1000, 0, Other, "cmp")
	add(0x1002, 0x1006, Conditional, "beq")
	add(0x1004, 0, Other, "add")
	add(0x1006, 0, IndirectJump, "tbb")
	d := w.insts[0x1006]
	d.Targets, d.Table = []uint64{0x100a, 0x100c}, 2
	w.insts[0x1006] = d
	add(0x1008, 0, Other, "what the table looks like")
	add(0x100a, 0x1002, Jump, "b")
	add(0x100c, 0, Conditional, "bxne lr") // returns, or not
	add(0x100e, 0, Return, "bx lr")
	add(0x1010, 0, Other, "nop")
	d = w.insts[0x1010]
	d.Padding = true
	w.insts[0x1010] = d
	add(0x1020, 0, Return, "bx lr")
	if _, err := New(file); !errors.Is(err, errArch) {
		t.Fatalf("without a decoder: %v", err)
	}
	c, err := NewWith(file, Options{Decoder: w})
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.FunctionAt(0x1004)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range f.Blocks {
		b := &f.Blocks[i]
		var s strings.Builder
		s.WriteString(fmt.Sprint(b.Succs))
		for n := b.First; n < b.End; n++ {
			s.WriteString(fmt.Sprintf(" %x %s", f.Insts[n].Addr, f.Text(n)))
		}
		got = append(got, s.String())
	}
	want := []string{"[1] 1000 cmp", "[2 3] 1002 beq", "[3] 1004 add", "[4 5] 1006 tbb", "[1] 100a b", "[6] 100c bxne lr", "[] 100e bx lr"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks: %s", diff)
	}
	if f.Name != "first" || f.Incomplete != "" || len(f.Loops) != 1 {
		t.Errorf("%s, %q, %d loops", f.Name, f.Incomplete, len(f.Loops))
	}
	for addr, want := range map[uint64]error{0x1002: nil, 0x1020: nil, 0x1003: errInvalid, 0x1022: errInvalid, 0x2000: ErrNoFunction} {
		if _, err := c.Decode(addr); !errors.Is(err, want) {
			t.Errorf("%#x: %v, want %v", addr, err, want)
		}
	}
	got = nil
	for i := range c.Range(0x1000, 0x1008) {
		got = append(got, fmt.Sprintf("%x", i.Addr))
	}
	if diff := cmp.Diff([]string{"1000", "1002", "1004", "1006"}, got); diff != "" {
		t.Errorf("range: %s", diff)
	}
	if diff := cmp.Diff([]string{"1000-1020", "1020-1040"}, w.asked); diff != "" {
		t.Errorf("asked: %s", diff)
	}
	w.err = errors.New("it is broken")
	c, err = NewWith(file, Options{Decoder: w})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.FunctionAt(0x1004); !errors.Is(err, w.err) {
		t.Errorf("got %v, want %v", err, w.err)
	}
}
