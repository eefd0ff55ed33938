package branch

import (
	"maps"
	"math"
	"slices"

	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// counterReads are the values of counters that samples hold: of the event itself, or
// of all events of its group.
type counterReads struct {
	last map[counterKey]counterState
	// samples have the differences from deltas[first].
	samples []counterSample
	deltas  []counterDelta
	broken  int64 // samples with a counter that went back
}

// A counterKey is one counter: an event on a CPU or of a thread. Threads that inherit
// an event have counters of their own under its id.
type counterKey struct {
	id  uint64
	tid int32
}

type counterState struct {
	attr             int
	value            uint64
	enabled, running uint64
}

type counterSample struct {
	place int32
	first uint32
	n     uint16
	event uint16 // that fired
}

type counterDelta struct {
	attr  int
	delta uint64
}

func newCounterReads() counterReads {
	return counterReads{last: make(map[counterKey]counterState)}
}

// note takes the values of a sample, for the totals.
func (c *counterReads) note(file *perffile.File, s *perfsession.Sample) {
	first := len(c.deltas)
	c.read(file, s)
	c.deltas = c.deltas[:first]
}

// add takes the differences to the values of the sample before, which are of a place.
func (c *counterReads) add(file *perffile.File, s *perfsession.Sample, place int32) {
	first := len(c.deltas)
	group, ok := c.read(file, s)
	switch {
	case !ok:
		c.broken++
		fallthrough
	case !group || len(c.deltas)-first > math.MaxUint16 || uint64(len(c.deltas)) > math.MaxUint32:
		c.deltas = c.deltas[:first]
		return
	}
	c.samples = append(c.samples, counterSample{place: place, first: uint32(first), n: uint16(len(c.deltas) - first), event: uint16(s.Event)})
}

// read appends the differences to the values of the sample before. group is set if they
// are of a group, ok if none has gone back.
func (c *counterReads) read(file *perffile.File, s *perfsession.Sample) (group, ok bool) {
	leader := &file.Attrs[s.Event]
	group = leader.ReadFormat.Has(perffile.ReadGroup)
	read := &s.Raw.Read
	ok = true
	for _, v := range read.Values {
		id := v.ID
		if id == 0 && !group {
			id = s.Raw.ID
		}
		attr, known := file.EventByID(id)
		switch {
		case known:
		case !group:
			attr = s.Event
		default:
			continue
		}
		key := counterKey{id: id}
		if file.Attrs[attr].Flags.Has(perffile.FlagInherit) {
			key.tid = s.Raw.TID
		}
		last := c.last[key]
		c.last[key] = counterState{attr: attr, value: v.Value, enabled: read.TimeEnabled, running: read.TimeRunning}
		if v.Value < last.value {
			ok = false
			continue
		}
		c.deltas = append(c.deltas, counterDelta{attr, v.Value - last.value})
	}
	return group, ok
}

// of returns the differences of a sample.
func (c *counterReads) of(s *counterSample) []counterDelta {
	return c.deltas[s.first : s.first+uint32(s.n)]
}

// A counterTotal is what all counters of an event say.
type counterTotal struct {
	// value is extrapolated to the time in which the counters did not run.
	value float64
	// running is the part of the time in which they did, 0 if it is not known.
	running float64
}

// totals sums the last values by event.
func (c *counterReads) totals() map[int]counterTotal {
	type sums struct{ value, enabled, running float64 }
	all := make(map[int]*sums)
	keys := slices.SortedFunc(maps.Keys(c.last), func(a, b counterKey) int {
		if a.id != b.id {
			if a.id < b.id {
				return -1
			}
			return 1
		}
		return int(a.tid) - int(b.tid)
	})
	for _, key := range keys {
		v := c.last[key]
		s := all[v.attr]
		if s == nil {
			s = new(sums)
			all[v.attr] = s
		}
		k := 1.0
		if v.running > 0 && v.enabled > v.running {
			k = float64(v.enabled) / float64(v.running)
		}
		s.value += k * float64(v.value)
		s.enabled += float64(v.enabled)
		s.running += float64(v.running)
	}
	out := make(map[int]counterTotal)
	for attr, s := range all {
		t := counterTotal{value: s.value}
		if s.enabled > 0 {
			t.running = min(1, s.running/s.enabled)
		}
		out[attr] = t
	}
	return out
}
