package perfsession

import (
	"cmp"
	"slices"

	"profdiff/internal/perffile"
)

// An orderer brings records into the order of time. perf writes the buffers of
// all CPUs one after the other and marks the end of such a round with
// FINISHED_ROUND: what comes later is not older than the newest record of the
// round before. So a round's end lets go all records up to that time, as
// tools/perf/util/ordered-events.c does.
//
// Records wait in an arena, where they are sorted. What a large buffer of one CPU holds is in order
// already: its first records wait there too, the others are read again from the file when it is their turn, so that
// memory does not grow with the buffers.
type orderer struct {
	file    *perffile.File
	emit    func(*perffile.Record) error
	pending []waiting
	order   []orderKey // of pending, scratch
	merged  []orderKey // scratch
	arena   arena
	newest  uint64 // of all records so far
	safe    uint64 // no later record is older than this
	emitted uint64 // time of the newest record let go
	// late counts records that came after newer ones were let go.
	late int64

	queues []*queue
	heap   queueHeap // of those that are flushed
	idle   []*queue  // used again
	queued int       // bytes of their records
	// The records that were added last, one after the other in order: how many bytes they are, and the time of
	// the latest. growing is set if they go on in the last one of queues.
	run     int
	runTime uint64
	growing bool
}

// A queue is a part of the file whose records wait for their turn, in order.
type queue struct {
	off, end int64
	stretch  *perffile.Stretch
	opened   bool
	next     *perffile.Record // nil before it is opened, and at the end
	oldest   uint64           // its time
}

// longRun is how many bytes of records in order wait in the arena before the next ones are read again.
const longRun = 64 << 10

// waiting is a record that waits for its turn, and where its body is.
type waiting struct {
	perffile.Kept
	chunk      int32
	start, end int32
}

type orderKey struct {
	time  uint64
	index int32 // in pending
}

// maxPending bounds the bytes of records that wait for a round to end. Recordings
// that lack the marks are ordered within this window only.
const maxPending = 128 << 20

func (o *orderer) add(r *perffile.Record) error {
	if r.Type == perffile.RecordFinishedRound {
		if err := o.flush(o.safe); err != nil {
			return err
		}
		o.safe = o.newest
		return nil
	}
	if r.Time == 0 || r.Time == 1<<64-1 {
		// Made up by the recorder about the state at the start.
		return o.emit(r)
	}
	if r.Time < o.emitted {
		o.late++
		return o.emit(r)
	}
	if o.arena.used+o.queued > maxPending {
		oldest := o.newest
		for i := range o.pending {
			oldest = min(oldest, o.pending[i].Time)
		}
		for _, q := range o.queues {
			oldest = min(oldest, q.oldest)
		}
		if err := o.flush(oldest + (o.newest-oldest)/2); err != nil {
			return err
		}
	}
	o.newest = max(o.newest, r.Time)
	if !o.queue(r) {
		w := waiting{Kept: r.Keep()}
		w.chunk, w.start, w.end = o.arena.put(r.Body)
		o.pending = append(o.pending, w)
	}
	return nil
}

// queue has a record wait in the file, if it goes on what is long and in order. What stands between records ends a
// queue, and the next one is as long a run away: each of them takes memory to be read again.
func (o *orderer) queue(r *perffile.Record) bool {
	if r.Time < o.runTime || o.growing && o.queues[len(o.queues)-1].end != r.Offset {
		o.run, o.growing = 0, false
	}
	o.run, o.runTime = o.run+len(r.Body), r.Time
	if o.run <= longRun || r.End == 0 {
		return false
	}
	if o.growing {
		o.queues[len(o.queues)-1].end = r.End
	} else {
		o.growing = true
		q := new(queue)
		if n := len(o.idle); n > 0 {
			q, o.idle = o.idle[n-1], o.idle[:n-1]
		}
		*q = queue{off: r.Offset, end: r.End, oldest: r.Time, stretch: q.stretch}
		o.queues = append(o.queues, q)
	}
	o.queued += len(r.Body)
	return true
}

// flush lets go all pending records up to and at the given time, oldest first. Records of
// equal times come as they stand in the file.
func (o *orderer) flush(upTo uint64) error {
	o.sort()
	o.run, o.growing = 0, false
	if err := o.open(upTo); err != nil {
		return err
	}
	var r perffile.Record
	n := 0
	for {
		q := o.heap.top()
		if n < len(o.order) && o.order[n].time <= upTo {
			w := &o.pending[o.order[n].index]
			if q == nil || w.Time < q.oldest || w.Time == q.oldest && w.Offset < q.next.Offset {
				o.emitted = w.Time
				r.Restore(o.file, w.Kept, o.arena.get(w))
				if err := o.emit(&r); err != nil {
					return err
				}
				o.arena.drop(w)
				w.chunk = gone
				n++
				continue
			}
		}
		if q == nil {
			break
		}
		o.emitted = q.oldest
		o.queued -= len(q.next.Body)
		if err := o.emit(q.next); err != nil {
			return err
		}
		if err := q.advance(); err != nil {
			return err
		}
		o.heap.sink(upTo)
	}
	o.pending = slices.DeleteFunc(o.pending, func(w waiting) bool { return w.chunk == gone })
	o.queues = slices.DeleteFunc(o.queues, func(q *queue) bool {
		ended := q.opened && q.next == nil
		if ended {
			o.idle = append(o.idle, q)
		}
		return ended
	})
	return nil
}

