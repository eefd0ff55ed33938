#include "../kernel.h"

void round_all(const int32_t *in, size_t n, int16_t *out)
{
	for (size_t i = 0; i < n; i++) {
		int32_t whole = in[i] >> 8, places = in[i] & 0xff;
		if (places > 0x80) {
			ARM();
			whole++;
		} else if (places == 0x80) {
			ARM();
			if (whole & 1) {
				ARM();
				whole++;
			}
		}
		out[i] = whole;
	}
}
