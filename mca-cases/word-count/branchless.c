#include "../kernel.h"

size_t count_words(const uint8_t *bytes, size_t n)
{
	size_t words = 0;
	bool inside = false;
	for (size_t i = 0; i < n; i++) {
		bool now = bytes[i] > ' ';
		words += now & !inside;
		inside = now;
	}
	return words;
}
