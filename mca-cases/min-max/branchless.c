#include "../kernel.h"

double spread(const double *values, size_t n)
{
	double least = 0, greatest = 0;
	for (size_t i = 0; i < n; i++) {
		double value = values[i];
		least = value < least ? value : least;
		greatest = value > greatest ? value : greatest;
	}
	return greatest - least;
}
