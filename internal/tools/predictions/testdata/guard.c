// Has two programs make a step in turns, before and after on the same CPU as itself, and
// watches the core around each step:
//
//	guard CPU REPETITIONS BEFORE... -- AFTER...
//
// writes a line "adds N", and for each step "SIDE NANOSECONDS CHAIN WIDE CHAIN WIDE": the time of the step, and
// the times of N additions before and after it, each waiting for the one before or eight side
// by side. Another thread on the same core slows down the wide ones, but not a chain.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 80, ADDS = 200, WARM = 3 };

static uint64_t nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

static uint64_t chain(void)
{
	uint64_t rounds = ROUNDS, sum = 0, one = 1, start = nanoseconds();
	__asm__ volatile("0:\n\t.rept %c3\n\taddq %2, %1\n\t.endr\n\tdecq %0\n\tjnz 0b"
			 : "+r"(rounds), "+r"(sum)
			 : "r"(one), "i"(ADDS)
			 : "cc");
	return nanoseconds() - start;
}

static uint64_t wide(void)
{
	uint64_t rounds = ROUNDS, one = 1, start = nanoseconds();
	__asm__ volatile("0:\n\t.rept %c2 / 8\n\t"
			 "addq %1, %%r8\n\taddq %1, %%r9\n\taddq %1, %%r10\n\taddq %1, %%r11\n\t"
			 "addq %1, %%r12\n\taddq %1, %%r13\n\taddq %1, %%r14\n\taddq %1, %%r15\n\t"
			 ".endr\n\tdecq %0\n\tjnz 0b"
			 : "+r"(rounds)
			 : "r"(one), "i"(ADDS)
			 : "cc", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15");
	return nanoseconds() - start;
}

struct program {
	const char *side;
	int to;
	FILE *from;
	char checksum[32];
};

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void start(struct program *p, const char *side, char **command)
{
	int in[2], out[2];
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		fail("pipe");
	switch (fork()) {
	case -1:
		fail("fork");
	case 0:
		dup2(in[0], 0);
		dup2(out[1], 1);
		execv(command[0], command);
		fail(command[0]);
	}
	close(in[0]);
	close(out[1]);
	p->side = side;
	p->to = in[1];
	p->from = fdopen(out[0], "r");
}

static uint64_t step(struct program *p)
{
	unsigned long time;
	if (write(p->to, "", 1) != 1 || fscanf(p->from, "%lu %31s", &time, p->checksum) != 2) {
		fprintf(stderr, "the program %s ended\n", p->side);
		exit(1);
	}
	return time;
}

int main(int argc, char **argv)
{
	int second = 3;
	while (second < argc && strcmp(argv[second], "--"))
		second++;
	if (second + 1 >= argc) {
		fprintf(stderr, "usage: guard CPU REPETITIONS BEFORE... -- AFTER...\n");
		return 2;
	}
	argv[second] = NULL;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	if (sched_setaffinity(0, sizeof set, &set))
		fail("sched_setaffinity");
	setpriority(PRIO_PROCESS, 0, -15); // as far as it may
	struct program programs[2];
	start(&programs[0], "before", argv + 3);
	start(&programs[1], "after", argv + second + 1);
	for (int i = 0; i < WARM; i++)
		for (int side = 0; side < 2; side++)
			step(&programs[side]);
	if (strcmp(programs[0].checksum, programs[1].checksum)) {
		fprintf(stderr, "the sides differ: %s and %s\n", programs[0].checksum, programs[1].checksum);
		return 1;
	}
	printf("adds %d\n", ROUNDS * ADDS);
	for (long r = atol(argv[2]); r > 0; r--) {
		for (int turn = 0; turn < 2; turn++) {
			struct program *p = &programs[turn ^ (r & 1)];
			uint64_t wide_before = wide(), chain_before = chain();
			uint64_t time = step(p);
			uint64_t chain_after = chain(), wide_after = wide();
			printf("%s %lu %lu %lu %lu %lu\n", p->side, time, chain_before, wide_before, chain_after, wide_after);
		}
	}
	return 0;
}
