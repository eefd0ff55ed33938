// A message queue between threads: producers post messages that are due at some time,
// a looper takes them in order of that time and dispatches them.
//
// One source, two builds of the queue:
//
//   before   a mutex protects a list that posting keeps sorted
//   after    -DQUEUE_LOCK_FREE: posting pushes to a stack by compare-and-swap
//            (Treiber, 1986), and the looper moves what it finds there to a heap
//            that is its own
//
// The messages are functions of the seed. Their order depends on the scheduler, so the
// checksum is a sum. Both builds print the same `messages` and `checksum` on stdout.
//
//   usage: lock-free-queue [MESSAGES]     posted by each producer

#define _GNU_SOURCE

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

// KEEP_FRAME makes a leaf function set up its frame, which gcc 12 leaves out in spite of
// -fno-omit-frame-pointer.
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

enum {
	producer_count = 3,
	in_flight = 256, // messages of a producer that are not dispatched yet
	default_messages = 400000,
	work_rounds = 24, // of hashing, for a message posted and for one dispatched
};

struct message {
	struct message *next;
	int64_t when; // virtual time at which it is due, microseconds
	uint64_t payload;
	struct producer *producer;
	atomic_bool pending; // from posting to dispatch
};

struct producer {
	pthread_t thread;
	struct looper *looper;
	uint64_t random_state;
	uint64_t messages; // to be posted
	atomic_uint dispatched;
	atomic_bool waits; // for a message to be dispatched
	struct message slots[in_flight];
};

static void die(const char *what, int error)
{
	fprintf(stderr, "lock-free-queue: %s: %s\n", what, strerror(error));
	exit(1);
}

static void futex_wait(atomic_uint *word, unsigned value)
{
	if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0) < 0 && errno != EAGAIN && errno != EINTR)
		die("futex", errno);
}

static void futex_wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

NOINLINE uint64_t hash_payload(uint64_t h)
{
	KEEP_FRAME();
	for (int i = 0; i < work_rounds; i++) {
		h ^= h >> 29;
		h *= 0xbf58476d1ce4e5b9;
	}
	return h;
}

// ---- queue ----------------------------------------------------------------

#ifdef QUEUE_LOCK_FREE

struct queue {
	_Atomic(struct message *) posted; // a stack, newest first
	atomic_uint sleeps;               // 1 while the looper waits
	size_t size;
	struct message *heap[producer_count * in_flight]; // the looper's own
};

static void queue_init(struct queue *q) { (void)q; }

NOINLINE void queue_post(struct queue *q, struct message *m)
{
	KEEP_FRAME();
	struct message *top = atomic_load_explicit(&q->posted, memory_order_relaxed);
	do
		m->next = top;
	while (!atomic_compare_exchange_weak(&q->posted, &top, m));
	if (atomic_load(&q->sleeps) && atomic_exchange(&q->sleeps, 0))
		futex_wake(&q->sleeps);
}

NOINLINE void heap_insert(struct queue *q, struct message *m)
{
	KEEP_FRAME();
	size_t node = q->size++;
	while (node > 0 && q->heap[(node - 1) / 2]->when > m->when) {
		q->heap[node] = q->heap[(node - 1) / 2];
		node = (node - 1) / 2;
	}
	q->heap[node] = m;
}

NOINLINE struct message *heap_take(struct queue *q)
{
	KEEP_FRAME();
	struct message *first = q->heap[0], *last = q->heap[--q->size];
	size_t node = 0;
	for (size_t child; (child = 2 * node + 1) < q->size; node = child) {
		if (child + 1 < q->size && q->heap[child + 1]->when < q->heap[child]->when)
			child++;
		if (last->when <= q->heap[child]->when)
			break;
		q->heap[node] = q->heap[child];
	}
	q->heap[node] = last;
	return first;
}

NOINLINE struct message *queue_take(struct queue *q)
{
	for (;;) {
		struct message *m = atomic_exchange(&q->posted, NULL);
		while (m) {
			struct message *next = m->next;
			heap_insert(q, m);
			m = next;
		}
		if (q->size > 0)
			return heap_take(q);
		// Who posts after this store sees it, or is seen by the load.
		atomic_store(&q->sleeps, 1);
		if (!atomic_load(&q->posted))
			futex_wait(&q->sleeps, 1);
		atomic_store(&q->sleeps, 0);
	}
}

#else

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t posted;
	struct message *first; // sorted by when
};

static void queue_init(struct queue *q)
{
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->posted, NULL);
}

