package asm

import (
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/disasm"
)

// prefixes of x86 stand before the mnemonic.
var prefixes = []string{
	"lock", "rep", "repe", "repz", "repne", "repnz", "notrack", "bnd", "data16", "data32", "addr32", "cs", "ds", "es", "fs", "gs", "ss",
	"rex", "rex.w", "rex64", "xacquire", "xrelease",
}

// Mnemonic splits an instruction into its mnemonic and operands, without prefixes.
func Mnemonic(arch Arch, text string) (name, operands string) {
	name, operands, _ = strings.Cut(text, " ")
	name = strings.ToLower(name)
	if arch != X8664 {
		return name, strings.TrimSpace(operands)
	}
	for operands != "" && (slices.Contains(prefixes, name) || strings.HasPrefix(name, "{")) {
		name, operands, _ = strings.Cut(strings.TrimSpace(operands), " ")
		name = strings.ToLower(name)
	}
	for _, hint := range []string{",pt", ",pn"} {
		name = strings.TrimSuffix(name, hint)
	}
	return name, strings.TrimSpace(operands)
}

// KindOf says what an instruction does to the flow of control, and where it goes if
// that is in its text.
func KindOf(arch Arch, text string) (kind disasm.Kind, target string) {
	name, operands := Mnemonic(arch, text)
	if arch == X8664 {
		kind = flowX86(name, operands)
	} else {
		kind = flowA64(name)
	}
	switch kind {
	case disasm.Conditional, disasm.Jump, disasm.Call:
		if i := strings.LastIndexByte(operands, ','); i >= 0 {
			operands = operands[i+1:]
		}
		target = strings.TrimSpace(operands)
		if i := strings.IndexByte(target, '<'); i > 0 { // of objdump
			target = strings.TrimSpace(target[:i])
		}
		target = strings.Trim(strings.TrimSuffix(target, "@PLT"), `"`)
	}
	return kind, target
}

func flowX86(name, operands string) disasm.Kind {
	indirect := strings.HasPrefix(operands, "*")
	switch {
	case name == "jmp" || name == "jmpq" || name == "jmpl":
		if indirect {
			return disasm.IndirectJump
		}
		return disasm.Jump
	case strings.HasPrefix(name, "j"), strings.HasPrefix(name, "loop"), name == "xbegin":
		return disasm.Conditional
	case name == "call" || name == "callq" || name == "calll":
		if indirect {
			return disasm.IndirectCall
		}
		return disasm.Call
	case name == "ret" || name == "retq" || name == "retl" || strings.HasPrefix(name, "iret") || strings.HasPrefix(name, "sysret"):
		return disasm.Return
	case name == "ud2" || name == "ud1" || name == "ud0" || name == "int3" || name == "hlt":
		return disasm.Trap
	}
	return disasm.Other
}

func flowA64(name string) disasm.Kind {
	switch name {
	case "b", "b.al", "b.nv", "bc.al", "bc.nv", "bal", "bnv":
		return disasm.Jump
	case "bl":
		return disasm.Call
	case "cbz", "cbnz", "tbz", "tbnz":
		return disasm.Conditional
	case "br", "braa", "brab", "braaz", "brabz":
		return disasm.IndirectJump
	case "blr", "blraa", "blrab", "blraaz", "blrabz":
		return disasm.IndirectCall
	case "ret", "retaa", "retab", "eret":
		return disasm.Return
	case "brk", "udf", "hlt":
		return disasm.Trap
	}
	if _, ok := BranchCondition(name); ok {
		return disasm.Conditional
	}
	return disasm.Other
}

// offset reads a branch target that is a number of bytes from the branch: #12, -8, .+0x10.
func offset(target string) (bytes int64, ok bool) {
	s := strings.TrimPrefix(target, "#")
	s = strings.TrimPrefix(s, ".")
	v, err := strconv.ParseInt(strings.TrimPrefix(s, "+"), 0, 64)
	return v, err == nil && v > -1<<31 && v < 1<<31
}
