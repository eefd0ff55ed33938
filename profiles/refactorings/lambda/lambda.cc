// The lambdas of a function are numbered. After, one that costs next to nothing
// stands before the hot ones, which get other numbers and stay as they are.

#include "unchanged.h"

SEPARATE uint64_t process_batch(const uint64_t *words)
{
	auto clip = [](uint64_t x, const uint64_t *w) SEPARATE -> uint64_t {
		KEEP_FRAME();
		for (int i = 0; i < 32 * 4; i++)
			x = MIX(x) + w[i % 32];
		return x;
	};
#ifdef AFTER
	auto is_empty = [](uint64_t x, const uint64_t *w) SEPARATE -> uint64_t {
		KEEP_FRAME();
		return x == 0 && w[0] == 0;
	};
#endif
	auto scale = [](uint64_t x, const uint64_t *w) SEPARATE -> uint64_t {
		KEEP_FRAME();
		for (int i = 0; i < 32 * 13; i++)
			x = MIX(x) + w[i % 32];
		return x;
	};
	auto fold = [](uint64_t x, const uint64_t *w) SEPARATE -> uint64_t {
		KEEP_FRAME();
		for (int i = 0; i < 32 * 7; i++)
			x = MIX(x) + w[i % 32];
		return x;
	};
	uint64_t value = 0;
#ifdef AFTER
	if (is_empty(words[0], words))
		return 0;
#endif
	for (int i = 0; i < 4; i++)
		value = fold(scale(clip(value, words + 32 * i), words + 32 * i), words + 32 * i);
	return value;
}

SEPARATE uint64_t take_page()
{
	uint64_t value = parse_page(page.words) + score_page(page.levels) + process_batch(page.words);
	count_page(page.counts, value);
	return value;
}

int main(int argc, char **argv)
{
	uint64_t ops = operations(argc, argv, 80000), checksum = 0;
	prepare();
	for (uint64_t i = 0; i < ops; i++) {
		page.words[i % page_words] += i;
		checksum = checksum * 31 + take_page();
	}
	return finish(ops, checksum);
}
