package asm

import "testing"

// TestSize compares lengths with those that GNU as chooses.
func TestSize(t *testing.T) {
	for _, test := range []struct {
		text string
		want int
	}{
		{"addl %eax, %ebx", 2},
		{"addq $-8, %rdx", 4},
		{"addq $0xfffffffffffffff8, %rdx", 4}, // -8 as objdump prints it
		{"addl $1000, %eax", 5},
		{"addl $1000, %ecx", 6},
		{"movabsq $0x123456789abcdef0, %rax", 10},
		{"movl $symbol, %eax", 5},
		{"movzbl (%rsi), %eax", 3},
		{"movl %eax, 8(%rsp)", 4},
		{"movl table(,%rax,4), %ecx", 7},
		{"movl (%rbp), %eax", 3},
		{"movl (%r13), %eax", 4},
		{"movl 0(%rax), %ecx", 2},
		{"movl 200(%rax), %ecx", 6},
		{"movq %rax, %r8", 3},
		{"pushq %rbx", 1},
		{"pushq %r12", 2},
		{"cmovgel %edx, %eax", 3},
		{"setb %sil", 4},
		{"shll $1, %eax", 2},
		{"shll $3, %eax", 3},
		{"testb $1, %al", 2},
		{"imulq $17, %rax, %rdx", 4},
		{"popcntq %rax, %rdx", 5},
		{"addsd %xmm1, %xmm0", 4},
		{"addps %xmm1, %xmm0", 3},
		{"jmp *(%rax)", 2},
		{"jmp *table(,%rax,8)", 7},
		{"jmp .L1", 2},
		{"call f", 5},
		{"ret", 1},
	} {
		in := Inst{Text: test.text}
		in.Kind, in.Target = KindOf(X8664, test.text)
		if got := in.Size(X8664); got != test.want {
			t.Errorf("%s: %d bytes, want %d", test.text, got, test.want)
		}
	}
}
