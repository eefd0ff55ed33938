// blend_pixel is a function of its own before and part of blend_row after.

#include "unchanged.h"

#ifdef AFTER
static inline
#else
SEPARATE
#endif
uint64_t blend_pixel(uint64_t below, uint64_t above)
{
	uint64_t pixel = below ^ above;
	KEEP_FRAME();
	for (int round = 0; round < 24; round++)
		pixel = MIX(pixel);
	return pixel;
}

SEPARATE uint64_t blend_row(const uint64_t *words)
{
	uint64_t row = 0;
	KEEP_FRAME();
	for (int i = 0; i < page_words; i += 8) {
		row = blend_pixel(row, words[i]);
		for (int round = 0; round < 4; round++)
			row = MIX(row);
	}
	return row;
}

SEPARATE uint64_t draw_page(void)
{
	uint64_t value = parse_page(page.words) + score_page(page.levels) + blend_row(page.words);
	count_page(page.counts, value);
	return value;
}

int main(int argc, char **argv)
{
	uint64_t ops = operations(argc, argv, 80000), checksum = 0;
	prepare();
	for (uint64_t i = 0; i < ops; i++) {
		page.words[i % page_words] += i;
		checksum = checksum * 31 + draw_page();
	}
	return finish(ops, checksum);
}
