package disasm

import (
	"debug/elf"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeX86(t *testing.T) {
	const next = textAddr + 0x100 // target of the branches
	for _, test := range []struct {
		code string
		want Inst // without address
	}{
		{"90", Inst{Len: 1}},
		{"f3 0f 1e fa", Inst{Len: 4}},                       // endbr64
		{"66 66 2e 0f 1f 84 00 00 00 00 00", Inst{Len: 11}}, // nopw
		{"48 b8 01 02 03 04 05 06 07 08", Inst{Len: 10}},    // movabs
		{"48 a1 01 02 03 04 05 06 07 08", Inst{Len: 10}},
		{"66 c7 05 00 00 00 00 00 00", Inst{Len: 9}}, // movw $0,0(%rip)
		{"f6 05 00 00 00 00 01", Inst{Len: 7}},       // testb
		{"f7 15 00 00 00 00", Inst{Len: 6}},          // not
		{"c8 00 00 00", Inst{Len: 4}},                // enter
		{"0f 0f c1 9e", Inst{Len: 4}},                // pfadd
		{"66 0f 3a 0f c1 08", Inst{Len: 6}},          // palignr
		{"c5 f8 77", Inst{Len: 3}},                   // vzeroupper
		{"c5 f9 70 c1 1b", Inst{Len: 5}},             // vpshufd
		{"c4 e2 7d 18 44 88 10", Inst{Len: 7}},       // vbroadcastss
		{"c4 e3 fb f0 c1 05", Inst{Len: 6}},          // rorx
		{"8f e9 78 81 c1", Inst{Len: 5}},             // vfrczpd of XOP
		{"62 f1 7c 48 58 44 88 01", Inst{Len: 8}},    // vaddps of EVEX
		{"62 f3 fd 48 03 c1 01", Inst{Len: 7}},       // valignq
		{"62 f5 7c 48 58 c1", Inst{Len: 6}},          // vaddph, map 5
		{"64 48 8b 04 25 28 00 00 00", Inst{Len: 9}}, // mov %fs:0x28,%rax
		{"7f fe", Inst{Len: 2, Kind: Conditional, Cond: true, Target: textAddr}},
		{"2e 74 fd", Inst{Len: 3, Kind: Conditional, Cond: true, Target: textAddr}},
		{"0f 84 fa 00 00 00", Inst{Len: 6, Kind: Conditional, Cond: true, Target: next}},
		{"e2 fe", Inst{Len: 2, Kind: Conditional, Cond: true, Target: textAddr}},    // loop
		{"67 e3 fd", Inst{Len: 3, Kind: Conditional, Cond: true, Target: textAddr}}, // jecxz
		{"c7 f8 fa 00 00 00", Inst{Len: 6, Cond: true, Target: next}},               // xbegin
		{"eb fe", Inst{Len: 2, Kind: Jump, Target: textAddr}},
		{"e9 fb 00 00 00", Inst{Len: 5, Kind: Jump, Target: next}},
		{"e8 fb 00 00 00", Inst{Len: 5, Kind: Call, Target: next}},
		{"66 66 48 e8 f8 00 00 00", Inst{Len: 8, Kind: Call, Target: next}},
		{"ff e0", Inst{Len: 2, Kind: IndirectJump}},
		{"3e ff e0", Inst{Len: 3, Kind: IndirectJump}}, // notrack
		{"ff 25 00 00 00 00", Inst{Len: 6, Kind: IndirectJump}},
		{"ff 2f", Inst{Len: 2, Kind: IndirectJump}}, // far
		{"41 ff d3", Inst{Len: 3, Kind: IndirectCall}},
		{"ff 1f", Inst{Len: 2, Kind: IndirectCall}}, // far
		{"ff 30", Inst{Len: 2}},                     // push
		{"c3", Inst{Len: 1, Kind: Return}},
		{"f3 c3", Inst{Len: 2, Kind: Return}},
		{"f2 c3", Inst{Len: 2, Kind: Return}}, // bnd
		{"c2 08 00", Inst{Len: 3, Kind: Return}},
		{"48 cf", Inst{Len: 2, Kind: Return}},    // iretq
		{"48 0f 07", Inst{Len: 3, Kind: Return}}, // sysretq
		{"0f 05", Inst{Len: 2}},                  // syscall
		{"0f 0b", Inst{Len: 2, Kind: Trap}},
		{"0f b9 40 10", Inst{Len: 4, Kind: Trap}}, // ud1, as sanitizers use it
		{"cc", Inst{Len: 1, Kind: Trap}},
		{"06", Inst{}},
		{"0f 38", Inst{}},
		{"e8 00 00", Inst{}},
		{"66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", Inst{Len: 15}},
		{"66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", Inst{}}, // too long
	} {
		m := image{machine: elf.EM_X86_64, parts: []part{{".text", textAddr, hexBytes(t, test.code)}}}
		got, err := m.code(t).Decode(textAddr)
		if test.want.Len == 0 {
			if !errors.Is(err, errInvalid) {
				t.Errorf("%s: %+v, %v, want %v", test.code, got, err, errInvalid)
			}
			continue
		}
		test.want.Addr = textAddr
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", test.code, err, diff)
		}
	}
}