// open fills heap by the queues with records up to a time.
func (o *orderer) open(upTo uint64) error {
	o.heap = o.heap[:0]
	for _, q := range o.queues {
		if q.oldest > upTo {
			continue
		}
		if !q.opened {
			q.opened, q.stretch = true, o.file.Stretch(q.off, q.end, q.stretch)
			if err := q.advance(); err != nil {
				return err
			}
		}
		o.heap = append(o.heap, q)
	}
	slices.SortFunc(o.heap, func(a, b *queue) int {
		return cmp.Or(cmp.Compare(a.oldest, b.oldest), cmp.Compare(a.off, b.off))
	})
	return nil
}

// advance goes on to the next record.
func (q *queue) advance() (err error) {
	if q.next, err = q.stretch.Next(); q.next != nil {
		q.oldest = q.next.Time
	}
	return err
}

// A queueHeap has the queue with the oldest record first, of equal ones the one that comes first in the file; each
// element is not before that of half its index.
type queueHeap []*queue

func (h queueHeap) top() *queue {
	if len(h) == 0 {
		return nil
	}
	return h[0]
}

func (h queueHeap) less(i, j int) bool {
	return h[i].oldest < h[j].oldest || h[i].oldest == h[j].oldest && h[i].off < h[j].off
}

// sink brings the first queue to its place after it has gone on. It goes if nothing of it is left up to a time.
func (h *queueHeap) sink(upTo uint64) {
	list := *h
	if q := list[0]; q.next == nil || q.oldest > upTo {
		n := len(list) - 1
		list[0] = list[n]
		list = list[:n]
		*h = list
	}
	for i := 0; ; {
		first := i
		for j := 2*i + 1; j <= 2*i+2 && j < len(list); j++ {
			if list.less(j, first) {
				first = j
			}
		}
		if first == i {
			return
		}
		list[i], list[first] = list[first], list[i]
		i = first
	}
}

// gone marks records that have been let go.
const gone = -1

// sort fills order. Each CPU's records are in order already, so the runs that are
// found are merged two by two.
func (o *orderer) sort() {
	keys := o.order[:0]
	runs := []int{}
	for i := range o.pending {
		t := o.pending[i].Time
		if i == 0 || t < keys[i-1].time {
			runs = append(runs, i)
		}
		keys = append(keys, orderKey{t, int32(i)})
	}
	runs = append(runs, len(keys))
	out := slices.Grow(o.merged[:0], len(keys))[:len(keys)]
	for len(runs) > 2 {
		next := runs[:0:0]
		for i := 0; i+1 < len(runs); i += 2 {
			lo, mid := runs[i], runs[i+1]
			hi := mid
			if i+2 < len(runs) {
				hi = runs[i+2]
			}
			mergeKeys(out[lo:hi], keys[lo:mid], keys[mid:hi])
			next = append(next, lo)
		}
		runs = append(next, len(keys))
		keys, out = out, keys
	}
	o.order, o.merged = keys, out
}

func mergeKeys(out, a, b []orderKey) {
	for len(a) > 0 && len(b) > 0 {
		if b[0].time < a[0].time {
			out[0], b = b[0], b[1:]
		} else {
			out[0], a = a[0], a[1:]
		}
		out = out[1:]
	}
	copy(out, a)
	copy(out, b)
}

// An arena holds the bodies of records in chunks, which are used again when all
// records in them are gone.
type arena struct {
	chunks []chunk
	idle   []int32 // chunks without records
	last   int32   // chunk that is being filled, if there is any
	used   int     // bytes of records
}

type chunk struct {
	buf  []byte
	live int // records
}

const arenaChunk = 256 << 10

// put copies a body.
func (a *arena) put(body []byte) (at, start, end int32) {
	if len(a.chunks) == 0 || cap(a.chunks[a.last].buf)-len(a.chunks[a.last].buf) < len(body) {
		a.next(len(body))
	}
	c := &a.chunks[a.last]
	start = int32(len(c.buf))
	c.buf = append(c.buf, body...)
	c.live++
	a.used += len(body)
	return a.last, start, int32(len(c.buf))
}

// next starts to fill a chunk that has room for n bytes.
func (a *arena) next(n int) {
	if len(a.chunks) > 0 && a.chunks[a.last].live == 0 {
		a.idle = append(a.idle, a.last)
	}
	if k := len(a.idle); k > 0 {
		a.last, a.idle = a.idle[k-1], a.idle[:k-1]
	} else {
		a.last = int32(len(a.chunks))
		a.chunks = append(a.chunks, chunk{})
	}
	c := &a.chunks[a.last]
	if cap(c.buf) < n || cap(c.buf) > arenaChunk && n <= arenaChunk {
		c.buf = make([]byte, 0, max(arenaChunk, n))
	}
	c.buf = c.buf[:0]
}

func (a *arena) get(w *waiting) []byte { return a.chunks[w.chunk].buf[w.start:w.end:w.end] }

// drop forgets a body.
func (a *arena) drop(w *waiting) {
	c := &a.chunks[w.chunk]
	c.live--
	a.used -= int(w.end - w.start)
	if c.live == 0 && w.chunk != a.last {
		a.idle = append(a.idle, w.chunk)
	}
}
