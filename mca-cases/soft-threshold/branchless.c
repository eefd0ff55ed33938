#include "../kernel.h"

void shrink(const float *in, size_t n, float t, float *out)
{
	for (size_t i = 0; i < n; i++) {
		float x = in[i];
		float inside = x < t ? x : t;
		inside = inside > -t ? inside : -t;
		out[i] = x - inside;
	}
}
