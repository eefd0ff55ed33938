#include "../kernel.h"

double spread(const double *values, size_t n)
{
	double least = 0, greatest = 0;
	for (size_t i = 0; i < n; i++) {
		if (values[i] < least) {
			ARM();
			least = values[i];
		} else if (values[i] > greatest) {
			ARM();
			greatest = values[i];
		}
	}
	return greatest - least;
}
