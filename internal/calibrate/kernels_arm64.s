#include "textflag.h"

// Kernels add 1 for each branch that is not taken. 2(PC) is the next instruction but
// one: what a branch jumps over.

#define REGISTER(bit) TBZ $(bit), R0, 2(PC); ADD $1, R5, R5
#define REGISTER4(bit) REGISTER(bit); REGISTER(bit+1); REGISTER(bit+2); REGISTER(bit+3)

// func branchOnRegister(outcomes *uint32, n int) uint64
TEXT ·branchOnRegister(SB), NOSPLIT, $0-24
	MOVD outcomes+0(FP), R3
	MOVD n+8(FP), R1
	MOVD ZR, R5
	MOVWU (R3), R2
	PCALIGN $64

// The next outcomes are loaded early, so that no branch waits for them.
loop:
	MOVD  R2, R0
	MOVWU 4(R3), R2
	ADD   $4, R3, R3
	REGISTER4(0)
	REGISTER4(4)
	REGISTER4(8)
	REGISTER4(12)
	REGISTER4(16)
	REGISTER4(20)
	REGISTER4(24)
	REGISTER4(28)
	SUB  $1, R1, R1
	CBNZ R1, loop
	MOVD R5, ret+16(FP)
	RET

#define TIMES4(m, i) m(i); m(i+1); m(i+2); m(i+3)
#define TIMES16(m) TIMES4(m, 0); TIMES4(m, 4); TIMES4(m, 8); TIMES4(m, 12)

#define LOAD(i) MOVBU (i)(R3), R0; CMPW $128, R0; BLO 2(PC); ADD $1, R5, R5

// func branchOnLoad(values *byte, n int) uint64
TEXT ·branchOnLoad(SB), NOSPLIT, $0-24
	MOVD values+0(FP), R3
	MOVD n+8(FP), R1
	MOVD ZR, R5
	PCALIGN $64
loop:
	TIMES16(LOAD)
	ADD  $16, R3, R3
	SUB  $1, R1, R1
	CBNZ R1, loop
	MOVD R5, ret+16(FP)
	RET

#define LOADS(i) MOVBU (i)(R3), R0; MOVBU (R4)(R0), R0; CMPW $128, R0; BLO 2(PC); ADD $1, R5, R5

// func branchOnTwoLoads(values *byte, n int, table *[256]byte) uint64
TEXT ·branchOnTwoLoads(SB), NOSPLIT, $0-32
	MOVD values+0(FP), R3
	MOVD n+8(FP), R1
	MOVD table+16(FP), R4
	MOVD ZR, R5
	PCALIGN $64
loop:
	TIMES16(LOADS)
	ADD  $16, R3, R3
	SUB  $1, R1, R1
	CBNZ R1, loop
	MOVD R5, ret+24(FP)
	RET

#define SELECT(i) MOVBU (i)(R3), R0; CMPW $128, R0; CINC HS, R5, R5

// func selectOnLoad(values *byte, n int) uint64
TEXT ·selectOnLoad(SB), NOSPLIT, $0-24
	MOVD values+0(FP), R3
	MOVD n+8(FP), R1
	MOVD ZR, R5
	PCALIGN $64
loop:
	TIMES16(SELECT)
	ADD  $16, R3, R3
	SUB  $1, R1, R1
	CBNZ R1, loop
	MOVD R5, ret+16(FP)
	RET

#define SKIPPED ADD $256, R5, R5
#define SKIPPED4 SKIPPED; SKIPPED; SKIPPED; SKIPPED

// func jumpsNear(n int) uint64
TEXT ·jumpsNear(SB), NOSPLIT, $0-16
	MOVD n+0(FP), R1
	MOVD ZR, R5
	PCALIGN $64

#define OVER BEQ 5(PC); SKIPPED4
loop:
	CMP R5, R5
	OVER
	OVER
	OVER
	ADD  $1, R5, R5
	SUB  $1, R1, R1
	CBNZ R1, loop
	MOVD R5, ret+8(FP)
	RET

// func jumpsFar(n int) uint64
TEXT ·jumpsFar(SB), NOSPLIT, $0-16
	MOVD n+0(FP), R1
	MOVD ZR, R5
	PCALIGN $64

#define FAR BEQ 17(PC); SKIPPED4; SKIPPED4; SKIPPED4; SKIPPED4
loop:
	CMP R5, R5
	FAR
	FAR
	FAR
	ADD  $1, R5, R5
	SUB  $1, R1, R1
	CBNZ R1, loop
	MOVD R5, ret+8(FP)
	RET
