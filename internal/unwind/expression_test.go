package unwind

import "testing"

// TestExpressions evaluates expressions, those first that compilers and C libraries were seen to have.
func TestExpressions(t *testing.T) {
	tests := []struct {
		name    string
		program []byte
		want    uint64
		bad     bool
	}{
		{"saved register", []byte{opBreg0 + 6, 0x70}, 0x7f0030 - 16, false},
		{"relative to the CFA", []byte{opLit0 + 8, opMinus, opConst1s, 0xe0, opAnd, opPlusUconst, 8}, (0x9000-8)&^31 + 8, false},
		{"not the CFA", []byte{opDrop, opBreg0 + 7, 8}, 0x7f0008, false},
		{"PLT", []byte{opDrop, opBreg0 + 7, 8, opBreg0 + 16, 0, opLit0 + 15, opAnd, opLit0 + 11, opGe, opLit0 + 3, opShl, opPlus}, 0x7f0008 + 8, false},
		{"realigned stack", []byte{opDrop, opBreg0 + 7, 0, opDeref, opPlusUconst, 0x10}, 0x1122334455667788 + 16, false},
		{"three registers", []byte{opDrop, opBreg0 + 7, 8, opBreg0 + 6, 0, opLit0 + 8, opMul, opPlus, opDup, opPlus}, 2 * (0x7f0008 + 8*0x7f0030), false},
		{"constants", []byte{opConst1u, 1, opConst2u, 2, 0, opPlus, opConst4u, 4, 0, 0, 0, opPlus, opConst8u, 8, 0, 0, 0, 0, 0, 0, 0, opPlus, opConstu, 0x80, 1, opPlus}, 15 + 128, false},
		{"signed constants", []byte{opConst1s, 0xff, opConst2s, 0xfe, 0xff, opPlus, opConst4s, 0xfd, 0xff, 0xff, 0xff, opPlus, opConst8s, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, opPlus, opConsts, 0x7b, opPlus, opNeg}, 15, false},
		{"address", []byte{opAddr, 1, 2, 0, 0, 0, 0, 0, 0}, 0x201, false},
		{"register by number", []byte{opBregx, 7, 8}, 0x7f0008, false},
		{"stack", []byte{opDrop, opLit0 + 1, opLit0 + 2, opLit0 + 3, opRot, opOver, opPick, 3, opSwap, opNop}, 1, false},
		{"shifts", []byte{opConst1s, 0xf0, opLit0 + 2, opShra, opNot, opLit0 + 1, opShr, opAbs}, 1, false},
		{"logic", []byte{opLit0 + 12, opLit0 + 10, opXor, opLit0 + 1, opOr}, 7, false},
		{"division", []byte{opConst1s, 0xf1, opLit0 + 4, opDiv, opNeg, opLit0 + 2, opMod}, 1, false},
		{"comparisons", []byte{opLit0, opLit0 + 1, opLt, opLit0 + 1, opEq, opLit0 + 1, opLe, opLit0, opGt, opLit0, opNe}, 1, false},
		{"part of a word", []byte{opBreg0 + 7, 0, opDerefSize, 2}, 0x7788, false},

		{"empty stack", []byte{opDrop, opDrop}, 0, true},
		{"nothing left", []byte{opDrop}, 0, true},
		{"one operand", []byte{opDrop, opLit0, opPlus}, 0, true},
		{"by zero", []byte{opLit0, opDiv}, 0, true},
		{"remainder by zero", []byte{opLit0, opMod}, 0, true},
		{"unknown register", []byte{opBreg0 + 1, 0}, 0, true},
		{"no such register", []byte{opBregx, 0x80, 1, 0}, 0, true},
		{"outside of the dump", []byte{opConst1u, 8, opDeref}, 0, true},
		{"odd size", []byte{opBreg0 + 7, 0, opDerefSize, 3}, 0, true},
		{"branch", []byte{0x2f, 0xfd, 0xff}, 0, true},
		{"conditional branch", []byte{opLit0 + 1, 0x28, 0xfd, 0xff}, 0, true},
		{"pick below", []byte{opPick, 200}, 0, true},
		{"cut operand", []byte{opConst4u, 1}, 0, true},
		{"unknown", []byte{0xff}, 0, true},
		{"too deep", many(opDup, 100), 0, true},
		{"too long", many(opNop, 300), 0, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := &Unwinder{arch: amd64, stack: words8(0x1122334455667788, 2)}
			u.regs.put(7, 0x7f0000)
			u.regs.put(6, 0x7f0030)
			u.regs.PC = 0x4000b
			data := append([]byte{byte(len(test.program)&0x7f | 0x80), byte(len(test.program) >> 7)}, test.program...)
			got, ok := u.evaluate(data, 0, 0x9000, true)
			if ok == test.bad || ok && got != test.want {
				t.Errorf("got %#x, %v; want %#x", got, ok, test.want)
			}
		})
	}
}

func many(op byte, n int) []byte {
	program := make([]byte, n)
	for i := range program {
		program[i] = op
	}
	return program
}
