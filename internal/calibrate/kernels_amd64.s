#include "textflag.h"

// Kernels add 1 for each branch that is not taken. 2(PC) is the next instruction but
// one: what a branch jumps over.

#define REGISTER(bit) TESTL $(1<<bit), AX; JEQ 2(PC); ADDQ $1, BX
#define REGISTER4(bit) REGISTER(bit); REGISTER((bit+1)); REGISTER((bit+2)); REGISTER((bit+3))

// func branchOnRegister(outcomes *uint32, n int) uint64
TEXT ·branchOnRegister(SB), NOSPLIT, $0-24
	MOVQ outcomes+0(FP), SI
	MOVQ n+8(FP), CX
	XORL BX, BX
	MOVL (SI), DX
	PCALIGN $64

// The next outcomes are loaded early, so that no branch waits for them.
loop:
	MOVL DX, AX
	ADDQ $4, SI
	MOVL (SI), DX
	REGISTER4(0)
	REGISTER4(4)
	REGISTER4(8)
	REGISTER4(12)
	REGISTER4(16)
	REGISTER4(20)
	REGISTER4(24)
	REGISTER(28)
	REGISTER(29)
	REGISTER(30)
	TESTL AX, AX
	JGE  2(PC)
	ADDQ $1, BX
	SUBQ $1, CX
	JNE  loop
	MOVQ BX, ret+16(FP)
	RET

#define TIMES4(m, i) m(i); m((i+1)); m((i+2)); m((i+3))
#define TIMES16(m) TIMES4(m, 0); TIMES4(m, 4); TIMES4(m, 8); TIMES4(m, 12)

#define LOAD(i) MOVBLZX i(SI), AX; CMPL AX, $128; JCS 2(PC); ADDQ $1, BX

// func branchOnLoad(values *byte, n int) uint64
TEXT ·branchOnLoad(SB), NOSPLIT, $0-24
	MOVQ values+0(FP), SI
	MOVQ n+8(FP), CX
	XORL BX, BX
	PCALIGN $64
loop:
	TIMES16(LOAD)
	ADDQ $16, SI
	SUBQ $1, CX
	JNE  loop
	MOVQ BX, ret+16(FP)
	RET

#define LOADS(i) MOVBLZX i(SI), AX; MOVBLZX (DI)(AX*1), AX; CMPL AX, $128; JCS 2(PC); ADDQ $1, BX

// func branchOnTwoLoads(values *byte, n int, table *[256]byte) uint64
TEXT ·branchOnTwoLoads(SB), NOSPLIT, $0-32
	MOVQ values+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ table+16(FP), DI
	XORL BX, BX
	PCALIGN $64
loop:
	TIMES16(LOADS)
	ADDQ $16, SI
	SUBQ $1, CX
	JNE  loop
	MOVQ BX, ret+24(FP)
	RET

#define SELECT(i) MOVBLZX i(SI), AX; CMPL AX, $128; SBBQ $-1, BX

// func selectOnLoad(values *byte, n int) uint64
TEXT ·selectOnLoad(SB), NOSPLIT, $0-24
	MOVQ values+0(FP), SI
	MOVQ n+8(FP), CX
	XORL BX, BX
	PCALIGN $64
loop:
	TIMES16(SELECT)
	ADDQ $16, SI
	SUBQ $1, CX
	JNE  loop
	MOVQ BX, ret+16(FP)
	RET

#define SKIPPED ADDQ $0x10000000, BX

// func jumpsNear(n int) uint64
TEXT ·jumpsNear(SB), NOSPLIT, $0-16
	MOVQ n+0(FP), CX
	XORL BX, BX
	PCALIGN $64

#define OVER JEQ 4(PC); SKIPPED; SKIPPED; SKIPPED
loop:
	CMPQ BX, BX
	OVER
	OVER
	OVER
	ADDQ $1, BX
	SUBQ $1, CX
	JNE  loop
	MOVQ BX, ret+8(FP)
	RET

// func jumpsFar(n int) uint64
TEXT ·jumpsFar(SB), NOSPLIT, $0-16
	MOVQ n+0(FP), CX
	XORL BX, BX
	PCALIGN $64

#define SKIPPED3 SKIPPED; SKIPPED; SKIPPED
#define FAR JEQ 10(PC); SKIPPED3; SKIPPED3; SKIPPED3
loop:
	CMPQ BX, BX
	FAR
	FAR
	FAR
	ADDQ $1, BX
	SUBQ $1, CX
	JNE  loop
	MOVQ BX, ret+8(FP)
	RET
