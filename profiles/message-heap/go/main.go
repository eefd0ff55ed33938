// Message-heap is the message queue of ../message_heap.c in Go: producers post messages
// with a delay, one consumer takes them in order of time and dispatches them. Pending
// messages wait in a binary min-heap, ordered by when, then by sequence.
//
// One source, two builds that differ in the body of compare alone: compare_branchy.go,
// or with -tags branchless compare_branchless.go. Both print the same messages and
// checksum. The work is a function of the one argument.
//
//	usage: message-heap [MESSAGES]
package main

import (
	"math/bits"
	"os"
	"strconv"
)

const (
	defaultMessages = 10_000_000
	leastDepth      = 64
	depthDoublings  = 6
	heapCapacity    = leastDepth << depthDoublings // 4096
	payloadWords    = 8
)

type kind uint8

const (
	kindInput kind = iota
	kindFrame
	kindTimer
	kindLog
)

// A payload is what a message brings to its handler.
type payload struct {
	words    [payloadWords]uint64
	kind     kind
	nextFree *payload
}

type message struct {
	when     int64 // virtual time at which it is due, microseconds
	sequence int64 // order of posting, breaks ties of when
	payload  *payload
}

// ---- heap -----------------------------------------------------------------

type heap struct {
	size  int
	slots [heapCapacity]message
}

// firstChild is the slot of the earlier child of a node that has one. The answer is
// added, not branched on: it is -1 if the right one comes first.
func (h *heap) firstChild(node int) int {
	left := 2*node + 1
	if left+1 == h.size {
		return left
	}
	return left - compare(&h.slots[left+1], &h.slots[left])>>63
}

//go:noinline
func (h *heap) siftUp(node int) {
	moving := h.slots[node]
	for node > 0 {
		parent := (node - 1) / 2
		if compare(&moving, &h.slots[parent]) > 0 {
			break
		}
		h.slots[node] = h.slots[parent]
		node = parent
	}
	h.slots[node] = moving
}

//go:noinline
func (h *heap) siftDown(node int) {
	moving := h.slots[node]
	for 2*node+1 < h.size {
		child := h.firstChild(node)
		if compare(&moving, &h.slots[child]) < 0 {
			break
		}
		h.slots[node] = h.slots[child]
		node = child
	}
	h.slots[node] = moving
}

// ---- queue ----------------------------------------------------------------

type queue struct {
	heap         heap
	freePayloads *payload
	now          int64 // virtual clock: when of the last message taken
	nextSequence int64
}

//go:noinline
func (q *queue) post(k kind, delay int64, value uint64) {
	p := q.freePayloads
	q.freePayloads = p.nextFree
	p.kind = k
	for i := range p.words {
		p.words[i] = value + uint64(i)
	}
	h := &q.heap
	h.slots[h.size] = message{q.now + delay, q.nextSequence, p}
	q.nextSequence++
	h.size++
	h.siftUp(h.size - 1)
}

//go:noinline
func (q *queue) next() message {
	h := &q.heap
	first := h.slots[0]
	h.size--
	h.slots[0] = h.slots[h.size]
	h.siftDown(0)
	q.now = first.when
	return first
}

func (q *queue) recycle(p *payload) {
	p.nextFree = q.freePayloads
	q.freePayloads = p
}

// ---- looper ---------------------------------------------------------------

type looper struct {
	queue                        queue
	messages, posted, dispatched uint64
	random                       uint64
	checksum                     uint64
	frameAverage                 int64
}

