package asm

import "testing"

func TestSyncOf(t *testing.T) {
	for _, test := range []struct {
		arch Arch
		text string
		want Sync
	}{
		{X8664, "lock addl $1, (%rdi)", SyncAtomic},
		{X8664, "lock xaddq %rax, 8(%rdi)", SyncAtomic},
		{X8664, "lock cmpxchgl %edx, (%rdi)", SyncAtomic},
		{X8664, "xacquire lock decl (%rdi)", SyncAtomic},
		{X8664, "LOCK incq (%rdi)", SyncAtomic},
		{X8664, "lock", SyncAtomic}, // lock; incl (%rdi)
		{X8664, "xchgl %eax, (%rdi)", SyncAtomic},
		{X8664, "xchgl %eax, counter(%rip)", SyncAtomic},
		{X8664, "xchgl %eax, counter", SyncAtomic},
		{X8664, "xchg %rax, %fs:16", SyncAtomic},
		{X8664, "xchgl %eax, %edx", SyncNone},
		{X8664, "xchg %ax, %ax", SyncNone},
		{X8664, "cmpxchgl %edx, (%rdi)", SyncNone}, // without lock it is not atomic
		{X8664, "lock orq $0, (%rsp)", SyncFence},
		{X8664, "lock orl $0x0, -0x40(%rsp)", SyncFence},
		{X8664, "lock orq $1, (%rsp)", SyncAtomic},
		{X8664, "mfence", SyncFence},
		{X8664, "lfence", SyncFence},
		{X8664, "pause", SyncWait},
		{X8664, "rep nop", SyncWait},
		{X8664, "nop", SyncNone},
		{X8664, "movl lock(%rip), %eax", SyncNone},
		{X8664, "call lock", SyncNone},
		{AArch64, "ldxr x0, [x2]", SyncExclusive},
		{AArch64, "ldaxrb w0, [x2]", SyncExclusive},
		{AArch64, "stlxr w3, x1, [x2]", SyncExclusive},
		{AArch64, "stxp w3, x1, x4, [x2]", SyncExclusive},
		{AArch64, "ldadd x1, x0, [x0]", SyncAtomic},
		{AArch64, "ldaddalb w1, w0, [x0]", SyncAtomic},
		{AArch64, "stadd w1, [x0]", SyncAtomic},
		{AArch64, "swpal x1, x0, [x0]", SyncAtomic},
		{AArch64, "casl x3, x2, [x0]", SyncAtomic},
		{AArch64, "caspal x0, x1, x2, x3, [x4]", SyncAtomic},
		{AArch64, "ldumaxal w1, w0, [x0]", SyncAtomic},
		{AArch64, "dmb ish", SyncFence},
		{AArch64, "isb", SyncFence},
		{AArch64, "yield", SyncWait},
		{AArch64, "wfe", SyncWait},
		{AArch64, "ldar x0, [x1]", SyncNone},
		{AArch64, "stlr x0, [x1]", SyncNone},
		{AArch64, "ldrsb w0, [x1]", SyncNone},
		{AArch64, "stp x0, x1, [x2]", SyncNone},
		{AArch64, "ldaddr x0", SyncNone},
		{AArch64, "ldrex r1, [r0]", SyncExclusive}, // 32-bit Arm
		{AArch64, "strexeq r2, r1, [r0]", SyncExclusive},
		{AArch64, "strexd r2, r4, r5, [r0]", SyncExclusive},
		{AArch64, "swp r0, r1, [r2]", SyncAtomic},
	} {
		if got := SyncOf(test.arch, test.text); got != test.want {
			t.Errorf("%s: %d, want %d", test.text, got, test.want)
		}
	}
	for name, want := range map[string]bool{
		"__aarch64_ldadd8_acq_rel": true, "__aarch64_cas16_relax": true, "__sync_fetch_and_add_4": true,
		"__atomic_fetch_add_8": true, "__atomic_init": false, "memcpy": false, "__aarch64_have_lse_atomics": false,
	} {
		if got := CallsAtomic(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
