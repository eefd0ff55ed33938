package trace

import "encoding/binary"

// A tape is a list of records in few bytes: a kind, the time since the record before, and
// numbers. It grows by chunks, which are not copied, and each of which can be read alone: the time of its
// first record is since 0.
type tape struct {
	chunks   [][]byte
	oldest   []int64 // time of the oldest record of each chunk
	records  int
	last     int64 // time of the last record
	unsorted bool  // a record is older than one before it
}

const (
	firstChunk = 64
	lastChunk  = 1 << 16
)

// add appends a record.
func (t *tape) add(kind byte, ts int64, numbers ...uint64) {
	n, since := len(t.chunks)-1, t.last
	if need := 1 + (1+len(numbers))*binary.MaxVarintLen64; n < 0 || cap(t.chunks[n])-len(t.chunks[n]) < need {
		size := max(firstChunk, need)
		if n >= 0 {
			size = max(min(lastChunk, 2*cap(t.chunks[n])), need)
		}
		t.chunks = append(t.chunks, make([]byte, 0, size))
		t.oldest = append(t.oldest, ts)
		n, since = n+1, 0
	}
	t.oldest[n] = min(t.oldest[n], ts)
	if t.records > 0 && ts < t.last {
		t.unsorted = true
	}
	c := append(t.chunks[n], kind)
	c = binary.AppendVarint(c, ts-since)
	for _, v := range numbers {
		c = binary.AppendUvarint(c, v)
	}
	t.chunks[n] = c
	t.last = ts
	t.records++
}

// A tapeReader reads a tape from its start.
type tapeReader struct {
	chunks [][]byte
	rest   []byte
	ts     int64
	taken  bool // chunks that were read are given up
}

func (t *tape) read() tapeReader { return tapeReader{chunks: t.chunks} }

// take is read, and the tape is empty afterwards: memory is given back while it is read.
func (t *tape) take() tapeReader {
	r := tapeReader{chunks: t.chunks, taken: true}
	*t = tape{}
	return r
}

// next reads the kind of a record and its time; the caller reads its numbers.
func (r *tapeReader) next() (kind byte, ts int64, ok bool) {
	for len(r.rest) == 0 {
		if len(r.chunks) == 0 {
			return 0, 0, false
		}
		r.rest, r.ts = r.chunks[0], 0
		if r.taken {
			r.chunks[0] = nil
		}
		r.chunks = r.chunks[1:]
	}
	kind, r.rest = r.rest[0], r.rest[1:]
	delta, n := binary.Varint(r.rest)
	r.rest = r.rest[n:]
	r.ts += delta
	return kind, r.ts, true
}

func (r *tapeReader) number() uint64 {
	if b := r.rest[0]; b < 0x80 {
		r.rest = r.rest[1:]
		return uint64(b)
	}
	v, n := binary.Uvarint(r.rest)
	r.rest = r.rest[n:]
	return v
}
