// What scan counts in a table of comma-separated values.
#include "../program.h"

struct counts {
	uint64_t rows, fields, quoted;
};

void scan(const char *text, size_t length, struct counts *counts);
