package trace

import (
	"cmp"
	"container/heap"
	"slices"
)

// A trackEvent is a record of a track.
type trackEvent struct {
	ts       int64
	number   uint64 // a duration or a cookie
	name     NameID
	category NameID
	kind     byte
}

func (e *trackEvent) read(r *tapeReader) bool {
	kind, ts, ok := r.next()
	if !ok {
		return false
	}
	*e = trackEvent{kind: kind, ts: ts, name: NameID(r.number())}
	switch kind {
	case asyncBeginRecord, asyncNestRecord, asyncEndRecord:
		e.number = r.number()
	default:
		e.category = NameID(r.number())
		if kind == completeRecord {
			e.number = r.number()
		}
	}
	return true
}

func (e *trackEvent) write(t *tape) {
	switch e.kind {
	case asyncBeginRecord, asyncNestRecord, asyncEndRecord:
		t.add(e.kind, e.ts, uint64(e.name), e.number)
	case completeRecord:
		t.add(e.kind, e.ts, uint64(e.name), uint64(e.category), e.number)
	default:
		t.add(e.kind, e.ts, uint64(e.name), uint64(e.category))
	}
}

// inOrder calls visit with the events of a track in the order of time, those of equal times in the order of its tapes
// and in that in which they came. visit must not keep the event.
//
//  1. One tape that is in order is read as it is.
//  2. Otherwise the chunks of all tapes are merged. None is read before the time of its oldest event:
//     as records they take a quarter of the memory that they take as events.
//  3. A chunk that is not in order itself is written anew, in order, when it is read.
func (t *Track) inOrder(visit func(*trackEvent)) {
	if len(t.tapes) == 1 && !t.tapes[0].unsorted {
		var e trackEvent
		for r := t.tapes[0].read(); e.read(&r); {
			visit(&e)
		}
		return
	}
	var h chunkHeap
	for i := range t.tapes {
		for k, chunk := range t.tapes[i].chunks {
			h = append(h, &chunkCursor{order: len(h), unread: chunk, event: trackEvent{ts: t.tapes[i].oldest[k]}})
		}
	}
	heap.Init(&h)
	var buffer []trackEvent
	for len(h) > 0 {
		c := h[0]
		if c.unread != nil {
			buffer = c.open(buffer)
		} else {
			visit(&c.event)
		}
		if c.event.read(&c.reader) {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
}

// A chunkCursor gives the events of a chunk in order.
type chunkCursor struct {
	order  int    // of its chunk among those of the track
	unread []byte // the chunk, nil once it is open
	reader tapeReader
	event  trackEvent // the next one; of a chunk that is not open, only its time
}

// open reads the chunk, and writes it anew if it is not in order. It returns the buffer for the next call.
func (c *chunkCursor) open(buffer []trackEvent) []trackEvent {
	c.reader = tapeReader{rest: c.unread}
	c.unread = nil
	events := buffer[:0]
	for r := c.reader; c.event.read(&r); {
		events = append(events, c.event)
	}
	byTime := func(a, b trackEvent) int { return cmp.Compare(a.ts, b.ts) }
	if !slices.IsSortedFunc(events, byTime) {
		slices.SortStableFunc(events, byTime)
		var t tape
		for i := range events {
			events[i].write(&t)
		}
		c.reader = t.take()
	}
	return events
}

// chunkHeap has the chunk with the oldest next event first; of equal ones that which came first.
type chunkHeap []*chunkCursor

func (h chunkHeap) Len() int      { return len(h) }
func (h chunkHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *chunkHeap) Push(x any)   { *h = append(*h, x.(*chunkCursor)) }
func (h chunkHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	return a.event.ts < b.event.ts || a.event.ts == b.event.ts && a.order < b.order
}

func (h *chunkHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return c
}
