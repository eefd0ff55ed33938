// normalize_text is called by handle_query and handle_refresh before, and by
// handle_query alone after.

#include "unchanged.h"

SEPARATE uint64_t normalize_text(uint64_t text, const uint64_t *words)
{
	KEEP_FRAME();
	for (int i = 0; i < page_words / 2; i++) {
		text ^= words[i];
		for (int round = 0; round < 3; round++)
			text = MIX(text);
	}
	return text;
}

SEPARATE uint64_t handle_query(uint64_t query)
{
	return parse_page(page.words) + normalize_text(query, page.words) + score_page(page.levels);
}

SEPARATE uint64_t handle_refresh(uint64_t value)
{
#ifndef AFTER
	KEEP(normalize_text(value, page.words + page_words / 2)); // nobody needs it
#endif
	count_page(page.counts, value);
	return value + page.counts[0];
}

int main(int argc, char **argv)
{
	uint64_t ops = operations(argc, argv, 80000), checksum = 0;
	prepare();
	for (uint64_t i = 0; i < ops; i++) {
		page.words[i % page_words] += i;
		checksum = checksum * 31 + handle_refresh(handle_query(i));
	}
	return finish(ops, checksum);
}
