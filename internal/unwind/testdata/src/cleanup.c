// Functions with a personality routine, whose instructions have a form of their own in the tables of Arm.
void __gcc_personality_v0(void) {}
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}
void __gnu_unwind_frame(void) {}
void __cxa_end_cleanup(void) {}
void _Unwind_Resume(void) {}

#define NOINLINE __attribute__((noinline, noclone))
#define GUARD(name, n) int name __attribute__((cleanup(leave))) = n

volatile int sink;

// In another file, so that it may throw.
extern void work(int) __attribute__((weak));

NOINLINE void leave(int *n) { sink -= *n; }

NOINLINE int one(int a) {
	GUARD(g, a);
	work(a + 1);
	return sink;
}

NOINLINE int many(int a, int b, int c, int d) {
	GUARD(g, a);
	GUARD(h, b);
	int x = one(a), y = one(b), z = one(c), w = one(d);
	for (int i = 0; i < c; i++) {
		GUARD(k, x + i);
		x += one(y), y += one(z), z += one(w), w += one(x);
	}
	return x + y * 3 + z * 5 + w * 7 + a + b + c + d;
}

NOINLINE double floating(double a, double b, double e) {
	GUARD(g, 1);
	double c = a * b;
	work(2);
	return c + a / b + e;
}

NOINLINE int variable(int n) {
	volatile char *p = __builtin_alloca(n);
	GUARD(g, n);
	work(p[0]);
	return one(p[1]);
}

NOINLINE int large(int n) {
	volatile char p[3000];
	p[n] = n;
	GUARD(g, p[n]);
	return one(p[n]) + p[n];
}

void _start(void) {
	many(1, 2, 3, 4);
	floating(1, 2, 3);
	variable(30);
	large(2);
}
