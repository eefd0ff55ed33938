// A program without a C library that calls in the ways that compilers have tables for.
#define NOINLINE __attribute__((noinline, noclone))

volatile int sink;
volatile double weight = 1.5;

NOINLINE int leaf(int a) {
	sink += a;
	return a * 2 + sink;
}

NOINLINE int mid(int a) {
	int b = leaf(a) + leaf(a + 1);
	return b * leaf(b);
}

// Many registers are saved.
NOINLINE int many(int a, int b, int c, int d) {
	int x = mid(a), y = mid(b), z = mid(c), w = mid(d);
	for (int i = 0; i < 2; i++) {
		x += leaf(y) ^ a;
		y += leaf(z) ^ b;
		z += leaf(w) ^ c;
		w += leaf(x) ^ d;
	}
	return x + y * 3 + z * 5 + w * 7;
}

// Its frame has no fixed size: a frame pointer is needed.
NOINLINE int variable(int n) {
	volatile char *p = __builtin_alloca(n);
	p[0] = n;
	return leaf(p[0]) + mid(n);
}

// Its frame is aligned to more than the stack.
NOINLINE int aligned(int a) {
	volatile char p[64] __attribute__((aligned(64)));
	p[a & 63] = a;
	return leaf(p[a & 63]) + (int)(long)p;
}

NOINLINE int large(int a) {
	volatile char p[4096 - 16];
	p[a] = a;
	return mid(p[a]) + p[a];
}

NOINLINE int recursive(int n) {
	if (n == 0)
		return leaf(n);
	return recursive(n - 1) + n * leaf(n);
}

NOINLINE double floating(double a, double b) {
	double c = a * weight, d = b * weight;
	leaf(1);
	c += a * d;
	mid(2);
	return c * d + a;
}

// The frame is set up on one way only.
NOINLINE int early(int a) {
	if (a < 0)
		return a;
	return many(a, a + 1, a + 2, a + 3) + leaf(a);
}

NOINLINE int tail(int a) {
	leaf(a);
	return mid(a + 1);
}

NOINLINE int indirect(int (*f)(int), int a) { return f(a) + 1; }

NOINLINE int variadic(int n, ...) {
	__builtin_va_list list;
	__builtin_va_start(list, n);
	int sum = 0;
	while (n-- > 0)
		sum += leaf(__builtin_va_arg(list, int));
	__builtin_va_end(list);
	return sum;
}

NOINLINE static long syscall3(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
	long r;
	register long r10 __asm__("r10") = d;
	__asm__ volatile("syscall" : "=a"(r) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return r;
#elif defined(__i386__)
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
	return r;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
	// r7 may be the frame pointer of Thumb.
	long r, list[5] = {a, b, c, d, number};
	__asm__ volatile("mov ip, r7\n\tldm %1, {r0-r3}\n\tldr r7, [%1, #16]\n\tsvc 0\n\tmov r7, ip\n\tmov %0, r0"
			 : "=r"(r)
			 : "r"(list)
			 : "r0", "r1", "r2", "r3", "ip", "memory");
	return r;
#endif
}

struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask[2];
};

// How the C library writes it.
#if defined(__x86_64__)
enum { sigaction = 13, kill = 62, getpid = 39, leave = 60 };
__asm__(".text\n.globl restorer\n.type restorer,@function\nnop\nrestorer: mov $15, %rax\nsyscall\n.size restorer, .-restorer");
#elif defined(__i386__)
enum { sigaction = 174, kill = 37, getpid = 20, leave = 1 };
__asm__(".text\n.globl restorer\n.type restorer,@function\nnop\nrestorer: pop %eax\nmov $119, %eax\nint $0x80\n.size restorer, .-restorer");
#elif defined(__aarch64__)
enum { sigaction = 134, kill = 129, getpid = 172, leave = 93 };
__asm__(".text\n.globl restorer\n.type restorer,@function\nnop\nrestorer: mov x8, #139\nsvc #0\n.size restorer, .-restorer");
#else
enum { sigaction = 174, kill = 37, getpid = 20, leave = 1 };
__asm__(".text\n.arm\n.balign 4\n.globl restorer\n.type restorer,%function\nnop\nrestorer: mov r7, #119\nsvc #0\n.size restorer, .-restorer\n"
#ifdef __thumb__
	".thumb\n"
#endif
);
#endif
void restorer(void);

#ifdef __arm__
// Personality routines, which nothing calls.
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}
#endif

NOINLINE void handler(int signal) { mid(signal); }

NOINLINE void signalled(void) {
	enum { usr1 = 10, restores = 0x04000000 };
	struct action a = {handler, restores, restorer, {0, 0}};
	syscall3(sigaction, usr1, (long)&a, 0, 8);
	syscall3(kill, syscall3(getpid, 0, 0, 0, 0), usr1, 0, 0);
	leaf(3);
}

NOINLINE int top(void) {
	sink += early(-1) + early(3);
	sink += variable(20) + variable(100) + aligned(5);
	sink += large(4) + recursive(6);
	sink += (int)floating(2, 3);
	sink += tail(2) + indirect(mid, 4) + variadic(3, 1, 2, 3);
	signalled();
	return sink;
}

__attribute__((noreturn, used)) void begin(void) {
	top();
	syscall3(leave, 0, 0, 0, 0);
	__builtin_trap();
}

#if defined(__x86_64__)
__asm__(".globl _start\n.type _start,@function\n_start: .cfi_startproc\n.cfi_undefined rip\nxor %ebp, %ebp\nand $-16, %rsp\ncall begin\nnop\n.cfi_endproc\n.size _start, .-_start");
#elif defined(__i386__)
__asm__(".globl _start\n.type _start,@function\n_start: .cfi_startproc\n.cfi_undefined eip\nxor %ebp, %ebp\nand $-16, %esp\ncall begin\nnop\n.cfi_endproc\n.size _start, .-_start");
#elif defined(__aarch64__)
__asm__(".globl _start\n.type _start,@function\n_start: .cfi_startproc\n.cfi_undefined x30\nmov x29, #0\nmov x30, #0\nbl begin\nnop\n.cfi_endproc\n.size _start, .-_start");
#else
__asm__(".arm\n.balign 4\n.globl _start\n.type _start,%function\n_start: .fnstart\n.cantunwind\n.cfi_sections .debug_frame\n.cfi_startproc\n.cfi_undefined r14\nmov r11, #0\nmov lr, #0\nblx begin\nnop\n.cfi_endproc\n.fnend\n.size _start, .-_start");
#endif
