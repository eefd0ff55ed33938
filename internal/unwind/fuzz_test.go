package unwind

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"profdiff/internal/cputime"
	"profdiff/internal/objfile"
)

// seeds are tables with what compilers emit, and more.
func seeds() (frames [][]byte, exidx [][]byte) {
	for _, word := range []int{4, 8} {
		s := section{eh: true, word: word}
		c := s.cie("zR", 16, cfaDef, 7, 8, cfaOffset|16, 1)
		s.fde(c, 0x2000, 0x400, true, cfaAdvanceLoc|4, cfaDefOffset, 16, cfaOffset|6, 2, cfaAdvanceLoc1, 80, cfaRemember, cfaDef, 7, 8, cfaAdvanceLoc|1, cfaRestoreState)
		s.fde(c, 0x2400, 0x400, true, cfaDefExpr, 4, opBreg0+6, 0x78, opDeref, opNop, cfaExpression, 3, 2, opBreg0+6, 0x70, cfaValExpr, 12, 3, opLit0+8, opMinus, opNop)
		s.fde(s.cie("zRS", 30, cfaDef, 31, 0, cfaNegateRA, cfaOffset|30, 1), 0x2800, 0x100, true, cfaOffsetExtSF, 29, 1, cfaSameValue, 5, cfaRegister, 4, 3, cfaUndefined, 2)
		s.fde(s.cie("", 14, cfaDef, 13, 0), 0x2900, 0x100, true, cfaDefSF, 13, 0x7e, cfaArgsSize, 8, cfaOffset|14, 1, cfaRestore|14)
		frames = append(frames, s.data)
	}
	entry := func(at uint64, words ...uint32) []byte {
		var b []byte
		for _, w := range words {
			b = binary.LittleEndian.AppendUint32(b, (w-uint32(at)-uint32(len(b)))&0x7fffffff)
		}
		return b
	}
	var table []byte
	add := func(function, word uint32) {
		at := uint64(0x8000 + len(table))
		table = append(table, entry(at, function)...)
		table = binary.LittleEndian.AppendUint32(table, word)
	}
	add(0x2000, 0x80aab0b0)
	add(0x2100, 1)
	add(0x2200, 0x8002afb0)
	add(0x2300, 0x1000) // behind, in the section itself
	exidx = append(exidx, table, append(bytes.Clone(table), 0xb1, 0x0f, 0xb2, 0x81, 0x9b, 0x42, 0x84, 0x83, 0xb3, 0xc9, 0xd0, 0xc6))
	return frames, exidx
}

// unwindRandom unwinds stacks of random words, many of which lead into the code of m and
// into the stack itself.
func unwindRandom(t testing.TB, m *Module, seed uint64, stacks int) (frames int) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	const sp = 0x7ff000
	find := func(pc uint64) (*Module, uint64, bool) { return m, 0, within(m.code, pc) }
	word := func() uint64 {
		switch rnd.IntN(4) {
		case 0:
			return rnd.Uint64()
		case 1:
			return sp + rnd.Uint64N(2048)
		}
		return m.code[0].lo + rnd.Uint64N(m.code[0].hi-m.code[0].lo)
	}
	var u Unwinder
	var list []Frame
	for range stacks {
		s := Stack{SP: sp, Full: rnd.IntN(2) == 0}
		for len(s.Bytes) < 2048 {
			if m.arch.word == 8 {
				s.Bytes = binary.LittleEndian.AppendUint64(s.Bytes, word())
			} else {
				s.Bytes = binary.LittleEndian.AppendUint32(s.Bytes, uint32(word()))
			}
		}
		regs := &Registers{Arch: m.arch, PC: m.code[0].lo + rnd.Uint64N(m.code[0].hi-m.code[0].lo)}
		for n := range uint8(NumRegisters) {
			regs.put(n, word())
		}
		regs.put(m.arch.sp, sp)
		var end End
		list, end = u.Unwind(list[:0], regs, s, find)
		if len(list) == 0 || len(list) > MaxFrames || end > TooDeep || end.String() == "" {
			t.Fatalf("%d frames, %d", len(list), end)
		}
		frames += len(list)
	}
	return frames
}

