// Programs to be recorded. The first argument says which; all work in functions of their own, whose
// shares of the time are known: work_N takes N parts.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint32_t sink;

#define WORK(n)                                                                    \
	__attribute__((noinline, noclone)) void work_##n(int parts)                \
	{                                                                          \
		uint32_t s = sink;                                                 \
		for (long i = 0; i < 250000L * (n) * parts; i++) {                 \
			s = s * 1664525u + i;                                      \
			s ^= s >> 7;                                               \
		}                                                                  \
		sink = s;                                                          \
	}
WORK(1)
WORK(2)
WORK(3)
WORK(4)

static void all(int parts)
{
	work_1(parts);
	work_2(parts);
	work_3(parts);
	work_4(parts);
}

#ifndef LIBRARY
static void *named(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < 8; i++)
		all(1);
	return NULL;
}

static int wait_all(void)
{
	int status, failed = 0;
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "short")) { // some 0.05 s
		all(10);
	} else if (!strcmp(what, "alone")) {
		for (int i = 0; i < 16; i++)
			all(2);
	} else if (!strcmp(what, "threads")) {
		static char names[4][8] = {"red", "green", "blue", "white"};
		pthread_t threads[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, named, names[i]);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	} else if (!strcmp(what, "forks")) {
		for (int i = 0; i < 4; i++)
			if (fork() == 0) {
				for (int k = 0; k < 8; k++)
					all(1);
				_exit(0);
			}
		return wait_all();
	} else if (!strcmp(what, "exec")) { // itself, so many times
		int left = argc > 2 ? atoi(argv[2]) : 0;
		char next[16];
		all(5);
		if (left == 0)
			return 0;
		snprintf(next, sizeof next, "%d", left - 1);
		execl("/proc/self/exe", left % 2 ? "odd" : "even", "exec", next, (char *)NULL);
		return 1;
	} else if (!strcmp(what, "dlopen")) { // a library again and again
		for (int i = 0; i < 16; i++) {
			void *library = dlopen("./plugin.so", RTLD_NOW);
			void (*work)(int) = library ? (void (*)(int))dlsym(library, "work_3") : NULL;
			if (!work)
				return 1;
			work(4);
			work_2(4);
			dlclose(library);
		}
	} else if (!strcmp(what, "children")) { // that run a program each
		for (int i = 0; i < 500; i++) {
			if (fork() == 0) {
				execl("/proc/self/exe", "child", "child", (char *)NULL);
				_exit(1);
			}
			if (wait_all())
				return 1;
		}
	} else if (!strcmp(what, "child")) {
		work_1(1);
	} else {
		return 2;
	}
	return 0;
}
#endif
