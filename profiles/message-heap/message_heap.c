// A message queue in the manner of a looper: producers post messages with a
// delay, one consumer takes them in order of time and dispatches them. Pending
// messages wait in a binary min-heap, ordered by `when`, then by `sequence`.
//
// One source, two builds that differ in the body of message_compare alone:
//
//   before   conditional jumps decide which message comes first
//   after    -DMESSAGE_COMPARE_BRANCHLESS: the sign is computed, nothing jumps
//
// The work is fixed: seed, number of messages and every decision of the
// producers are functions of the one argument. Both builds print the same
// `messages` and `checksum` on stdout; the CPU time goes to stderr.
//
//   usage: message-heap [MESSAGES]

#define _GNU_SOURCE // memfd_create

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

// KEEP_FRAME makes a leaf function set up its frame. gcc 12 leaves it out of a
// leaf that does not touch the stack, in spite of -fno-omit-frame-pointer, and
// a walk along the frame pointers then loses the caller.
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

enum {
	default_messages = 12000000,
	least_depth = 64,
	depth_doublings = 6,
	heap_capacity = least_depth << depth_doublings, // 4096
	payload_words = 8,
	log_capacity = 4096,
};

enum message_kind { kind_input, kind_frame, kind_timer, kind_log, kind_count };

// A payload is what a message brings to its handler.
struct payload {
	uint64_t words[payload_words];
	enum message_kind kind;
	struct payload *next_free;
};

struct message {
	int64_t when;     // virtual time at which it is due, microseconds
	int64_t sequence; // order of posting, breaks ties of `when`
	struct payload *payload;
};

struct heap {
	size_t size;
	struct message slots[heap_capacity];
};

struct queue {
	struct heap heap;
	struct payload *free_payloads;
	int64_t now; // virtual clock, microseconds: `when` of the last message taken
	int64_t next_sequence;
	int wake_fd;
};

struct looper {
	struct queue queue;
	uint64_t messages; // to be posted in all
	uint64_t posted;
	uint64_t dispatched;
	uint64_t random_state;
	uint64_t checksum;
	int64_t frame_average;
	int log_fd;
	size_t log_length;
	char log[log_capacity];
};

static void die(const char *what)
{
	fprintf(stderr, "message-heap: %s: %s\n", what, strerror(errno));
	exit(1);
}

// ---- order ----------------------------------------------------------------

// message_compare is negative when a comes first, positive when b does. It
// stays out of line in both builds: the binaries then differ in the bytes of
// this one function, and a profile names it.
NOINLINE int message_compare(const struct message *a, const struct message *b)
{
	KEEP_FRAME();
#ifdef MESSAGE_COMPARE_BRANCHLESS
	// Each sign is -1, 0 or 1. `when` counts double, so that `sequence`
	// decides only between equal times.
	int when_sign = (a->when > b->when) - (a->when < b->when);
	int sequence_sign = (a->sequence > b->sequence) - (a->sequence < b->sequence);
	return 2 * when_sign + sequence_sign;
#else
	if (a->when < b->when)
		return -1;
	if (a->when > b->when)
		return 1;
	if (a->sequence < b->sequence)
		return -1;
	if (a->sequence > b->sequence)
		return 1;
	return 0;
#endif
}

// ---- heap -----------------------------------------------------------------

// heap_first_child is the slot of the earlier child of a node that has one.
// The comparator's answer is added, not branched on: a jump here would only
// take over the mispredictions of the comparator.
ALWAYS_INLINE size_t heap_first_child(const struct heap *heap, size_t node)
{
	size_t left = 2 * node + 1;
	if (left + 1 == heap->size)
		return left;
	return left + (message_compare(&heap->slots[left + 1], &heap->slots[left]) < 0);
}

NOINLINE void heap_sift_up(struct heap *heap, size_t node)
{
	struct message moving = heap->slots[node];
	while (node > 0) {
		size_t parent = (node - 1) / 2;
		if (message_compare(&moving, &heap->slots[parent]) > 0)
			break;
		heap->slots[node] = heap->slots[parent];
		node = parent;
	}
	heap->slots[node] = moving;
}

NOINLINE void heap_sift_down(struct heap *heap, size_t node)
{
	struct message moving = heap->slots[node];
	while (2 * node + 1 < heap->size) {
		size_t child = heap_first_child(heap, node);
		if (message_compare(&moving, &heap->slots[child]) < 0)
			break;
		heap->slots[node] = heap->slots[child];
		node = child;
	}
	heap->slots[node] = moving;
}

