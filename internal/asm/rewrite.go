package asm

import (
	"strings"

	"profdiff/internal/disasm"
)

// StandIn is what is simulated for an executed instruction, "" if that is nothing.
//
// Branches keep their text, but for calls, which llvm-mca takes 100 cycles for: a call
// writes its return address. push and pop are a store and a load; the stack engine
// counts the stack pointer. A conditional jump is one operation with the comparison
// before it.
func StandIn(arch Arch, in, before *Inst) string {
	if n := len(in.Target) - 1; n > 0 && isNumber(in.Target[:n]) && (in.Target[n] == 'b' || in.Target[n] == 'f') && in.Kind != disasm.Call {
		// Numeric labels have to be there, others do not.
		named := *in
		named.Text, named.Target = strings.TrimSuffix(in.Text, in.Target)+".L"+in.Target, ""
		return StandIn(arch, &named, before)
	}
	if arch == AArch64 {
		switch in.Kind {
		case disasm.Call:
			return "b .Lcall"
		case disasm.IndirectCall:
			_, register := Mnemonic(arch, in.Text)
			return "br " + strings.TrimSpace(strings.Split(register, ",")[0])
		case disasm.Trap:
			return ""
		}
		return in.Text
	}
	name, operands := Mnemonic(arch, in.Text)
	switch {
	case in.Kind == disasm.Call:
		return "movq $0, -8(%rsp)"
	case in.Kind == disasm.IndirectCall:
		return "jmp " + operands
	case in.Kind == disasm.Return:
		return "jmp *(%rsp)"
	case in.Kind == disasm.Trap:
		return ""
	case (name == "push" || name == "pushq") && strings.HasPrefix(operands, "%r"):
		return "movq " + operands + ", -8(%rsp)"
	case (name == "pop" || name == "popq") && strings.HasPrefix(operands, "%r"):
		return "movq (%rsp), " + operands
	case in.Kind == disasm.Conditional && before != nil && Fuses(before, name):
		return ""
	case name == "endbr64" || name == "endbr32":
		return "nop"
	}
	return in.Text
}

// Fuses reports whether decoders make one operation of an instruction of x86 and the
// conditional jump after it.
func Fuses(before *Inst, jump string) bool {
	name, operands := Mnemonic(X8664, before.Text)
	if strings.HasPrefix(jump, "loop") || strings.HasSuffix(jump, "cxz") {
		return false
	}
	base := strings.TrimRight(name, "bwlq")
	switch name {
	case "cmp", "cmpb", "cmpw", "cmpl", "cmpq":
		base = "cmp"
	case "test", "testb", "testw", "testl", "testq":
		base = "test"
	}
	switch base {
	case "cmp", "test":
		// Not with an immediate and a memory operand that is relative to the program.
		return !strings.Contains(operands, "$") || !strings.Contains(operands, "(")
	case "and", "add", "inc", "dec", "or", "xor":
		return !strings.Contains(operands, "(")
	}
	return name == "subl" || name == "subq" || name == "subw" || name == "subb" || name == "sub"
}

// TimelineText is the text of an instruction for a timeline: as it is where llvm-mca can
// simulate that.
func TimelineText(arch Arch, in *Inst) string {
	if arch == X8664 && in.Kind == disasm.Return {
		return in.Text
	}
	return StandIn(arch, in, nil)
}
