package perfscript

import (
	"strconv"
	"time"
)

// A Clock says when the samples of a text were taken.
type Clock struct {
	Host string    // "" if unknown
	End  time.Time // of the recording, which simpleperf notes; zero if unknown
	// First and Last are the times of samples by the clock of the machine, in nanoseconds.
	// Both are 0 if no sample HasTime.
	First, Last int64
	HasTime     bool
}

// Comment takes over what a comment of the recording says.
func (c *Clock) Comment(key, value string) {
	switch key {
	case "hostname":
		c.Host = value
	case "timestamp":
		if t, err := strconv.ParseInt(value, 10, 64); err == nil && t > 0 && t < 1<<33 {
			c.End = time.Unix(t, 0).UTC()
		}
	}
}

// Sample takes over when a sample was taken.
func (c *Clock) Sample(h *Header) {
	switch {
	case !h.HasTime:
	case c.HasTime:
		c.First, c.Last = min(c.First, h.Time), max(c.Last, h.Time)
	default:
		c.First, c.Last, c.HasTime = h.Time, h.Time, true
	}
}

// Duration is from the first sample to the last.
func (c *Clock) Duration() time.Duration { return time.Duration(c.Last - c.First) }

// Start is the time of day of the first sample, zero if unknown.
func (c *Clock) Start() time.Time {
	if c.End.IsZero() || !c.HasTime {
		return time.Time{}
	}
	return c.End.Add(-c.Duration())
}
