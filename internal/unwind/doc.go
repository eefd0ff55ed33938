// Package unwind finds the functions on a stack from registers and a copy of stack
// memory, as perf record --call-graph dwarf and simpleperf record them, on x86-64, 32-bit x86,
// AArch64 and 32-bit Arm.
//
//  1. [Registers.SetSample] puts the registers of a sample in the order of DWARF's numbers.
//  2. A [Module] is asked for the rule of an address: where the frame of the caller is, where
//     the registers of the caller were saved. It asks its tables one after the other:
//     .eh_frame, .debug_frame, those in .gnu_debugdata and in the separate debug file, .ARM.exidx.
//  3. The functions of a table are indexed when it is first needed. The program of a function
//     runs when one of its addresses is first looked up; its rows are kept, and the rule
//     of each address that was asked for.
//  4. [Unwinder.Unwind] follows rules from frame to frame, and takes what a signal
//     interrupted from where the kernel saved it.
//  5. Where no table has the address, the code where the kernel starts a program has no caller;
//     stubs of a procedure linkage table, trampolines of python -X perf and functions that just begin or end
//     have their return address where their instructions say. Another function is taken for a leaf
//     if the call before what would be the return address calls it; else the frame pointer is
//     followed if that leads to what looks like a frame; else it is a leaf if there is a call at all.
//  6. [End] says why a stack has no more frames.
//
// Addresses of tables are virtual addresses as the file has them ("vaddr"); the bias is what is to be
// subtracted from those of the process. Sizes are bytes. Neither tables nor registers nor stacks are
// trusted: nothing outside of the dump is read, every loop is bounded, and a program runs
// once however often it is shared. Registers and stacks are what the process had in
// memory, secrets too: they are never printed.
//
// Sources: DWARF 5, sections 2.5 and 6.4; Linux Standard Base Core 5.0, section 10; DWARF for the
// Arm 64-bit Architecture (AADWARF64); Exception Handling ABI for the Arm Architecture (EHABI32).
//
// Why not a library: of 49,000 functions of cc1plus, Delve's pkg/dwarf/frame 1.27 finds
// 23 to 64 % too few addresses because it does not sort, and it panics on 144 to 197
// of 2,000 damaged sections. The table builder of OpenTelemetry's eBPF profiler
// (nativeunwind/elfunwindinfo) is part of an agent, builds whole tables (102 ms for cc1plus)
// where a recording of 100 MB needs 24,000 of 554,000 rows, follows three registers only, and leaves
// out what no pattern of it matches.
package unwind