// nextRandom is splitmix64.
func (l *looper) nextRandom() uint64 {
	l.random += 0x9e3779b97f4a7c15
	z := l.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// produce posts one message of a producer chosen at random. Each has delays of its own.
//
//go:noinline
func (l *looper) produce() {
	r := l.nextRandom()
	k := kind(r & 3)
	var delay uint64
	switch k {
	case kindInput: // half at once, half within 4 ms
		if r&4 == 0 {
			delay = r >> 32 & 4095
		}
	case kindFrame: // one of the next 16 display refreshes, with some jitter
		delay = (r>>32&15)*16667 + r>>36&255
	case kindTimer: // a geometric number of half milliseconds, then uniform
		delay = uint64(bits.TrailingZeros64(r>>32|1<<16))*500 + r>>48&16383
	default: // any time within 131 ms
		delay = r >> 32 & 131071
	}
	l.queue.post(k, int64(delay), r)
	l.posted++
}

func hashWord(hash, word uint64) uint64 {
	hash = (hash ^ word) * 0x9fb21c651e98df25
	return hash ^ hash>>35
}

//go:noinline
func (l *looper) dispatchInput(m *message) {
	hash := uint64(m.sequence)
	for range 2 {
		for _, w := range m.payload.words {
			hash = hashWord(hash, w)
		}
	}
	l.checksum = hashWord(l.checksum, hash)
}

//go:noinline
func (l *looper) dispatchFrame(m *message) {
	average := l.frameAverage
	for _, w := range m.payload.words {
		average += (int64(w&0xffff) + m.when%16667 - average) / 8
	}
	l.frameAverage = average
	l.checksum = hashWord(l.checksum, uint64(average))
}

//go:noinline
func (l *looper) dispatchTimer(m *message) {
	hash := hashWord(uint64(m.when), m.payload.words[0])
	for i := range uint64(payloadWords) {
		hash = hashWord(hash, i)
	}
	l.checksum = hashWord(l.checksum, hash)
	if hash%4 == 0 && l.posted < l.messages {
		l.queue.post(kindTimer, int64(hash>>32&65535), hash)
		l.posted++
	}
}

//go:noinline
func (l *looper) dispatchLog(m *message) {
	var line [48]byte
	text := strconv.AppendInt(line[:0], m.when, 10)
	text = append(text, ' ')
	text = strconv.AppendInt(text, m.sequence, 10)
	var hash uint64
	for _, c := range text {
		hash = hash*31 + uint64(c)
	}
	l.checksum = hashWord(l.checksum, hash)
}

//go:noinline
func (l *looper) dispatch(m *message) {
	switch m.payload.kind {
	case kindInput:
		l.dispatchInput(m)
	case kindFrame:
		l.dispatchFrame(m)
	case kindTimer:
		l.dispatchTimer(m)
	default:
		l.dispatchLog(m)
	}
	l.dispatched++
}

// run posts and dispatches all messages. A round fills the queue to a depth of 64 to
// 4096 messages in one burst, then drains it to a quarter of that.
//
//go:noinline
func (l *looper) run() {
	for l.dispatched < l.messages {
		high := leastDepth << (l.nextRandom() % (depthDoublings + 1))
		for l.queue.heap.size < high && l.posted < l.messages {
			l.produce()
		}
		low := 0
		if l.posted < l.messages {
			low = high / 4
		}
		for l.queue.heap.size > low {
			m := l.queue.next()
			l.dispatch(&m)
			l.queue.recycle(m.payload)
		}
	}
}

var (
	theLooper = looper{messages: defaultMessages, random: 42}
	// One more than there are slots: a handler may post while its own message holds one.
	payloads [heapCapacity + 1]payload
)

func main() {
	l := &theLooper
	if len(os.Args) > 1 {
		n, err := strconv.ParseUint(os.Args[1], 10, 63)
		if err != nil || len(os.Args) > 2 {
			os.Stderr.WriteString("usage: message-heap [MESSAGES]\n")
			os.Exit(2)
		}
		l.messages = n
	}
	for i := range payloads {
		l.queue.recycle(&payloads[i])
	}
	l.run()
	os.Stdout.WriteString("messages " + strconv.FormatUint(l.dispatched, 10) +
		"\nchecksum " + strconv.FormatUint(l.checksum, 16) + "\n")
}
