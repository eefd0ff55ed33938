package run

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Accounting follows every sample from the input to the result:
// In = Out + Filtered + sum of Dropped.
type Accounting struct {
	In       int64
	Out      int64
	Filtered int64 // left out because a filter asked for it
	Dropped  map[string]int64
	// Lost counts samples that never reached the recording, as far as the
	// kernel and the recorder say; they are not part of In.
	Lost int64
	// Throttled counts the times that the kernel stopped an event because it
	// took too much time.
	Throttled int64
	// Frames and UnknownFrames count frames of the samples that came out, and
	// those among them without a name.
	Frames, UnknownFrames int64
	// TruncatedStacks counts samples whose call chain the recorder says is
	// incomplete.
	TruncatedStacks int64
	// Unwound counts the samples whose stacks had to be unwound.
	Unwound Unwound
}

// Drop counts n samples that could not be used, and why.
func (a *Accounting) Drop(reason string, n int64) {
	if n == 0 {
		return
	}
	if a.Dropped == nil {
		a.Dropped = make(map[string]int64)
	}
	a.Dropped[reason] += n
}

// TotalDropped is the number of samples dropped for any reason.
func (a *Accounting) TotalDropped() int64 {
	var n int64
	for _, v := range a.Dropped {
		n += v
	}
	return n
}

// Balanced reports whether every sample is accounted for.
func (a *Accounting) Balanced() bool {
	return a.In == a.Out+a.Filtered+a.TotalDropped()
}

// Add adds the counts of b, for merged inputs.
func (a *Accounting) Add(b Accounting) {
	a.In += b.In
	a.Out += b.Out
	a.Filtered += b.Filtered
	for reason, n := range b.Dropped {
		a.Drop(reason, n)
	}
	a.Lost += b.Lost
	a.Throttled += b.Throttled
	a.Frames += b.Frames
	a.UnknownFrames += b.UnknownFrames
	a.TruncatedStacks += b.TruncatedStacks
	a.Unwound.Add(&b.Unwound)
}

// LostShare is the share of samples lost among those taken, 0 to 1.
func (a *Accounting) LostShare() float64 {
	if a.In+a.Lost == 0 {
		return 0
	}
	return float64(a.Lost) / float64(a.In+a.Lost)
}

// UnknownShare is the share of frames without a name, 0 to 1.
func (a *Accounting) UnknownShare() float64 {
	if a.Frames == 0 {
		return 0
	}
	return float64(a.UnknownFrames) / float64(a.Frames)
}

// String is the accounting line: samples in, out, filtered, dropped by reason,
// lost, the share of unknown frames, and what became of stacks that had to be unwound.
func (a *Accounting) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "samples: %d in = %d out + %d filtered + %d dropped", a.In, a.Out, a.Filtered, a.TotalDropped())
	if len(a.Dropped) > 0 {
		reasons := slices.Sorted(maps.Keys(a.Dropped))
		for i, r := range reasons {
			reasons[i] = fmt.Sprintf("%s: %d", r, a.Dropped[r])
		}
		fmt.Fprintf(&b, " (%s)", strings.Join(reasons, ", "))
	}
	fmt.Fprintf(&b, "; %d lost; %.1f%% of frames unknown", a.Lost, 100*a.UnknownShare())
	if a.Unwound.Total() > 0 {
		fmt.Fprintf(&b, ", %v", &a.Unwound)
	}
	return b.String()
}

// Account is what became of the samples of runs, in one line.
func Account(runs ...*Run) string {
	var sum Accounting
	var events []Event
	for _, r := range runs {
		sum.Add(r.Accounting)
		events = append(events, r.Events...)
	}
	return sum.With(events)
}

// With is String with what was derived from samples, which is no part of the balance: an event like
// off-cpu may be all that is left of a recording of which no sample is.
func (a *Accounting) With(events []Event) string {
	derived := make(map[string]int64)
	for i := range events {
		if e := &events[i]; e.Derived && e.Samples > 0 {
			derived[e.Name] += e.Samples
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(derived)) {
		list = append(list, fmt.Sprintf("%d %s", derived[name], name))
	}
	if len(list) == 0 {
		return a.String()
	}
	return a.String() + "; derived from what came in: " + strings.Join(list, ", ")
}