func FuzzCallFrames(f *testing.F) {
	frames, _ := seeds()
	for i, data := range frames {
		for arch := range uint8(4) {
			f.Add(data, arch, i%2 == 0, uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, arch uint8, eh bool, seed uint64) {
		a := []*Arch{amd64, i386, arm64, arm32}[arch%4]
		m := moduleOf(t, a, data)
		if !eh {
			m.unread = nil
			if frames := newFrameTable(data, 0, false, a.word, m.code); frames != nil {
				m.tables = []table{frames}
			}
		}
		unwindRandom(t, m, seed, 4)
	})
}

func FuzzExceptionTables(f *testing.F) {
	_, tables := seeds()
	for i, data := range tables {
		f.Add(data, []byte{0x2d, 0xe9, 0xf0, 0x4f, 0x70, 0x47, 0x1e, 0xff, 0x2f, 0xe1}, uint64(i))
	}
	f.Fuzz(func(t *testing.T, data, code []byte, seed uint64) {
		code = append(code, make([]byte, max(0, 0x400-len(code)))...)
		m := imageModule(t, arm32, part{0, 0x2000, code}, part{objfile.ARMExidx, 0x8000, data})
		m.code = []addressRange{{0x2000, 0x2400}}
		unwindRandom(t, m, seed, 4)
	})
}

// TestDamagedTables unwinds random stacks by the tables of real files that were damaged. It
// must end, with memory in proportion to the table.
func TestDamagedTables(t *testing.T) {
	type original struct {
		name    string
		file    *objfile.File
		section string
	}
	dir := t.TempDir()
	var originals []original
	for _, o := range []struct {
		compiler, section string
		args              []string
	}{
		{"gcc", ".eh_frame", []string{"-m64"}},
		{"gcc", ".debug_frame", []string{"-m64", "-g", "-fno-asynchronous-unwind-tables"}},
		{"aarch64-linux-gnu-gcc", ".eh_frame", nil},
		{"arm-linux-gnueabihf-gcc", ".ARM.exidx", []string{"-funwind-tables"}},
	} {
		program := filepath.Join(dir, o.compiler+o.section)
		run(t, "", o.compiler, append(o.args, "-O2", "-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-no-pie", "-o", program, "testdata/src/stack.c")...)
		originals = append(originals, original{o.compiler + " " + o.section, open(t, program), o.section})
	}
	if gcc := library(t, "gcc", "libgcc_s.so.1"); gcc != "" {
		originals = append(originals, original{"libgcc", open(t, gcc), ".eh_frame"})
	}
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, o := range originals {
		whole, err := o.file.SectionData(o.section)
		if err != nil {
			t.Fatal(o.name, err)
		}
		s, _ := o.file.Section(o.section)
		frames, most, slowest := 0, uint64(0), 0.0
		for range rounds {
			data := bytes.Clone(whole)
			for range 1 + rnd.IntN(20) {
				i := rnd.IntN(len(data))
				switch rnd.IntN(4) {
				case 0:
					data[i] = byte(rnd.Uint32())
				case 1:
					data[i] ^= 1 << rnd.IntN(8)
				case 2:
					from := rnd.IntN(len(whole))
					copy(data[i:], whole[from:min(from+1+rnd.IntN(64), len(whole))])
				case 3:
					for k := i; k < min(i+4, len(data)); k++ {
						data[k] = 0xff
					}
				}
			}
			if rnd.IntN(4) == 0 {
				data = data[:rnd.IntN(len(data))]
			}
			m := module(t, Source{File: o.file})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := cputime.Now()
			m.unread = nil
			if o.section == ".ARM.exidx" {
				m.tables = []table{&exidxTable{module: m, data: data, vaddr: s.Vaddr}}
			} else if made := newFrameTable(data, s.Vaddr, o.section == ".eh_frame", m.arch.word, m.code); made != nil {
				m.tables = []table{made}
			}
			frames += unwindRandom(t, m, rnd.Uint64(), 40)
			slowest = max(slowest, (cputime.Now() - start).Seconds())
			runtime.ReadMemStats(&after)
			used := after.TotalAlloc - before.TotalAlloc
			if most = max(most, used); used > 4*uint64(len(data))+10<<20 {
				t.Errorf("%s: %d bytes for a table of %d", o.name, used, len(data))
			}
			if len(m.tables) > 0 {
				if f, ok := m.tables[0].(*frameTable); ok && len(f.begin) > len(data) {
					t.Errorf("%s: %d rows for a table of %d", o.name, len(f.begin), len(data))
				}
			}
		}
		t.Logf("%s: %d frames, at most %d bytes, %.0f ms", o.name, frames, most, 1000*slowest)
	}
}
