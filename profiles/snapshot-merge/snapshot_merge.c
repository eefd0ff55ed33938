// Merges a copy-on-write image onto a base device, as an update over the air does
// after its first boot. Two threads work in turn: the read-ahead reads the sources of
// operations that depend on order, the merge writes blocks to their final place,
// syncs, and commits how far it has come.
//
// One source, two builds that differ in how blocks are read and written:
//
//   before   pread, pwrite and fsync, a block at a time, through the page cache
//   after    -DMERGE_IO_URING: many blocks in flight, direct I/O where it works
//
// The images are functions of the seed and of the number of operations. Both builds
// print the same `operations` and `checksum` on stdout.
//
//   usage: snapshot-merge prepare DIR [OPERATIONS]
//          snapshot-merge merge DIR

#define _GNU_SOURCE // O_DIRECT

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef MERGE_IO_URING
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#endif

#define NOINLINE __attribute__((noinline))

enum {
	block_size = 4096,
	default_operations = 24000,
	batch_blocks = 512,     // of the read-ahead: 2 MiB
	replace_blocks = 128,   // written between two syncs
	ring_entries = 64,
};

enum operation_type { operation_copy, operation_xor, operation_replace, operation_zero };

struct operation {
	uint32_t type;
	uint32_t block;       // of the base, written
	uint32_t source;      // of the base, read by copy and xor
	uint32_t data_length; // of packed data, of xor and replace
	uint64_t data_offset; // in the image
};

struct image_header {
	char magic[8];
	uint64_t operations;
	uint64_t ordered; // the first so many are copy and xor
	uint64_t base_blocks;
	uint64_t merged; // how many are done: where an interrupted merge goes on
};

static const char magic[8] = "COWMERGE";

