// A main thread that navigates between screens, a collector that moves objects, and a
// thread that reads a scanner at the end of a USB, all in a small runtime.
//
// Native code may hold an array by its address: GetPrimitiveArrayCritical. The collector
// cannot move objects then. It waits until none is held, and as soon as it waits, others
// who want to hold one wait for it: else it might never have its turn.
//
// One source, two builds of bulk_request, which transfers to an array of the runtime:
//
//   before   holds the array while it waits for the device, up to the timeout
//   after    -DCOPY_BEFORE_RETURN: transfers to memory of its own, and copies that to
//            the array at the end
//
// What the threads compute is a function of the seed. Both builds print the same
// `navigations`, `collections`, `scans` and `checksum` on stdout.
//
//   usage: usb-freeze NAVIGATIONS [DIR]
//
// The latency of each navigation in milliseconds, one a line, goes to DIR/01.txt, or the
// next number that is not there.

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

// KEEP_FRAME makes a leaf function set up its frame, which gcc 12 leaves out in spite of
// -fno-omit-frame-pointer.
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

// Times are those of the story by 50, where it tells them: the timeout of a transfer is
// a second there.
enum {
	transfer_timeout_ms = 20,
	// Who uses the program is slower than the longest freeze, so that all runs last
	// about as long.
	pace_ms = 32,
	pace_jitter_us = 2000,
	navigations_per_scan = 5,
	scan_bytes = 64, // of a scan
	views = 48,      // of a screen
	view_rounds = 80000,
	style_rounds = 60,
	attributes = 256, // of a style
	arrays = 64,
	collector_rounds = 100000, // before the flip, and after it
	max_navigations = 10000,
};

enum {
	bytes_per_view = 48 << 10,
	collect_after = 8 << 20, // bytes allocated since the last collection
};

static void die(const char *what, int error)
{
	fprintf(stderr, "usb-freeze: %s: %s\n", what, strerror(error));
	exit(1);
}

// System calls are made by syscall(2), which leaves the frame pointer alone: the stacks
// in which threads wait then have all callers but the nearest, which is one of these.

static NOINLINE void futex_wait(atomic_uint *word, unsigned value)
{
	if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0) < 0 && errno != EAGAIN && errno != EINTR)
		die("futex", errno);
}

static NOINLINE void futex_wake(atomic_uint *word, int waiters)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, waiters, NULL, NULL, 0);
}

static NOINLINE void sleep_until(int64_t ns)
{
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) < 0)
		if (errno != EINTR)
			die("sleep", errno);
}

// receive returns how many bytes arrived, 0 if the other end is closed, and -1 if the
// timeout of the socket is over.
static NOINLINE ssize_t receive(int fd, void *to, size_t length)
{
	ssize_t n = syscall(SYS_recvfrom, fd, to, length, 0, NULL, NULL);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		die("receive", errno);
	return n;
}

// name_thread is called by the thread itself: who starts it could be too late, and what
// it does until then be counted for another.
static void name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

static inline uint64_t hash(uint64_t h, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		h ^= h >> 29;
		h *= 0xbf58476d1ce4e5b9;
	}
	return h;
}

// ---- locks ----------------------------------------------------------------

// A mutex is 0 if it is free, 1 if it is taken and 2 if others may wait for it.
typedef atomic_uint mutex;

static void mutex_lock(mutex *m)
{
	unsigned free = 0;
	if (atomic_compare_exchange_strong(m, &free, 1))
		return;
	while (atomic_exchange(m, 2) != 0)
		futex_wait(m, 2);
}

static void mutex_unlock(mutex *m)
{
	if (atomic_exchange(m, 0) == 2)
		futex_wake(m, 1);
}

// A condition is waited for and signalled with its mutex taken.
struct condition {
	atomic_uint signals;
	unsigned waiters;
};

static void condition_wait(struct condition *c, mutex *m)
{
	unsigned seen = atomic_load(&c->signals);
	c->waiters++;
	mutex_unlock(m);
	futex_wait(&c->signals, seen);
	mutex_lock(m);
	c->waiters--;
}

static void condition_broadcast(struct condition *c)
{
	atomic_fetch_add(&c->signals, 1);
	if (c->waiters > 0)
		futex_wake(&c->signals, INT_MAX);
}

