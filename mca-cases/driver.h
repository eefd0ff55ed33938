// What data.c of a case gives the driver, and what the driver gives it.
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The two sides of a case.
enum side { BRANCHY, BRANCHLESS };

// The most units of work in one repetition.
enum { MAX_UNITS = 16384 };

// SIDES declares the function of a case as it is named in the program, once per side.
#define SIDES(type, name, parameters) \
	type name##_branchy parameters; \
	type name##_branchless parameters

// CALL calls the function of one side.
#define CALL(side, name, ...) ((side) == BRANCHY ? name##_branchy(__VA_ARGS__) : name##_branchless(__VA_ARGS__))

// A source of random numbers.
struct random {
	uint64_t state;
};

// random_next returns 64 random bits.
uint64_t random_next(struct random *random);

// random_below returns a number from 0 to limit-1; limit is below 2^32.
uint32_t random_below(struct random *random, uint32_t limit);

// random_chance returns true with a probability.
bool random_chance(struct random *random, double probability);

// checksum_add returns a checksum continued by a value.
uint64_t checksum_add(uint64_t sum, uint64_t value);

// What data.c defines.

// prepare makes the input of so many units of work. The branches of the case go the
// rarer way with the probability p.
void prepare(struct random *random, double p, size_t units);

// reset restores the input from what prepare made and clears the output.
void reset(void);

// run does the work of prepare's units and returns the result: what is measured.
uint64_t run(enum side side);

// check returns a checksum of the result of run and of the output.
uint64_t check(uint64_t result);

#endif
