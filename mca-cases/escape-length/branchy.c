#include "../kernel.h"

size_t escaped_length(const uint8_t *bytes, size_t n, const uint8_t *table)
{
	size_t length = 0;
	(void)table;
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] < ' ') {
			ARM();
			length += 6;
		} else if (bytes[i] == '"') {
			ARM();
			length += 2;
		} else {
			ARM();
			length += 1;
		}
	}
	return length;
}