// ---- runtime --------------------------------------------------------------

// An array is a reference: the collector moves what it refers to.
struct array {
	size_t length;
	uint64_t *data;
};

struct heap {
	mutex lock;
	struct condition flip_changed;
	bool flip_running;   // or wanted
	unsigned held;       // threads that hold arrays by their address
	uint64_t *spaces[2]; // of which one is in use
	unsigned space;
	struct array arrays[arrays];

	atomic_size_t allocated; // bytes since the last collection
	mutex task_lock;
	struct condition task_changed;
	bool task, stop;
	unsigned collections;
	uint64_t live;
};

// Arrays that a thread holds: only the first one has to ask.
static _Thread_local unsigned held_by_thread;

NOINLINE void IncrementDisableThreadFlip(struct heap *h)
{
	if (held_by_thread++ > 0)
		return;
	mutex_lock(&h->lock);
	while (h->flip_running)
		condition_wait(&h->flip_changed, &h->lock);
	h->held++;
	mutex_unlock(&h->lock);
}

NOINLINE void DecrementDisableThreadFlip(struct heap *h)
{
	if (--held_by_thread > 0)
		return;
	mutex_lock(&h->lock);
	if (--h->held == 0)
		condition_broadcast(&h->flip_changed);
	mutex_unlock(&h->lock);
}

NOINLINE uint64_t *GetPrimitiveArrayCritical(struct heap *h, struct array *a)
{
	IncrementDisableThreadFlip(h);
	return a->data;
}

NOINLINE void ReleasePrimitiveArrayCritical(struct heap *h)
{
	DecrementDisableThreadFlip(h);
}

#ifdef COPY_BEFORE_RETURN
NOINLINE void SetByteArrayRegion(struct heap *h, struct array *a, const void *from, size_t bytes)
{
	memcpy(GetPrimitiveArrayCritical(h, a), from, bytes);
	ReleasePrimitiveArrayCritical(h);
}
#endif

NOINLINE void ThreadFlipBegin(struct heap *h)
{
	mutex_lock(&h->lock);
	h->flip_running = true; // from now on, nobody else may hold an array
	while (h->held > 0)
		condition_wait(&h->flip_changed, &h->lock);
	mutex_unlock(&h->lock);
}

NOINLINE void ThreadFlipEnd(struct heap *h)
{
	mutex_lock(&h->lock);
	h->flip_running = false;
	condition_broadcast(&h->flip_changed);
	mutex_unlock(&h->lock);
}

// FlipThreads moves all arrays to the other space.
NOINLINE void FlipThreads(struct heap *h)
{
	ThreadFlipBegin(h);
	uint64_t *to = h->spaces[h->space ^= 1];
	for (size_t i = 0; i < arrays; i++) {
		struct array *a = &h->arrays[i];
		memcpy(to, a->data, a->length * sizeof *to);
		memset(a->data, 0xff, a->length * sizeof *to); // who still reads there is found out
		a->data = to;
		to += a->length;
	}
	ThreadFlipEnd(h);
}

NOINLINE void MarkingPhase(struct heap *h)
{
	KEEP_FRAME();
	h->live = hash(h->live, collector_rounds);
}

NOINLINE void CopyingPhase(struct heap *h)
{
	KEEP_FRAME();
	h->live = hash(h->live, collector_rounds);
}

NOINLINE void ConcurrentCopying(struct heap *h)
{
	MarkingPhase(h);
	FlipThreads(h);
	CopyingPhase(h);
	h->collections++;
}

// TaskProcessor_GetTask waits until there is something to do. It returns whether there
// will be more.
NOINLINE bool TaskProcessor_GetTask(struct heap *h)
{
	mutex_lock(&h->task_lock);
	while (!h->task && !h->stop)
		condition_wait(&h->task_changed, &h->task_lock);
	bool task = h->task;
	h->task = false;
	mutex_unlock(&h->task_lock);
	return task;
}

NOINLINE void *HeapTaskDaemon(void *argument)
{
	name_thread("HeapTaskDaemon");
	struct heap *h = argument;
	while (TaskProcessor_GetTask(h))
		ConcurrentCopying(h);
	return NULL;
}

