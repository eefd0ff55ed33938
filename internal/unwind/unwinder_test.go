package unwind

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/objfile"
)

// words8 returns a stack of 8-byte words from 0x7f0000.
func words8(values ...uint64) Stack {
	s := Stack{SP: 0x7f0000}
	for _, v := range values {
		s.Bytes = binary.LittleEndian.AppendUint64(s.Bytes, v)
	}
	return s
}

// registersOf returns the registers of a program that stands at pc, by DWARF number.
func registersOf(a *Arch, pc uint64, values map[uint8]uint64) *Registers {
	r := &Registers{Arch: a, PC: pc}
	for n, v := range values {
		r.put(n, v)
	}
	return r
}

// TestEnds unwinds stacks that end in each way, in a file with three functions: one at 0x2000
// whose frame has 16 bytes, one at 0x2100 that has no caller, one at 0x2200 with a broken
// table. At 0x2800 no table has anything.
func TestEnds(t *testing.T) {
	const bias = 0x400000
	s := section{eh: true, word: 8}
	c := s.cie("zR", 16, cfaDef, 7, 16, cfaOffset|16, 1, cfaOffset|6, 2)
	s.fde(c, 0x2000, 0x100, true)
	s.fde(c, 0x2100, 0x100, true, cfaUndefined, 16)
	s.fde(c, 0x2200, 0x100, true, 0x3f)
	s.fde(s.cie("zR", 16, cfaDef, 7, 0, cfaOffset|16, 1), 0x2300, 0x100, true)
	m := moduleOf(t, amd64, s.data)
	find := func(pc uint64) (*Module, uint64, bool) {
		return m, bias, pc >= bias+0x2000 && pc < bias+0x3000
	}
	const in, root, broken, stuck, untabled, data = bias + 0x2010, bias + 0x2110, bias + 0x2210, bias + 0x2310, bias + 0x2810, 0x7f0000
	const sp = 0x7f0000
	full := func(s Stack) Stack {
		s.Full = true
		return s
	}
	tests := []struct {
		name   string
		pc, fp uint64
		stack  Stack
		frames []Frame
		end    End
	}{
		{"at the first function", in, 0, words8(1, in+4, 2, root+4), []Frame{{PC: in}, {PC: in + 3}, {PC: root + 3}}, Whole},
		{"at a return to nowhere", in, 0, words8(1, in+4, 2, 0), []Frame{{PC: in}, {PC: in + 3}}, Whole},
		{"cut", in, 0, full(words8(1, in+4, 2)), []Frame{{PC: in}, {PC: in + 3}}, Cut},
		{"cut in the middle of a word", in, 0, full(Stack{SP: sp, Bytes: words8(1, in+4).Bytes[:15]}), []Frame{{PC: in}}, Cut},
		{"the last word counts", in, 0, full(words8(1, root+4)), []Frame{{PC: in}, {PC: root + 3}}, Whole},
		{"beyond a whole stack", in, 0, words8(1, in+4, 2), []Frame{{PC: in}, {PC: in + 3}}, RanOff},
		{"to what is no code", in, 0, words8(1, data), []Frame{{PC: in}}, RanOff},
		{"a broken table", in, 0, words8(1, broken+4), []Frame{{PC: in}, {PC: broken + 3}}, BadTable},
		{"a frame that does not grow", in, 0, words8(1, stuck+4, stuck+4), []Frame{{PC: in}, {PC: stuck + 3}}, RanOff},
		{"no table", in, 0, words8(5, untabled+4, 1, 2), []Frame{{PC: in}, {PC: untabled + 3}}, NoTable},
		{"by frame pointer", untabled, sp + 8, words8(1, 0, root+4), []Frame{{PC: untabled}, {PC: root + 3, ByFramePointer: true}}, Whole},
		{"end of the frame pointers", untabled, sp, words8(sp+16, untabled+4, 0, untabled+8), []Frame{
			{PC: untabled}, {PC: untabled + 3, ByFramePointer: true}, {PC: untabled + 7, ByFramePointer: true},
		}, Whole},
		{"frame pointers do not begin with 0", in, 0, words8(0, untabled+4, 1), []Frame{{PC: in}, {PC: untabled + 3}}, NoTable},
		{"no frame pointer", untabled, 0, words8(1, 2, 3), []Frame{{PC: untabled}}, NoTable},
		{"frame pointer below", untabled, sp - 8, words8(1, 0, root+4), []Frame{{PC: untabled}}, NoTable},
		{"frame pointer not aligned", untabled, sp + 4, words8(1, 0, root+4), []Frame{{PC: untabled}}, NoTable},
		{"frame pointer to data", untabled, sp + 8, words8(1, 0, data), []Frame{{PC: untabled}}, NoTable},
		{"frame pointer beyond", untabled, sp + 16, words8(1, 0, root+4), []Frame{{PC: untabled}}, NoTable},
		{"not in a file", 0x1234, 0, words8(1, in+4), []Frame{{PC: 0x1234}}, NoTable},
		{"no stack", in, 0, Stack{SP: sp}, []Frame{{PC: in}}, RanOff},
		{"no stack was dumped", in, 0, Stack{SP: sp, Full: true}, []Frame{{PC: in}}, Cut},
		{"stack at the end of memory", in, 0, Stack{SP: 1<<64 - 16, Bytes: words8(1, in+4).Bytes}, []Frame{{PC: in}}, RanOff},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var u Unwinder
			regs := registersOf(amd64, test.pc, map[uint8]uint64{7: test.stack.SP, 6: test.fp})
			got, end := u.Unwind(nil, regs, test.stack, find)
			if diff := cmp.Diff(test.frames, got); diff != "" || end != test.end {
				t.Errorf("ends %q, want %q; -want +got:\n%s", end, test.end, diff)
			}
		})
	}

	t.Run("too deep", func(t *testing.T) {
		stack := Stack{SP: sp}
		for range MaxFrames + 100 {
			stack.Bytes = append(stack.Bytes, words8(1, in+4).Bytes...)
		}
		got, end := new(Unwinder).Unwind(nil, registersOf(amd64, in, map[uint8]uint64{7: sp}), stack, find)
		if len(got) != MaxFrames || end != TooDeep {
			t.Errorf("%d frames, %v", len(got), end)
		}
	})
	t.Run("no registers", func(t *testing.T) {
		for _, regs := range []*Registers{{}, registersOf(amd64, in, nil)} {
			if got, end := new(Unwinder).Unwind(nil, regs, Stack{}, find); len(got) > 1 || end != NoRegisters {
				t.Errorf("got %v, %v", got, end)
			}
		}
	})
}

