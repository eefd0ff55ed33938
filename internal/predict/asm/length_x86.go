package asm

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/disasm"
)

// Size is the length of an instruction in bytes.
func (in *Inst) Size(arch Arch) int {
	switch {
	case in.Len > 0:
		return in.Len
	case arch == X8664:
		return lengthX86(in.Text, in.Kind)
	}
	return 4
}

// lengthX86 is the length of an instruction in bytes as an assembler chooses it, for
// those that are frequent in loops. The targets of branches are taken for near.
func lengthX86(text string, kind disasm.Kind) int {
	name, rest := Mnemonic(X8664, text)
	switch kind {
	case disasm.Conditional, disasm.Jump:
		return 2
	case disasm.Call:
		return 5
	case disasm.Return:
		return 1
	}
	texts := SplitOperands(rest)
	var immediate int64
	hasImmediate, wide, extended, short, modrm := false, false, false, false, false
	length, width := 1, 0
	var memory *operandX86
	vector := false
	for i, s := range texts {
		if v, ok := strings.CutPrefix(s, "$"); ok {
			hasImmediate = true
			n, err := strconv.ParseInt(v, 0, 64)
			if err != nil {
				n = math.MaxInt32
			}
			immediate = n
			continue
		}
		o := operandX86Of(s)
		modrm = true
		if o.memory {
			memory = &o
			for _, r := range o.address {
				extended = extended || r >= 8 && r < 16
			}
			index := strings.Count(s[max(0, strings.LastIndexByte(s, '(')):], ",") > 0
			base := NoRegister
			if len(o.address) > 0 {
				base = o.address[0]
			}
			if index || base == RSP || base == 12 {
				length++
			}
			if strings.HasPrefix(s[max(0, strings.LastIndexByte(s, '(')):], "(,") {
				base = NoRegister // there is an index only
			}
			open := strings.LastIndexByte(s, '(')
			displacement, err := strconv.ParseInt(s[:max(0, open)], 0, 64)
			switch {
			case open > 0 && err == nil && displacement >= -128 && displacement < 128 && base != NoRegister:
				length++
			case open == 0 && base != NoRegister:
				if base == 5 || base == 13 {
					length++
				}
			default:
				length += 4
			}
			continue
		}
		if o.register >= 32 && o.register < 64 {
			vector = true
			extended = extended || o.register >= 40
			continue
		}
		extended = extended || o.register >= 8 && o.register < 16
		short = short || o.width == 1 && slices.Contains([]string{"%sil", "%dil", "%bpl", "%spl"}, s)
		wide = wide || o.width == 8
		if i == len(texts)-1 || width == 0 {
			width = o.width
		}
	}
	base := BaseX86(name)
	if base != name && width == 0 {
		width = map[byte]int{'b': 1, 'w': 2, 'l': 4, 'q': 8}[name[len(name)-1]]
		wide = wide || width == 8
	}
	if _, ok := conditionX86(name, "cmov"); ok {
		length++
	} else if _, ok := conditionX86(name, "set"); ok {
		length++
	}
	switch {
	case base == "push" || base == "pop":
		modrm, wide = memory != nil, false
	case len(texts) == 0:
		wide = strings.HasSuffix(name, "tq") || strings.HasSuffix(name, "qe") || name == "cqto" || name == "cqo"
	case base == "bt" || base == "bts" || base == "btr" || base == "btc" || base == "imul" && len(texts) == 2 && !hasImmediate ||
		strings.HasPrefix(name, "movz") || strings.HasPrefix(name, "movs") && !strings.HasPrefix(name, "movsl") && !vector:
		length++
	case base == "popcnt" || base == "tzcnt" || base == "lzcnt":
		length += 2
	case strings.HasPrefix(name, "v"):
		length += 2
	case vector:
		length++
		if !strings.HasSuffix(name, "ps") && !strings.HasSuffix(name, "comiss") || strings.HasPrefix(name, "cvt") {
			length++
		}
	}
	if modrm {
		length++
	}
	if wide || extended || short {
		length++
	}
	if width == 2 && !vector && !strings.HasPrefix(name, "movz") {
		length++
	}
	if hasImmediate {
		small := immediate >= -128 && immediate < 128
		switch {
		case name == "movabs" || name == "movabsq":
			length += 7 // without a byte for the operands
		case base == "mov":
			length += min(4, max(1, width))
			if memory == nil && width <= 4 {
				length--
			}
		case base == "test":
			length += min(4, max(1, width))
			if memory == nil && texts[len(texts)-1] == "%eax" {
				length--
			}
		case slices.Contains([]string{"shl", "sal", "shr", "sar", "rol", "ror"}, base):
			if immediate != 1 {
				length++
			}
		case small || width == 1:
			length++
			if width == 1 && texts[len(texts)-1] == "%al" {
				length--
			}
		default:
			length += min(4, max(2, width))
			if memory == nil && base != "imul" && (texts[len(texts)-1] == "%eax" || texts[len(texts)-1] == "%rax") {
				length--
			}
		}
	}
	return length
}
