// apply_update does everything itself before; after, it leaves what is seldom
// to apply_update_slow.

#include "unchanged.h"

#ifdef AFTER
NOINLINE uint64_t apply_update_slow(uint64_t state, uint64_t word)
{
	KEEP_FRAME();
	state ^= word;
	for (int round = 0; round < 80; round++)
		state = MIX(state);
	return state;
}
#endif

SEPARATE uint64_t apply_update(uint64_t state, const uint64_t *words)
{
	KEEP_FRAME();
	for (int i = 0; i < page_words; i++) {
		if (i % 64 == 63) {
#ifdef AFTER
			state = apply_update_slow(state, words[i]);
#else
			state ^= words[i];
			for (int round = 0; round < 80; round++)
				state = MIX(state);
#endif
		} else {
			state ^= words[i];
			state = MIX(state);
			state = MIX(state);
		}
	}
	return state;
}

SEPARATE uint64_t sync_page(uint64_t state)
{
	uint64_t value = parse_page(page.words) + score_page(page.levels) + apply_update(state, page.words);
	count_page(page.counts, value);
	return value;
}

int main(int argc, char **argv)
{
	uint64_t ops = operations(argc, argv, 80000), checksum = 0;
	prepare();
	for (uint64_t i = 0; i < ops; i++) {
		page.words[i % page_words] += i;
		checksum = checksum * 31 + sync_page(i);
	}
	return finish(ops, checksum);
}
