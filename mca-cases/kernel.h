// What the kernels share. They are compiled without a C library, so that the same
// source gives code for any machine.
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ARM begins an arm of a branch. The compiler cannot move code over it nor leave the
// choice to a conditional instruction: what is a branch in C stays one.
#define ARM() __asm__ volatile("")

// OPAQUE hides from the compiler where a value comes from: it can neither tell its
// range nor bring back the branch that made it.
#define OPAQUE(x) __asm__("" : "+r"(x))

#endif
