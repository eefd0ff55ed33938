package disasm

import (
	"bytes"
	"debug/elf"
	"testing"

	"profdiff/internal/objfile"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte{0xf3, 0x0f, 0x1e, 0xfa})
	f.Add([]byte{0x62, 0xf1, 0x7c, 0x48, 0x58, 0x44, 0x88, 0x01})
	f.Add([]byte{0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0})
	f.Add([]byte{0x41, 0, 0, 0x54, 0x20, 0, 0xe2, 0xb8})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
			m := image{machine: machine, parts: []part{{".text", textAddr, data}}}
			c := m.code(t)
			at := uint64(textAddr)
			for i := range c.Range(textAddr, textAddr+uint64(len(data))) {
				if i.Addr != at || i.Len < 1 || i.Len > maxX86 || i.Next() > textAddr+uint64(len(data)) {
					t.Fatalf("instruction %+v at %#x", i, at)
				}
				if again, err := c.Decode(at); err != nil || again != i {
					t.Fatalf("Range gives %+v, Decode %+v, %v", i, again, err)
				}
				if i.Cond != (i.Kind == Conditional) && i.Kind != Other {
					t.Fatalf("%+v", i)
				}
				at = i.Next()
			}
		}
		var x x86Inst
		if decodeX86(data, false, &x) && (x.length < 1 || x.length > min(maxX86, len(data))) {
			t.Fatalf("%d bytes of %x", x.length, data)
		}
	})
}

// FuzzFunction takes code and data for two machines, and a whole file.
func FuzzFunction(f *testing.F) {
	text := hexBytes(f, `83 ff 02 77 14 48 8d 15 f4 0f 00 00 89 ff 48 63 04 ba 48 01 d0 3e ff e0 90 c3 c3`)
	f.Add(text, []byte{0x18, 0xf0, 0xff, 0xff, 0x1a, 0xf0, 0xff, 0xff, 0x18, 0xf0, 0xff, 0xff})
	f.Add([]byte{0x74, 0x01, 0xf0, 0x48, 0x0f, 0xb1, 0x0f, 0x75, 0xf7}, []byte{})
	f.Add([]byte{0x74, 0x01, 0x90, 0x75, 0xfd, 0xeb, 0xfc}, []byte{0})
	f.Add(words(0x7100081f, 0x54000108, 0xb0000009, 0x2a0003e8, 0x91000129, 0x1000006a, 0x3868692b, 0x8b0b094a, 0xd61f0140, 0xd65f03c0), []byte{1, 1, 1})
	f.Add(bytes.Repeat([]byte{0x75, 0xfc}, 200), []byte{})
	whole := image{
		machine: elf.EM_X86_64, parts: []part{{".text", textAddr, text}},
		symbols: []objfile.Symbol{{Addr: textAddr, Len: 1 << 40, Name: "f"}},
	}
	f.Add(whole.bytes(), []byte{})
	f.Fuzz(func(t *testing.T, text, data []byte) {
		for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
			if len(text) == 0 {
				break
			}
			checkFunction(t, function(t, machine, text, part{".rodata", 0x402000, data}))
			readFrames(data, 0x402000, true)
		}
		file, err := objfile.New(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return
		}
		c, err := New(file)
		if err != nil {
			return
		}
		symbols, err := file.Symbols()
		if err != nil {
			return
		}
		n := 0
		for s := range symbols.All() {
			if n++; n > 20 {
				break
			}
			if fn, err := c.FunctionAt(s.Addr); err == nil {
				checkFunction(t, fn)
			}
		}
	})
}
