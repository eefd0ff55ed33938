package perfsession

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"profdiff/internal/perffile"
)

// Unread counts records of types that neither perf nor simpleperf of this time writes. A sample whose
// type was damaged is among them: what came in is then less than what was recorded.
type Unread struct {
	Count int64
	Types map[perffile.RecordType]UnreadType // not all if they are many
}

// An UnreadType is how many records of a type there are, and the offset of the first.
type UnreadType struct{ Count, First int64 }

func (u *Unread) add(r *perffile.Record) {
	const most = 16 // types that are kept apart
	u.Count++
	t, ok := u.Types[r.Type]
	switch {
	case u.Types == nil:
		u.Types = make(map[perffile.RecordType]UnreadType)
	case !ok && len(u.Types) == most:
		return
	}
	if !ok {
		t.First = r.Offset
	}
	t.Count++
	u.Types[r.Type] = t
}

// String lists the types, "" if there are none.
func (u *Unread) String() string {
	if u.Count == 0 {
		return ""
	}
	const listed = 3
	var list []string
	rest := u.Count
	for _, t := range slices.SortedFunc(maps.Keys(u.Types), func(a, b perffile.RecordType) int { return int(u.Types[a].First - u.Types[b].First) }) {
		if len(list) == listed {
			break
		}
		of := u.Types[t]
		rest -= of.Count
		at := fmt.Sprintf("at offset %#x", of.First)
		if of.Count > 1 {
			at = fmt.Sprintf("from offset %#x on", of.First)
		}
		list = append(list, fmt.Sprintf("%d of type %#x %s", of.Count, uint32(t), at))
	}
	if rest > 0 {
		list = append(list, fmt.Sprintf("%d of others", rest))
	}
	what := "records are"
	if u.Count == 1 {
		what = "record is"
	}
	return fmt.Sprintf("%d %s of an unknown type and not read (%s): samples may be missing that no count tells of", u.Count, what, strings.Join(list, ", "))
}

// Doubted are records of more lost samples than there can have been.
type Doubted struct {
	Count, Samples int64
	First          int64         // offset
	CPUs           int           // that were there at most,
	Span           time.Duration // and for how long they took samples at most
}

// String says why they are not believed, "" if there are none.
func (d *Doubted) String() string {
	if d.Count == 0 {
		return ""
	}
	what := "records say"
	if d.Count == 1 {
		what = "record says"
	}
	return fmt.Sprintf("%d %s that %d samples were lost (offset %#x), more than %d CPUs can take in %v: not counted",
		d.Count, what, d.Samples, d.First, d.CPUs, d.Span.Round(time.Millisecond))
}

// A suspect is a record of many lost samples.
type suspect struct {
	offset int64
	event  int
	n      uint64
}

const (
	// plausibleLoss is how many samples may be lost at a time in any recording.
	plausibleLoss = 1 << 20
	// leastSample is the shortest time in which a CPU can take a sample: an interrupt, or a
	// tracepoint, with the copy of a record takes longer everywhere.
	leastSample = 100 * time.Nanosecond
	// unknownCPUs is how many CPUs are assumed where the recording does not tell.
	unknownCPUs = 1024
	// mostCPUs is how many Linux can have (CONFIG_NR_CPUS).
	mostCPUs = 8192
	// unknownSpan is how long is assumed where records have no times.
	unknownSpan = 24 * time.Hour
)

// judge counts the suspects that are possible: no more than all CPUs together could take from the first record
// to the last.
func (s *Session) judge() {
	cpus := int(min(max(s.File.Info.CPUsOnline, s.File.Info.CPUsAvailable), mostCPUs))
	if cpus == 0 {
		cpus = unknownCPUs
	}
	span := time.Duration(min(s.last-s.first, math.MaxInt64))
	if s.last == 0 {
		span = unknownSpan
	}
	d := &s.Stats.Doubted
	for _, x := range s.suspects {
		if float64(x.n) <= plausibleLoss+float64(cpus)*float64(span)/float64(leastSample) {
			s.Stats.Lost[x.event] = addLoss(s.Stats.Lost[x.event], x.n)
			continue
		}
		if d.Count == 0 {
			d.First, d.CPUs, d.Span = x.offset, cpus, span
		}
		d.Count++
		d.Samples = addLoss(d.Samples, x.n)
	}
	s.suspects = nil
}

// addLoss adds a number of lost samples. Sums of sums stay below 2^63.
func addLoss(sum int64, n uint64) int64 {
	const most = 1 << 56
	return min(sum+int64(min(n, most)), most)
}