NOINLINE void list_insert(struct message **at, struct message *m)
{
	KEEP_FRAME();
	while (*at && (*at)->when <= m->when)
		at = &(*at)->next;
	m->next = *at;
	*at = m;
}

NOINLINE void queue_post(struct queue *q, struct message *m)
{
	pthread_mutex_lock(&q->lock);
	bool empty = !q->first;
	list_insert(&q->first, m);
	if (empty)
		pthread_cond_signal(&q->posted);
	pthread_mutex_unlock(&q->lock);
}

NOINLINE struct message *queue_take(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	while (!q->first)
		pthread_cond_wait(&q->posted, &q->lock);
	struct message *m = q->first;
	q->first = m->next;
	pthread_mutex_unlock(&q->lock);
	return m;
}

#endif

// ---- threads --------------------------------------------------------------

struct looper {
	struct queue queue;
	_Atomic int64_t now; // virtual time: when of the last message taken
	struct producer producers[producer_count];
};

// free_slot waits for a slot whose message has been dispatched.
NOINLINE struct message *free_slot(struct producer *p, size_t *at)
{
	for (;;) {
		unsigned dispatched = atomic_load(&p->dispatched);
		for (size_t i = 0; i < in_flight; i++) {
			struct message *m = &p->slots[(*at + i) % in_flight];
			if (!atomic_load_explicit(&m->pending, memory_order_acquire)) {
				*at = (*at + i + 1) % in_flight;
				return m;
			}
		}
		atomic_store(&p->waits, true);
		if (atomic_load(&p->dispatched) == dispatched)
			futex_wait(&p->dispatched, dispatched);
		atomic_store(&p->waits, false);
	}
}

NOINLINE void *produce(void *argument)
{
	struct producer *p = argument;
	size_t at = 0;
	for (uint64_t i = 0; i < p->messages; i++) {
		struct message *m = free_slot(p, &at);
		uint64_t r = next_random(&p->random_state);
		m->payload = hash_payload(r);
		m->when = atomic_load_explicit(&p->looper->now, memory_order_relaxed) + (int64_t)(r >> 44);
		atomic_store_explicit(&m->pending, true, memory_order_relaxed);
		queue_post(&p->looper->queue, m);
	}
	return NULL;
}

NOINLINE uint64_t loop(struct looper *l, uint64_t messages)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < messages; i++) {
		struct message *m = queue_take(&l->queue);
		if (m->when > atomic_load_explicit(&l->now, memory_order_relaxed))
			atomic_store_explicit(&l->now, m->when, memory_order_relaxed);
		sum += hash_payload(m->payload);
		struct producer *p = m->producer;
		atomic_store_explicit(&m->pending, false, memory_order_release);
		atomic_fetch_add(&p->dispatched, 1);
		if (atomic_load(&p->waits) && atomic_load(&p->dispatched) % (in_flight / 2) == 0)
			futex_wake(&p->dispatched);
	}
	return sum;
}

int main(int argc, char **argv)
{
	static struct looper looper;
	long messages = argc > 1 ? strtol(argv[1], NULL, 10) : default_messages;
	if (argc > 2 || messages < 1 || messages > 1000000000) {
		fprintf(stderr, "usage: lock-free-queue [MESSAGES]\n");
		return 2;
	}
	messages = (messages + in_flight - 1) / in_flight * in_flight;
	queue_init(&looper.queue);
	for (int i = 0; i < producer_count; i++) {
		struct producer *p = &looper.producers[i];
		p->looper = &looper;
		p->messages = messages;
		p->random_state = 0x9e3779b97f4a7c15 * (i + 1);
		for (size_t j = 0; j < in_flight; j++)
			p->slots[j].producer = p;
		int error = pthread_create(&p->thread, NULL, produce, p);
		if (error)
			die("thread", error);
		pthread_setname_np(p->thread, "producer");
	}
	pthread_setname_np(pthread_self(), "looper");
	// The C library that called main keeps no frame pointers: what main saved as the
	// frame of its caller is none. Stacks end here.
	void *volatile *frame = __builtin_frame_address(0);
	void *caller_register = *frame;
	*frame = NULL;
	uint64_t sum = loop(&looper, (uint64_t)messages * producer_count);
	*frame = caller_register;
	for (int i = 0; i < producer_count; i++)
		pthread_join(looper.producers[i].thread, NULL);
	printf("messages %llu\nchecksum %016llx\n", (unsigned long long)messages * producer_count, (unsigned long long)sum);
	return 0;
}
