package reportsample

import (
	"math"

	"profdiff/internal/ingest/reading"
)

// rootRuns are the outermost frames of the samples of a thread, in order.
type rootRuns struct {
	locations []uint32
	lengths   []uint32
}

// root notes the outermost frame of a sample.
func (r *reader) root(tid int32, location uint32) {
	g, ok := r.gaps[tid]
	if !ok {
		g = &rootRuns{}
		r.gaps[tid] = g
	}
	if n := len(g.locations); n > 0 && g.locations[n-1] == location {
		if g.lengths[n-1] < math.MaxUint32 {
			g.lengths[n-1]++
		}
		return
	}
	g.locations = append(g.locations, location)
	g.lengths = append(g.lengths, 1)
}

// keepsGaps reports whether some thread has at most 3 samples in a row whose stacks
// do not go back to where threads start. By default report-sample removes those, and
// does not count them: must match ReportSampleCommand::ReportSample.
func (r *reader) keepsGaps() bool {
	const removed = 3
	start := make(map[uint32]bool)
	complete := func(loc uint32) bool {
		if loc == reading.NoLocation {
			return false
		}
		known, ok := start[loc]
		if !ok {
			fn := r.b.Run().Functions[r.b.Run().Locations[loc].Lines[0].Function]
			known = fn.Name == "__libc_init" || fn.Name == "__start_thread"
			start[loc] = known
		}
		return known
	}
	for _, g := range r.gaps {
		gap := uint32(0)
		for i, loc := range g.locations {
			if !complete(loc) {
				if gap < 1<<30 {
					gap += min(g.lengths[i], 1<<30)
				}
				continue
			}
			if gap > 0 && gap <= removed {
				return true
			}
			gap = 0
		}
		if gap > 0 && gap <= removed {
			return true
		}
	}
	return false
}
