package wait

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"profdiff/internal/run"
)

// regions finds by rules who waited for whom, in waits off the CPU. For each wait of which the
// stack wants a region:
//
//  1. Who woke the thread had the region, from the end of its own last wait for it on; before,
//     the thread that woke that one had it, and so on.
//  2. Where no waker is known, a thread whose stack is in the region has it, if it is the only one.
//  3. Else times tell, as timing.go says.
type regions struct {
	b      *builder
	r      *run.Run
	rules  []rule
	stacks *classifier
	// blocked are the waits of each thread off the CPU that could not have gone on, in the
	// order of time. They do not overlap.
	blocked [][]int32
	// wants is by wait the rule by which it is for a region, -1 if by none.
	wants []int8
	// inside are by rule the waits within the region.
	inside [][]int32
	edges  []Edge
	open   []int32 // waits for regions of which no holder is known
	timing map[timingKey]*Timing
	notes  []string
	// ambiguous counts waits while several threads were in the region, by rule.
	ambiguous []int64
}

// A timingKey is a rule and who had the region, by times.
type timingKey struct {
	rule   int
	thread run.ThreadID
}

// first is the number of the lowest bit.
func first(set uint64) (int, bool) { return bits.TrailingZeros64(set), set != 0 }

// findRegions finds the edges that rules tell.
func (b *builder) findRegions(rules *Rules) *regions {
	s := &regions{
		b: b, r: b.r, rules: rules.list, stacks: b.stacks, blocked: make([][]int32, len(b.r.Threads)),
		wants: make([]int8, len(b.r.Waits)), inside: make([][]int32, len(rules.list)), timing: make(map[timingKey]*Timing),
		ambiguous: make([]int64, len(rules.list)),
	}
	s.sort()
	spans := make([]insideSpans, len(s.rules))
	for rule, list := range s.inside {
		spans[rule] = s.spans(rule, list)
	}
	for i, rule := range s.wants {
		if rule < 0 {
			continue
		}
		holder, one := spans[rule].at(s, int32(i))
		switch w := &s.r.Waits[i]; {
		case w.Waker != 0 && s.meets(int(rule), w.Thread, w.Waker) && (s.leaves(w, int(rule)) || holder.thread == 0 && s.mayLeave(w, int(rule))):
			s.woken(int32(i), int(rule))
		case holder.thread != 0 && one:
			e := Edge{
				Waiter: w.Thread, Holder: holder.thread, Start: max(w.Start, holder.start), End: w.End, Wait: i,
				Evidence: InRegion, Rule: s.rules[rule].name,
			}
			if next := s.firstWait(holder.thread, holder.end); next != nil {
				e.End = min(e.End, next.Start) // out of the region
			}
			if e.End > e.Start {
				s.edges = append(s.edges, e)
			}
		case holder.thread != 0:
			s.ambiguous[rule]++
		default:
			s.open = append(s.open, int32(i))
		}
	}
	s.byTime()
	return s
}

// sort sorts the waits by thread, and by what the rules say of them.
func (s *regions) sort() {
	for i := range s.r.Waits {
		w := &s.r.Waits[i]
		s.wants[i] = -1
		if w.Kind != run.OffCPU || strings.HasPrefix(w.State, "R") {
			continue
		}
		s.blocked[w.Thread] = append(s.blocked[w.Thread], int32(i))
		f := s.stacks.of(w.Stack)
		if rule, ok := f.waitsFor(); ok {
			s.wants[i] = int8(rule)
		}
		for set := f.inside; set != 0; set &= set - 1 {
			rule, _ := first(set)
			s.inside[rule] = append(s.inside[rule], int32(i))
		}
	}
	for _, list := range s.blocked {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(s.r.Waits[a].Start, s.r.Waits[b].Start) })
	}
}

// meets reports whether two threads can wait for each other by a rule.
func (s *regions) meets(rule int, a, b run.ThreadID) bool {
	t, u := &s.r.Threads[a], &s.r.Threads[b]
	switch s.rules[rule].scope {
	case machine:
		return a != b
	case program:
		return a != b && t.Process == u.Process
	}
	return a != b && t.PID == u.PID
}

// leaves reports whether who ended a wait left the region of a rule.
func (s *regions) leaves(w *run.Wait, rule int) bool {
	return s.stacks.of(w.WakerStack).leaves&(1<<rule) != 0
}