NOINLINE void Allocate(struct heap *h, size_t bytes)
{
	if (atomic_fetch_add(&h->allocated, bytes) + bytes < collect_after)
		return;
	atomic_store(&h->allocated, 0);
	mutex_lock(&h->task_lock);
	h->task = true;
	condition_broadcast(&h->task_changed);
	mutex_unlock(&h->task_lock);
}

static void heap_init(struct heap *h)
{
	for (int i = 0; i < 2; i++)
		if (!(h->spaces[i] = calloc((size_t)arrays * attributes, sizeof **h->spaces)))
			die("memory", ENOMEM);
	for (size_t i = 0; i < arrays; i++) {
		h->arrays[i] = (struct array){attributes, h->spaces[0] + i * attributes};
		for (size_t j = 0; j < attributes; j++)
			h->arrays[i].data[j] = i * attributes + j;
	}
}

static void heap_stop(struct heap *h)
{
	mutex_lock(&h->task_lock);
	h->stop = true;
	condition_broadcast(&h->task_changed);
	mutex_unlock(&h->task_lock);
}

// ---- scanner --------------------------------------------------------------

struct scanner {
	struct heap *heap;
	struct array *buffer;
	int host, device; // ends of the bus
	unsigned to_send;
	unsigned scans;
	uint64_t sum;
};

// usb_device_bulk_transfer waits for data of the device, as an ioctl of usbfs does.
NOINLINE ssize_t usb_device_bulk_transfer(struct scanner *s, void *to, size_t length)
{
	return receive(s->host, to, length);
}

NOINLINE ssize_t android_hardware_UsbDeviceConnection_bulk_request(struct scanner *s, struct array *a)
{
#ifdef COPY_BEFORE_RETURN
	uint8_t buffer[scan_bytes];
	ssize_t n = usb_device_bulk_transfer(s, buffer, sizeof buffer);
	if (n > 0)
		SetByteArrayRegion(s->heap, a, buffer, n);
#else
	uint64_t *buffer = GetPrimitiveArrayCritical(s->heap, a);
	ssize_t n = usb_device_bulk_transfer(s, buffer, scan_bytes);
	ReleasePrimitiveArrayCritical(s->heap);
#endif
	return n;
}

NOINLINE void scanned(struct scanner *s)
{
	const uint64_t *data = GetPrimitiveArrayCritical(s->heap, s->buffer);
	for (size_t i = 0; i < scan_bytes / sizeof *data; i++)
		s->sum = hash(s->sum ^ data[i], 10);
	s->scans++;
	ReleasePrimitiveArrayCritical(s->heap);
}

NOINLINE void *UsbBarcodeScanner_run(void *argument)
{
	name_thread("usb_barcode");
	struct scanner *s = argument;
	for (ssize_t n; (n = android_hardware_UsbDeviceConnection_bulk_request(s, s->buffer)) != 0;)
		if (n > 0)
			scanned(s);
	return NULL;
}

// scanner_device is what is at the other end: it scans something now and then.
NOINLINE void *scanner_device(void *argument)
{
	name_thread("usb_device");
	struct scanner *s = argument;
	uint64_t state = 0xd1342543de82ef95, data[scan_bytes / sizeof(uint64_t)];
	int64_t at = now();
	for (unsigned i = 0; i < s->to_send; i++) {
		at += (next_random(&state) % (2 * navigations_per_scan)) * pace_ms * INT64_C(1000000) + next_random(&state) % 10000000;
		sleep_until(at);
		for (size_t j = 0; j < sizeof data / sizeof *data; j++)
			data[j] = next_random(&state);
		if (send(s->device, data, sizeof data, 0) != sizeof data)
			die("send", errno);
	}
	return NULL;
}

static void scanner_connect(struct scanner *s)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		die("socket", errno);
	s->host = ends[0];
	s->device = ends[1];
	struct timeval timeout = {.tv_usec = transfer_timeout_ms * 1000};
	if (setsockopt(s->host, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout))
		die("timeout", errno);
}

// ---- screens --------------------------------------------------------------

struct app {
	struct heap heap;
	struct scanner scanner;
	uint64_t random_state;
	uint64_t sum;
};