// TestSignedReturn unwinds AArch64 code whose return addresses have a signature in the
// upper bits, in address spaces of 39 and 48 bits.
func TestSignedReturn(t *testing.T) {
	s := section{eh: true, word: 8}
	c := s.cie("zRB", 30, cfaDef, 31, 16, cfaNegateRA, cfaOffset|30, 1)
	s.fde(c, 0x2000, 0x100, true)
	s.fde(c, 0x2100, 0x100, true, cfaUndefined, 30)
	m := moduleOf(t, arm64, s.data)
	for _, bias := range []uint64{0x7a_12340000, 0xffff_12340000} {
		find := func(pc uint64) (*Module, uint64, bool) {
			return m, bias, pc >= bias+0x2000 && pc < bias+0x3000
		}
		signature := uint64(0x2a) << 48
		if bias < 1<<39 {
			signature |= 0x1f5 << 39
		}
		regs := registersOf(arm64, bias+0x2010, map[uint8]uint64{31: 0x7f0000, 30: 1})
		got, end := new(Unwinder).Unwind(nil, regs, words8(1, bias+0x2014|signature, 1, bias+0x2114|signature), find)
		want := []Frame{{PC: bias + 0x2010}, {PC: bias + 0x2010}, {PC: bias + 0x2110}}
		if diff := cmp.Diff(want, got); diff != "" || end != Whole {
			t.Errorf("%v; -want +got:\n%s", end, diff)
		}
	}
}

