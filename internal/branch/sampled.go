package branch

import (
	"cmp"
	"slices"

	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// Totals are what one PMU counted in the whole recording. Cores of different kinds
// have PMUs of their own and are never added up.
type Totals struct {
	// PMU is "" if all events are of one.
	PMU string
	// Names of the events that the amounts are of, "" if there is none.
	MissEvent, BranchEvent, InstructionEvent, CycleEvent string
	// nil is unknown.
	Misses, Branches, Instructions, Cycles *Amount
	Rate, MPKI                             *Ratio
	// Source says where the numbers are from: "samples", "counters" or the name of the
	// file of perf stat or simpleperf stat.
	Source string
	// RateRefused and MPKIRefused say why there is no such ratio, "" if there is or if
	// one of the events is missing.
	RateRefused, MPKIRefused string
}

// A Function is what samples or counters say of one function, or of all code of a DSO
// that has no names.
type Function struct {
	PMU          string
	DSO, BuildID string
	Name         string // "" if it is not known
	File         string
	Line         int64
	// Misses are those of samples in the function: the branches may be in others.
	Misses                         Amount
	Branches, Instructions, Cycles *Amount
	// Share is that of all misses of the PMU.
	Share *float64
	// Rate is misses per branch, both of samples in the function.
	Rate, MPKI *Ratio
	CyclesLost *[2]float64
	// Named is the number of samples of misses for which branches are named, Unnamed
	// that of the others by the reason.
	Named   int64
	Unnamed map[string]int64
	Enough  bool
	centre  float64
}

// A Block is a basic block with samples of misses. The numbers are of the block that
// the sample is in, without any attribution to branches.
type Block struct {
	PMU          string
	DSO, BuildID string
	Function     string
	// Start and End are addresses in the symbol table of the DSO.
	Start, End       uint64
	Misses, Branches Amount
	Rate             *Ratio
}

// Attribution says for how many samples of misses branches are named.
type Attribution struct {
	In      int64            // samples of misses
	Named   int64            // with at least one candidate
	Unnamed map[string]int64 // in functions or files that are known, by reason
	// Unmapped are in memory that no file is known of.
	Unmapped int64
	// Exact is the number of those named whose branch the sample is at.
	Exact int64
	// Skid is how likely a sample is 0, 1, 2, … instructions behind its branch, nil if
	// there are no imprecise samples with candidates.
	Skid []float64
}

// Balanced reports whether all samples are accounted for.
func (a *Attribution) Balanced() bool {
	n := a.Named + a.Unmapped
	for _, v := range a.Unnamed {
		n += v
	}
	return n == a.In
}

// SampledCounts are the samples that a row of imprecise samples is made from.
type SampledCounts struct {
	// Exclusive are misses of samples without another candidate. Shared are the parts
	// of others, by how likely each candidate is.
	Exclusive, Shared float64
	// ExclusiveSamples and SharedSamples are the numbers of such samples.
	ExclusiveSamples, SharedSamples int64
}

// A RowCandidate is a branch that may be what a row of imprecise samples is of.
type RowCandidate struct {
	Address  uint64
	Kind     Kind
	Function string
	Offset   *uint64
	File     string
	Line     int64
	// Part is how likely it is this one, on average over the samples of the row.
	Part float64
	// Grouped is set if it is part of the row: all its samples are those of the row.
	Grouped bool
}

// A sampler collects the addresses of samples, until it is known which events matter.
type sampler struct {
	events []sampledEvent // by index in File.Attrs
	byKey  map[siteKey]int32
	places []sampledPlace
	// cpus are those that samples ran on.
	cpus     map[uint32]struct{}
	counters counterReads
}

type sampledEvent struct {
	samples []sampledAt
}

type sampledAt struct {
	place  int32
	exact  bool // the address is that of the instruction
	weight uint64
}

// A sampledPlace is an address of a DSO that has samples.
type sampledPlace struct {
	key   siteKey
	frame perfsession.Frame
}

// Places without a mapping have these for DSO.ID.
const (
	noUserDSO   = -1
	noKernelDSO = -2
	noGuestDSO  = -3
)

func newSampler() *sampler {
	return &sampler{byKey: make(map[siteKey]int32), cpus: make(map[uint32]struct{}), counters: newCounterReads()}
}

// add notes a sample.
func (s *sampler) add(file *perffile.File, sample *perfsession.Sample) {
	for len(s.events) < len(file.Attrs) {
		s.events = append(s.events, sampledEvent{})
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
	e.samples = append(e.samples, sampledAt{place: place, weight: weight, exact: sample.Raw.Misc&perffile.MiscExactIP != 0})
	if len(sample.Raw.Read.Values) > 0 {
		s.counters.add(file, sample, place)
	}
}

func (s *sampler) place(sample *perfsession.Sample) int32 {
	frame := sample.Frames[0]
	key := place(frame.Map, frame.Addr)
	switch {
	case frame.Map != nil:
	case frame.Guest:
		key.dso = noGuestDSO
	case frame.Kernel:
		key.dso = noKernelDSO
	}
	i, ok := s.byKey[key]
	if !ok {
		i = int32(len(s.places))
		s.byKey[key] = i
		s.places = append(s.places, sampledPlace{key, frame})
	}
	return i
}

// settled returns the weight below which samples are dropped: while the kernel still
// looks for the period that gives the frequency, samples weigh next to nothing. The
// bound is 1 % of the median.
func settled(weights []uint64) uint64 {
	if len(weights) == 0 {
		return 0
	}
	slices.Sort(weights)
	return weights[len(weights)/2] / 100
}

const dropUnsettled = "period not settled"

// orderRows orders rows by what they cost, then by misses.
func orderRows(rows []Branch) {
	slices.SortFunc(rows, func(a, b Branch) int {
		return cmp.Or(
			-cmp.Compare(a.centre, b.centre), -cmp.Compare(*a.Misses, *b.Misses), cmp.Compare(a.DSO, b.DSO),
			cmp.Compare(a.BuildID, b.BuildID), cmp.Compare(a.Address, b.Address), cmp.Compare(a.PMU, b.PMU),
		)
	})
}
