#include "../kernel.h"

// sort_all sorts arrays of size values each.
void sort_all(const int32_t *in, size_t n, size_t size, int32_t *out)
{
	for (size_t a = 0; a < n; a++, in += size, out += size) {
		for (size_t i = 0; i < size; i++) {
			size_t k = i;
			for (; k > 0 && out[k - 1] > in[i]; k--)
				out[k] = out[k - 1];
			out[k] = in[i];
		}
	}
}
