package unwind

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/objfile"
)

// TestEntry ends stacks where the kernel starts a program, which no table has.
func TestEntry(t *testing.T) {
	s := section{eh: true, word: 8}
	s.fde(s.cie("zR", 16, cfaDef, 7, 8, cfaOffset|16, 1), 0x2000, 0x100, true)
	s.fde(s.cie("zR", 16, cfaDef, 7, 8, cfaOffset|16, 1), 0x2330, 0x100, true)
	header := binary.LittleEndian.AppendUint32([]byte{1, 0x1b, 0xff, 0xff}, 0x8000-(0x7000+4))
	tables := []part{{objfile.EHFrameHeader, 0x7000, header}, {0, 0x8000, s.data}}
	code := part{0, 0x2000, make([]byte, 0x1000)}
	named := func(names map[uint64]string) func(uint64) string {
		return func(vaddr uint64) string { return names[vaddr&^0xf] }
	}
	for _, test := range []struct {
		name   string
		parts  []part
		entry  uint64
		caller uint64
		names  map[uint64]string
		want   End
	}{
		{"the entry calls", tables, 0x2300, 0x2308, nil, Whole},
		{"calls a second time", tables, 0x2300, 0x232f, nil, Whole},
		{"second half of ld.so", tables, 0x2300, 0x2308, map[uint64]string{0x2300: "_dl_start_user"}, Whole},
		{"before the entry", tables, 0x2300, 0x22ff, nil, NoTable},
		{"behind it, with a table", tables, 0x2300, 0x2338, nil, RanOff},
		{"far behind it", tables, 0x22c0, 0x2301, nil, NoTable},
		{"another function", tables, 0x2300, 0x2318, map[uint64]string{0x2300: "_start", 0x2310: "main"}, NoTable},
		{"no entry", tables, 0, 0x10, nil, RanOff},
		{"no tables, but a name", nil, 0x2300, 0x2308, map[uint64]string{0x2300: "_start"}, Whole},
		{"neither tables nor names", nil, 0x2300, 0x2308, nil, NoTable},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := image(amd64, append([]part{code}, test.parts...)...)
			binary.LittleEndian.PutUint64(data[24:], test.entry)
			f, err := objfile.New(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			m := module(t, Source{File: f, Function: named(test.names)})
			const bias = 0x7f1230000000
			find := func(pc uint64) (*Module, uint64, bool) { return m, bias, pc >= bias+0x2000 && pc < bias+0x3000 }
			start, stack := uint64(bias+0x2010), words8(bias+test.caller, 1, 2)
			if test.parts == nil {
				start = bias + test.caller
			}
			_, end := new(Unwinder).Unwind(nil, registersOf(amd64, start, map[uint8]uint64{7: stack.SP}), stack, find)
			if end != test.want {
				t.Errorf("ends %q, want %q", end, test.want)
			}
		})
	}
}

// TestLinkageWithoutTable unwinds from stubs of procedure linkage tables that no table has.
func TestLinkageWithoutTable(t *testing.T) {
	const (
		slot  = "\xff\x25\x10\x20\x00\x00" // jmp *slot(%rip)
		first = "\xff\x35\x08\x20\x00\x00" + slot + "\x0f\x1f\x40\x00"
		lazy  = slot + "\x68\x01\x00\x00\x00\xe9\xe0\xff\xff\xff"
		endbr = "\xf3\x0f\x1e\xfa"
		late  = endbr + "\x68\x01\x00\x00\x00\xe9\xe0\xff\xff\xff"
		now   = endbr + slot
	)
	code := make([]byte, 0x1000)
	copy(code[0x200:], first+lazy+late+"\x90\x90"+now)
	s := section{eh: true, word: 8}
	s.fde(s.cie("zR", 16, cfaDef, 7, 8, cfaUndefined, 16), 0x2000, 0x100, true)
	header := binary.LittleEndian.AppendUint32([]byte{1, 0x1b, 0xff, 0xff}, 0x8000-(0x7000+4))
	m := imageModule(t, amd64, part{0, 0x2000, code}, part{objfile.EHFrameHeader, 0x7000, header}, part{0, 0x8000, s.data})
	find := func(pc uint64) (*Module, uint64, bool) { return m, 0, pc >= 0x2000 && pc < 0x3000 }
	for at, pushed := range map[uint64]int{
		0x00: 1, 0x06: 2, // the first entry
		0x10: 0, 0x16: 0, 0x1b: 1, // of a function
		0x20: 0, 0x24: 0, 0x29: 1,
		0x30: 0, 0x34: 0,
	} {
		stack := words8([]uint64{3, 3, 0x2020, 0}[2-pushed:]...)
		// The frame pointer is the caller's.
		regs := registersOf(amd64, 0x2200+at, map[uint8]uint64{7: stack.SP, 6: stack.SP + 8})
		got, end := new(Unwinder).Unwind(nil, regs, stack, find)
		want := []Frame{{PC: 0x2200 + at}, {PC: 0x201f, ByFramePointer: true}}
		if diff := cmp.Diff(want, got); diff != "" || end != Whole {
			t.Errorf("at %#x: %v; -want +got:\n%s", at, end, diff)
		}
	}
}

