//go:build linux && !amd64 && !arm64

package sampler

// userRegisters is 0: stacks are copied on x86-64 and AArch64 only.
const userRegisters = 0
