// Package counters reads the values of counters that samples hold (PERF_SAMPLE_READ,
// perf_event_open(2)).
//
//  1. A counter is an event on a CPU or of a thread. Its value less the one in the sample
//     before is what was counted since; one that fell is dropped and counted as broken.
//  2. Samples of a group keep the differences of all its events.
//  3. The last values sum up to the totals of each event, extrapolated to the time in which
//     a counter did not run.
package counters

import (
	"maps"
	"math"
	"slices"

	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// Reads are the values of counters that samples hold: of the event itself, or
// of all events of its group.
type Reads struct {
	last map[key]state
	// Samples have the differences from deltas[first].
	Samples []Sample
	Deltas  []Delta
	Broken  int64 // samples with a counter that went back
}

// A key is one counter: an event on a CPU or of a thread. Threads that inherit
// an event have counters of their own under its id.
type key struct {
	id  uint64
	tid int32
}

type state struct {
	attr             int
	value            uint64
	enabled, running uint64
}

// A Sample is one that holds a group of counters, by its place.
type Sample struct {
	Place int32
	First uint32
	N     uint16
	event uint16 // that fired
}

// A Delta is what an event counted since the sample before.
type Delta struct {
	Attr int
	By   uint64
}

// New returns Reads without any.
func New() Reads {
	return Reads{last: make(map[key]state)}
}

// Note takes the values of a sample, for the totals.
func (c *Reads) Note(file *perffile.File, s *perfsession.Sample) {
	first := len(c.Deltas)
	c.read(file, s)
	c.Deltas = c.Deltas[:first]
}

// Add takes the differences to the values of the sample before, which are of a place.
func (c *Reads) Add(file *perffile.File, s *perfsession.Sample, place int32) {
	first := len(c.Deltas)
	group, ok := c.read(file, s)
	switch {
	case !ok:
		c.Broken++
		fallthrough
	case !group || len(c.Deltas)-first > math.MaxUint16 || uint64(len(c.Deltas)) > math.MaxUint32:
		c.Deltas = c.Deltas[:first]
		return
	}
	c.Samples = append(c.Samples, Sample{Place: place, First: uint32(first), N: uint16(len(c.Deltas) - first), event: uint16(s.Event)})
}

// read appends the differences to the values of the sample before. group is set if they
// are of a group, ok if none has gone back.
func (c *Reads) read(file *perffile.File, s *perfsession.Sample) (group, ok bool) {
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
		key := key{id: id}
		if file.Attrs[attr].Flags.Has(perffile.FlagInherit) {
			key.tid = s.Raw.TID
		}
		last := c.last[key]
		c.last[key] = state{attr: attr, value: v.Value, enabled: read.TimeEnabled, running: read.TimeRunning}
		if v.Value < last.value {
			ok = false
			continue
		}
		c.Deltas = append(c.Deltas, Delta{attr, v.Value - last.value})
	}
	return group, ok
}

// Of returns the differences of a sample.
func (c *Reads) Of(s *Sample) []Delta {
	return c.Deltas[s.First : s.First+uint32(s.N)]
}

// A Total is what all counters of an event say.
type Total struct {
	// Value is extrapolated to the time in which the counters did not run.
	Value float64
	// Running is the part of the time in which they did, 0 if it is not known.
	Running float64
}

// Totals sums the last values by event.
func (c *Reads) Totals() map[int]Total {
	type sums struct{ value, enabled, running float64 }
	all := make(map[int]*sums)
	keys := slices.SortedFunc(maps.Keys(c.last), func(a, b key) int {
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
	out := make(map[int]Total)
	for attr, s := range all {
		t := Total{Value: s.value}
		if s.enabled > 0 {
			t.Running = min(1, s.running/s.enabled)
		}
		out[attr] = t
	}
	return out
}

// Parts of the time in which an event ran: below WarnBelow the reader is told that its
// count is extrapolated, below RefuseBelow no ratio is made with it.
const (
	WarnBelow   = 0.90
	RefuseBelow = 0.25
)
