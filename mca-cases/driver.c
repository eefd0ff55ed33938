// Runs the two sides of a case.
//
// check SEED UNITS P      prints the checksums of both sides on the same data
// count SEED UNITS P...   runs each side once for each p: for Valgrind, which stops
//                         counting at the end of the function
// measure SEED UNITS P REPETITIONS CPU
//                         prints raw times in ticks of the TSC: for each repetition
//                         "SIDE function chain_before chain_after independent_before
//                         independent_after" of both sides, and
//                         "checks nothing multiplications independent_additions chain"

#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "driver.h"

// The length of the chain that tells how long a cycle is. Each addition waits for the
// one before and takes a cycle.
enum { CHAIN_ROUNDS = 80, CHAIN_ADDS = 200 };

static const char *const side_names[] = {"branchy", "branchless"};

// Sebastiano Vigna's SplitMix64.
uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint32_t random_below(struct random *random, uint32_t limit)
{
	return (random_next(random) >> 32) * limit >> 32;
}

bool random_chance(struct random *random, double probability)
{
	return (double)(random_next(random) >> 11) < probability * 0x1p53;
}

uint64_t checksum_add(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * 0x100000001b3;
}

static uint64_t ticks(void)
{
	_mm_lfence();
	uint64_t t = __rdtsc();
	_mm_lfence();
	return t;
}

static uint64_t chain(void)
{
	uint64_t rounds = CHAIN_ROUNDS, sum = 0, one = 1;
	uint64_t start = ticks();
	__asm__ volatile("0:\n\t"
			 ".rept %c3\n\t"
			 "addq %2, %1\n\t"
			 ".endr\n\t"
			 "decq %0\n\t"
			 "jnz 0b"
			 : "+r"(rounds), "+r"(sum)
			 : "r"(one), "i"(CHAIN_ADDS)
			 : "cc");
	return ticks() - start;
}

// multiplications is like chain with multiplications, which take three cycles.
static uint64_t multiplications(void)
{
	uint64_t rounds = CHAIN_ROUNDS, product = 3;
	uint64_t start = ticks();
	__asm__ volatile("0:\n\t"
			 ".rept %c2\n\t"
			 "imulq %1, %1\n\t"
			 ".endr\n\t"
			 "decq %0\n\t"
			 "jnz 0b"
			 : "+r"(rounds), "+r"(product)
			 : "i"(CHAIN_ADDS)
			 : "cc");
	return ticks() - start;
}

// independent is like chain with eight chains side by side. Another thread on the same
// core slows it down, but not a single chain.
static uint64_t independent(void)
{
	uint64_t rounds = CHAIN_ROUNDS, one = 1;
	uint64_t start = ticks();
	__asm__ volatile("0:\n\t"
			 ".rept %c2 / 8\n\t"
			 "addq %1, %%r8\n\t"
			 "addq %1, %%r9\n\t"
			 "addq %1, %%r10\n\t"
			 "addq %1, %%r11\n\t"
			 "addq %1, %%r12\n\t"
			 "addq %1, %%r13\n\t"
			 "addq %1, %%r14\n\t"
			 "addq %1, %%r15\n\t"
			 ".endr\n\t"
			 "decq %0\n\t"
			 "jnz 0b"
			 : "+r"(rounds)
			 : "r"(one), "i"(CHAIN_ADDS)
			 : "cc", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15");
	return ticks() - start;
}

static void measure(struct random *random, size_t units, double p, long repetitions)
{
	printf("adds %d\n", CHAIN_ROUNDS * CHAIN_ADDS);
	for (long r = 0; r < repetitions; r++) {
		prepare(random, p, units);
		uint64_t results[2];
		for (int turn = 0; turn < 2; turn++) {
			enum side side = turn ^ (r & 1);
			reset();
			uint64_t before = chain(), wide_before = independent();
			uint64_t start = ticks();
			uint64_t result = run(side);
			uint64_t end = ticks();
			uint64_t wide_after = independent(), after = chain();
			results[side] = check(result);
			printf("%s %lu %lu %lu %lu %lu\n", side_names[side], end - start, before, after, wide_before, wide_after);
		}
		if (results[BRANCHY] != results[BRANCHLESS]) {
			fprintf(stderr, "the sides differ\n");
			exit(1);
		}
		uint64_t start = ticks();
		uint64_t end = ticks();
		uint64_t empty = end - start, products = multiplications(), wide = independent();
		printf("checks %lu %lu %lu %lu\n", empty, products, wide, chain());
	}
}

static void pin(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: driver check|count|measure SEED UNITS P...\n");
		return 2;
	}
	struct random random = {strtoull(argv[2], NULL, 0)};
	size_t units = strtoull(argv[3], NULL, 0);
	if (units < 1 || units > MAX_UNITS) {
		fprintf(stderr, "units: from 1 to %d\n", MAX_UNITS);
		return 2;
	}
	if (!strcmp(argv[1], "check")) {
		prepare(&random, strtod(argv[4], NULL), units);
		for (int side = 0; side < 2; side++) {
			reset();
			printf("%s %016lx\n", side_names[side], check(run(side)));
		}
	} else if (!strcmp(argv[1], "count")) {
		for (int i = 4; i < argc; i++) {
			prepare(&random, strtod(argv[i], NULL), units);
			for (int side = 0; side < 2; side++) {
				reset();
				check(run(side));
			}
		}
	} else if (!strcmp(argv[1], "measure") && argc == 7) {
		pin(atoi(argv[6]));
		measure(&random, units, strtod(argv[4], NULL), atol(argv[5]));
	} else {
		fprintf(stderr, "not known: %s\n", argv[1]);
		return 2;
	}
	return 0;
}
