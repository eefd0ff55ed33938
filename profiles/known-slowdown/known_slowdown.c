// A server's day in small: a request is decoded, looked up, scored, smoothed,
// signed and answered, over and over. The work is fixed, and it is known by how
// much a build does more or less of it:
//
//   same     digest_block 2000 rounds, smooth_signal 1600 samples
//   slow10   -DDIGEST_ROUNDS=2200
//   slow30   -DDIGEST_ROUNDS=2600
//   half     -DSMOOTH_SAMPLES=800
//
// No other function reads what these two compute, so all builds execute the
// same instructions in every other function. Both are loops in which an
// iteration waits for the one before: their time follows the iterations.
//
//   usage: known-slowdown [REQUESTS]
//
// Prints "ops" (requests answered) and "checksum" on stdout, the same for all
// builds, and the CPU time on stderr.

#include "freestanding.h"

#ifndef DIGEST_ROUNDS
#define DIGEST_ROUNDS 2000
#endif
#ifndef SMOOTH_SAMPLES
#define SMOOTH_SAMPLES 1600
#endif

enum {
	default_requests = 66000,
	input_bytes = 4096,
	varints = 750,
	keys = 64,
	hash_rounds = 32,
	buckets = 256, // of the table, a power of two
	bucket_slots = 16,
	sessions = buckets * bucket_slots,
	dimensions = 160,
	candidates = 64,
	signal_samples = 2048,
	packed_words = 2048,
	escaped_bytes = 1440,
	crc_bytes = 256,
	latencies = 1024,
};

struct session {
	uint64_t key;
	uint64_t uses;
};

struct server {
	uint64_t random_state;
	uint64_t checksum;
	uint64_t keys[keys];
	struct session table[sessions];
	float vectors[candidates][dimensions];
	float query[dimensions];
	int32_t scores[candidates];
	double signal[signal_samples];
	uint64_t packed[packed_words];
	uint32_t latency[latencies];
	uint8_t input[input_bytes];
	uint32_t crc_table[256]; // keeps the output from lying 4096 bytes behind the input
	uint8_t output[2 * input_bytes];
};

static struct server server;

// ---- decode ---------------------------------------------------------------

// find_fields counts the separators of the input and adds up where they are.
SEPARATE uint64_t find_fields(const uint8_t *input, size_t length)
{
	uint64_t sum = 0;
	KEEP_FRAME();
	for (size_t i = 0; i < length; i++) {
		if (input[i] < 8)
			sum += i ^ sum >> 3;
		else
			sum = (sum << 1) ^ (sum >> 63);
	}
	return sum;
}

// read_varints reads n numbers of one or two bytes.
SEPARATE uint64_t read_varints(const uint8_t *input, size_t n)
{
	uint64_t sum = 0;
	size_t at = 0;
	KEEP_FRAME();
	for (size_t i = 0; i < n; i++) {
		uint64_t low = input[at], two = low >> 7;
		sum += (low & 127) | (uint64_t)input[at + 1] * two << 7;
		at += 1 + two;
	}
	return sum;
}

SEPARATE uint64_t decode_request(struct server *s)
{
	uint64_t fields = find_fields(s->input, input_bytes);
	return fields + read_varints(s->input, varints);
}

// ---- look up --------------------------------------------------------------

SEPARATE uint64_t hash_key(uint64_t key)
{
	KEEP_FRAME();
	for (int i = 0; i < hash_rounds; i++) {
		key ^= key >> 31;
		key *= 0x9e3779b97f4a7c15;
	}
	return key;
}

// probe_table returns the slot of a key in its bucket, or the one where it belongs.
SEPARATE struct session *probe_table(struct session *table, uint64_t key, uint64_t hash)
{
	struct session *slot = &table[hash % buckets * bucket_slots];
	struct session *last = slot + bucket_slots - 1;
	KEEP_FRAME();
	while (slot < last && slot->key != key && slot->key != 0)
		slot++;
	return slot;
}

SEPARATE uint64_t look_up_sessions(struct server *s, uint64_t seed)
{
	uint64_t sum = 0;
	for (int i = 0; i < keys; i++) {
		uint64_t key = s->keys[i] ^ (seed & 15);
		struct session *found = probe_table(s->table, key, hash_key(key));
		found->key = key;
		sum += ++found->uses;
	}
	return sum;
}

// evict_sessions forgets an eighth of the table.
SEPARATE void evict_sessions(struct session *table, uint64_t request)
{
	size_t first = request % 8 * (sessions / 8);
	KEEP_FRAME();
	for (size_t i = first; i < first + sessions / 8; i++)
		table[i].key = 0;
}

// ---- score ----------------------------------------------------------------

SEPARATE float dot_product(const float *a, const float *b)
{
	float sum = 0;
	KEEP_FRAME();
	for (int i = 0; i < dimensions; i++)
		sum += a[i] * b[i];
	return sum;
}

