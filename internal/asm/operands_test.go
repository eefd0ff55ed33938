package asm

import (
	"fmt"
	"strings"
	"testing"
)

func registerName(r Register) string {
	switch {
	case r == CF:
		return "cf"
	case r == ZF:
		return "zf"
	case r == OF:
		return "of"
	case r >= 32 && r < 64:
		return fmt.Sprintf("v%d", r-32)
	}
	return fmt.Sprintf("r%d", r)
}

func describe(op *Operation) string {
	var parts []string
	list := func(name string, regs []Register) {
		var names []string
		for _, r := range regs {
			names = append(names, registerName(r))
		}
		if len(names) > 0 {
			parts = append(parts, name+" "+strings.Join(names, ","))
		}
	}
	list("reads", op.Reads)
	list("at", op.Address)
	list("writes", op.Writes)
	if op.Load {
		parts = append(parts, "load")
	}
	if op.Store {
		parts = append(parts, "store")
	}
	if op.Free {
		parts = append(parts, "free")
	}
	return strings.Join(parts, "; ")
}

func TestOperations(t *testing.T) {
	for _, test := range []struct {
		arch       Arch
		text, want string
	}{
		{X8664, "addl %eax, %ebx", "reads r0,r3; writes r3,cf,zf,of"},
		{X8664, "addl (%rdi,%rsi,4), %ebx", "reads r3; at r7,r6; writes r3,cf,zf,of; load"},
		{X8664, "addl $1, (%rdi)", "at r7; writes cf,zf,of; load; store"},
		{X8664, "movl %eax, %ebx", "reads r0; writes r3; free"},
		{X8664, "movb %al, %bl", "reads r0,r3; writes r3"},
		{X8664, "movq %rax, -8(%rsp)", "reads r0; at r4; store"},
		{X8664, "xorl %eax, %eax", "writes r0,cf,zf,of; free"},
		{X8664, "sbbq %rcx, %rcx", "reads cf; writes r1,cf,zf,of"},
		{X8664, "cmovg %edx, %eax", "reads r2,r0,of,zf; writes r0"},
		{X8664, "setl %al", "reads r0,of,zf; writes r0"},
		{X8664, "leaq 8(%rax,%rdx,2), %rcx", "reads r0,r2; writes r1"},
		{X8664, "incq %r12", "reads r12; writes r12,zf,of"},
		{X8664, "sall %cl, %eax", "reads r1,r0,cf,zf,of; writes r0,cf,zf,of"},
		{X8664, "imull $17, %eax, %edx", "reads r0; writes r2,cf,zf,of"},
		{X8664, "divl %esi", "reads r6,r0,r2; writes r0,r2,cf,zf,of"},
		{X8664, "pushq %rbx", "reads r3; at r4; store"},
		{X8664, "lock cmpxchgq %rsi, (%rdi)", "reads r6,r0; at r7; writes r0,cf,zf,of; load; store"},
		{X8664, "jae .L3", "reads cf"},
		{X8664, "movsd (%rdi), %xmm1", "at r7; writes v1; load"},
		{X8664, "addsd %xmm2, %xmm1", "reads v2,v1; writes v1"},
		{X8664, "vaddsd %xmm3, %xmm2, %xmm1", "reads v3,v2; writes v1"},
		{X8664, "pxor %xmm0, %xmm0", "writes v0; free"},
		{X8664, "ucomisd %xmm1, %xmm0", "reads v1,v0; writes cf,zf,of"},
		{AArch64, "add x0, x1, x2", "reads r1,r2; writes r0"},
		{AArch64, "subs w0, w1, #3", "reads r1; writes r0,zf"},
		{AArch64, "ldr w4, [x5, x3, lsl #2]", "at r5,r3; writes r4; load"},
		{AArch64, "ldr w4, [x5], #4", "at r5; writes r4,r5; load"},
		{AArch64, "ldp x0, x1, [sp, #16]", "at r31; writes r0,r1; load"},
		{AArch64, "str x0, [x1, #8]!", "reads r0; at r1; writes r1; store"},
		{AArch64, "cmp w0, wzr", "reads r0; writes zf"},
		{AArch64, "csel w0, w1, w0, gt", "reads r1,r0,zf; writes r0"},
		{AArch64, "cbnz x7, .L2", "reads r7"},
		{AArch64, "b.le #12", "reads zf"},
		{AArch64, "stxr w2, x0, [x1]", "reads r2,r0; at r1; writes r2; store"},
		{AArch64, "fadd d0, d1, d2", "reads v1,v2; writes v0"},
		{AArch64, "movk x0, #1, lsl #16", "reads r0; writes r0"},
	} {
		op, ok := OperationOf(test.arch, test.text)
		if !ok {
			t.Errorf("%s: not known", test.text)
		}
		if got := describe(&op); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
}