// TestLinkageTable unwinds from each instruction of an entry of .plt: the second pushes the
// number of the function, so that the frame depends on where the program stands.
func TestLinkageTable(t *testing.T) {
	m := framesOf(t, cfaDefOffset, 16, cfaAdvanceLoc|6, cfaDefOffset, 24, cfaAdvanceLoc|10,
		cfaDefExpr, 11, opBreg0+7, 8, opBreg0+16, 0, opLit0+15, opAnd, opLit0+11, opGe, opLit0+3, opShl, opPlus)
	find := func(pc uint64) (*Module, uint64, bool) { return m, 0x10000, pc >= 0x12000 && pc < 0x13000 }
	for at, stack := range map[uint64]Stack{0x20: words8(0x12084, 0), 0x26: words8(0x12084, 0), 0x2b: words8(7, 0x12084, 0)} {
		got, _ := new(Unwinder).Unwind(nil, registersOf(amd64, 0x12000+at, map[uint8]uint64{7: stack.SP}), stack, find)
		if len(got) < 2 || got[1].PC != 0x12083 {
			t.Errorf("at %#x: %v", at, got)
		}
	}
}

// TestGoRoots ends stacks in functions of Go's runtime where they go on elsewhere.
func TestGoRoots(t *testing.T) {
	m := framesOf(t)
	m.isGo = true
	m.source.Function = func(vaddr uint64) string {
		if vaddr >= 0x2080 {
			return "runtime.systemstack.abi0"
		}
		return "main.main"
	}
	find := func(pc uint64) (*Module, uint64, bool) { return m, 0, pc >= 0x2000 && pc < 0x3000 }
	got, end := new(Unwinder).Unwind(nil, registersOf(amd64, 0x2010, map[uint8]uint64{7: 0x7f0000}), words8(0x2090, 0x2020, 0x2020), find)
	if diff := cmp.Diff([]Frame{{PC: 0x2010}, {PC: 0x208f}}, got); diff != "" || end != Whole {
		t.Errorf("%v; -want +got:\n%s", end, diff)
	}
}

