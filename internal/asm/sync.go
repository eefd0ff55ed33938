package asm

import (
	"regexp"
	"slices"
	"strings"
)

// A Sync is what an instruction has to do with other cores: what it takes is not decided by
// the code alone.
type Sync uint8

// What instructions have to do with other cores.
const (
	SyncNone      Sync = iota
	SyncAtomic         // changes a place at once: lock, xchg with memory, instructions of LSE
	SyncExclusive      // is half of such a change: ldxr, and stxr, which may fail; ldrex and strex of 32-bit Arm
	SyncFence          // waits for other accesses: mfence, dmb, isb
	SyncWait           // waits for another core: pause, yield, wfe
)

var (
	armAtomic    = regexp.MustCompile(`^((ld|st)(add|clr|eor|set|smax|smin|umax|umin)(a|l|al)?[bh]?|casp?(a|l|al)?[bh]?|swpp?(a|l|al)?[bh]?)$`)
	armExclusive = regexp.MustCompile(`^((ldx|ldax|stx|stlx)r[bh]?|(ldx|ldax|stx|stlx)p|(ldrex|strex|ldaex|stlex)[bhd]?(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?)$`)
	armFences    = []string{"dmb", "dsb", "isb", "sb"}
	armWaits     = []string{"wfe", "wfi", "wfet", "wfit", "yield"}
	x86Fences    = []string{"mfence", "lfence", "sfence", "serialize"}
	x86Waits     = []string{"pause", "tpause", "umwait", "mwait"}
	// atomicCall are the functions that compilers call for atomic operations: those of libgcc
	// (-moutline-atomics) and of libatomic.
	atomicCall = regexp.MustCompile(`^(__aarch64_(cas|swp|ldadd|ldclr|ldeor|ldset)(1|2|4|8|16)_(relax|acq|rel|acq_rel|sync)|__sync_[a-z_]+_(1|2|4|8|16)|__atomic_[a-z_]+_(1|2|4|8|16))$`)
	// privateFence is what compilers write for a fence: an atomic operation that changes
	// nothing, on the stack, for which no other core waits.
	privateFence = regexp.MustCompile(`^(or|add)[bwlq]? \$(0|0x0), ?(-?(0x)?[0-9a-f]+)?\(%rsp\)$`)
)

// SyncOf says what an instruction has to do with other cores. arch is that of 32-bit Arm, too,
// if it is [AArch64].
func SyncOf(arch Arch, text string) Sync {
	name, operands := Mnemonic(arch, text)
	if arch != X8664 {
		switch {
		case armAtomic.MatchString(name):
			return SyncAtomic
		case armExclusive.MatchString(name):
			return SyncExclusive
		case slices.Contains(armFences, name):
			return SyncFence
		case slices.Contains(armWaits, name):
			return SyncWait
		}
		return SyncNone
	}
	prefixed := strings.ToLower(text)
	switch {
	case slices.Contains(x86Fences, name):
		return SyncFence
	case slices.Contains(x86Waits, name), name == "nop" && strings.HasPrefix(prefixed, "rep"):
		return SyncWait
	case strings.HasPrefix(name, "xchg") && !allRegisters(operands):
		return SyncAtomic
	case locked(prefixed, name):
		if privateFence.MatchString(name + " " + operands) {
			return SyncFence
		}
		return SyncAtomic
	}
	return SyncNone
}

// locked reports whether lock is among the prefixes of an instruction, or stands alone.
func locked(text, name string) bool {
	for word := range strings.FieldsSeq(text) {
		if word == "lock" || word == name {
			return word == "lock"
		}
	}
	return false
}

// allRegisters reports whether no operand is in memory.
func allRegisters(operands string) bool {
	for _, o := range SplitOperands(operands) {
		if !strings.HasPrefix(o, "%") || strings.Contains(o, ":") {
			return false
		}
	}
	return true
}

// Failure are the registers that tell whether an atomic operation did what was wanted: whether
// an exclusive store was done, whether a place had the value that was expected, whether a lock
// was free. It is nil for operations that cannot fail, as additions.
func Failure(arch Arch, text string) []Register {
	name, _ := Mnemonic(arch, text)
	op, _ := OperationOf(arch, text)
	switch {
	case arch == X8664 && strings.HasPrefix(name, "cmpxchg"):
		return []Register{RAX, ZF}
	case arch == X8664 && strings.HasPrefix(name, "bt"):
		return []Register{CF}
	case strings.HasPrefix(name, "xchg"), strings.HasPrefix(name, "swp"), strings.HasPrefix(name, "cas"), armExclusive.MatchString(name):
		return append(slices.Clone(op.Writes), op.Reads...)
	}
	return nil
}

// CallsAtomic reports whether a call goes to a function that compilers have for an atomic
// operation.
func CallsAtomic(target string) bool { return atomicCall.MatchString(target) }

// CallFails reports whether what such a function returns tells whether it did what was wanted.
func CallFails(target string) bool {
	return CallsAtomic(target) && !strings.Contains(target, "_ld") && !strings.Contains(target, "fetch_")
}