NOINLINE void NativeApplyStyle(struct app *app, unsigned style)
{
	struct heap *h = &app->heap;
	const uint64_t *values = GetPrimitiveArrayCritical(h, &h->arrays[1 + style % (arrays - 1)]);
	const uint64_t *indices = GetPrimitiveArrayCritical(h, &h->arrays[1 + style / arrays % (arrays - 1)]);
	for (size_t i = 0; i < 16; i++)
		app->sum = hash(app->sum + values[indices[i] % attributes], style_rounds);
	ReleasePrimitiveArrayCritical(h);
	ReleasePrimitiveArrayCritical(h);
}

NOINLINE void obtainStyledAttributes(struct app *app)
{
	NativeApplyStyle(app, next_random(&app->random_state) >> 40);
}

NOINLINE void View_init(struct app *app)
{
	Allocate(&app->heap, bytes_per_view / 2 + (next_random(&app->random_state) >> 32) % bytes_per_view);
	obtainStyledAttributes(app);
	app->sum = hash(app->sum, view_rounds);
}

NOINLINE void navigate(struct app *app)
{
	for (unsigned i = 0; i < views; i++)
		View_init(app);
}

// MessageQueue_nativePollOnce waits for the next tap.
NOINLINE void MessageQueue_nativePollOnce(int64_t when)
{
	sleep_until(when);
}

NOINLINE void loop(struct app *app, unsigned navigations, int64_t *latencies)
{
	uint64_t state = 0x9e3779b97f4a7c15; // of when taps come
	int64_t tap = now();
	for (unsigned i = 0; i < navigations; i++) {
		tap += pace_ms * INT64_C(1000000);
		int64_t when = tap + next_random(&state) % pace_jitter_us * 1000, late = now();
		if (late > when) // a tap waits for the screen
			tap += late - when, when = late;
		MessageQueue_nativePollOnce(when);
		navigate(app);
		latencies[i] = now() - when;
	}
}

// write_latencies writes to the first number that is not there.
static void write_latencies(const char *dir, const int64_t *latencies, unsigned n)
{
	char name[PATH_MAX];
	int fd = -1;
	for (int number = 1; fd < 0 && number < 1000; number++) {
		snprintf(name, sizeof name, "%s/%02d.txt", dir, number);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
		if (fd < 0 && errno != EEXIST)
			die(name, errno);
	}
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		die(dir, errno);
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "%.3f\n", latencies[i] / 1e6);
	if (fclose(out))
		die(name, errno);
}

static pthread_t start(void *(*run)(void *), void *argument)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, run, argument);
	if (error)
		die("thread", error);
	return thread;
}

int main(int argc, char **argv)
{
	static struct app app = {.random_state = 0x2545f4914f6cdd1d};
	static int64_t latencies[max_navigations];
	long navigations = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	if (argc > 3 || navigations < 1 || navigations > max_navigations) {
		fprintf(stderr, "usage: usb-freeze NAVIGATIONS [DIR]\n");
		return 2;
	}
	name_thread("main");
	struct scanner *s = &app.scanner;
	heap_init(&app.heap);
	s->heap = &app.heap;
	s->buffer = &app.heap.arrays[0];
	s->to_send = (navigations + navigations_per_scan - 1) / navigations_per_scan;
	scanner_connect(s);
	pthread_t collector = start(HeapTaskDaemon, &app.heap);
	pthread_t reader = start(UsbBarcodeScanner_run, s);
	pthread_t device = start(scanner_device, s);
	// The C library that called main keeps no frame pointers: what main saved as the
	// frame of its caller is none. Stacks end here.
	void *volatile *frame = __builtin_frame_address(0);
	void *caller_register = *frame;
	*frame = NULL;
	loop(&app, navigations, latencies);
	*frame = caller_register;
	pthread_join(device, NULL);
	close(s->device);
	pthread_join(reader, NULL);
	heap_stop(&app.heap);
	pthread_join(collector, NULL);
	if (argc > 2)
		write_latencies(argv[2], latencies, navigations);
	printf("navigations %ld\ncollections %u\nscans %u\nchecksum %016llx\n", navigations, app.heap.collections, s->scans,
	       (unsigned long long)(app.sum ^ s->sum));
	return 0;
}
