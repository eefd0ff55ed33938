package llvm

import (
	"slices"
	"strings"
)

// standIn is an instruction with the same registers to simulate in place of one that no
// model of Arm's cores has: an atomic of LSE becomes the load or store of it, with the
// register that it writes and the address; pointer authentication becomes an addition or
// the plain branch. It costs less than the original. "" means to leave the line out.
func standIn(triple string, unit []string) string {
	if archOf(triple) != archARM64 || len(unit) != 1 {
		return ""
	}
	word, rest := cutWord(unit[0])
	name := strings.ToLower(word)
	operands := splitOperands(rest)
	switch name {
	case "paciasp", "pacibsp", "autiasp", "autibsp", "paciaz", "pacibz", "autiaz", "autibz":
		return "add x30, x30, #0"
	case "xpaclri":
		return "add x30, x30, #0"
	case "retaa", "retab":
		return "ret"
	}
	n := len(operands)
	switch {
	case n == 0:
		return ""
	case oneOf(name, "braa", "brab", "braaz", "brabz"):
		return "br " + operands[0]
	case oneOf(name, "blraa", "blrab", "blraaz", "blrabz"):
		return "blr " + operands[0]
	case oneOf(name, "pacia", "pacib", "pacda", "pacdb", "autia", "autib", "autda", "autdb") && n == 2 && isX(operands[0]):
		if isX(operands[1]) {
			return "add " + operands[0] + ", " + operands[0] + ", " + operands[1]
		}
		return "add " + operands[0] + ", " + operands[0] + ", #0"
	case oneOf(name, "paciza", "pacizb", "pacdza", "pacdzb", "autiza", "autizb", "autdza", "autdzb", "xpaci", "xpacd") && n == 1 && isX(operands[0]):
		return "add " + operands[0] + ", " + operands[0] + ", #0"
	case !strings.HasPrefix(operands[n-1], "["):
		return ""
	}

	// Suffixes: a and l order memory, b and h are sizes.
	address := operands[n-1]
	size := ""
	for _, family := range []struct {
		prefix   string
		register int // operand that is loaded, or stored
		load     bool
	}{
		{"ldadd", 1, true},
		{"ldclr", 1, true},
		{"ldeor", 1, true},
		{"ldset", 1, true},
		{"ldsmax", 1, true},
		{"ldsmin", 1, true},
		{"ldumax", 1, true},
		{"ldumin", 1, true},
		{"swp", 1, true},
		{"casp", 0, true},
		{"cas", 0, true},
		{"ldapr", 0, true},
		{"stadd", 0, false},
		{"stclr", 0, false},
		{"steor", 0, false},
		{"stset", 0, false},
		{"stsmax", 0, false},
		{"stsmin", 0, false},
		{"stumax", 0, false},
		{"stumin", 0, false},
	} {
		suffix, ok := strings.CutPrefix(name, family.prefix)
		if !ok {
			continue
		}
		if strings.HasSuffix(suffix, "b") || strings.HasSuffix(suffix, "h") {
			size = suffix[len(suffix)-1:]
			suffix = suffix[:len(suffix)-1]
		}
		if !oneOf(suffix, "", "a", "l", "al") || family.register >= n-1 {
			return ""
		}
		switch {
		case family.prefix == "casp":
			return "ldp " + operands[0] + ", " + operands[1] + ", " + address
		case family.load:
			return "ldr" + size + " " + operands[family.register] + ", " + address
		default:
			return "str" + size + " " + operands[family.register] + ", " + address
		}
	}
	return ""
}

func oneOf(s string, list ...string) bool {
	return slices.Contains(list, s)
}

func isX(register string) bool { return strings.HasPrefix(register, "x") }

// splitOperands splits at the commas outside brackets.
func splitOperands(s string) []string {
	var operands []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case ',':
			if depth == 0 {
				operands = append(operands, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(s[start:]); last != "" {
		operands = append(operands, last)
	}
	return operands
}