// ---- queue ----------------------------------------------------------------

// queue_post enqueues a message that is due after delay microseconds. The
// caller has made sure that there is room.
NOINLINE void queue_post(struct queue *queue, enum message_kind kind, int64_t delay, uint64_t value)
{
	struct payload *payload = queue->free_payloads;
	queue->free_payloads = payload->next_free;
	payload->kind = kind;
	for (size_t i = 0; i < payload_words; i++)
		payload->words[i] = value + i;
	struct heap *heap = &queue->heap;
	heap->slots[heap->size] = (struct message){
		.when = queue->now + delay,
		.sequence = queue->next_sequence++,
		.payload = payload,
	};
	heap_sift_up(heap, heap->size++);
}

// queue_next takes the first message and moves the clock to its time. The
// caller gives the payload back with queue_recycle.
NOINLINE struct message queue_next(struct queue *queue)
{
	struct heap *heap = &queue->heap;
	struct message first = heap->slots[0];
	heap->slots[0] = heap->slots[--heap->size];
	heap_sift_down(heap, 0);
	queue->now = first.when;
	return first;
}

ALWAYS_INLINE void queue_recycle(struct queue *queue, struct payload *payload)
{
	payload->next_free = queue->free_payloads;
	queue->free_payloads = payload;
}

// queue_wake tells the consumer that a burst was posted, queue_wait takes
// notice: the two system calls of a looper that was idle.
NOINLINE void queue_wake(struct queue *queue)
{
	uint64_t one = 1;
	if (write(queue->wake_fd, &one, sizeof one) != sizeof one)
		die("write to eventfd");
}

NOINLINE void queue_wait(struct queue *queue)
{
	uint64_t count;
	if (read(queue->wake_fd, &count, sizeof count) != sizeof count)
		die("read from eventfd");
}

// ---- producers ------------------------------------------------------------

// random_next is splitmix64.
ALWAYS_INLINE uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

// producer_post posts one message of a producer chosen at random. Each has
// delays of its own, so that times interleave and no order repeats.
NOINLINE void producer_post(struct looper *looper)
{
	uint64_t bits = random_next(&looper->random_state);
	enum message_kind kind = (enum message_kind)(bits & 3);
	uint64_t delay = 0;
	switch (kind) {
	case kind_input: // half at once, half within 4 ms
		delay = (bits & 4) ? 0 : bits >> 32 & 4095;
		break;
	case kind_frame: // one of the next 16 display refreshes, with some jitter
		delay = (bits >> 32 & 15) * 16667 + (bits >> 36 & 255);
		break;
	case kind_timer: // a geometric number of half milliseconds, then uniform
		delay = (uint64_t)__builtin_ctzll(bits >> 32 | 1 << 16) * 500 + (bits >> 48 & 16383);
		break;
	default: // any time within 131 ms
		delay = bits >> 32 & 131071;
		break;
	}
	queue_post(&looper->queue, kind, (int64_t)delay, bits);
	looper->posted++;
}

// ---- handlers -------------------------------------------------------------

ALWAYS_INLINE uint64_t hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9fb21c651e98df25;
	return hash ^ hash >> 35;
}

// dispatch_input hashes the payload.
NOINLINE void dispatch_input(struct looper *looper, const struct message *message)
{
	KEEP_FRAME();
	uint64_t hash = (uint64_t)message->sequence;
	for (size_t round = 0; round < 2; round++)
		for (size_t i = 0; i < payload_words; i++)
			hash = hash_word(hash, message->payload->words[i]);
	looper->checksum = hash_word(looper->checksum, hash);
}

// dispatch_frame keeps a moving average of the phases of the frames.
NOINLINE void dispatch_frame(struct looper *looper, const struct message *message)
{
	KEEP_FRAME();
	int64_t average = looper->frame_average;
	for (size_t i = 0; i < payload_words; i++) {
		int64_t sample = (int64_t)(message->payload->words[i] & 0xffff) + message->when % 16667;
		average += (sample - average) / 8;
	}
	looper->frame_average = average;
	looper->checksum = hash_word(looper->checksum, (uint64_t)average);
}

// dispatch_timer runs a job that posts itself again in one case of four.
NOINLINE void dispatch_timer(struct looper *looper, const struct message *message)
{
	uint64_t hash = hash_word((uint64_t)message->when, message->payload->words[0]);
	for (size_t i = 0; i < payload_words; i++)
		hash = hash_word(hash, i);
	looper->checksum = hash_word(looper->checksum, hash);
	if (hash % 4 == 0 && looper->posted < looper->messages) {
		queue_post(&looper->queue, kind_timer, (int64_t)(hash >> 32 & 65535), hash);
		looper->posted++;
	}
}

