package asm

import (
	"slices"
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
	switch kind {
	case disasm.Conditional, disasm.Jump:
		return 2
	case disasm.Call:
		return 5
	case disasm.Return:
		return 1
	}
	e := newEncodingX86(text)
	return e.prefixes() + e.opcode() + e.addressing() + e.immediateBytes()
}

// An encodingX86 is what decides how long an instruction is.
type encodingX86 struct {
	name, base string
	texts      []string
	width      int // of the operands in bytes, 0 if nothing tells
	wide       bool
	extended   bool // a register beyond the first eight
	short      bool // %sil and the like, which need a prefix
	vector     bool
	modrm      bool // there is a byte for the operands
	memory     *Memory
	immediate  *uint64
}

func newEncodingX86(text string) *encodingX86 {
	name, rest := Mnemonic(X8664, text)
	e := &encodingX86{name: name, base: BaseX86(name), texts: SplitOperands(rest)}
	for i, s := range e.texts {
		o := OperandX86Of(s)
		if o.Immediate != nil {
			e.immediate = o.Immediate
			continue
		}
		e.modrm = true
		switch {
		case o.Memory != nil:
			e.memory = o.Memory
			for _, r := range o.Memory.registers() {
				e.extended = e.extended || r >= 8 && r < 16
			}
		case o.isVector():
			e.vector = true
			e.extended = e.extended || o.Register >= 40
		default:
			e.extended = e.extended || o.Register >= 8 && o.Register < 16
			e.short = e.short || slices.Contains([]string{"%sil", "%dil", "%bpl", "%spl"}, s)
			e.wide = e.wide || o.Width == 8
			if i == len(e.texts)-1 || e.width == 0 {
				e.width = o.Width
			}
		}
	}
	if e.base != name && e.width == 0 {
		e.width = SuffixX86(name)
		e.wide = e.wide || e.width == 8
	}
	switch {
	case e.base == "push" || e.base == "pop":
		e.modrm, e.wide = e.memory != nil, false
	case len(e.texts) == 0:
		e.wide = strings.HasSuffix(name, "tq") || strings.HasSuffix(name, "qe") || name == "cqto" || name == "cqo"
	}
	return e
}

// prefixes are the bytes before the opcode but for those that belong to it.
func (e *encodingX86) prefixes() (n int) {
	if e.wide || e.extended || e.short {
		n++
	}
	if e.width == 2 && !e.vector && !strings.HasPrefix(e.name, "movz") {
		n++
	}
	return n
}

// opcode is the bytes of the opcode.
func (e *encodingX86) opcode() int {
	n := 1
	if _, ok := ConditionX86(e.name, "cmov"); ok {
		n++
	} else if _, ok := ConditionX86(e.name, "set"); ok {
		n++
	}
	switch {
	case e.base == "push" || e.base == "pop" || len(e.texts) == 0:
	case e.base == "bt" || e.base == "bts" || e.base == "btr" || e.base == "btc" || e.base == "imul" && len(e.texts) == 2 && e.immediate == nil ||
		strings.HasPrefix(e.name, "movz") || strings.HasPrefix(e.name, "movs") && !strings.HasPrefix(e.name, "movsl") && !e.vector:
		n++
	case e.base == "popcnt" || e.base == "tzcnt" || e.base == "lzcnt":
		n += 2
	case strings.HasPrefix(e.name, "v"):
		n += 2
	case e.vector:
		n++
		if !strings.HasSuffix(e.name, "ps") && !strings.HasSuffix(e.name, "comiss") || strings.HasPrefix(e.name, "cvt") {
			n++
		}
	}
	return n
}

// addressing is the bytes that say which operands there are: ModRM, SIB, displacement.
func (e *encodingX86) addressing() (n int) {
	if e.modrm {
		n++
	}
	m := e.memory
	if m == nil {
		return n
	}
	if m.Index != NoRegister || m.Base == RSP || m.Base == 12 {
		n++ // SIB
	}
	displacement := int64(m.Displacement)
	switch {
	case m.Base == NoRegister || m.symbol || displacement < -128 || displacement > 127:
		return n + 4
	case displacement != 0 || m.Base == RBP || m.Base == 13:
		return n + 1
	}
	return n
}

// immediateBytes is the length of the immediate, less what shorter opcodes for it save.
func (e *encodingX86) immediateBytes() int {
	if e.immediate == nil {
		return 0
	}
	small := int64(*e.immediate) >= -128 && int64(*e.immediate) < 128
	full := min(4, max(1, e.width))
	to := e.texts[len(e.texts)-1]
	switch {
	case e.name == "movabs" || e.name == "movabsq":
		return 7 // without a byte for the operands
	case e.base == "mov":
		if e.memory == nil && e.width <= 4 {
			return full - 1
		}
		return full
	case e.base == "test":
		if e.memory == nil && (to == "%al" || to == "%eax") {
			return full - 1
		}
		return full
	case slices.Contains([]string{"shl", "sal", "shr", "sar", "rol", "ror"}, e.base):
		if *e.immediate == 1 {
			return 0
		}
		return 1
	case small || e.width == 1:
		if e.width == 1 && to == "%al" {
			return 0
		}
		return 1
	}
	full = min(4, max(2, e.width))
	if e.memory == nil && e.base != "imul" && (to == "%eax" || to == "%rax") {
		return full - 1
	}
	return full
}