// TestPythonTrampoline unwinds through memory without a file that called Python's interpreter.
func TestPythonTrampoline(t *testing.T) {
	code := make([]byte, 0x1000)
	copy(code[0x80:], "\xff\xd0")             // call *%rax, to 0x2082
	copy(code[0x90:], "\xe8\x00\x00\x00\x00") // call, to 0x2095
	s := section{eh: true, word: 8}
	c := s.cie("zR", 16, cfaDef, 7, 8, cfaOffset|16, 1)
	s.fde(c, 0x2000, 0x100, true)
	s.fde(c, 0x2100, 0x100, true, cfaUndefined, 16)
	header := binary.LittleEndian.AppendUint32([]byte{1, 0x1b, 0xff, 0xff}, 0x8000-(0x7000+4))
	m := imageModule(t, amd64, part{0, 0x2000, code}, part{objfile.EHFrameHeader, 0x7000, header}, part{0, 0x8000, s.data})
	find := func(pc uint64) (*Module, uint64, bool) {
		if pc >= 0x10000 && pc < 0x20000 {
			return nil, 0, true
		}
		return m, 0, pc >= 0x2000 && pc < 0x3000
	}
	const (
		trampoline = 0x10006
		indirect   = 0x2082
		direct     = 0x2095
		outermost  = 0x2110
		sp         = 0x7f0000
	)
	own, called := Frame{PC: 0x2010}, Frame{PC: trampoline - 1}
	caller := Frame{PC: indirect - 1, ByFramePointer: true}
	for _, test := range []struct {
		name, function string
		fp             uint64
		stack          Stack
		want           []Frame
		end            End
	}{
		{"3.12", "_PyEval_EvalFrameDefault", 5, words8(trampoline, 9, indirect, outermost), []Frame{own, called, caller, {PC: outermost - 1}}, Whole},
		{"with a frame pointer", "_PyEval_EvalFrameDefault.cold", sp + 8, words8(trampoline, 9, indirect, outermost), []Frame{own, called, caller, {PC: outermost - 1}}, Whole},
		{"behind a call of something else", "_PyEval_EvalFrameDefault", 5, words8(trampoline, 9, direct, outermost), []Frame{own, called}, NoTable},
		{"behind no call", "_PyEval_EvalFrameDefault", 5, words8(trampoline, 9, 0x2070, outermost), []Frame{own, called}, NoTable},
		{"no code", "_PyEval_EvalFrameDefault", 5, words8(trampoline, 9, sp, outermost), []Frame{own, called}, NoTable},
		{"in no file", "_PyEval_EvalFrameDefault", 5, words8(trampoline, 9, trampoline, outermost), []Frame{own, called}, NoTable},
		{"cut", "_PyEval_EvalFrameDefault", 5, Stack{SP: sp, Bytes: words8(trampoline, 9).Bytes, Full: true}, []Frame{own, called}, Cut},
		{"another function", "hot", 5, words8(trampoline, 9, indirect, outermost), []Frame{own, called}, NoTable},
	} {
		t.Run(test.name, func(t *testing.T) {
			m.source.Function = func(vaddr uint64) string {
				if vaddr < 0x2080 {
					return test.function
				}
				return "f"
			}
			regs := registersOf(amd64, 0x2010, map[uint8]uint64{7: sp, 6: test.fp})
			got, end := new(Unwinder).Unwind(nil, regs, test.stack, find)
			if diff := cmp.Diff(test.want, got); diff != "" || end != test.end {
				t.Errorf("%v; -want +got:\n%s", end, diff)
			}
		})
	}
}

// TestReturnInRegister unwinds from where the return address is in no memory, as in vfork.
func TestReturnInRegister(t *testing.T) {
	m := framesOf(t, cfaDefOffset, 0, cfaRegister, 16, 5)
	find := func(pc uint64) (*Module, uint64, bool) { return m, 0, pc >= 0x2000 && pc < 0x3000 }
	got, _ := new(Unwinder).Unwind(nil, registersOf(amd64, 0x2010, map[uint8]uint64{7: 0x7f0000, 5: 0x2020}), words8(0, 0), find)
	if len(got) < 2 || got[1].PC != 0x201f {
		t.Errorf("%v", got)
	}
	// A caller cannot have it there: what it called may have changed it.
	if got, end := new(Unwinder).Unwind(nil, registersOf(amd64, 0x2010, map[uint8]uint64{7: 0x7f0000, 5: 0x2010}), words8(0x2020, 0), find); len(got) != 2 || end != RanOff {
		t.Errorf("%v, %v", got, end)
	}
}

// TestAnotherStack: a handler may have a stack of its own, and only that is in the dump.
func TestAnotherStack(t *testing.T) {
	code := make([]byte, 0x1000)
	copy(code[0x200:], "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05")
	s := section{eh: true, word: 8}
	s.fde(s.cie("zR", 16, cfaDef, 7, 16, cfaOffset|16, 1), 0x2000, 0x100, true)
	header := binary.LittleEndian.AppendUint32([]byte{1, 0x1b, 0xff, 0xff}, 0x8000-(0x7000+4))
	m := imageModule(t, amd64, part{0, 0x2000, code}, part{objfile.EHFrameHeader, 0x7000, header}, part{0, 0x8000, s.data})
	find := func(pc uint64) (*Module, uint64, bool) { return m, 0, pc >= 0x2000 && pc < 0x3000 }
	for _, elsewhere := range []uint64{0x1000, 0x7f0000000000} {
		values := make([]uint64, 22)
		values[20], values[21] = elsewhere, 0x2010 // rsp, rip of struct sigcontext
		stack := words8(values...)
		got, end := new(Unwinder).Unwind(nil, registersOf(amd64, 0x2200, map[uint8]uint64{7: stack.SP}), stack, find)
		want := []Frame{{PC: 0x2200}, {PC: 0x2010, Signal: true}}
		if diff := cmp.Diff(want, got); diff != "" || end != Cut {
			t.Errorf("%v; -want +got:\n%s", end, diff)
		}
	}
}
