package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"profdiff/internal/exchange"
	"profdiff/internal/otlp"
	"profdiff/internal/run"
)

// send sends a run to the server that an address names, as a profile of pprof or of OTLP.
func (s *stdio) send(ctx context.Context, name string, r *run.Run, names run.SampleTypeNames) error {
	shown := exchange.Shown(name)
	a, err := exchange.Parse(name, time.Now())
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	if !a.At.IsZero() {
		r.Recording.Start = a.At
	}
	var out bytes.Buffer
	if a.Protocol == exchange.OTLP {
		opt := otlp.Options{Names: names}
		for _, l := range a.Labels {
			opt.Resource = append(opt.Resource, otlp.Attribute{Key: l.Name, Value: l.Value})
		}
		err = otlp.Write(&out, r, opt)
	} else {
		err = r.WriteProfile(&out, run.ProfileOptions{Names: names})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	said, err := exchange.Send(ctx, a, exchange.Kind(r.Events[0].Name), out.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	s.note(said)
	return nil
}

// noteMerged says that a server made a run of many profiles.
func (s *stdio) noteMerged(r *run.Run) {
	if r.Recording.Merged != "" {
		s.note(fmt.Sprintf("%s: is one run, made of %s: nothing tells how much they vary", r.Name, r.Recording.Merged))
	}
}

// joinMerged makes one run of each side if there is one on any that a server merged: it has no
// runs that could be told apart, and a verdict needs them on both sides.
func (s *stdio) joinMerged(sides ...*[]*run.Run) error {
	merged, several := false, false
	for _, side := range sides {
		for _, r := range *side {
			merged = merged || r.Recording.Merged != ""
		}
		several = several || len(*side) > 1
	}
	if !merged || !several {
		return nil
	}
	s.note("each side is taken as one run, because a server merged some of what is compared: there are leads, and no verdicts")
	for _, side := range sides {
		if len(*side) < 2 {
			continue
		}
		one, err := mergeAll(*side)
		if err != nil {
			return err
		}
		*side = []*run.Run{one}
	}
	return nil
}
