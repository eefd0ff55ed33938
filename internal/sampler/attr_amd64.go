//go:build linux

package sampler

// userRegisters are the registers of a thread that unwinding needs, by enum
// perf_event_x86_regs: ax to ip, flags, cs, ss and r8 to r15.
const userRegisters = 0xff0fff
