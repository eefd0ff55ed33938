#include "../kernel.h"

size_t count_words(const uint8_t *bytes, size_t n)
{
	size_t words = 0;
	bool inside = false;
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] <= ' ') {
			ARM();
			inside = false;
		} else if (!inside) {
			ARM();
			inside = true;
			words++;
		}
	}
	return words;
}
