package llvm

import (
	"regexp"
	"strconv"
	"strings"
)

// comment is what ends the instruction in llvm-objdump's text. On Arm '#' begins an
// immediate.
func comment(a arch) string {
	switch a {
	case archARM64:
		return "//"
	case archARM:
		return "@"
	default:
		return "#"
	}
}

var (
	symbolSuffix = regexp.MustCompile(`\s*<[^>\t]*>$`)
	spaces       = regexp.MustCompile(`[ \t]+`)
)

// rewrite turns an instruction as llvm-objdump prints it into one that llvm-mca accepts:
// comments and names of symbols go, and where the operand is an address in the code it
// becomes an undefined label, since numbers are refused beyond the reach of a branch.
func rewrite(a arch, raw string) Instruction {
	in := Instruction{Raw: raw}
	text := raw
	if isData(text) {
		in.Data = true
		return in
	}
	if i := strings.Index(text, comment(a)); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimRight(text, " \t")
	text = stripSymbol(text)
	text = strings.TrimSpace(spaces.ReplaceAllString(text, " "))
	if text == "" {
		in.Data = true
		return in
	}
	name := strings.ToLower(operation(a, text))
	branch := isBranch(a, name)
	if branch || readsLabel(a, name) {
		if head, addr, ok := cutTarget(text); ok {
			text = head + ".Lx0x" + strconv.FormatUint(addr, 16)
			if branch {
				in.Target = addr
			}
		}
	}
	in.Text = text
	return in
}

// stripSymbol removes "<name+0x10>" from the end. Names may hold '<' and '>' themselves.
func stripSymbol(text string) string {
	if !strings.HasSuffix(text, ">") {
		return text
	}
	if before, _, ok := strings.Cut(text, " <"); ok {
		return strings.TrimRight(before, " \t")
	}
	return symbolSuffix.ReplaceAllString(text, "")
}

// directive is what data in the code is printed as; LLVM 14 has the bytes before it in
// A32 and Thumb.
var directive = regexp.MustCompile(`^(?:[0-9a-f]{2}\s+)*\.[a-z0-9]+(?:\s|$)`)

// isData says whether llvm-objdump found no instruction.
func isData(text string) bool {
	return directive.MatchString(text) || strings.HasPrefix(text, "<unknown>") || strings.HasPrefix(text, "(bad)") ||
		strings.HasPrefix(text, "...")
}

// cutTarget splits off a last operand that is an address, as in "b.ne 0x390" and
// "tbz w0, #31, 0x40"; what has a '#' is an immediate.
func cutTarget(text string) (head string, addr uint64, ok bool) {
	i := strings.LastIndexAny(text, " ,")
	if i < 0 {
		return "", 0, false
	}
	digits, ok := strings.CutPrefix(text[i+1:], "0x")
	if !ok {
		return "", 0, false
	}
	addr, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return "", 0, false
	}
	return text[:i+1], addr, true
}

// isPrefix says whether a text is a prefix of x86 alone.
func isPrefix(a arch, text string) bool {
	if a != archX86 {
		return false
	}
	for word := range strings.FieldsSeq(text) {
		if !prefixWord(word) {
			return false
		}
	}
	return text != ""
}

func prefixWord(word string) bool {
	return oneOf(word, "lock", "rep", "repe", "repz", "repne", "repnz", "xacquire", "xrelease", "notrack",
		"data16", "data32", "addr32", "rex64", "cs", "ds", "es", "fs", "gs", "ss")
}

// operation is the mnemonic behind prefixes.
func operation(a arch, text string) string {
	word, rest := cutWord(text)
	for a == archX86 && prefixWord(word) && rest != "" {
		word, rest = cutWord(rest)
	}
	return word
}

// isBranch says whether a mnemonic is of a branch or call that may be direct.
func isBranch(a arch, name string) bool {
	switch a {
	case archX86:
		return strings.HasPrefix(name, "j") || strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "call") || name == "xbegin"
	case archARM64:
		return name == "b" || name == "bl" || strings.HasPrefix(name, "b.") || strings.HasPrefix(name, "bc.") ||
			oneOf(name, "cbz", "cbnz", "tbz", "tbnz")
	case archARM:
		name = strings.TrimSuffix(strings.TrimSuffix(name, ".w"), ".n")
		return isCall(a, name) || oneOf(name, "b", "cbz", "cbnz", "bl", "blx") ||
			len(name) == 3 && name[0] == 'b' && isCondition(name[1:])
	}
	return false
}

// readsLabel says whether a mnemonic takes an address in the code that is no target.
func readsLabel(a arch, name string) bool {
	switch a {
	case archARM64:
		return oneOf(name, "adr", "adrp", "ldr", "ldrsw", "prfm")
	case archARM:
		return strings.HasPrefix(name, "adr")
	}
	return false
}

// markPadding marks the no-operations and traps behind what control does not pass.
func markPadding(a arch, list []Instruction) {
	passed := true
	for i := range list {
		in := &list[i]
		switch name := strings.ToLower(operation(a, in.Text)); {
		case in.Data:
			passed = true
		case !passed && isFiller(a, name, in.Text):
			in.Padding = true
		default:
			passed = !isEnd(a, name, in.Text)
		}
	}
}

// isFiller says whether an instruction fills gaps.
func isFiller(a arch, name, text string) bool {
	switch a {
	case archX86:
		return oneOf(name, "nop", "nopw", "nopl", "nopq", "int3") || text == "xchgw %ax, %ax"
	case archARM64:
		return name == "nop" || name == "udf"
	case archARM:
		return strings.HasPrefix(name, "nop") || text == "mov r8, r8" || text == "mov r0, r0"
	}
	return false
}

// isEnd says whether control never passes an instruction.
func isEnd(a arch, name, text string) bool {
	switch a {
	case archX86:
		return strings.HasPrefix(name, "jmp") || strings.HasPrefix(name, "ljmp") || strings.HasPrefix(name, "ret") ||
			strings.HasPrefix(name, "iret") || oneOf(name, "ud2", "hlt", "int3", "sysret", "sysretq", "sysexit")
	case archARM64:
		return oneOf(name, "b", "br", "ret", "retaa", "retab", "braa", "brab", "braaz", "brabz", "eret", "brk", "udf")
	case archARM:
		return oneOf(name, "b", "b.w", "bx", "udf", "udf.w") ||
			strings.HasPrefix(name, "pop") && strings.HasSuffix(text, "pc}") || strings.HasPrefix(text, "ldr pc")
	}
	return false
}
