#include "../kernel.h"

void shrink(const float *in, size_t n, float t, float *out)
{
	for (size_t i = 0; i < n; i++) {
		float x = in[i];
		if (x > t) {
			ARM();
			x -= t;
		} else if (x < -t) {
			ARM();
			x += t;
		} else {
			ARM();
			x = 0;
		}
		out[i] = x;
	}
}