ALWAYS_INLINE size_t format_decimal(char *out, uint64_t value)
{
	char digits[20];
	size_t count = 0;
	do
		digits[count++] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	for (size_t i = 0; i < count; i++)
		out[i] = digits[count - 1 - i];
	return count;
}

// log_flush writes the buffered lines out; the log keeps the latest buffer only.
NOINLINE void log_flush(struct looper *looper)
{
	ssize_t written = pwrite(looper->log_fd, looper->log, looper->log_length, 0);
	if (written < 0 || (size_t)written != looper->log_length)
		die("write the log");
	looper->log_length = 0;
}

// dispatch_log formats a line into a buffer that is written out when it is full.
NOINLINE void dispatch_log(struct looper *looper, const struct message *message)
{
	enum { longest_line = 2 * 20 + 2 };
	if (looper->log_length + longest_line > log_capacity)
		log_flush(looper);
	char *line = looper->log + looper->log_length;
	size_t length = format_decimal(line, (uint64_t)message->when);
	line[length++] = ' ';
	length += format_decimal(line + length, (uint64_t)message->sequence);
	line[length++] = '\n';
	looper->log_length += length;
	uint64_t hash = 0;
	for (size_t i = 0; i < length; i++)
		hash = hash * 31 + (unsigned char)line[i];
	looper->checksum = hash_word(looper->checksum, hash);
}

NOINLINE void dispatch_message(struct looper *looper, const struct message *message)
{
	static void (*const handlers[kind_count])(struct looper *, const struct message *) = {
		[kind_input] = dispatch_input,
		[kind_frame] = dispatch_frame,
		[kind_timer] = dispatch_timer,
		[kind_log] = dispatch_log,
	};
	handlers[message->payload->kind](looper, message);
	looper->dispatched++;
}

// ---- looper ---------------------------------------------------------------

// looper_run posts and dispatches all messages. A round fills the queue to a
// depth of 64 to 4096 messages in one burst, then drains it to a quarter of
// that; the last round drains it to the end.
NOINLINE void looper_run(struct looper *looper)
{
	struct queue *queue = &looper->queue;
	while (looper->dispatched < looper->messages) {
		size_t high = (size_t)least_depth << random_next(&looper->random_state) % (depth_doublings + 1);
		while (queue->heap.size < high && looper->posted < looper->messages)
			producer_post(looper);
		queue_wake(queue);
		queue_wait(queue);
		size_t low = looper->posted < looper->messages ? high / 4 : 0;
		while (queue->heap.size > low) {
			struct message message = queue_next(queue);
			dispatch_message(looper, &message);
			queue_recycle(queue, message.payload);
		}
	}
}

static struct looper main_looper;
// One payload more than there are slots: a handler may post while its own
// message still holds one.
static struct payload payload_pool[heap_capacity + 1];

int main(int argc, char **argv)
{
	struct looper *looper = &main_looper;
	looper->messages = default_messages;
	if (argc > 1) {
		char *end;
		errno = 0;
		looper->messages = strtoull(argv[1], &end, 10);
		if (errno != 0 || end == argv[1] || *end != '\0' || argc > 2) {
			fprintf(stderr, "usage: message-heap [MESSAGES]\n");
			return 2;
		}
	}
	looper->random_state = 42;
	looper->queue.wake_fd = eventfd(0, 0);
	if (looper->queue.wake_fd < 0)
		die("eventfd");
	looper->log_fd = memfd_create("message-log", 0);
	if (looper->log_fd < 0)
		die("memfd_create");
	for (size_t i = 0; i <= heap_capacity; i++)
		queue_recycle(&looper->queue, &payload_pool[i]);

	// The C library that called main keeps no frame pointers: what main saved
	// as the frame of its caller is none. Stacks end here.
	void *volatile *frame = __builtin_frame_address(0);
	void *caller_register = *frame;
	*frame = NULL;
	looper_run(looper);
	*frame = caller_register;

	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage) != 0)
		die("getrusage");
	printf("messages %llu\nchecksum %016llx\n", (unsigned long long)looper->dispatched,
	       (unsigned long long)looper->checksum);
	fprintf(stderr, "user %ld.%06ld\nsystem %ld.%06ld\n", (long)usage.ru_utime.tv_sec,
		(long)usage.ru_utime.tv_usec, (long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec);
	return 0;
}