// rank_candidates sorts the scores and returns a mix of the best.
SEPARATE uint64_t rank_candidates(int32_t *scores)
{
	uint64_t mix = 0;
	KEEP_FRAME();
	for (int i = 1; i < candidates; i++) {
		int32_t score = scores[i];
		int at = i;
		for (; at > 0 && scores[at - 1] < score; at--)
			scores[at] = scores[at - 1];
		scores[at] = score;
	}
	for (int i = 0; i < 8; i++)
		mix = mix * 31 + (uint32_t)scores[i];
	return mix;
}

SEPARATE uint64_t score_candidates(struct server *s)
{
	for (int i = 0; i < candidates; i++)
		s->scores[i] = (int32_t)(dot_product(s->vectors[i], s->query) * 1000);
	return rank_candidates(s->scores);
}

// ---- smooth, sign: what is changed on purpose -------------------------------

SEPARATE void smooth_signal(const double *signal)
{
	double level = 0;
	KEEP_FRAME();
	for (int i = 0; i < SMOOTH_SAMPLES; i++)
		level = level * 0.875 + signal[i];
	__asm__ volatile("" : : "x"(level));
}

SEPARATE void digest_block(uint64_t seed)
{
	KEEP_FRAME();
	for (int i = 0; i < DIGEST_ROUNDS; i++)
		seed = (seed ^ seed >> 29) * 0xbf58476d1ce4e5b9;
	KEEP(seed);
}

// ---- answer ---------------------------------------------------------------

SEPARATE uint64_t pack_bits(uint64_t *packed, uint64_t value)
{
	uint64_t word = 0;
	KEEP_FRAME();
	for (int i = 0; i < packed_words; i++) {
		value = value * 5 + 1;
		word = word << 5 | word >> 59;
		word ^= value & 31;
		packed[i] = word;
	}
	return word;
}

// escape_text copies the input and puts a backslash before a quote.
SEPARATE size_t escape_text(uint8_t *output, const uint8_t *input, size_t length)
{
	size_t at = 0;
	KEEP_FRAME();
	for (size_t i = 0; i < length; i++) {
		output[at] = '\\';
		at += input[i] == '"';
		output[at++] = input[i];
	}
	return at;
}

SEPARATE uint32_t crc_update(const uint32_t *table, const uint8_t *bytes, size_t length)
{
	uint32_t crc = ~0u;
	KEEP_FRAME();
	for (size_t i = 0; i < length; i++)
		crc = table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
	return ~crc;
}

SEPARATE uint64_t encode_response(struct server *s, uint64_t value)
{
	uint64_t last = pack_bits(s->packed, value);
	size_t length = escape_text(s->output, s->input, escaped_bytes);
	return last + length + crc_update(s->crc_table, s->output, crc_bytes);
}

// record_latency counts a request in a histogram and lets the histogram decay.
SEPARATE void record_latency(uint32_t *latency, uint64_t value)
{
	KEEP_FRAME();
	latency[value % latencies] += 1024;
	for (int i = 0; i < latencies; i++)
		latency[i] -= latency[i] >> 6;
}

// ---- serve ----------------------------------------------------------------

SEPARATE void handle_request(struct server *s, uint64_t request)
{
	uint64_t value = decode_request(s);
	value += look_up_sessions(s, request);
	value += score_candidates(s);
	smooth_signal(s->signal);
	digest_block(request);
	value += encode_response(s, value);
	record_latency(s->latency, value);
	evict_sessions(s->table, request);
	s->checksum = s->checksum * 31 + value;
}

// prepare fills the tables, and the input with bytes that are hard to guess.
SEPARATE void prepare(struct server *s)
{
	s->random_state = 0x2545f4914f6cdd1d;
	for (int i = 0; i < input_bytes; i++)
		s->input[i] = (uint8_t)(random_next(&s->random_state) >> 32);
	for (int i = 0; i < keys; i++)
		s->keys[i] = random_next(&s->random_state) | 16;
	for (int i = 0; i < dimensions; i++)
		s->query[i] = (float)(random_next(&s->random_state) % 1000) / 1000 - 0.5f;
	for (int i = 0; i < candidates; i++)
		for (int j = 0; j < dimensions; j++)
			s->vectors[i][j] = (float)(random_next(&s->random_state) % 1000) / 1000 - 0.5f;
	for (int i = 0; i < signal_samples; i++)
		s->signal[i] = (double)(random_next(&s->random_state) % 1000) / 1000;
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (0xedb88320 & -(crc & 1));
		s->crc_table[i] = crc;
	}
}

int main(int argc, char **argv)
{
	uint64_t requests = operations(argc, argv, default_requests);
	prepare(&server);
	for (uint64_t i = 0; i < requests; i++) {
		server.input[i % input_bytes] ^= (uint8_t)i; // requests differ
		handle_request(&server, i);
	}
	print(1, "ops", requests);
	print(1, "checksum", server.checksum);
	print_times();
	return 0;
}
