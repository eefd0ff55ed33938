package query

import (
	"bytes"
	"cmp"
	"slices"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
)

// Stacks are the stacks of both releases, weighted as functions are, so that those of a function add up to it.
type Stacks struct {
	List []Stack
	// Rest is what stacks cost that are not in the list, on both sides, and Left their number: 0 if it is not known, as there are too
	// many.
	Rest [2]float64
	Left int
}

// A Stack is what both sides spend in it.
type Stack struct {
	Frames        []int64 // ids of functions, leaf to root
	Before, After float64
}

// Limits of stacks: of how many sums are kept, and how many are handed on.
const (
	maxSums   = 1 << 21
	maxStacks = 60_000
)

// AskStacks sums the stacks of both releases. The heaviest are kept; of more than two million, those that come first.
func AskStacks(s *store.Store, p *Population) (*Stacks, error) {
	to, err := renames(s)
	if err != nil {
		return nil, err
	}
	return askStacks(s, p, to)
}

// askStacks sums stacks, whose functions are replaced by others.
func askStacks(s *store.Store, p *Population, to map[int64]int64) (*Stacks, error) {
	out := &Stacks{}
	sums := make(map[[16]byte]*[2]float64)
	err := s.Samples(p.selection(), func(rows []fleet.Sample) error {
		for i := range rows {
			x := &rows[i]
			unit := p.unitOf(x.ProfileID, x.BatchID)
			if unit < 0 || x.SampleType != p.SampleType || x.Value <= 0 {
				continue
			}
			at := p.units[unit].stratum
			v := float64(x.Value) * p.strata[at].weight / p.strata[at].w
			sum, ok := sums[x.StackID]
			if !ok {
				if len(sums) == maxSums {
					out.Rest[at%2] += v
					continue
				}
				sum = new([2]float64)
				sums[x.StackID] = sum
			}
			sum[at%2] += v
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	type kept struct {
		id  [16]byte
		sum *[2]float64
	}
	list := make([]kept, 0, len(sums))
	for id, sum := range sums {
		list = append(list, kept{id, sum})
	}
	slices.SortFunc(list, func(a, b kept) int {
		return cmp.Or(-cmp.Compare(a.sum[0]+a.sum[1], b.sum[0]+b.sum[1]), bytes.Compare(a.id[:], b.id[:]))
	})
	for _, k := range list[min(len(list), maxStacks):] {
		out.Rest[0] += k.sum[0]
		out.Rest[1] += k.sum[1]
		out.Left++
	}
	list = list[:min(len(list), maxStacks)]
	index := make(map[[16]byte]int, len(list))
	out.List = make([]Stack, len(list))
	for i, k := range list {
		index[k.id] = i
		out.List[i] = Stack{Before: k.sum[0], After: k.sum[1]}
	}
	for k, err := range s.Stacks() {
		if err != nil {
			return nil, err
		}
		if i, ok := index[k.StackID]; ok {
			frames := slices.Clone(k.Frames)
			for n, id := range frames {
				if other, ok := to[id]; ok {
					frames[n] = other
				}
			}
			out.List[i].Frames = frames
		}
	}
	return out, nil
}
