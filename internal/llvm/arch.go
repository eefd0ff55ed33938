package llvm

import "strings"

// arch is an instruction set as far as text of instructions differs.
type arch int

const (
	archOther arch = iota
	archX86
	archARM64
	archARM // A32 and Thumb
)

// archOf is the instruction set of a triple.
func archOf(triple string) arch {
	name, _, _ := strings.Cut(strings.ToLower(triple), "-")
	switch {
	case name == "x86_64", name == "amd64", name == "x86",
		len(name) == 4 && name[0] == 'i' && strings.HasSuffix(name, "86"):
		return archX86
	case strings.HasPrefix(name, "aarch64"), strings.HasPrefix(name, "arm64"):
		return archARM64
	case strings.HasPrefix(name, "arm"), strings.HasPrefix(name, "thumb"):
		return archARM
	}
	return archOther
}

// isCall says whether a mnemonic is of a call.
func isCall(a arch, name string) bool {
	switch a {
	case archX86:
		return strings.HasPrefix(name, "call")
	case archARM64:
		return name == "bl" || strings.HasPrefix(name, "blr")
	case archARM:
		return (name == "bl" || name == "blx") || len(name) == 4 && strings.HasPrefix(name, "bl") && isCondition(name[2:]) ||
			len(name) == 5 && strings.HasPrefix(name, "blx") && isCondition(name[3:])
	}
	return false
}

// isCondition says whether s is a condition code of A32 and Thumb.
func isCondition(s string) bool {
	switch s {
	case "eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al":
		return true
	}
	return false
}

// isLocked says whether an instruction of x86 locks memory: by a prefix, or as an
// exchange with memory.
func isLocked(name, line string) bool {
	return oneOf(name, "lock", "xacquire", "xrelease") || strings.HasPrefix(name, "xchg") && strings.Contains(line, "(")
}
