// Package objfile reads symbols, text, line tables and build IDs from ELF files,
// .gnu_debugdata, DEX and OAT files, and symbols from the lists that a system
// keeps of code without a file: kallsyms, perf map files and jitdump.
//
// Addresses are virtual addresses as the file has them ("vaddr"), not those of a
// process; sizes are bytes. OAT files (.odex, .oat) are ELF files. Input is not
// trusted: memory is in proportion to the input, and what contradicts a format is
// a [FormatError].
//
//  1. A file is opened by its magic number; of an archive, the member at an offset.
//  2. Its symbols, or what Go's runtime knows of functions, become a [SymbolTable]: sorted by
//     address, one of each address.
//  3. Line tables and inlined calls are read for the addresses that are asked for: the unit
//     is found by its ranges, and only that one is decoded.
//  4. Lists of symbols of code without a file become tables of the same kind.
//
// Sources: the System V gABI (ELF), DWARF 2 to 5 (https://dwarfstd.org), the DEX
// format (https://source.android.com/docs/core/runtime/dex-format), the xz file
// format 1.2.1, tools/perf/Documentation/jitdump-specification.txt of Linux v6.12.
// Which symbols count and how they are named follows simpleperf (read_elf.cpp,
// dso.cpp, kallsyms.cpp in system/extras of AOSP), so that both name a sample
// alike.
package objfile
