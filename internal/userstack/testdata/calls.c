// A program of which every stack is known: _start calls main, main calls top, that mid, that
// leaf, where all the time goes. There are no frame pointers; the frames of top are
// 1,200 bytes, those of the others less than 100. It needs no C library.
//
//	gcc -O2 -fomit-frame-pointer -fno-stack-protector -nostdlib -static -Wl,--build-id -o calls calls.c
//	env -i setarch -R perf record -N -e cpu-clock -F 499 --call-graph dwarf,4096 -o whole.data ./calls
//	env -i setarch -R perf record -N -e cpu-clock -F 499 --call-graph dwarf,512 -o cut.data ./calls
//	zstd -19 --rm whole.data cut.data
#define NOINLINE __attribute__((noinline, noclone))

static NOINLINE long leaf(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i ^ (s >> 3);
	return s;
}

static NOINLINE long mid(long n)
{
	volatile long a[8];
	a[n & 7] = leaf(n);
	return a[n & 7] + 1;
}

static NOINLINE long top(long n)
{
	volatile long a[150];
	a[n & 63] = mid(n);
	return a[n & 63] + 1;
}

NOINLINE int main(void)
{
	long s = 0;
	for (int i = 0; i < 1500; i++)
		s += top(200000 + i);
	return s == 42;
}

__attribute__((naked, used)) void _start(void)
{
	__asm__(".cfi_undefined rip\n\tcall main\n\tmov %eax, %edi\n\tmov $60, %eax\n\tsyscall");
}
