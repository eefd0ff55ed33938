// Package samples makes tables of samples of single addresses: misses, precise or not, and
// counters that samples of other events hold.
//
//  1. Samples are counted by address, while the recording is read.
//  2. Events are put together in sets of one PMU each, and it is decided which ratios can be
//     made of them.
//  3. Samples are counted by function and by basic block.
//  4. The branches that may have led to the address of an imprecise sample are its
//     candidates; package skid says how likely each is. A precise sample is at its branch.
//  5. Branches that are candidates of the same samples only cannot be told apart: they are
//     one row. Its interval holds that all samples in common are of it, or none.
//  6. Counters say how many misses there were from one sample to the next: these are given
//     to the function of the later, and to no branch.
package samples

import (
	"cmp"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/branch/counters"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// A Sampler collects the addresses of samples, until it is known which events matter.
type Sampler struct {
	events []eventSamples // by index in File.Attrs
	byKey  map[code.Place]int32
	places []place
	// cpus are where samples ran.
	cpus     map[uint32]struct{}
	Counters counters.Reads
}

type eventSamples struct {
	samples []sampleAt
}

type sampleAt struct {
	place  int32
	exact  bool // the address is exactly the instruction
	weight uint64
}

// A place is an address of a DSO that has samples.
type place struct {
	key   code.Place
	frame perfsession.Frame
}

// Places without a mapping have these for DSO.ID.
const (
	noUserDSO   = -1
	noKernelDSO = -2
	noGuestDSO  = -3
)

// New returns a Sampler without samples.
func New() *Sampler {
	return &Sampler{byKey: make(map[code.Place]int32), cpus: make(map[uint32]struct{}), Counters: counters.New()}
}

// Add notes a sample.
func (s *Sampler) Add(file *perffile.File, sample *perfsession.Sample) {
	for len(s.events) < len(file.Attrs) {
		s.events = append(s.events, eventSamples{})
	}
	attr := &file.Attrs[sample.Event]
	if attr.SampleType.Has(perffile.SampleCPU) && len(s.cpus) < 1<<16 {
		s.cpus[sample.Raw.CPU] = struct{}{}
	}
	place := s.place(sample)
	weight := uint64(sample.Weight)
	if p := attr.FixedPeriod(); p > 0 {
		weight = p
	}
	e := &s.events[sample.Event]
	e.samples = append(e.samples, sampleAt{place: place, weight: weight, exact: sample.Raw.Misc&perffile.MiscExactIP != 0})
	if len(sample.Raw.Read.Values) > 0 {
		s.Counters.Add(file, sample, place)
	}
}

func (s *Sampler) place(sample *perfsession.Sample) int32 {
	frame := sample.Frames[0]
	key := code.PlaceOf(frame.Map, frame.Addr)
	switch {
	case frame.Map != nil:
	case frame.Guest:
		key.DSO = noGuestDSO
	case frame.Kernel:
		key.DSO = noKernelDSO
	}
	i, ok := s.byKey[key]
	if !ok {
		i = int32(len(s.places))
		s.byKey[key] = i
		s.places = append(s.places, place{key, frame})
	}
	return i
}

// DropUnsettled is the reason to drop samples that weigh next to nothing, see
// [estimate.Settled].
const DropUnsettled = "period not settled"

// orderRows orders rows by what they cost, then by misses.
func orderRows(rows []branch.Branch) {
	slices.SortFunc(rows, func(a, b branch.Branch) int {
		return cmp.Or(
			-cmp.Compare(a.Centre, b.Centre), -cmp.Compare(*a.Misses, *b.Misses), cmp.Compare(a.DSO, b.DSO),
			cmp.Compare(a.BuildID, b.BuildID), cmp.Compare(a.Address, b.Address), cmp.Compare(a.PMU, b.PMU),
		)
	})
}
