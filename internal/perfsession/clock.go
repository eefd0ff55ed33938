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