static void die(const char *what)
{
	fprintf(stderr, "snapshot-merge: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

static void *allocate_blocks(size_t n)
{
	void *p = aligned_alloc(block_size, n * block_size);
	if (!p)
		die("memory");
	memset(p, 0, n * block_size);
	return p;
}

static void read_fully(int fd, void *to, size_t length, off_t offset)
{
	for (char *p = to; length > 0;) {
		ssize_t n = pread(fd, p, length, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("read");
		p += n;
		offset += n;
		length -= n;
	}
}

static void write_fully(int fd, const void *from, size_t length, off_t offset)
{
	for (const char *p = from; length > 0;) {
		ssize_t n = pwrite(fd, p, length, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("write");
		p += n;
		offset += n;
		length -= n;
	}
}

// ---- packed blocks --------------------------------------------------------

// A packed block is a sequence of tokens: 0..127 is followed by one byte more than
// that of literals; 128..255 by two bytes of distance, and repeats token-124 bytes.

NOINLINE void unpack_block(uint8_t *to, const uint8_t *from, size_t length)
{
	size_t n = 0;
	for (size_t i = 0; i < length && n < block_size;) {
		uint8_t token = from[i++];
		if (token < 128) {
			size_t count = token + 1;
			if (i + count > length || n + count > block_size)
				break;
			memcpy(to + n, from + i, count);
			i += count;
			n += count;
			continue;
		}
		if (i + 2 > length)
			break;
		size_t distance = from[i] | from[i + 1] << 8;
		size_t count = token - 124;
		i += 2;
		if (distance == 0 || distance > n || n + count > block_size)
			break;
		for (size_t end = n + count; n < end; n++)
			to[n] = to[n - distance];
	}
	if (n != block_size) {
		errno = EBADMSG;
		die("packed block");
	}
}

// pack_random makes a packed block of random content, half of it repeats.
static size_t pack_random(uint8_t *to, uint64_t *state)
{
	size_t length = 0;
	for (size_t n = 0; n < block_size;) {
		uint64_t r = next_random(state);
		size_t count = 4 + r % 60;
		if (count > block_size - n)
			count = block_size - n;
		if (n < 64 || count < 4 || r >> 60 < 7) {
			to[length++] = count - 1;
			for (size_t i = 0; i < count; i++)
				to[length++] = r >> (i % 8 * 8);
		} else {
			size_t distance = 1 + (r >> 8) % n;
			to[length++] = count + 124;
			to[length++] = distance;
			to[length++] = distance >> 8;
		}
		n += count;
	}
	return length;
}

// ---- images ---------------------------------------------------------------

static int open_in(const char *dir, const char *name, int flags)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	int fd = open(path, flags | O_CLOEXEC, 0644);
	if (fd < 0 && !(flags & O_DIRECT))
		die(path);
	return fd;
}

static void prepare(const char *dir, size_t operations)
{
	uint64_t state = 0x9e3779b97f4a7c15;
	int base = open_in(dir, "base.img", O_CREAT | O_TRUNC | O_WRONLY);
	int image = open_in(dir, "cow.img", O_CREAT | O_TRUNC | O_WRONLY);
	size_t base_blocks = 2 * operations;
	uint64_t *block = allocate_blocks(1);
	for (size_t b = 0; b < base_blocks; b++) {
		for (size_t i = 0; i < block_size / sizeof *block; i++)
			block[i] = next_random(&state);
		write_fully(base, block, block_size, (off_t)b * block_size);
	}

	// Every block is written once, in an order of its own.
	uint32_t *order = calloc(base_blocks, sizeof *order);
	struct operation *list = calloc(operations, sizeof *list);
	if (!order || !list)
		die("memory");
	for (size_t i = 0; i < base_blocks; i++)
		order[i] = i;
	for (size_t i = base_blocks - 1; i > 0; i--) {
		size_t j = next_random(&state) % (i + 1);
		uint32_t t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	struct image_header header = {.operations = operations, .base_blocks = base_blocks};
	memcpy(header.magic, magic, sizeof magic);
	off_t data = sizeof header + operations * sizeof *list;
	uint8_t *packed = calloc(1, 2 * block_size);
	if (!packed)
		die("memory");
	for (size_t i = 0; i < operations; i++) {
		struct operation *o = &list[i];
		o->block = order[i];
		size_t place = i * 100 / operations; // 55 % copy, 10 % xor, 25 % replace, 10 % zero
		o->type = place < 55 ? operation_copy : place < 65 ? operation_xor : place < 90 ? operation_replace : operation_zero;
		if (place < 65) {
			header.ordered = i + 1;
			o->source = next_random(&state) % base_blocks;
		}
		if (o->type == operation_xor || o->type == operation_replace) {
			o->data_length = pack_random(packed, &state);
			o->data_offset = data;
			write_fully(image, packed, o->data_length, data);
			data += o->data_length;
		}
	}
	write_fully(image, &header, sizeof header, 0);
	write_fully(image, list, operations * sizeof *list, sizeof header);
	if (fsync(base) || fsync(image))
		die("sync");
	// The merge shall find the disk, not the page cache.
	posix_fadvise(base, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(image, 0, 0, POSIX_FADV_DONTNEED);
	close(base);
	close(image);
}

// ---- input and output -----------------------------------------------------

// A transfer is a block on its way.
struct transfer {
	uint8_t *buffer;
	uint32_t block;
};

#ifdef MERGE_IO_URING

// A ring is an io_uring of one thread, as io_uring_setup(2) describes it.
struct ring {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *entries;
	struct io_uring_cqe *completions;
};

static void ring_open(struct ring *ring)
{
	struct io_uring_params params = {0};
	ring->fd = syscall(SYS_io_uring_setup, ring_entries, &params);
	if (ring->fd < 0)
		die("io_uring_setup");
	size_t sq_size = params.sq_off.array + params.sq_entries * sizeof(unsigned);
	size_t cq_size = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	char *sq = mmap(NULL, sq_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	char *cq = mmap(NULL, cq_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
	ring->entries = mmap(NULL, params.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || ring->entries == MAP_FAILED)
		die("io_uring rings");
	ring->sq_tail = (unsigned *)(sq + params.sq_off.tail);
	ring->sq_mask = (unsigned *)(sq + params.sq_off.ring_mask);
	ring->sq_array = (unsigned *)(sq + params.sq_off.array);
	ring->cq_head = (unsigned *)(cq + params.cq_off.head);
	ring->cq_tail = (unsigned *)(cq + params.cq_off.tail);
	ring->cq_mask = (unsigned *)(cq + params.cq_off.ring_mask);
	ring->completions = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
}

NOINLINE void ring_queue(struct ring *ring, int opcode, int fd, void *buffer, size_t length, off_t offset)
{
	unsigned tail = *ring->sq_tail, at = tail & *ring->sq_mask;
	ring->entries[at] = (struct io_uring_sqe){
		.opcode = opcode, .fd = fd, .addr = (uintptr_t)buffer, .len = length, .off = offset, .user_data = length,
	};
	ring->sq_array[at] = at;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

NOINLINE void ring_submit_and_wait(struct ring *ring, unsigned submit, unsigned wait)
{
	while (syscall(SYS_io_uring_enter, ring->fd, submit, wait, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		if (errno != EINTR)
			die("io_uring_enter");
}

// ring_reap takes the completions that are there.
NOINLINE unsigned ring_reap(struct ring *ring)
{
	unsigned head = *ring->cq_head, tail = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE), n = tail - head;
	for (; head != tail; head++) {
		struct io_uring_cqe *c = &ring->completions[head & *ring->cq_mask];
		if (c->res < 0 || (uint64_t)c->res != c->user_data) {
			errno = c->res < 0 ? -c->res : EIO;
			die("io_uring completion");
		}
	}
	__atomic_store_n(ring->cq_head, head, __ATOMIC_RELEASE);
	return n;
}

// ring_transfer moves blocks, as many at a time as the ring holds.
NOINLINE void ring_transfer(struct ring *ring, int opcode, int fd, struct transfer *list, size_t n)
{
	size_t queued = 0, done = 0;
	while (done < n) {
		unsigned fresh = 0;
		for (; queued < n && queued - done < ring_entries; queued++, fresh++)
			ring_queue(ring, opcode, fd, list[queued].buffer, block_size, (off_t)list[queued].block * block_size);
		// Half of the ring at a time: the device never runs dry.
		size_t flying = queued - done;
		ring_submit_and_wait(ring, fresh, flying > ring_entries / 2 ? ring_entries / 2 : flying);
		done += ring_reap(ring);
	}
}

static void ring_sync(struct ring *ring, int fd)
{
	ring_queue(ring, IORING_OP_FSYNC, fd, NULL, 0, 0);
	ring_submit_and_wait(ring, 1, 1);
	ring_reap(ring);
}

#endif

// A worker is a thread with its way to the base.
struct worker {
	int base;
#ifdef MERGE_IO_URING
	struct ring ring;
#endif
};

static void worker_open(struct worker *w, const char *dir)
{
#ifdef MERGE_IO_URING
	w->base = open_in(dir, "base.img", O_RDWR | O_DIRECT);
	if (w->base < 0)
		w->base = open_in(dir, "base.img", O_RDWR);
	ring_open(&w->ring);
#else
	w->base = open_in(dir, "base.img", O_RDWR);
#endif
}

NOINLINE void worker_read(struct worker *w, struct transfer *list, size_t n)
{
#ifdef MERGE_IO_URING
	ring_transfer(&w->ring, IORING_OP_READ, w->base, list, n);
#else
	for (size_t i = 0; i < n; i++)
		read_fully(w->base, list[i].buffer, block_size, (off_t)list[i].block * block_size);
#endif
}

NOINLINE void worker_write(struct worker *w, struct transfer *list, size_t n)
{
#ifdef MERGE_IO_URING
	ring_transfer(&w->ring, IORING_OP_WRITE, w->base, list, n);
#else
	for (size_t i = 0; i < n; i++)
		write_fully(w->base, list[i].buffer, block_size, (off_t)list[i].block * block_size);
#endif
}

NOINLINE void worker_sync(struct worker *w)
{
#ifdef MERGE_IO_URING
	ring_sync(&w->ring, w->base);
#else
	if (fsync(w->base))
		die("fsync");
#endif
}

// ---- merge ----------------------------------------------------------------

struct merge {
	const char *dir;
	int image;
	struct image_header header;
	struct operation *operations;

	// The read-ahead fills the buffer, the merge empties it.
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool full;
	size_t first, count; // operations in the buffer
	uint8_t *buffer;
};

NOINLINE void xor_block(uint8_t *to, const uint8_t *from)
{
	uint64_t *a = (uint64_t *)to;
	const uint64_t *b = (const uint64_t *)from;
	for (size_t i = 0; i < block_size / sizeof *a; i++)
		a[i] ^= b[i];
}

NOINLINE void read_data(struct merge *m, const struct operation *o, uint8_t *to)
{
	uint8_t packed[2 * block_size];
	read_fully(m->image, packed, o->data_length, o->data_offset);
	unpack_block(to, packed, o->data_length);
}

// batch_end is where a batch from `first` on has to end: what is in flight together
// must not read a block that it writes.
static size_t batch_end(struct merge *m, size_t first, uint8_t *written)
{
	size_t end = first;
	for (; end < m->header.ordered && end - first < batch_blocks; end++) {
		const struct operation *o = &m->operations[end];
		if (written[o->source])
			break;
		written[o->block] = 1;
	}
	for (size_t i = first; i < end; i++)
		written[m->operations[i].block] = 0;
	return end;
}

NOINLINE void *read_ahead(void *argument)
{
	struct merge *m = argument;
	struct worker w;
	worker_open(&w, m->dir);
	uint8_t *written = calloc(m->header.base_blocks, 1);
	uint8_t *data = allocate_blocks(1);
	struct transfer list[batch_blocks];
	if (!written)
		die("memory");
	for (size_t first = 0; first < m->header.ordered;) {
		pthread_mutex_lock(&m->lock);
		while (m->full)
			pthread_cond_wait(&m->changed, &m->lock);
		pthread_mutex_unlock(&m->lock);

		size_t end = batch_end(m, first, written);
		for (size_t i = first; i < end; i++)
			list[i - first] = (struct transfer){m->buffer + (i - first) * block_size, m->operations[i].source};
		worker_read(&w, list, end - first);
		for (size_t i = first; i < end; i++) {
			const struct operation *o = &m->operations[i];
			if (o->type == operation_xor) {
				read_data(m, o, data);
				xor_block(m->buffer + (i - first) * block_size, data);
			}
		}

		pthread_mutex_lock(&m->lock);
		m->first = first;
		m->count = end - first;
		m->full = true;
		pthread_cond_broadcast(&m->changed);
		pthread_mutex_unlock(&m->lock);
		first = end;
	}
	return NULL;
}

// commit notes how many operations are done, so that a merge can go on after a crash.
NOINLINE void commit(struct merge *m, size_t merged)
{
	m->header.merged = merged;
	write_fully(m->image, &m->header, sizeof m->header, 0);
	if (fdatasync(m->image))
		die("fdatasync");
}

NOINLINE void merge_ordered(struct merge *m, struct worker *w)
{
	struct transfer list[batch_blocks];
	for (size_t done = 0; done < m->header.ordered;) {
		pthread_mutex_lock(&m->lock);
		while (!m->full)
			pthread_cond_wait(&m->changed, &m->lock);
		pthread_mutex_unlock(&m->lock);

		for (size_t i = 0; i < m->count; i++)
			list[i] = (struct transfer){m->buffer + i * block_size, m->operations[m->first + i].block};
		worker_write(w, list, m->count);
		worker_sync(w);
		done = m->first + m->count;
		commit(m, done);

		pthread_mutex_lock(&m->lock);
		m->full = false;
		pthread_cond_broadcast(&m->changed);
		pthread_mutex_unlock(&m->lock);
	}
}

NOINLINE void merge_replace_zero(struct merge *m, struct worker *w)
{
	uint8_t *buffer = allocate_blocks(replace_blocks);
	struct transfer list[replace_blocks];
	size_t n = 0;
	for (size_t i = m->header.ordered; i < m->header.operations; i++) {
		const struct operation *o = &m->operations[i];
		uint8_t *to = buffer + n * block_size;
		if (o->type == operation_zero)
			memset(to, 0, block_size);
		else
			read_data(m, o, to);
		list[n++] = (struct transfer){to, o->block};
		if (n == replace_blocks || i + 1 == m->header.operations) {
			worker_write(w, list, n);
			worker_sync(w);
			commit(m, i + 1);
			n = 0;
		}
	}
	free(buffer);
}

NOINLINE void *merge_worker(void *argument)
{
	struct merge *m = argument;
	struct worker w;
	worker_open(&w, m->dir);
	merge_ordered(m, &w);
	merge_replace_zero(m, &w);
	return NULL;
}

// checksum reads back what was merged.
static uint64_t checksum(const char *dir, size_t blocks)
{
	enum { at_a_time = 256 };
	int base = open_in(dir, "base.img", O_RDONLY);
	uint64_t *words = allocate_blocks(at_a_time), sum = 0;
	for (size_t b = 0; b < blocks; b += at_a_time) {
		size_t n = blocks - b < at_a_time ? blocks - b : at_a_time;
		read_fully(base, words, n * block_size, (off_t)b * block_size);
		for (size_t i = 0; i < n * block_size / sizeof *words; i++)
			sum = (sum ^ words[i]) * 0x100000001b3;
	}
	close(base);
	return sum;
}

static void merge(const char *dir)
{
	struct merge m = {.dir = dir, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	m.image = open_in(dir, "cow.img", O_RDWR);
	read_fully(m.image, &m.header, sizeof m.header, 0);
	if (memcmp(m.header.magic, magic, sizeof magic) || m.header.merged != 0) {
		fprintf(stderr, "snapshot-merge: %s/cow.img is no image that waits to be merged\n", dir);
		exit(1);
	}
	m.operations = calloc(m.header.operations, sizeof *m.operations);
	if (!m.operations)
		die("memory");
	read_fully(m.image, m.operations, m.header.operations * sizeof *m.operations, sizeof m.header);
	m.buffer = allocate_blocks(batch_blocks);

	pthread_t threads[2];
	if (pthread_create(&threads[0], NULL, read_ahead, &m) || pthread_create(&threads[1], NULL, merge_worker, &m))
		die("thread");
	pthread_setname_np(threads[0], "read-ahead");
	pthread_setname_np(threads[1], "merge");
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("operations %llu\n", (unsigned long long)m.header.operations);
	fflush(stdout);
	if (getenv("SNAPSHOT_MERGE_CHECK"))
		printf("checksum %016llx\n", (unsigned long long)checksum(dir, m.header.base_blocks));
}

int main(int argc, char **argv)
{
	if (argc >= 3 && argc <= 4 && strcmp(argv[1], "prepare") == 0) {
		long n = argc == 4 ? strtol(argv[3], NULL, 10) : default_operations;
		if (n < 100 || n > 1000000) {
			fprintf(stderr, "snapshot-merge: 100 to 1000000 operations\n");
			return 2;
		}
		prepare(argv[2], n);
	} else if (argc == 3 && strcmp(argv[1], "merge") == 0) {
		merge(argv[2]);
	} else {
		fprintf(stderr, "usage: snapshot-merge prepare DIR [OPERATIONS]\n       snapshot-merge merge DIR\n");
		return 2;
	}
	return 0;
}
