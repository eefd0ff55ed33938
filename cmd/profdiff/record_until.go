package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"profdiff/internal/compare"
	"profdiff/internal/record"
	"profdiff/internal/verdict"
)

// recordUntil records until the total is decided, or twice the runs are there.
func (s *stdio) recordUntil(ctx context.Context, r *record.Recorder, dir string, p *record.Plan) error {
	levels := verdict.LookLevels()
	if p.Runs < verdict.LeastPlanned {
		return fmt.Errorf("--until decided needs --runs %d or more: fewer cannot reach the level of the first look, %.2g", verdict.LeastPlanned, levels[0])
	}
	first := p.Runs
	if rec, err := record.Open(dir); err == nil && len(rec.Looks) > 0 {
		if rec.Looks[0].Decided || len(rec.Looks) > 1 {
			return fmt.Errorf("%s: its looks are over; another one would not be worth its level", dir)
		}
		first = rec.Looks[0].Runs
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for look, level := range levels {
		plan := *p
		plan.Runs = first << look
		rec, err := s.record(ctx, r, dir, &plan)
		if err != nil {
			return err
		}
		if len(rec.Looks) > look {
			continue // before an interruption
		}
		total, err := s.total(dir)
		if err != nil {
			return err
		}
		l := record.Look{Runs: plan.Runs, Level: level, Decided: total.Tested && total.P <= level}
		if err := rec.AddLook(dir, l); err != nil {
			return err
		}
		if l.Decided {
			fmt.Fprintf(s.err, "profdiff: decided after %d runs a side: ratio %.3f, p %.2g at most %.2g\n", plan.Runs, total.Ratio, total.P, level)
			return nil
		}
		fmt.Fprintf(s.err, "profdiff: not decided after %d runs a side: p %.2g, has to be %.2g at most\n", plan.Runs, total.P, level)
	}
	return nil
}

// total compares the total of the first event of a recording.
func (s *stdio) total(dir string) (*compare.Change, error) {
	l := &loader{io: s}
	base, head, err := l.loadSides(&sideFlags{paths: []string{filepath.Join(dir, string(record.Before))}}, &sideFlags{paths: []string{filepath.Join(dir, string(record.After))}})
	if err != nil {
		return nil, err
	}
	c, err := compare.Compare(base, head, compare.Options{})
	if err != nil {
		return nil, err
	}
	return &c.Events[0].Total, nil
}
