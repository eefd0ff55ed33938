// hash_v1 is hash_v2 after: the same code under another name.

#include "unchanged.h"

#ifdef AFTER
#define hash_page hash_v2
#else
#define hash_page hash_v1
#endif

SEPARATE uint64_t hash_page(const uint64_t *words)
{
	uint64_t hash = 0;
	KEEP_FRAME();
	for (int i = 0; i < page_words; i++) {
		hash ^= words[i];
		for (int round = 0; round < 3; round++)
			hash = MIX(hash);
	}
	return hash;
}

SEPARATE uint64_t serve_page(void)
{
	uint64_t value = parse_page(page.words) + score_page(page.levels) + hash_page(page.words);
	count_page(page.counts, value);
	return value;
}

int main(int argc, char **argv)
{
	uint64_t ops = operations(argc, argv, 80000), checksum = 0;
	prepare();
	for (uint64_t i = 0; i < ops; i++) {
		page.words[i % page_words] += i;
		checksum = checksum * 31 + serve_page();
	}
	return finish(ops, checksum);
}
