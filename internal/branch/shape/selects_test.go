package shape

import "testing"

func TestSelects(t *testing.T) {
	for text, want := range map[string]Select{
		"cmovl %eax,%edx":            ConditionalMove,
		"cmovae 0x8(%rdi),%rax":      ConditionalMove,
		"csel w0, w1, w2, lt":        ConditionalMove,
		"csinc w0, w1, wzr, eq":      ConditionalMove,
		"cinc w0, w1, lo":            ConditionalMove,
		"fcsel d0, d1, d2, mi":       ConditionalMove,
		"moveq r0, #1":               ConditionalMove,
		"setb %al":                   ConditionalSet,
		"cset w0, hi":                ConditionalSet,
		"adc $0x0,%eax":              CarryArithmetic,
		"sbb $0xffffffff,%eax":       CarryArithmetic,
		"pblendvb %xmm0,%xmm1,%xmm2": VectorSelect,
		"bsl v0.16b, v1.16b, v2.16b": VectorSelect,
		"mov %eax,%edx":              "",
		"adc %rax,%rdx":              "", // of wide numbers
		"sete":                       "",
		"movne pc, lr":               "",
		"jl 0x10":                    "",
		"cmp %eax,%edx":              "",
	} {
		if got := Selects(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
