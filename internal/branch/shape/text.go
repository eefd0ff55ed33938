package shape

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
)

// A codeText reads from the text of instructions what they do to registers and memory.
type codeText struct {
	f      *disasm.Function
	parsed map[int]operation
}

// An operation is what an instruction does.
type operation struct {
	uses, defs []asm.Register // flags are left out
	address    []asm.Register // of memory
	memory     string         // operand, "" without
	// displacement is what the operand adds to its registers.
	displacement int64
	loads        bool
	stores       bool
	divides      bool
	onStack      bool // memory is relative to the stack, the instruction or nothing
	compares     bool // sets flags and nothing else
	constant     bool // with a constant
	arithmetic   bool // neither moves, loads nor stores
}

func (c *codeText) operation(i int) operation {
	op, ok := c.parsed[i]
	if !ok {
		op = operationOf(c.f.Text(i))
		c.parsed[i] = op
	}
	return op
}

// base is the only register of the address, asm.NoRegister if there are more or none.
func (o *operation) base() asm.Register {
	if o.memory == "" || len(o.address) != 1 {
		return asm.NoRegister
	}
	return o.address[0]
}

var displacement = regexp.MustCompile(`^-?(?:0x[0-9a-f]+|[0-9]+)\(|#-?(?:0x[0-9a-f]+|[0-9]+)\]`)

// displaced is the constant in an operand of memory.
func displaced(operand string) int64 {
	text := strings.Trim(displacement.FindString(operand), "#(]")
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		return 0
	}
	return n
}

// hasPrefix reports whether a mnemonic starts with one of some prefixes.
func hasPrefix(mnemonic string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(mnemonic, p) })
}

// stackA64 is sp of AArch64.
const stackA64 asm.Register = 31

// operationOf reads an instruction: of x86-64 in the syntax of AT&T, where registers and
// constants are marked, else of AArch64.
func operationOf(text string) operation {
	arch := archOf(text)
	does, _ := asm.OperationOf(arch, text)
	name, rest := asm.Mnemonic(arch, text)
	flags := func(r asm.Register) bool { return r >= asm.CF }
	op := operation{
		uses: slices.DeleteFunc(slices.Concat(does.Reads, does.Address), flags), defs: slices.DeleteFunc(slices.Clone(does.Writes), flags),
		memory: does.Memory, address: does.Address, loads: does.Load, stores: does.Store,
		divides:    does.Class == asm.ClassDivide || hasPrefix(name, "div", "vdiv", "sqrt", "vsqrt", "fdiv", "fsqrt"),
		arithmetic: !hasPrefix(name, "mov", "lea", "push", "pop", "nop", "vmov", "set", "cmov", "ld", "st", "swp", "cas", "adr", "csel", "cset", "fmov"),
		constant:   slices.ContainsFunc(asm.SplitOperands(rest), func(o string) bool { return strings.HasPrefix(o, "$") || strings.HasPrefix(o, "#") }),
	}
	if does.Memory != "" && !strings.Contains(rest, does.Memory) {
		// Pushes and pops: nothing of what they do to the stack can fault or be aliased.
		implied := func(r asm.Register) bool { return r == asm.RSP }
		op.memory, op.address, op.loads = "", nil, false
		op.uses, op.defs = slices.DeleteFunc(op.uses, implied), slices.DeleteFunc(op.defs, implied)
	}
	if arch == asm.X8664 && op.memory != "" {
		// Instructions on strings have two addresses.
		op.address = nil
		for _, o := range asm.SplitOperands(rest) {
			if m := asm.OperandX86Of(o).Memory; m != nil {
				op.address = append(op.address, slices.DeleteFunc([]asm.Register{m.Base, m.Index}, func(r asm.Register) bool { return r == asm.NoRegister })...)
			}
		}
		op.uses = append(op.uses, op.address...)
	}
	if does.Class == asm.ClassBranch {
		op.stores = false // of a return address
	}
	if arch == asm.AArch64 && hasPrefix(name, "swp", "cas", "ldadd", "ldclr", "ldset", "ldeor") {
		op.loads, op.stores = true, true
	}
	op.compares = len(op.defs) == 0 && slices.ContainsFunc(does.Writes, flags) && !op.stores
	op.displacement = displaced(op.memory)
	if arch == asm.X8664 {
		// Also global and thread-local variables.
		op.onStack = op.memory != "" && (len(op.address) == 0 || op.address[0] == asm.RSP)
	} else {
		op.onStack = slices.Contains(op.address, stackA64)
	}
	slices.Sort(op.uses)
	op.uses = slices.Compact(op.uses)
	return op
}

// EndsBlock reports whether the instruction at an address ends its block.
func EndsBlock(f *disasm.Function, addr uint64) bool {
	b := f.Block(addr)
	return b >= 0 && f.Insts[f.Blocks[b].End-1].Addr == addr
}
