package perfsession

import (
	"strconv"
	"time"

	"profdiff/internal/perffile"
)

// Duration is from the first sample to the last, 0 if unknown.
func (s *Stats) Duration() time.Duration {
	if s.Last > s.First && s.Last-s.First < 1<<62 {
		return time.Duration(s.Last - s.First)
	}
	return 0
}

// Ended is a time of day at which the recording had ended: that of the last sample if the
// header tells it, else that at which the file was modified, zero if that is zero.
func Ended(info *perffile.Info, modified time.Time) time.Time {
	ended := modified
	if c := info.Clock; c.Valid && info.LastSample > 0 {
		ended = time.Unix(0, int64(c.WallNanos+(info.LastSample-c.Nanos)))
	}
	if t, err := strconv.ParseInt(info.MetaInfo["timestamp"], 10, 64); err == nil && info.Simpleperf() && t > 0 && t < 1<<33 {
		ended = time.Unix(t+1, 0)
	}
	if !modified.IsZero() && modified.Before(ended) {
		return modified
	}
	return ended
}

// Start is the time of day of the first sample, zero if unknown: perf notes what the time
// of day was by the clock of the recording (CLOCK_DATA), simpleperf the second in which
// recording had ended.
func (s *Stats) Start(info *perffile.Info) (start time.Time) {
	if c := info.Clock; c.Valid {
		start = time.Unix(0, int64(c.WallNanos+(s.First-c.Nanos))).UTC()
	}
	if info.Simpleperf() {
		if t, err := strconv.ParseInt(info.MetaInfo["timestamp"], 10, 64); err == nil && t > 0 && t < 1<<33 {
			start = time.Unix(t, 0).Add(-s.Duration()).UTC()
		}
	}
	return start
}

// Written is when the file of a recording was created and when it was modified, zero what is
// not known.
type Written struct{ Created, Modified time.Time }

// Started is the time of day at which a process began, the last one of its number: not later
// than that, but perhaps somewhat earlier. It is zero if the recording does not show the
// start, or if nothing puts its clock on the time of day.
func (s *Session) Started(pid int32) time.Time {
	began := s.began()
	if p := s.processes[pid]; p != nil && p.started >= max(s.first, 1) && !began.IsZero() {
		return began.Add(time.Duration(p.started - s.first))
	}
	return time.Time{}
}

// StartedAt is when a process began on the recording's clock, 0 if no record tells.
func (s *Session) StartedAt(pid int32) uint64 {
	if p := s.processes[pid]; p != nil {
		return p.started
	}
	return 0
}

// began is a time of day before the first record, zero if it is not known. perf creates the
// file before it records and writes to it until after the last record. A copy that was not
// given the times of the original took no such time to write, and tells nothing; one that was
// is older than its creation. How long recorders take to end, that one does not tell.
func (s *Session) began() time.Time {
	w := s.Written
	if c := s.File.Info.Clock; c.Valid {
		return time.Unix(0, int64(c.WallNanos+(s.first-c.Nanos)))
	}
	last := max(s.last, s.File.Info.LastSample)
	if w.Created.IsZero() || w.Modified.IsZero() || !s.over && s.File.Info.LastSample == 0 || last-s.first >= 1<<62 {
		return time.Time{}
	}
	took := time.Duration(last - s.first)
	switch {
	case w.Modified.Before(w.Created):
		return w.Modified.Add(-took)
	case w.Modified.Sub(w.Created) < took:
		return time.Time{}
	}
	return w.Created
}
