// Parses numbers, one a line: half with all digits that a double has, half prices. The unit is a number.
#include "../program.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#ifdef AFTER
#include <fast_float/fast_float.h>
#endif

static std::string lines;

extern "C" size_t prepare(const char *, size_t)
{
	size_t numbers = 16384;
	for (size_t i = 0; i < numbers; i++) {
		char line[64];
		double x = double(random_next() >> 11) * 0x1p-53;
		if (random_below(2))
			snprintf(line, sizeof line, "%.17g\n", x * 360 - 180);
		else
			snprintf(line, sizeof line, "%.2f\n", 1 / (x + 1e-4));
		lines += line;
	}
	return numbers;
}

__attribute__((noinline)) static double sum_lines(const char *at, const char *end)
{
	double sum = 0;
	while (at < end) {
#ifdef AFTER
		double x;
		at = fast_float::from_chars(at, end, x).ptr;
#else
		char *next;
		double x = strtod(at, &next);
		at = next;
#endif
		at++;
		sum += x;
	}
	return sum;
}

extern "C" uint64_t pass()
{
	double sum = sum_lines(lines.data(), lines.data() + lines.size());
	uint64_t bits;
	memcpy(&bits, &sum, sizeof bits);
	return bits;
}
