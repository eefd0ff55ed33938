// The functions that no refactoring touches. They come first in every program
// and so have the same addresses before and after.

#pragma once

#include "freestanding.h"

enum { page_words = 1024 };

struct page {
	uint64_t words[page_words];
	double levels[page_words];
	uint32_t counts[page_words];
};

static struct page page;

// parse_page looks for the words that are below the one before.
SEPARATE uint64_t parse_page(const uint64_t *words)
{
	uint64_t found = 0;
	KEEP_FRAME();
	for (int i = 1; i < page_words; i++)
		found = found * 3 + (words[i] < words[i - 1]);
	return found;
}

SEPARATE uint64_t score_page(const double *levels)
{
	double level = 0;
	KEEP_FRAME();
	for (int i = 0; i < page_words; i++)
		level = level * 0.875 + levels[i];
	return (uint64_t)(level * 1000);
}

SEPARATE void count_page(uint32_t *counts, uint64_t value)
{
	KEEP_FRAME();
	counts[value % page_words] += 1024;
	for (int i = 0; i < page_words; i++)
		counts[i] -= counts[i] >> 6;
}

// MIX is a round of the work that the functions do which are refactored. It
// waits for the round before.
#define MIX(value) (((value) ^ (value) >> 29) * 0xbf58476d1ce4e5b9)

SEPARATE void prepare(void)
{
	uint64_t state = 0x2545f4914f6cdd1d;
	KEEP_FRAME();
	for (int i = 0; i < page_words; i++) {
		page.words[i] = random_next(&state);
		page.levels[i] = (double)(random_next(&state) % 1000) / 1000;
	}
}

// finish prints what was done.
SEPARATE int finish(uint64_t ops, uint64_t checksum)
{
	print(1, "ops", ops);
	print(1, "checksum", checksum);
	print_times();
	return 0;
}