func TestSetSample(t *testing.T) {
	// A mask of n registers, whose values are 100 and up.
	values := func(n int) []uint64 {
		v := make([]uint64, n)
		for i := range v {
			v[i] = 100 + uint64(i)
		}
		return v
	}
	arm64Values := values(33)
	lying := values(33)
	lying[32] = 0x7127fc0f48
	tests := []struct {
		name, machine string
		abi, mask     uint64
		values        []uint64
		arch          *Arch
		pc            uint64
		want          map[uint8]uint64
	}{
		{"x86-64", "x86_64", 2, 0xff0fff, values(20), amd64, 108, map[uint8]uint64{0: 100, 3: 101, 2: 102, 1: 103, 4: 104, 5: 105, 6: 106, 7: 107, 8: 112, 15: 119}},
		{"32 bits on x86-64", "x86_64", 1, 0xff0fff, values(20), i386, 108, map[uint8]uint64{0: 100, 3: 101, 1: 102, 2: 103, 6: 104, 7: 105, 5: 106, 4: 107}},
		{"x86", "i686", 1, 0xfff, values(12), i386, 108, map[uint8]uint64{5: 106, 4: 107}},
		{"AArch64", "aarch64", 2, 0x1ffffffff, arm64Values, arm64, 132, map[uint8]uint64{0: 100, 29: 129, 30: 130, 31: 131}},
		{"32 bits on AArch64", "aarch64", 1, 0x1ffffffff, arm64Values, compat, 132, map[uint8]uint64{0: 100, 11: 111, 13: 113, 14: 114}},
		{"AArch64 that execs", "aarch64", 1, 0x1ffffffff, lying, arm64, 0x7127fc0f48, map[uint8]uint64{30: 130, 31: 131}},
		{"Arm", "armv7l", 1, 0xffff, values(16), arm32, 115, map[uint8]uint64{0: 100, 13: 113, 14: 114}},
		{"few registers", "x86_64", 2, 1<<6 | 1<<7 | 1<<8, values(3), amd64, 102, map[uint8]uint64{6: 100, 7: 101}},
		{"fewer values than the mask says", "x86_64", 2, 0xff0fff, values(9), amd64, 108, map[uint8]uint64{7: 107}},
		{"no program counter", "x86_64", 2, 0xff, values(8), nil, 0, nil},
		{"none", "x86_64", 0, 0xff0fff, nil, nil, 0, nil},
		{"another machine", "riscv64", 2, 0xffff, values(16), nil, 0, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var r Registers
			if ok := r.SetSample(test.machine, test.abi, test.mask, test.values); ok != (test.arch != nil) {
				t.Fatalf("got %v", ok)
			} else if !ok {
				return
			}
			if r.Arch != test.arch || r.PC != test.pc {
				t.Errorf("%s, pc %d, want %s, %d", r.Arch.Name, r.PC, test.arch.Name, test.pc)
			}
			for n, want := range test.want {
				if got, ok := r.get(n); !ok || got != want {
					t.Errorf("register %d: %d, want %d", n, got, want)
				}
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	data := image(amd64, part{0, 0x2000, make([]byte, 16)})
	data[18] = 243 // RISC-V
	f, err := objfile.New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewModule(Source{File: f}); err == nil {
		t.Error("no error")
	}
}

// deepStack returns registers and a stack of n frames in the function of framesOf.
func deepStack(n int) (*Registers, Stack) {
	stack := Stack{SP: 0x7f0000}
	for i := range n - 1 {
		stack.Bytes = append(stack.Bytes, words8(0x2001+uint64(i)%0xf0).Bytes...)
	}
	stack.Bytes = append(stack.Bytes, words8(0).Bytes...)
	return registersOf(amd64, 0x2010, map[uint8]uint64{7: stack.SP}), stack
}

// TestNoAllocation checks that a sample costs no memory once the rules of its addresses are known.
func TestNoAllocation(t *testing.T) {
	m := framesOf(t)
	find := func(pc uint64) (*Module, uint64, bool) { return m, 0, pc >= 0x2000 && pc < 0x3000 }
	var u Unwinder
	var frames []Frame
	regs, stack := deepStack(500)
	n := testing.AllocsPerRun(100, func() {
		var end End
		if frames, end = u.Unwind(frames[:0], regs, stack, find); end != Whole || len(frames) != 500 {
			t.Fatalf("%d frames, %v", len(frames), end)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkUnwind(b *testing.B) {
	m := framesOf(b)
	find := func(pc uint64) (*Module, uint64, bool) { return m, 0, pc >= 0x2000 && pc < 0x3000 }
	var u Unwinder
	var frames []Frame
	regs, stack := deepStack(12)
	b.ReportAllocs()
	for b.Loop() {
		frames, _ = u.Unwind(frames[:0], regs, stack, find)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(frames)), "ns/frame")
}

// BenchmarkLookup looks up addresses of a large library: 1,000 that come again and again,
// and each anywhere.
func BenchmarkLookup(b *testing.B) {
	f := open(b, library(b, "g++", "libstdc++.so.6"))
	m := module(b, Source{File: f})
	m.find(m.code[0].lo, true)
	fdes := m.tables[0].(*frameTable).fdes
	rnd := rand.New(rand.NewPCG(1, 2))
	addrs := make([]uint64, 1<<16)
	for i := range addrs {
		d := fdes[rnd.IntN(len(fdes))]
		addrs[i] = d.start + rnd.Uint64N(uint64(d.size))
	}
	for _, test := range []struct {
		name string
		n    int
	}{{"hot", 1000}, {"random", len(addrs)}} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				m.find(addrs[i], false)
				if i++; i == test.n {
					i = 0
				}
			}
		})
	}
	b.Run("first", func(b *testing.B) {
		i := len(addrs)
		for b.Loop() {
			if i++; i >= 20000 {
				b.StopTimer()
				m = module(b, Source{File: f})
				m.find(0, true)
				i = 0
				b.StartTimer()
			}
			m.find(addrs[i], false)
		}
	})
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			m := module(b, Source{File: f})
			m.frames(f, ".eh_frame")
		}
	})
}
