package trace

// maxDepth is how many slices may be open on a track, as for the trace processor.
const maxDepth = 512

// Slices returns the slices of a track in the order of their starts, parents before their
// children, and adds to loss, which may be nil, what made none.
//
//  1. Events are taken in the order of time, of equal times in that in which they came; where a record is older than
//     one before it, or where several tracks were merged, see merge.go.
//  2. A begin opens a slice in the topmost open one; in 512 open ones it opens none, nor does the
//     end that belongs to it close one.
//  3. An end closes the topmost open slice whose name and category are equal or absent. If that has open slices
//     in it, they get its end, when the first event comes after it.
//  4. A slice with a duration is open until its end. One that would end after the slice with a
//     duration that it begins in is left out.
//  5. On an asynchronous track a begin opens a slice, in the open one of its cookie if it may nest;
//     else it is part of that. An end closes the topmost of its cookie.
//
// An instant ends when it starts.
func (t *Timeline) Slices(id TrackID, loss *SliceLoss) []Slice {
	if loss == nil {
		loss = new(SliceLoss)
	}
	track := &t.Tracks[id]
	n := nester{slices: make([]Slice, 0, track.begins), loss: loss}
	handle := n.nest
	if track.Async {
		handle = n.meet
	}
	track.inOrder(handle)
	for i := range n.slices {
		if n.slices[i].Unfinished() {
			loss.Unfinished++
		}
	}
	return n.slices
}

// A nester makes slices of the events of a track, which come in the order of time.
type nester struct {
	slices  []Slice
	open    []int32 // slices that may have children, outermost first
	tooDeep int64   // begins that opened nothing and whose ends are to come
	cookies map[uint64][]int32
	loss    *SliceLoss
}

func (n *nester) nest(e *trackEvent) {
	switch e.kind {
	case beginRecord:
		n.close(e.ts, Unended)
		n.push(Slice{Start: e.ts, End: Unended, Name: e.name, Category: e.category})
	case completeRecord:
		if !n.close(e.ts, int64(e.number)) {
			n.loss.Overlapping++
			return
		}
		n.push(Slice{Start: e.ts, End: e.ts + int64(e.number), Name: e.name, Category: e.category})
	case endRecord:
		if n.tooDeep > 0 {
			n.tooDeep--
			return
		}
		n.close(e.ts, Unended)
		n.end(e)
	}
}

func (n *nester) push(s Slice) {
	if len(n.open) >= maxDepth {
		n.loss.TooDeep++
		if s.Unfinished() {
			n.tooDeep++
		}
		return
	}
	s.Parent, s.Depth = -1, uint16(len(n.open))
	if len(n.open) > 0 {
		s.Parent = n.open[len(n.open)-1]
	}
	n.open = append(n.open, int32(len(n.slices)))
	n.slices = append(n.slices, s)
}

// end closes the topmost slice that fits. It leaves the stack only if it is on top: see close.
func (n *nester) end(e *trackEvent) {
	for i := len(n.open) - 1; i >= 0; i-- {
		s := &n.slices[n.open[i]]
		if !s.Unfinished() ||
			e.category != 0 && s.Category != e.category ||
			e.name != 0 && s.Name != 0 && s.Name != e.name {
			continue
		}
		s.End = e.ts
		if i == len(n.open)-1 {
			n.open = n.open[:i]
		}
		return
	}
	n.loss.Orphans++
}

// close takes slices from the stack that ended before the time ts of an event, whose duration is
// Unended if it is not known. It returns false for a slice that would end after one it begins in.
func (n *nester) close(ts, duration int64) bool {
	unended := false // above the slice
	for i := len(n.open) - 1; i >= 0; i-- {
		s := &n.slices[n.open[i]]
		switch {
		case s.Unfinished():
			unended = true
		case unended:
			// Its end came while slices in it were open.
			if ts <= s.End {
				continue
			}
			for _, child := range n.open[i+1:] {
				n.slices[child].End = s.End
			}
			n.open = n.open[:i]
			unended = false
		case s.End < ts || s.End == ts && (s.End != s.Start || duration != 0):
			n.open = n.open[:i]
		case duration != Unended && ts < s.End && ts+duration > s.End:
			return false
		}
	}
	return true
}

func (n *nester) meet(e *trackEvent) {
	open := n.cookies[e.number]
	s := Slice{Start: e.ts, End: Unended, Name: e.name, Category: e.category, Parent: -1}
	switch e.kind {
	case asyncBeginRecord, asyncNestRecord:
		if len(open) > 0 && e.kind == asyncBeginRecord || len(open) >= maxDepth {
			return
		}
		if n.cookies == nil {
			n.cookies = make(map[uint64][]int32)
		}
		if len(open) > 0 {
			s.Parent, s.Depth = open[len(open)-1], uint16(len(open))
		}
		n.cookies[e.number] = append(open, int32(len(n.slices)))
		n.slices = append(n.slices, s)
	case asyncEndRecord:
		last := len(open) - 1
		if last < 0 {
			n.loss.Orphans++
			return
		}
		n.slices[open[last]].End = e.ts
		if last == 0 {
			delete(n.cookies, e.number)
		} else {
			n.cookies[e.number] = open[:last]
		}
	case completeRecord:
		s.End = e.ts + int64(e.number)
		n.slices = append(n.slices, s)
	}
}