// mayLeave reports whether who ended a wait can have left the region of a rule by functions that are not
// known: those of the program, where its stack has none.
func (s *regions) mayLeave(w *run.Wait, rule int) bool {
	if s.stacks.inKernel(rule) {
		return false
	}
	for id := w.WakerStack; id != 0; id = s.r.Stacks.Parent(id) {
		l := &s.r.Locations[s.r.Stacks.Location(id)]
		if m := &s.r.Mappings[l.Mapping]; m.Kind == run.KernelMapping || m.Kind == run.ModuleMapping || libc(m.File) {
			continue
		}
		if !s.r.Functions[l.Lines[0].Function].Unknown {
			return false
		}
	}
	return true
}

// maxHandovers bounds how often a region is followed from one holder to the one before.
const maxHandovers = 64

// woken adds the edges of a wait whose waker is known.
func (s *regions) woken(wait int32, rule int) {
	waiter := s.r.Waits[wait].Thread
	last, end := &s.r.Waits[wait], s.r.Waits[wait].End
	for range maxHandovers {
		e := Edge{
			Waiter: waiter, Holder: last.Waker, Start: s.r.Waits[wait].Start, End: end, Wait: int(wait),
			Evidence: EndedWait, Rule: s.rules[rule].name,
		}
		if s.leaves(last, rule) {
			e.Evidence = Released
		}
		before := s.lastWaitFor(last.Waker, rule, s.r.Waits[wait].For, end)
		if before != nil && before.End > e.Start {
			e.Start, end = before.End, before.End
		} else {
			before = nil
		}
		if e.Holder != waiter && e.End > e.Start {
			s.edges = append(s.edges, e)
		}
		if before == nil || before.Waker == 0 || before.Waker == waiter || !s.meets(rule, waiter, before.Waker) {
			return
		}
		last = before
	}
}

// lastWaitFor is the last wait of a thread for the region of a rule that ended before a time.
func (s *regions) lastWaitFor(thread run.ThreadID, rule int, lock string, end int64) *run.Wait {
	list := s.blocked[thread]
	i := sort.Search(len(list), func(i int) bool { return s.r.Waits[list[i]].End >= end })
	for range maxHandovers {
		if i--; i < 0 {
			return nil
		}
		if w := &s.r.Waits[list[i]]; int(s.wants[list[i]]) == rule && w.For == lock {
			return w
		}
	}
	return nil
}

// firstWait is the first wait of a thread that starts after a time.
func (s *regions) firstWait(id run.ThreadID, time int64) *run.Wait {
	list := s.blocked[id]
	i := sort.Search(len(list), func(i int) bool { return s.r.Waits[list[i]].Start >= time })
	if i == len(list) {
		return nil
	}
	return &s.r.Waits[list[i]]
}

// insideSpans are when threads waited within a region, sorted by their starts.
type insideSpans struct {
	list []insideSpan
	ends []int64 // the latest end of spans up to each
}

type insideSpan struct {
	start, end int64
	thread     run.ThreadID
}

func (s *regions) spans(rule int, waits []int32) (spans insideSpans) {
	for _, i := range waits {
		if w := &s.r.Waits[i]; !(s.wants[i] >= 0 && int(s.wants[i]) == rule) {
			spans.list = append(spans.list, insideSpan{w.Start, w.End, w.Thread})
		}
	}
	slices.SortFunc(spans.list, func(a, b insideSpan) int { return cmp.Compare(a.start, b.start) })
	var end int64
	for i := range spans.list {
		end = max(end, spans.list[i].end)
		spans.ends = append(spans.ends, end)
	}
	return spans
}

// maxInside bounds how many waits within a region are looked at for one wait for it.
const maxInside = 1000

// at finds a thread that waited in the region during a wait for it, from when and until when; one is
// false if there were several.
func (x *insideSpans) at(s *regions, wait int32) (found insideSpan, one bool) {
	w, rule := &s.r.Waits[wait], int(s.wants[wait])
	i := sort.Search(len(x.list), func(i int) bool { return x.list[i].start >= w.End })
	for range maxInside {
		if i--; i < 0 || x.ends[i] <= w.Start {
			break
		}
		span := x.list[i]
		if span.end <= w.Start || !s.meets(rule, w.Thread, span.thread) {
			continue
		}
		if found.thread != 0 && found.thread != span.thread {
			return found, false
		}
		found = insideSpan{span.start, max(found.end, span.end), span.thread}
	}
	return found, true
}
