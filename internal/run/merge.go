package run

import (
	"math"
	"reflect"
)

// Merge makes one run of several: the samples are summed, and facts of the
// recordings stay where they all agree. It is for joining the parts of one
// recording; runs that are to be compared must stay apart.
func Merge(name string, runs []*Run) (*Run, error) {
	if len(runs) == 1 {
		runs[0].Name = name
		return runs[0], nil
	}
	TellApart(runs...)
	b := NewBuilder(name)
	m := merger{b: b, mappings: make(map[mergeMapping]uint32), idle: make(map[IdleFile]bool)}
	for i, r := range runs {
		m.add(r)
		if i == 0 {
			b.r.Recording = r.Recording
		} else {
			b.r.Recording.agree(&r.Recording)
		}
	}
	return b.Finish()
}

// mergeMapping identifies mappings as pprof does when it merges profiles.
type mergeMapping struct {
	file, buildID string
	offset, size  uint64
	kind          MappingKind
}

type merger struct {
	b        *Builder
	mappings map[mergeMapping]uint32
	idle     map[IdleFile]bool // of the merged run
	threads  map[Thread]ThreadID
}

func (m *merger) add(r *Run) {
	b := m.b
	events := make([]uint32, len(r.Events))
	for i, e := range r.Events {
		events[i] = b.Event(e)
		known := &b.r.Events[events[i]]
		if known.Period != e.Period {
			known.Period = 0
		}
		if known.Frequency != e.Frequency {
			known.Frequency = 0
		}
		known.WeightSqLowerBound = known.WeightSqLowerBound || e.WeightSqLowerBound
		known.Running = min(known.Running, e.Running)
		if known != &r.Events[i] && b.r.Accounting.In > 0 {
			known.Lost += e.Lost
		}
	}
	functions := make([]uint32, len(r.Functions))
	for i, f := range r.Functions {
		functions[i] = b.Function(f)
	}
	mappings := make([]uint32, len(r.Mappings))
	for i := 1; i < len(r.Mappings); i++ {
		mappings[i] = m.mapping(&r.Mappings[i])
	}
	for _, idle := range r.Idle {
		if !m.idle[idle] {
			m.idle[idle] = true
			b.r.Idle = append(b.r.Idle, idle)
		}
	}
	locations := make([]uint32, len(r.Locations))
	for i := range r.Locations {
		l := &r.Locations[i]
		lines := make([]Line, len(l.Lines))
		for j, line := range l.Lines {
			line.Function = functions[line.Function]
			lines[j] = line
		}
		addr := l.Address
		if l.Mapping != 0 {
			addr += b.r.Mappings[mappings[l.Mapping]].Start - r.Mappings[l.Mapping].Start
		}
		locations[i] = b.Location(mappings[l.Mapping], addr, lines...)
	}
	stacks := make([]StackID, r.Stacks.Len())
	for id := StackID(1); int(id) < r.Stacks.Len(); id++ {
		stacks[id] = b.Stack(stacks[r.Stacks.Parent(id)], locations[r.Stacks.Location(id)])
	}
	labels := make([]uint32, len(r.Labels))
	for i, l := range r.Labels {
		labels[i] = b.Labels(l)
	}
	for i := range r.Samples {
		s := &r.Samples[i]
		b.AddSum(events[s.Event], stacks[s.Stack], labels[s.Labels], s.Count, s.Weight, s.WeightSq)
	}
	m.waits(r, stacks)
	b.r.Accounting.Add(r.Accounting)
	b.r.Warnings = append(b.r.Warnings, r.Warnings...)
	b.r.Measured = append(b.r.Measured, r.Measured...)
	b.r.Counters = append(b.r.Counters, r.Counters...)
}

// waits adds who waited when in r, later than all that was added before: clocks of recordings
// need not be one clock, and only recordings of their own have one graph of who waited for whom.
func (m *merger) waits(r *Run, stacks []StackID) {
	to := m.b.r
	if len(r.Threads) == 0 {
		return
	}
	if len(to.Threads) == 0 {
		to.Threads = []Thread{{}}
		m.threads = map[Thread]ThreadID{{}: 0}
	}
	threads := make([]ThreadID, len(r.Threads))
	for i, t := range r.Threads {
		id, ok := m.threads[t]
		if !ok {
			id = ThreadID(len(to.Threads))
			to.Threads = append(to.Threads, t)
			m.threads[t] = id
		}
		threads[i] = id
	}
	end, start := int64(0), int64(math.MaxInt64)
	for i := range to.Waits {
		end = max(end, to.Waits[i].End+1)
	}
	for i := range to.Holds {
		end = max(end, to.Holds[i].End+1)
	}
	for i := range r.Waits {
		start = min(start, r.Waits[i].Start)
	}
	for i := range r.Holds {
		start = min(start, r.Holds[i].Start)
	}
	for _, w := range r.Waits {
		w.Start, w.End = w.Start-start+end, w.End-start+end
		w.Thread, w.Owner, w.Waker = threads[w.Thread], threads[w.Owner], threads[w.Waker]
		w.Stack, w.OwnerStack, w.WakerStack = stacks[w.Stack], stacks[w.OwnerStack], stacks[w.WakerStack]
		m.b.AddWait(w)
	}
	to.ShortWaits.Count += r.ShortWaits.Count
	to.ShortWaits.Time += r.ShortWaits.Time
	to.ShortWaits.Below = max(to.ShortWaits.Below, r.ShortWaits.Below)
	for _, h := range r.Holds {
		h.Start, h.End = h.Start-start+end, h.End-start+end
		h.Thread, h.Stack = threads[h.Thread], stacks[h.Stack]
		to.Holds = append(to.Holds, h)
	}
}

func (m *merger) mapping(p *Mapping) uint32 {
	key := mergeMapping{file: p.File, buildID: p.BuildID, offset: p.Offset, size: p.Limit - p.Start, kind: p.Kind}
	i, ok := m.mappings[key]
	if !ok {
		i = m.b.Mapping(*p)
		m.mappings[key] = i
	}
	q := &m.b.r.Mappings[i]
	q.HasFunctions = q.HasFunctions || p.HasFunctions
	q.HasFilenames = q.HasFilenames || p.HasFilenames
	q.HasLineNumbers = q.HasLineNumbers || p.HasLineNumbers
	q.HasInlineFrames = q.HasInlineFrames || p.HasInlineFrames
	return i
}

// agree keeps the facts that are the same in b, all but when it was recorded.
func (r *Recording) agree(b *Recording) {
	all := *r
	x, y := reflect.ValueOf(r).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		if !x.Field(i).Equal(y.Field(i)) {
			x.Field(i).SetZero()
		}
	}
	r.Start = all.Start
	if !b.Start.IsZero() && (r.Start.IsZero() || b.Start.Before(r.Start)) {
		r.Start = b.Start
	}
	r.Duration = all.Duration + b.Duration
	if r.CommandTime = 0; all.CommandTime > 0 && b.CommandTime > 0 {
		r.CommandTime = all.CommandTime + b.CommandTime
	}
	r.FirstSample = min(all.FirstSample, b.FirstSample)
	r.LastSample = max(all.LastSample, b.LastSample)
	r.TraceOffCPU = all.TraceOffCPU || b.TraceOffCPU
}
