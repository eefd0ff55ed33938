// Package disasm disassembles functions and finds their basic blocks and natural
// loops. It knows x86, 32 and 64 bits, and AArch64.
//
// Lengths, kinds and targets of instructions are decoded here from the encoding
// (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2; AMD64
// Architecture Programmer's Manual, volumes 3 and 6, for XOP and 3DNow!; Arm
// Architecture Reference Manual for A-profile, DDI 0487), so that instructions newer
// than the tables of golang.org/x/arch do no harm. Its packages give the text.
package disasm
