package disasm

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/objfile"
)

// hex returns bytes written in hexadecimal, with comments after # up to the end of
// the line.
func hexBytes(t testing.TB, s string) []byte {
	t.Helper()
	var b []byte
	for line := range strings.Lines(s) {
		line, _, _ = strings.Cut(line, "#")
		for f := range strings.FieldsSeq(line) {
			var v byte
			if _, err := fmt.Sscanf(f, "%02x", &v); err != nil {
				t.Fatalf("%q: %v", f, err)
			}
			b = append(b, v)
		}
	}
	return b
}

func words(list ...uint32) []byte {
	var b []byte
	for _, w := range list {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// outline writes the blocks as "start-end -> successors" with offsets from the
// start of the function, and the loops as "loop header: blocks".
func outline(f *Function) []string {
	var lines []string
	at := func(b int) uint64 { return f.Insts[f.Blocks[b].First].Addr - f.Start }
	for b := range f.Blocks {
		last := f.Insts[f.Blocks[b].End-1]
		var line strings.Builder
		line.WriteString(fmt.Sprintf("%x-%x ->", at(b), last.Next()-f.Start))
		for _, s := range f.Blocks[b].Succs {
			line.WriteString(fmt.Sprintf(" %x", at(s)))
		}
		if !f.Blocks[b].Reachable {
			line.WriteString(" unreached")
		}
		lines = append(lines, line.String())
	}
	for _, l := range f.Loops {
		var line strings.Builder
		line.WriteString(fmt.Sprintf("loop %x depth %d:", at(l.Header), l.Depth))
		for _, b := range l.Blocks {
			line.WriteString(fmt.Sprintf(" %x", at(b)))
		}
		if l.Irreducible {
			line.WriteString(" irreducible")
		}
		lines = append(lines, line.String())
	}
	return lines
}

func TestFunctions(t *testing.T) {
	table := func(base uint64, targets ...uint64) part {
		p := part{name: ".rodata", addr: base}
		for _, target := range targets {
			p.data = binary.LittleEndian.AppendUint32(p.data, uint32(textAddr+target-base))
		}
		return p
	}
	pointers := func(base uint64, targets ...uint64) part {
		p := part{name: ".rodata", addr: base}
		for _, target := range targets {
			p.data = binary.LittleEndian.AppendUint64(p.data, textAddr+target)
		}
		return p
	}
	for _, test := range []struct {
		name       string
		machine    elf.Machine
		text       []byte
		data       []part
		want       []string
		incomplete string
		end        uint64
	}{
		{
			name: "nested loops", machine: elf.EM_X86_64, end: 0xd,
			text: hexBytes(t, `
				31 c0       # 0 xor %eax,%eax
				31 c9       # 2 xor %ecx,%ecx
				ff c1       # 4 inc %ecx
				39 f1       # 6 cmp %esi,%ecx
				7c fa       # 8 jl 4
				75 f6       # a jne 2
				c3          # c ret
				66 0f 1f 44 00 00 # d nop`),
			want: []string{
				"0-2 -> 2", "2-4 -> 4", "4-a -> 4 a", "a-c -> 2 c", "c-d ->",
				"loop 2 depth 1: 2 4 a", "loop 4 depth 2: 4",
			},
		},
		{
			name: "into the middle of an instruction", machine: elf.EM_X86_64, end: 9,
			text: hexBytes(t, `
				74 01          # 0 je 3
				f0 48 0f b1 0f # 2 lock cmpxchg %rcx,(%rdi); 3 without lock
				75 f7          # 7 jne 0`),
			want: []string{"0-2 -> 2 3", "2-7 -> 7", "3-7 -> 7", "7-9 -> 0", "loop 0 depth 1: 0 2 3 7"},
		},
		{
			name: "two entries", machine: elf.EM_X86_64, end: 7,
			text: hexBytes(t, `
				74 01 # 0 je 3
				90    # 2 nop
				75 fd # 3 jne 2
				eb fc # 5 jmp 3`),
			want: []string{"0-2 -> 2 3", "2-3 -> 3", "3-5 -> 2 5", "5-7 -> 3", "loop 2 depth 1: 2 3 5 irreducible", "loop 3 depth 2: 3 5"},
		},
		{
			name: "landing pad", machine: elf.EM_X86_64, end: 0xd,
			text: hexBytes(t, `
				e8 00 00 00 00 # 0 call
				c3             # 5 ret
				66 90          # 6 nop
				48 89 c7       # 8 mov %rax,%rdi
				eb f3          # b jmp 0`),
			want: []string{"0-6 ->", "8-d -> 0 unreached"},
		},
		{
			name: "table of offsets", machine: elf.EM_X86_64, end: 0x1b,
			text: hexBytes(t, `
				83 ff 02             # 0 cmp $2,%edi
				77 14                # 3 ja 19
				48 8d 15 f4 0f 00 00 # 5 lea table,%rdx
				89 ff                # c mov %edi,%edi
				48 63 04 ba          # e movslq (%rdx,%rdi,4),%rax
				48 01 d0             # 12 add %rdx,%rax
				3e ff e0             # 15 notrack jmp *%rax
				90                   # 18 nop
				c3                   # 19 ret
				c3                   # 1a ret`),
			data: []part{table(0x402000, 0x18, 0x1a, 0x18, 0x19)},
			want: []string{"0-5 -> 5 19", "5-18 -> 18 1a", "18-19 -> 19", "19-1a ->", "1a-1b ->"},
		},
		{
			name: "table of addresses in a loop", machine: elf.EM_X86_64, end: 0x1a,
			text: hexBytes(t, `
				8a 07                # 0 mov (%rdi),%al
				3c 03                # 2 cmp $3,%al
				73 0f                # 4 jae 15
				0f b6 c0             # 6 movzbl %al,%eax
				ff 24 c5 00 20 40 00 # 9 jmp *table(,%rax,8)
				ff c1                # 10 inc %ecx
				eb ec                # 12 jmp 0
				90                   # 14 nop
				c3                   # 15 ret
				ff c9                # 16 dec %ecx
				eb e6                # 18 jmp 0`),
			data: []part{pointers(0x402000, 0x10, 0x16, 0x14)},
			want: []string{
				"0-6 -> 6 15", "6-10 -> 10 14 16", "10-14 -> 0", "14-15 -> 15", "15-16 ->", "16-1a -> 0",
				"loop 0 depth 1: 0 6 10 16",
			},
		},
		{
			name: "table without bound", machine: elf.EM_X86_64, end: 9,
			text: hexBytes(t, `
				ff 24 fd 00 20 40 00 # 0 jmp *table(,%rdi,8)
				90                   # 7 nop
				c3                   # 8 ret`),
			data: []part{pointers(0x402000, 7, 8)},
			want: []string{"0-7 ->", "8-9 -> unreached"}, incomplete: "jump table at 0x401000",
		},
		{
			name: "tail calls", machine: elf.EM_X86_64, end: 0xc,
			text: hexBytes(t, `
				48 8b 07       # 0 mov (%rdi),%rax
				74 02          # 3 je 7
				ff e0          # 5 jmp *%rax
				e9 00 10 00 00 # 7 jmp outside`),
			want: []string{"0-5 -> 5 7", "5-7 ->", "7-c ->"},
		},
		{
			name: "garbage", machine: elf.EM_X86_64, end: 3,
			text: hexBytes(t, `
				74 00 # 0 je 2
				90    # 2 nop
				06    # 3`),
			want: []string{"0-2 -> 2", "2-3 ->"}, incomplete: "code that cannot be decoded at 0x401003",
		},
		{
			name: "loop of AArch64", machine: elf.EM_AARCH64, end: 0x14,
			text: words(
				0xf1000400, // 0 subs x0, x0, #1
				0x54ffffe1, // 4 b.ne 0
				0x3607ffc0, // 8 tbz w0, #0, 0
				0xf8e20020, // c ldaddal x2, x0, [x1]
				0xd65f0bff, // 10 retaa
				0xd503201f, // 14 nop
			),
			want: []string{"0-8 -> 0 8", "8-c -> 0 c", "c-14 ->", "loop 0 depth 1: 0 8"},
		},
		{
			name: "table of bytes", machine: elf.EM_AARCH64, end: 0x28,
			text: words(
				0x7100081f, // 0 cmp w0, #2
				0x54000108, // 4 b.hi 24
				0xb0000009, // 8 adrp x9, 0x402000
				0x2a0003e8, // c mov w8, w0
				0x91000129, // 10 add x9, x9, #0
				0x1000006a, // 14 adr x10, 20
				0x3868692b, // 18 ldrb w11, [x9, x8]
				0x8b0b094a, // 1c add x10, x10, x11, lsl #2
				0xd61f0140, // 20 br x10
				0xd65f03c0, // 24 ret
			),
			data: []part{{".rodata", 0x402000, []byte{1, 1, 1, 0}}},
			want: []string{"0-8 -> 8 24", "8-24 -> 24", "24-28 ->"},
		},
		{
			name: "table of signed bytes", machine: elf.EM_AARCH64, end: 0x30,
			text: words(
				0x71000c1f, // 0 cmp w0, #3
				0x54000128, // 4 b.hi 28
				0xb0000001, // 8 adrp x1, 0x402000
				0x91000021, // c add x1, x1, #0
				0x38604821, // 10 ldrb w1, [x1, w0, uxtw]
				0x10000062, // 14 adr x2, 20
				0x8b218841, // 18 add x1, x2, w1, sxtb #2
				0xd61f0020, // 1c br x1
				0x52800020, // 20 mov w0, #1
				0xd65f03c0, // 24 ret
				0x52800040, // 28 mov w0, #2
				0xd65f03c0, // 2c ret
			),
			data: []part{{".rodata", 0x402000, []byte{0, 2, 0xf8, 2}}},
			want: []string{"0-8 -> 8 28", "8-20 -> 0 20 28", "20-28 ->", "28-30 ->", "loop 0 depth 1: 0 8"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := function(t, test.machine, test.text, test.data...)
			if diff := cmp.Diff(test.want, outline(f)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if f.Incomplete != test.incomplete {
				t.Errorf("incomplete: %q, want %q", f.Incomplete, test.incomplete)
			}
			if end := f.End - f.Start; end != test.end {
				t.Errorf("end %#x, want %#x", end, test.end)
			}
			checkFunction(t, f)
		})
	}
}

// checkFunction checks what holds for every function.
func checkFunction(t testing.TB, f *Function) {
	t.Helper()
	next := 0
	for b, block := range f.Blocks {
		if block.First != next || block.End <= block.First {
			t.Fatalf("block %d is [%d, %d), want it to start at %d", b, block.First, block.End, next)
		}
		next = block.End
		for i := block.First; i < block.End; i++ {
			in := f.Insts[i]
			if i > 0 && f.Insts[i-1].Addr >= in.Addr {
				t.Fatalf("instruction %d at %#x follows that at %#x", i, in.Addr, f.Insts[i-1].Addr)
			}
			if in.Addr < f.Start || in.Next() > f.End || in.Len < 1 {
				t.Fatalf("instruction at %#x has %d bytes, function is %#x-%#x", in.Addr, in.Len, f.Start, f.End)
			}
			if i+1 < block.End && (in.Next() != f.Insts[i+1].Addr || !in.Kind.falls() || in.Cond) {
				t.Fatalf("block %d goes on after the instruction at %#x", b, in.Addr)
			}
			if got := f.Block(in.Addr); got != b {
				t.Fatalf("Block(%#x) is %d, want %d", in.Addr, got, b)
			}
			if text := f.Text(i); text == "" {
				t.Fatalf("no text for the instruction at %#x", in.Addr)
			}
		}
		for _, s := range block.Succs {
			if !contains(f.Blocks[s].Preds, b) {
				t.Fatalf("block %d is not a predecessor of %d", b, s)
			}
		}
		for _, p := range block.Preds {
			if !contains(f.Blocks[p].Succs, b) {
				t.Fatalf("block %d is not a successor of %d", b, p)
			}
		}
	}
	if next != len(f.Insts) {
		t.Fatalf("%d instructions are in blocks, want %d", next, len(f.Insts))
	}
	for i := range f.Loops {
		checkLoop(t, f, i)
	}
}

func contains(list []int, n int) bool {
	return slices.Contains(list, n)
}

func TestBounds(t *testing.T) {
	text := bytes.Repeat([]byte{0x90}, 0x40)
	for _, at := range []int{0xf, 0x1f, 0x2f, 0x3f} {
		text[at] = 0xc3
	}
	// A CIE with augmentation "zR" and pc-relative offsets, and FDEs for 10-20 and
	// 30-40.
	const frameAddr = 0x403000
	frames := hexBytes(t, `
		10 00 00 00 00 00 00 00 01 7a 52 00 01 78 10 01 1b 00 00 00`)
	for _, start := range []uint64{0x10, 0x30} {
		at := uint64(len(frames))
		frames = binary.LittleEndian.AppendUint32(frames, 16)
		frames = binary.LittleEndian.AppendUint32(frames, uint32(at+4))
		frames = binary.LittleEndian.AppendUint32(frames, uint32(textAddr+start-(frameAddr+at+8)))
		frames = binary.LittleEndian.AppendUint32(frames, 0x10)
		frames = append(frames, 0, 0, 0, 0)
	}
	frames = append(frames, 0, 0, 0, 0)
	m := image{
		machine: elf.EM_X86_64,
		parts:   []part{{".text", textAddr, text}, {".eh_frame", frameAddr, frames}},
		symbols: []objfile.Symbol{
			{Addr: textAddr, Len: 0x10, Name: "first"},
			{Addr: textAddr + 4, Len: 4, Name: "inner"},
			{Addr: textAddr + 0x10, Len: 4, Name: "second"},
			{Addr: textAddr + 0x18, Len: 4, Name: "label"},
		},
	}
	c := m.code(t)
	type want struct {
		name       string
		start, end uint64
	}
	for addr, want := range map[uint64]want{
		0x0:  {"first", 0, 0x10},
		0x5:  {"first", 0, 0x10},
		0x13: {"second", 0x10, 0x20},
		0x1f: {"second", 0x10, 0x20},
		0x30: {"", 0x30, 0x40},
		0x3f: {"", 0x30, 0x40},
	} {
		f, err := c.FunctionAt(textAddr + addr)
		if err != nil {
			t.Errorf("%#x: %v", addr, err)
			continue
		}
		if f.Name != want.name || f.Start-textAddr != want.start || f.End-textAddr != want.end {
			t.Errorf("%#x: %q %#x-%#x, want %+v", addr, f.Name, f.Start-textAddr, f.End-textAddr, want)
		}
	}
	if _, err := c.FunctionAt(textAddr + 0x28); !errors.Is(err, ErrNoFunction) {
		t.Errorf("between functions: %v, want %v", err, ErrNoFunction)
	}
	if _, err := c.Decode(0x1000); !errors.Is(err, errNoCode) {
		t.Errorf("outside of code: %v, want %v", err, errNoCode)
	}
	if _, err := c.Decode(textAddr + 0x40); !errors.Is(err, errNoCode) {
		t.Errorf("after the code: %v, want %v", err, errNoCode)
	}
	n := 0
	for i := range c.Range(textAddr+1, textAddr+0x1000) {
		if want := textAddr + 1 + uint64(n); i.Addr != want {
			t.Fatalf("instruction %d at %#x, want %#x", n, i.Addr, want)
		}
		n++
	}
	if n != 0x3f {
		t.Errorf("%d instructions in the range, want %d", n, 0x3f)
	}
}

func TestArch(t *testing.T) {
	m := image{machine: elf.EM_ARM, parts: []part{{".text", textAddr, make([]byte, 4)}}}
	data := m.bytes()
	f, err := objfile.New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(f); !errors.Is(err, errArch) || err.Error() != "arm: cannot decode code for this machine" {
		t.Errorf("got %v, want %v", err, errArch)
	}
}
