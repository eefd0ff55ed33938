package traces

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/run"
)

// trackEvent takes the callstack of a track event, or the part of a profile of V8.
func (s *samples) trackEvent(e *trackEvent) error {
	var inline *input.Fields
	var iid uint64
	var weight float64
	weighted := false
	m := e.packet.Message()
	for m.Next() {
		switch m.Num {
		case eventCallstack:
			f := m.Message()
			inline = &f
		case eventCallstackIID:
			iid = m.Uint()
		case eventStackWeight:
			weight = math.Float64frombits(m.Fixed64())
			weighted = !math.IsNaN(weight) && !math.IsInf(weight, 0)
		case eventAnnotation:
			if e.phase != phaseSample || !isV8Event(s.r.tl.NameOf(e.name)) {
				m.Skip()
			} else if json := dataOf(e.packet.Sequence, m.Message()); json != nil {
				first := s.r.tl.NameOf(e.name) == v8Profile
				s.v8.add(v8Part{e.thread, e.process, e.id}, first, e.at, json, func(us int64) int64 { return s.r.monotonic(e.packet, us) })
			}
		default:
			m.Skip()
		}
	}
	if m.Err != nil || inline == nil && iid == 0 {
		return m.Err
	}
	key := callstackKey{who: s.who(e.thread, e.process, -1, "")}
	if s.opt.During != nil {
		key.at = e.at
	}
	known := true
	if inline != nil {
		key.stack = s.places.inline(*inline)
	} else {
		key.stack, known = s.places.callstack(e.packet.Sequence, iid, e.process)
	}
	key.stack = s.whole(key.stack, known, "")
	if weighted {
		s.weighted.add(key, weight)
	} else {
		s.unweighted.add(key, 1)
	}
	return nil
}

// dataOf is the JSON of an annotation that is called data, nil if it is another.
func dataOf(seq *perfetto.Sequence, annotation input.Fields) (json []byte) {
	name := ""
	for annotation.Next() {
		switch annotation.Num {
		case annotationNameIID:
			name = string(seq.Interned(perfetto.DebugAnnotationNames, annotation.Uint()).String())
		case annotationName:
			name = string(annotation.Bytes())
		case annotationJSON:
			json = annotation.Bytes()
		default:
			annotation.Skip()
		}
	}
	if name != "data" {
		return nil
	}
	return json
}

// A callstackKey tells apart track events with callstacks.
type callstackKey struct {
	who   uint32
	stack run.StackID
	at    int64 // if times are chosen
}

// A callstackSum sums them up.
type callstackSum struct {
	order, count     int64
	weight, weightSq float64
}

// callstackSums are those of track events that say what a callstack weighs, or of those that do not.
type callstackSums map[callstackKey]*callstackSum

func (c callstackSums) add(key callstackKey, weight float64) {
	sum := c[key]
	if sum == nil {
		sum = &callstackSum{order: int64(len(c))}
		c[key] = sum
	}
	sum.count++
	sum.weight += weight
	sum.weightSq += weight * weight
}

func (c callstackSums) count() (n int64) {
	for _, sum := range c {
		n += sum.count
	}
	return n
}

// millionths is what weights with fractions are counted in: weights of a run are whole numbers, and nothing tells what a producer
// weighs its callstacks by, which may be seconds. Such have an event of their own, so that none is compared with whole ones.
const millionths = 1e6

// scale is what weights are multiplied by.
func (c callstackSums) scale() float64 {
	for _, sum := range c {
		if sum.weight != math.Trunc(sum.weight) {
			return millionths
		}
	}
	return 1
}

// finishCallstacks adds the callstacks of track events: those with a weight if there are any, since it is
// not known what the others weigh, else each with the weight 1.
func (s *samples) finishCallstacks(chosen func(who uint32, at int64) bool) {
	sums := s.unweighted
	account := &s.b.Run().Accounting
	account.In += s.unweighted.count() + s.weighted.count()
	if len(s.weighted) > 0 {
		account.Drop("callstack without a weight", s.unweighted.count())
		sums = s.weighted
	}
	if len(sums) == 0 {
		return
	}
	scale, name := sums.scale(), callstackEvent
	if scale != 1 {
		name += "-millionths"
		s.warn("weights of callstacks have fractions: they are in millionths")
	}
	event := s.event(run.Event{Name: name, Unit: "count"})
	limited := false
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b callstackKey) int { return cmp.Compare(sums[a].order, sums[b].order) })
	for _, key := range keys {
		sum := sums[key]
		if !chosen(key.who, key.at) {
			account.Filtered += sum.count
			continue
		}
		exact := math.RoundToEven(scale * sum.weight)
		weight := min(max(exact, 0), maxWeight)
		limited = limited || weight != exact
		s.tally.AddSum(event, key.stack, key.who, sum.count, int64(weight), scale*scale*sum.weightSq)
	}
	if limited {
		s.warn("weights of callstacks that are below 0 or too large are not as the trace has them")
	}
}
