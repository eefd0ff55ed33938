// The message queue of ../message_heap.c when a predictor has an easy task: few messages
// are pending, and their deadlines are nearly in order. Each is due a little later than
// the one posted before it, but for one in 16 that is moved up. The heap, the comparator
// and the handlers are those of the other source, and so are the two builds, with and
// without -DMESSAGE_COMPARE_BRANCHLESS.
//
//   usage: nearly-sorted [MESSAGES]

#define main random_order_main // and what only it calls: not called here
#include "../message_heap.c"
#undef main

enum {
	few = 8, // messages are pending at most
	bursts_per_wake = 64,
	messages_by_default = 20000000,
};

// post_in_order posts a message that is due after the last one.
NOINLINE void post_in_order(struct looper *looper)
{
	static int64_t due;
	uint64_t bits = random_next(&looper->random_state);
	due += 16;
	if (due < looper->queue.now)
		due = looper->queue.now;
	int64_t early = bits >> 60 == 0 ? (int64_t)(bits >> 32 & 255) : 0;
	int64_t delay = due - looper->queue.now - early;
	queue_post(&looper->queue, (enum message_kind)(bits & 3), delay > 0 ? delay : 0, bits);
	looper->posted++;
}

// burst posts messages until so many are pending and dispatches all but a quarter, or
// all when there are no more to post.
NOINLINE void burst(struct looper *looper)
{
	struct queue *queue = &looper->queue;
	while (queue->heap.size < few && looper->posted < looper->messages)
		post_in_order(looper);
	size_t left = looper->posted < looper->messages ? few / 4 : 0;
	while (queue->heap.size > left) {
		struct message message = queue_next(queue);
		dispatch_message(looper, &message);
		queue_recycle(queue, message.payload);
	}
}

// run posts and dispatches all messages. The looper sleeps seldom: bursts follow each
// other, and there is one wake-up to so many.
NOINLINE void run(struct looper *looper)
{
	while (looper->dispatched < looper->messages) {
		queue_wake(&looper->queue);
		queue_wait(&looper->queue);
		for (int i = 0; i < bursts_per_wake; i++)
			burst(looper);
	}
}

int main(int argc, char **argv)
{
	struct looper *looper = &main_looper;
	looper->messages = argc > 1 ? strtoull(argv[1], NULL, 10) : messages_by_default;
	if (argc > 2 || looper->messages == 0) {
		fprintf(stderr, "usage: nearly-sorted [MESSAGES]\n");
		return 2;
	}
	looper->random_state = 42;
	looper->queue.wake_fd = eventfd(0, 0);
	looper->log_fd = memfd_create("message-log", 0);
	if (looper->queue.wake_fd < 0 || looper->log_fd < 0)
		die("eventfd or memfd_create");
	for (size_t i = 0; i <= heap_capacity; i++)
		queue_recycle(&looper->queue, &payload_pool[i]);

	// Stacks end here, see the main of the other source.
	void *volatile *frame = __builtin_frame_address(0);
	void *caller_register = *frame;
	*frame = NULL;
	run(looper);
	*frame = caller_register;

	printf("messages %llu\nchecksum %016llx\n", (unsigned long long)looper->dispatched,
	       (unsigned long long)looper->checksum);
	return 0;
}
