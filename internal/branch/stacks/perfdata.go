package stacks

import (
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/branch/counters"
	"profdiff/internal/branch/estimate"
	"profdiff/internal/branch/events"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// addEvents adds the events of a perf.data file that have become known. Their numbers
// are the indices in File.Attrs.
func (c *Collector) addEvents(file *perffile.File) {
	for i := len(c.events); i < len(file.Attrs); i++ {
		a := &file.Attrs[i]
		e := branch.Event{Name: a.Name, Period: a.FixedPeriod(), Precise: a.Flags.PreciseIP() > 0, Counts: events.CountsOf(a, &file.Info)}
		const anyBranch = 1 << 3 // PERF_SAMPLE_BRANCH_ANY
		c.event(e, a.BranchSampleType.Has(anyBranch))
		if i < len(c.Least) {
			c.events[i].least = float64(c.Least[i])
		}
	}
}

// AddSample counts the stack of a sample of perf.data.
func (c *Collector) AddSample(file *perffile.File, s *perfsession.Sample) {
	c.addEvents(file)
	event, attr := s.Event, &file.Attrs[s.Event]
	st := &c.sample
	st.event, st.pid, st.weight = event, s.Raw.PID, float64(s.Weight)
	if !s.Raw.HasPeriod && attr.FixedPeriod() == 0 {
		c.events[event].weightless = true
	}
	if attr.BranchSampleType.Has(perffile.BranchCallStack) && len(s.Raw.Branches) > 0 {
		c.LeaveOut(dropCallStack)
		return
	}
	st.entries = st.entries[:0]
	for i := range s.Raw.Branches {
		b := &s.Raw.Branches[i]
		const wrongPath = 1 // PERF_BR_SPEC_WRONG_PATH
		st.entries = append(st.entries, entry{
			from: b.From, to: b.To, mispredicted: b.Mispredicted, predicted: b.Predicted,
			wrongPath: b.Spec == wrongPath, cycles: b.Cycles, kind: kernelKind(b.Type),
		})
	}
	c.add(st)
}

// Account notes what the recording says beside its samples: what was lost, what the
// counters of events say, and which events were always counted together.
func (c *Collector) Account(file *perffile.File, s *perfsession.Stats, totals map[int]counters.Total) {
	c.addEvents(file)
	c.samples.In += s.UnknownEvent + s.BadPeriod
	c.samples.Drop(branch.DropUnknownEvent, s.UnknownEvent)
	c.samples.Drop(branch.DropBadPeriod, s.BadPeriod)
	c.samples.Lost = s.LostSamples()
	for i, n := range s.Lost {
		if i >= 0 && i < len(c.events) {
			c.events[i].lost = n
		}
	}
	for i, total := range totals {
		c.events[i].counted = total
	}
	for k, g := range file.Info.Groups {
		for i := uint64(g.Leader); i < min(uint64(g.Leader)+uint64(g.N), uint64(len(c.events))); i++ {
			c.events[i].group = k + 1
		}
	}
}

// Kinds of PERF_BR_* of enum perf_branch_type in include/uapi/linux/perf_event.h.
func kernelKind(t uint8) branch.Kind {
	switch t {
	case 1, 9, 10: // COND, COND_CALL, COND_RET
		return branch.Conditional
	case 2: // UNCOND
		return branch.Direct
	case 3, 5: // IND, IND_CALL
		return branch.Indirect
	case 4: // CALL
		return branch.Call
	case 6: // RET
		return branch.Return
	case 7, 8, 11, 12, 13, 14: // SYSCALL, SYSRET, ERET, IRQ, SERROR, NO_TX
		return branch.Transfer
	}
	return branch.UnknownKind
}

// SettledWeights returns for each event the weight below which the period of samples
// with stacks had not settled. If the recorder varied it, which weights
// are usual is known only when all have been read.
func SettledWeights(file *perffile.File) ([]uint64, error) {
	varies := func(a *perffile.Attr) bool {
		return a.FixedPeriod() == 0 && a.SampleType.Has(perffile.SamplePeriod|perffile.SampleBranchStack)
	}
	// Recordings of pipes have their events among the records.
	if len(file.Attrs) > 0 && !slices.ContainsFunc(file.Attrs, func(a perffile.Attr) bool { return varies(&a) }) {
		return nil, nil
	}
	first, err := file.Again()
	if err != nil {
		return nil, err
	}
	var weights [][]uint64
	var sample perffile.Sample
	for record, err := range first.Records() {
		if err != nil {
			return nil, err
		}
		if record.Type != perffile.RecordSample {
			continue
		}
		if err := record.DecodeSample(&sample); err != nil {
			return nil, err
		}
		if sample.Attr < 0 || !varies(&first.Attrs[sample.Attr]) {
			continue
		}
		for len(weights) <= sample.Attr {
			weights = append(weights, nil)
		}
		weights[sample.Attr] = append(weights[sample.Attr], sample.Period)
	}
	least := make([]uint64, len(weights))
	for i := range weights {
		least[i] = estimate.Settled(weights[i])
	}
	return least, nil
}
