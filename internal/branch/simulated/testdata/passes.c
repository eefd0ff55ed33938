// The first pass of each loop is a block of its own, in which the branch does not jump.
static unsigned a[1024];
__attribute__((noinline)) unsigned filter(const unsigned *p, long n, unsigned limit) {
	unsigned s = 0;
	for (long i = 0; i < n; i++)
		if (p[i] < limit) {
			__asm__ volatile("" : "+r"(s));
			s += p[i];
		}
	return s;
}
int main(void) {
	unsigned r = 1;
	for (int i = 1; i < 1024; i++)
		a[i] = (r = r * 1103515245 + 12345) >> 16 & 0xff;
	return filter(a, 1024, 128) & 1;
}
