// Counts words by their numbers: few of them are frequent. The unit is a lookup.
#include "../program.h"

#include <cmath>
#include <vector>

#ifdef AFTER
#include <boost/unordered/unordered_flat_map.hpp>
using map = boost::unordered_flat_map<uint64_t, uint32_t>;
#else
#include <unordered_map>
using map = std::unordered_map<uint64_t, uint32_t>;
#endif

static map index_of;
static std::vector<uint64_t> queries;

extern "C" size_t prepare(const char *, size_t)
{
	std::vector<uint64_t> keys(6000);
	for (auto &key : keys)
		key = random_next();
	for (size_t i = 0; i < 5000; i++) // the others are not found
		index_of.emplace(keys[i], i);
	for (int i = 0; i < 65536; i++) {
		double rank = std::pow(6000, double(random_next() >> 11) * 0x1p-53); // as Zipf has it
		queries.push_back(keys[size_t(rank * 3571) % 6000]);
	}
	return queries.size();
}

__attribute__((noinline)) static uint64_t look_up(const map &index, const std::vector<uint64_t> &wanted)
{
	uint64_t sum = 0;
	for (uint64_t key : wanted) {
		auto found = index.find(key);
		if (found != index.end())
			sum += found->second;
	}
	return sum;
}

extern "C" uint64_t pass()
{
	return look_up(index_of, queries);
}
