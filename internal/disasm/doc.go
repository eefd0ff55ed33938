// Package disasm disassembles functions and finds their basic blocks and natural
// loops. It knows x86, 32 and 64 bits, and AArch64.
//
//  1. Symbols and .eh_frame say where a function starts and ends ([Code.FunctionAt]).
//  2. Its branches are followed from the start, then the gaps are decoded (recursive
//     descent). Lengths, kinds and targets of instructions are decoded here from the
//     encoding (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2;
//     AMD64 Architecture Programmer's Manual, volumes 3 and 6, for XOP and 3DNow!; Arm
//     Architecture Reference Manual for A-profile, DDI 0487), so that instructions newer
//     than the tables of golang.org/x/arch do no harm. Its packages give the text.
//  3. Registers are followed to indirect jumps, to find their tables and how many entries
//     these have.
//  4. Blocks get their dominators (Lengauer, Tarjan, "A Fast Algorithm for Finding
//     Dominators in a Flowgraph", TOPLAS 1979) and loops ([FindLoops]).
package disasm
