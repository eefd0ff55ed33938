// What a program needs to run without a C library on x86-64 Linux: an entry,
// its argument, output, CPU time. Such a binary is a few kilobytes, names every
// frame by itself and spends nothing on start-up.

#pragma once

#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

// SEPARATE keeps a function out of line and compiled without knowledge of its
// callers and callees, and theirs without knowledge of it.
#define SEPARATE __attribute__((noipa))

// KEEP_FRAME makes a leaf function set up its frame. gcc 12 leaves it out of a
// leaf that does not touch the stack, in spite of -fno-omit-frame-pointer, and
// a walk along the frame pointers then loses the caller.
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

// KEEP lets the compiler believe that a value is used.
#define KEEP(value) __asm__ volatile("" : : "r"(value))

enum { sys_write = 1, sys_getrusage = 98, sys_exit_group = 231 };

static inline long system_call(long number, long a, long b, long c)
{
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

// The entry ends the chain of frames and calls main with argc and argv.
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov (%rsp), %rdi\n"
	"	lea 8(%rsp), %rsi\n"
	"	and $-16, %rsp\n"
	"	call main\n"
	"	mov %eax, %edi\n"
	"	mov $231, %eax\n" // sys_exit_group
	"	syscall\n"
	".size _start, .-_start\n");

// print writes "name value\n" to a file descriptor.
static void print(int fd, const char *name, uint64_t value)
{
	char text[64], *end = text + sizeof text, *p = end;
	size_t length = 0;
	*--p = '\n';
	do
		*--p = (char)('0' + value % 10);
	while (value /= 10);
	*--p = ' ';
	while (name[length])
		length++;
	while (length > 0)
		*--p = name[--length];
	system_call(sys_write, fd, (long)p, end - p);
}

// print_times writes the CPU time of the process in microseconds to stderr.
static void print_times(void)
{
	struct {
		int64_t user_seconds, user_microseconds, system_seconds, system_microseconds, rest[14];
	} usage;
	system_call(sys_getrusage, 0, (long)&usage, 0);
	print(2, "user_us", (uint64_t)(usage.user_seconds * 1000000 + usage.user_microseconds));
	print(2, "system_us", (uint64_t)(usage.system_seconds * 1000000 + usage.system_microseconds));
}

// operations returns the number in argv[1], or what is done without it.
static uint64_t operations(int argc, char **argv, uint64_t otherwise)
{
	uint64_t n = 0;
	if (argc < 2)
		return otherwise;
	for (const char *p = argv[1]; *p; p++)
		n = n * 10 + (uint64_t)(*p - '0');
	return n;
}

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}
