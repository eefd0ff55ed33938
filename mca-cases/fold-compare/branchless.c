#include "../kernel.h"

size_t differences(const uint8_t *a, const uint8_t *b, size_t n, const uint8_t *fold)
{
	size_t differ = 0;
	for (size_t i = 0; i < n; i++)
		differ += fold[a[i]] != fold[b[i]];
	return differ;
}
