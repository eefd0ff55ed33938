//go:build linux

package sampler

// userRegisters are the registers of a thread that unwinding needs, by enum
// perf_event_arm_regs of arm64: x0 to x30, sp and pc.
const userRegisters = 1<<33 - 1
