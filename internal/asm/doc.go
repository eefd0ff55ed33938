// Package asm reads the assembly of x86-64 and AArch64: what llvm-mca is given and what
// compilers write.
//
//  1. [Parse] splits a file into statements, keeps instructions, labels, functions, the
//     alignments that are asked for and the regions that comments mark for llvm-mca
//     (GNU as, "Using as"; llvm-mca, "Using Markers to Analyze Specific Code Blocks").
//  2. [KindOf] says of an instruction how it changes the flow of control, from its
//     mnemonic.
//  3. [OperationOf] says what an instruction reads and writes, and by which kind of
//     execution unit (Intel 64 and IA-32 Architectures Software Developer's Manual,
//     volume 2; Arm Architecture Reference Manual for A-profile, part C).
//  4. [StandIn] rewrites an instruction for llvm-mca where its models take it for
//     something else.
package asm
