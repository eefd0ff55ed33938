// A program with stacks of many shapes and no frame pointers: recursion with frames whose size
// is computed, callbacks of the C library, signal handlers, and with an argument a child that
// forks and executes the program again.
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;

static NOINLINE long leaf(long n)
{
	long s = 0;
	for (long i = 0; i < n; i++)
		s += i ^ (sink >> 3);
	sink += s;
	return s;
}

static NOINLINE long computed(int depth, long n)
{
	char *a = alloca(16 + n % 100);
	memset(a, depth, 16);
	long s = depth ? computed(depth - 1, n + 7) : leaf(n);
	return s + a[n % 16];
}

static int compare(const void *a, const void *b)
{
	leaf(300);
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void sorts(void)
{
	int list[200];
	for (int i = 0; i < 200; i++)
		list[i] = i * 7919 % 1009;
	qsort(list, 200, sizeof *list, compare);
}

static void handler(int number) { leaf(100000); }

static NOINLINE void all(int rounds)
{
	struct itimerval every = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	signal(SIGPROF, handler);
	setitimer(ITIMER_PROF, &every, 0);
	for (int i = 0; i < rounds; i++) {
		computed(i % 20, 30000);
		sorts();
	}
	setitimer(ITIMER_PROF, &never, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		for (int i = 0; i < 4; i++) {
			if (fork() == 0) {
				leaf(1000000);
				execl(argv[0], argv[0], (char *)0);
				_exit(1);
			}
		}
		while (wait(0) > 0)
			;
		return 0;
	}
	all(1200);
	return 0;
}
