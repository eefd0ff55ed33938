package disasm

import (
	"fmt"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// raw returns bytes as a directive of the assembler.
func raw(directive string, b []byte) string {
	var s strings.Builder
	s.WriteString(directive)
	for i, v := range b {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, " %#02x", v)
	}
	return s.String()
}

func arm64Text(b []byte, in *Inst) string {
	at := byteReader{data: b}
	word := uint32(at.uint(4))
	inst, err := arm64asm.Decode(b)
	if err != nil {
		return fmt.Sprintf(".inst %#08x", word)
	}
	text := strings.TrimSpace(arm64asm.GNUSyntax(inst))
	if in.Target != 0 {
		// The package writes ".+0x…".
		if i := strings.LastIndex(text, "."); i >= 0 {
			text = text[:i] + fmt.Sprintf("%#x", in.Target)
		}
	}
	return text
}

func x86Text(b []byte, in *Inst, bits64 bool) string {
	var x x86Inst
	decodeX86(b, bits64, &x)
	if x.isEndbr() {
		if x.modrm == 0xfb {
			return "endbr32"
		}
		return "endbr64"
	}
	mode := 32
	if bits64 {
		mode = 64
	}
	inst, err := x86asm.Decode(b, mode)
	if err != nil || inst.Len != len(b) || x.vector != legacy {
		return raw(".byte", b)
	}
	return x.tidy(strings.TrimSpace(x86asm.GNUSyntax(inst, in.Addr, nil)), in)
}

// tidy makes what x86asm writes acceptable to assemblers and like what compilers
// write.
func (x *x86Inst) tidy(text string, in *Inst) string {
	if x.opmap == map0F && x.op == 0x1f {
		return "nop"
	}
	text = strings.ReplaceAll(text, ",%riz", "")
	if x.disp < 0 {
		text = strings.Replace(text, fmt.Sprintf("%#x(", uint32(x.disp)), fmt.Sprintf("-%#x(", -x.disp), 1)
	}
	switch in.Kind {
	case Jump, IndirectJump, Call, IndirectCall, Return:
		for _, name := range []string{"jmp", "call", "ret"} {
			if rest, ok := strings.CutPrefix(text, name+"q"); ok {
				text = name + rest
			}
		}
		if rest, ok := strings.CutPrefix(text, "ds "); ok && x.op == 0xff {
			text = "notrack " + rest
		}
	case Other:
		if rest, ok := strings.CutPrefix(text, "movsxd "); ok {
			text = "movslq " + rest
		}
	}
	return text
}
