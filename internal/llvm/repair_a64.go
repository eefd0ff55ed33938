package llvm

import "strings"

// A ruleA64 rewrites instructions of a class.
type ruleA64 struct {
	class string
	// apply returns nil if the instruction is not of the class.
	apply func(name string, operands []string) []string
}

var rulesA64 = []ruleA64{
	{"move", moveA64},
	{"division", divisionA64},
	{"division-fast", divisionFastA64},
	{"extract", extractA64},
}

// A rewriterA64 has the classes that it rewrites.
type rewriterA64 map[string]bool

func (w rewriterA64) line(text string) (lines, classes []string) {
	word, rest := cutWord(text)
	name := strings.ToLower(word)
	for _, rule := range rulesA64 {
		if !w[rule.class] {
			continue
		}
		if lines := rule.apply(name, splitOperands(rest)); lines != nil {
			return lines, []string{rule.class}
		}
	}
	return nil, nil
}

func isGeneralA64(operand string) bool {
	return len(operand) > 1 && (operand[0] == 'x' || operand[0] == 'w') && operand[1] >= '0' && operand[1] <= '9'
}

// moveA64 is for models that take copies to be free.
func moveA64(name string, operands []string) []string {
	if name != "mov" || len(operands) != 2 || !isGeneralA64(operands[0]) || !isGeneralA64(operands[1]) {
		return nil
	}
	return []string{"add " + operands[0] + ", " + operands[1] + ", #0"}
}

// divisionA64 is for models that take each division for the longest one: a product and a sum
// take as long as divisions with small quotients where a product takes four cycles.
func divisionA64(name string, operands []string) []string {
	if name != "udiv" && name != "sdiv" || len(operands) != 3 {
		return nil
	}
	// A product of 64 bits, whatever is divided.
	d, n, m := wideA64(operands[0]), wideA64(operands[1]), wideA64(operands[2])
	return []string{"mul " + d + ", " + n + ", " + m, "add " + d + ", " + d + ", " + d}
}

// divisionFastA64 is divisionA64 for models in which a product takes two cycles.
func divisionFastA64(name string, operands []string) []string {
	lines := divisionA64(name, operands)
	if lines == nil {
		return nil
	}
	d := wideA64(operands[0])
	return []string{lines[0], "mul " + d + ", " + d + ", " + d, lines[1]}
}

func wideA64(operand string) string {
	if digits, ok := strings.CutPrefix(operand, "w"); ok {
		return "x" + digits
	}
	return operand
}

// extractA64 is for models that take three cycles for extr.
func extractA64(name string, operands []string) []string {
	if name != "extr" || len(operands) != 4 || operands[1] == operands[2] {
		return nil
	}
	return []string{"orr " + operands[0] + ", " + operands[1] + ", " + operands[2]}
}
