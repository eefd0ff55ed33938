package predict

import (
	"context"
	"fmt"

	"profdiff/internal/predict/hot"
)

// hottestLoop is the hottest loop of a recording in those functions whose names match
// accepts: the name of the pair that is returned, with one iteration as its unit and the
// loop as both sides.
func hottestLoop(ctx context.Context, tool hot.Disassembler, in *SideInput, match func(name string) bool) (*Pair, error) {
	if !in.Profile.Addressed() {
		return nil, fmt.Errorf("%s: has no addresses, which tell what loop is hot", in.Name)
	}
	loops, err := in.Profile.Loops(in.Binary)
	if err != nil {
		return nil, err
	}
	for _, h := range loops {
		if !match(h.Function.Name) {
			continue
		}
		u, err := in.side(ctx, tool, h, 0, false)
		if err != nil {
			return nil, err
		}
		// Of a loop with few trips the unit is what is around it.
		u.Loop = h.Loop
		return &Pair{
			Name: h.Name(), Unit: fmt.Sprintf("an iteration of the loop at %#x of %s", h.Address(), u.Code.Root.Name),
			Base: u.Side, Head: u.Side, Source: u.Rates.Source,
		}, nil
	}
	return nil, fmt.Errorf("%s: no samples in a loop of a function that matches", in.Name)
}
