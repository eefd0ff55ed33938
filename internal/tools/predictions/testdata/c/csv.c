// A table of orders: numbers, dates, names and remarks, of which some are quoted. The unit is a byte.
#include "csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
	"Ada", "Björk", "Chandrasekhar", "Dot", "Emmeline", "Fritz-Ulrich", "Gu", "Hypatia",
};
static const char *const remarks[] = {
	"", "", "", "paid", "\"call first, then deliver\"", "fragile", "\"says \"\"no lids\"\"\"", "\"left, right,\nand centre\"",
};

static char *table;
static size_t table_length;

size_t prepare(const char *text, size_t length)
{
	(void)text;
	(void)length;
	size_t capacity = 512 << 10;
	table = malloc(capacity + 256);
	while (table_length < capacity) {
		char *at = table + table_length;
		uint32_t amount = random_below(random_below(4) ? 1000 : 1000000);
		table_length += sprintf(at, random_below(5) ? "%u,%s,2024-%02u-%02u,%u.%02u,%s\n" : "%u,\"%s, Ltd\",2024-%02u-%02u,%u.%02u,%s\n",
					100000 + random_below(900000), names[random_below(8)], 1 + random_below(12), 1 + random_below(28),
					amount / 100, amount % 100, remarks[random_below(8)]);
	}
	return table_length;
}

uint64_t pass(void)
{
	struct counts counts = {0};
	scan(table, table_length, &counts);
	return counts.rows << 40 ^ counts.fields << 20 ^ counts.quoted;
}
