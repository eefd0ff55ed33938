// Loops that compilers turn into vector and bit manipulation instructions.
typedef unsigned long size_t;
float sqrtf(float);
double fmax(double, double);

void select_sqrt(float *a, const float *b, const float *c, size_t n) {
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] > 0 ? b[i] * c[i] + a[i] : sqrtf(c[i]);
}

int sum_shifted(const int *a, size_t n) {
	int s = 0;
	for (size_t i = 0; i < n; i++)
		if (a[i] % 3)
			s += a[i] << (i & 7);
	return s;
}

void larger(double *a, const double *b, size_t n) {
	for (size_t i = 0; i < n; i++)
		a[i] = fmax(b[i], a[n - i]) / 3.1;
}

void saturate(unsigned char *a, const short *b, size_t n) {
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] > 255 ? 255 : b[i];
}

unsigned long long mix(unsigned long long *a, unsigned long long m, size_t n) {
	unsigned long long s = 0;
	for (size_t i = 0; i < n; i++) {
		s += __builtin_popcountll(a[i] & ~m) + __builtin_ctzll(a[i] | 1);
		s = s << (a[i] & 63) | s >> (64 - (a[i] & 63));
		s ^= a[i] * m;
	}
	return s;
}

long hash(const char *s) {
	long h = 0;
	while (*s) {
		h = h * 31 + *s++;
		if (h & (1l << 20))
			h ^= h >> 13;
	}
	return h;
}

void scatter(int *restrict a, int *restrict index, int *restrict b, size_t n) {
	for (size_t i = 0; i < n; i++)
		a[index[i]] = b[i] + b[index[i]];
}

long add_atomic(long *p, long n) {
	long old = __atomic_fetch_add(p, n, __ATOMIC_ACQ_REL);
	__atomic_compare_exchange_n(p, &old, n, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	return old;
}
