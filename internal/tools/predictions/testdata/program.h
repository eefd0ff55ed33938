// The program around a change: what every program in C and C++ of a pair gives program.c.
//
//	PROGRAM seconds S [FILE]   makes passes for so many seconds, and writes how many
//	PROGRAM passes N [FILE]    makes so many passes: what is recorded, and for Valgrind
//	PROGRAM steps [FILE]       makes two passes for each byte that it reads, and writes a line
//	                           "NANOSECONDS CHECKSUM" of the second: what is measured
//	PROGRAM units [FILE]       writes the units of work of a pass
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// prepare makes the input; the text of FILE is given where the program reads one. It returns
// the units of work of a pass.
size_t prepare(const char *text, size_t length);

// pass does the work once and returns a checksum of the result.
uint64_t pass(void);

// random_next returns 64 random bits, always in the same order.
uint64_t random_next(void);

// random_below returns a number below a limit of 32 bits.
uint32_t random_below(uint32_t limit);

#ifdef __cplusplus
}
#endif
#endif