func TestDecodeX8632(t *testing.T) {
	for _, test := range []struct {
		code string
		want Inst
	}{
		{"40", Inst{Len: 1}},                                       // inc %eax
		{"c5 07", Inst{Len: 2}},                                    // lds (%edi),%eax
		{"62 07", Inst{Len: 2}},                                    // bound
		{"c5 f8 77", Inst{Len: 3}},                                 // vzeroupper
		{"a1 00 00 00 00", Inst{Len: 5}},                           // mov
		{"67 8b 47 01", Inst{Len: 4}},                              // mov 1(%bx),%eax
		{"67 8b 06 00 10", Inst{Len: 5}},                           // mov 0x1000,%eax
		{"9a 00 00 00 00 00 00", Inst{Len: 7, Kind: IndirectCall}}, // far
		{"66 e9 00 00", Inst{Len: 4, Kind: Jump, Target: 0x1004}},
		{"e8 fb ef ff ff", Inst{Len: 5, Kind: Call, Target: 0}},
	} {
		var x x86Inst
		if !decodeX86(hexBytes(t, test.code), false, &x) {
			t.Errorf("%s: not decoded", test.code)
			continue
		}
		test.want.Addr = 0x1000
		if diff := cmp.Diff(test.want, x.inst(0x1000, false)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.code, diff)
		}
	}
}

func TestDecodeARM64(t *testing.T) {
	const addr = 0x10000000
	for _, test := range []struct {
		word   uint32
		kind   Kind
		target uint64
	}{
		{0x54000041, Conditional, addr + 8},      // b.ne
		{0x54ffffd1, Conditional, addr - 8},      // bc.ne
		{0xb4000040, Conditional, addr + 8},      // cbz
		{0x35ffffe0, Conditional, addr - 4},      // cbnz
		{0xb7f80040, Conditional, addr + 8},      // tbnz x0, #63
		{0x36040000, Conditional, addr - 0x8000}, // tbz
		{0x74c00040, Conditional, addr + 8},      // cbeq of two registers
		{0x14000000, Jump, addr},                 // b
		{0x17ffffff, Jump, addr - 4},             // b
		{0x96000000, Call, addr - 0x8000000},     // bl
		{0xd61f0200, IndirectJump, 0},            // br x16
		{0xd71f0a11, IndirectJump, 0},            // braa
		{0xd61f0a1f, IndirectJump, 0},            // braaz
		{0xd63f0100, IndirectCall, 0},            // blr
		{0xd73f0d09, IndirectCall, 0},            // blrab
		{0xd65f03c0, Return, 0},                  // ret
		{0xd65f0fff, Return, 0},                  // retab
		{0xd69f03e0, Return, 0},                  // eret
		{0xd4200020, Trap, 0},                    // brk
		{0x00000000, Trap, 0},                    // udf
		{0xd4000001, Other, 0},                   // svc
		{0xd503233f, Other, 0},                   // paciasp
		{0xb8e00020, Other, 0},                   // ldaddal
		{0x04a00000, Other, 0},                   // of SVE
		{0xffffffff, Other, 0},
	} {
		want := Inst{Addr: addr, Len: 4, Kind: test.kind, Target: test.target, Cond: test.kind == Conditional}
		if diff := cmp.Diff(want, arm64Inst(test.word, addr)); diff != "" {
			t.Errorf("%#08x (-want +got):\n%s", test.word, diff)
		}
	}
}

func TestText(t *testing.T) {
	for _, test := range []struct {
		machine elf.Machine
		code    string
		want    string
	}{
		{elf.EM_X86_64, "f3 0f 1e fa", "endbr64"},
		{elf.EM_X86_64, "48 8b 45 f8", "mov -0x8(%rbp),%rax"},
		{elf.EM_X86_64, "48 63 07", "movslq (%rdi),%rax"},
		{elf.EM_X86_64, "89 45 f8", "mov %eax,-0x8(%rbp)"},
		{elf.EM_X86_64, "74 fe", "je 0x401000"},
		{elf.EM_X86_64, "e9 fb 00 00 00", "jmp 0x401100"},
		{elf.EM_X86_64, "e8 fb 00 00 00", "call 0x401100"},
		{elf.EM_X86_64, "ff e0", "jmp *%rax"},
		{elf.EM_X86_64, "3e ff e0", "notrack jmp *%rax"},
		{elf.EM_X86_64, "66 2e 0f 1f 84 00 00 00 00 00", "nop"},
		{elf.EM_X86_64, "0f 1f 40 00", "nop"},
		{elf.EM_X86_64, "64 48 8b 04 25 28 00 00 00", "mov %fs:0x28,%rax"},
		{elf.EM_X86_64, "41 8b 04 24", "mov (%r12),%eax"},
		{elf.EM_X86_64, "c5 f8 77", ".byte 0xc5, 0xf8, 0x77"},
		{elf.EM_AARCH64, "1f 20 03 d5", "nop"},
		{elf.EM_AARCH64, "41 00 00 54", "b.ne 0x401008"},
		{elf.EM_AARCH64, "40 00 00 b4", "cbz x0, 0x401008"},
		{elf.EM_AARCH64, "01 00 00 94", "bl 0x401004"},
		{elf.EM_AARCH64, "c0 03 5f d6", "ret"},
		{elf.EM_AARCH64, "20 00 e2 b8", ".inst 0xb8e20020"},
	} {
		f := function(t, test.machine, hexBytes(t, test.code))
		if got := f.Text(0); got != test.want {
			t.Errorf("%s: %q, want %q", test.code, got, test.want)
		}
	}
}
