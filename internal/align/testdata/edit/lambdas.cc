// Compiled twice, with and without EDITED. The edit adds a lambda before the others,
// renames fnv_v1 to fnv_v2, has one function more inlined, and changes a template
// argument.
#include <cstdio>

struct Table {
	int slots[64];
	int lookup(int key) const;
	bool operator==(const Table &other) const;
};

#define OUT_OF_LINE __attribute__((noinline))

OUT_OF_LINE static int probe(const int *slots, int key) {
	int n = 0;
	for (int i = 0; i < 64; i++) n += slots[i] * key + (n >> 3);
	return n;
}

OUT_OF_LINE static int rotate(int x) { return printf("%d", x) << 3; }

OUT_OF_LINE static int scatter(int x) { return printf("<%d>", x) ^ 5; }

OUT_OF_LINE int Table::lookup(int key) const { return probe(slots, key) + rotate(key); }

OUT_OF_LINE bool Table::operator==(const Table &other) const {
	return probe(slots, 1) == probe(other.slots, 1);
}

#ifdef EDITED
#define FNV fnv_v2
#define ELEMENT long
static inline __attribute__((always_inline)) int fold(int x) { return x * x + 7; }
#else
#define FNV fnv_v1
#define ELEMENT short
OUT_OF_LINE static int fold(int x) { return x * x + 7; }
#endif

OUT_OF_LINE static int FNV(const char *s) {
	int h = 0;
	while (*s) h = rotate(h) ^ *s++;
	return fold(h);
}

template <class T> OUT_OF_LINE T total(const T *p, int n) {
	T sum = 0;
	for (int i = 0; i < n; i++) sum += p[i] * sum + (T)probe((const int *)p, i);
	return sum;
}

template <class F> OUT_OF_LINE int each(F f, int n) {
	int sum = 0;
	for (int i = 0; i < n; i++) sum += f(i);
	return sum;
}

int main(int argc, char **argv) {
	Table t{}, u{};
	ELEMENT numbers[512] = {};
	int n = 0;
#ifdef EDITED
	n += each([&](int i) OUT_OF_LINE { return i * n - 2; }, argc);
#endif
	n += each([&](int i) OUT_OF_LINE { return t.lookup(i) + n; }, argc);
	n += each([&](int i) OUT_OF_LINE { return scatter(i + n); }, argc);
	n += FNV(argv[0]) + (int)total(numbers, argc) + (t == u);
	return printf("%d", n);
}
