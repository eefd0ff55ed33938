package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"profdiff/internal/record/command"
)

// A session is one call of Record.
type session struct {
	*Recorder
	rec      *Recording
	dir      string
	order    order
	start    time.Time    // of the first run, after warming up
	begun    map[int]bool // pairs
	recorded int          // runs
	failed   int          // pairs, one after the other
	spent    Spent
	free     func(dir string) (int64, bool)
}

func newSession(r *Recorder, rec *Recording, dir string) *session {
	s := &session{
		Recorder: r, rec: rec, dir: dir, begun: make(map[int]bool),
		order: newOrder(rec.Order, rec.Plan.Seed, rec.Plan.Runs), free: r.free,
	}
	if s.free == nil {
		s.free = FreeBytes
	}
	return s
}

// next is the number of the pair to record next, 0 if all are there: first those that were
// not begun, then those that are incomplete.
func (s *session) next() int {
	have := s.rec.perPair()
	incomplete := 0
	for n := 1; n <= s.rec.Plan.Runs; n++ {
		switch {
		case have[n] == len(sides):
		case have[n] == 0 && !s.begun[n]:
			return n
		case incomplete == 0:
			incomplete = n
		}
	}
	return incomplete
}

// pair records both runs of a pair. A run that fails is no error until that happens too
// often: the pair is not complete, and its turn comes again.
func (s *session) pair(ctx context.Context, number int) (complete bool, err error) {
	if s.start.IsZero() {
		if err := s.warm(ctx, s.dir, s.rec); err != nil {
			return false, err
		}
		s.start = time.Now()
	}
	if s.begun[number] || s.rec.perPair()[number] > 0 {
		s.tell(Progress{Note: fmt.Sprintf("pair %d was incomplete: both runs of it are recorded again", number)})
		if err := s.rec.drop(s.dir, number); err != nil {
			return false, err
		}
	}
	s.begun[number] = true
	for _, job := range s.order.pair(number) {
		err := s.run(ctx, job)
		if err == nil {
			continue
		}
		exit, ok := errors.AsType[*command.ExitError](err)
		if !ok || ctx.Err() != nil || s.failed == attempts-1 || !exit.Killed && !s.works(job.Side) {
			return false, err
		}
		s.failed++
		s.tell(Progress{Job: job, Note: fmt.Sprintf("%v: the pair is recorded again at the end", exit)})
		return false, nil
	}
	s.failed = 0
	return true, nil
}

// attempts is how many pairs one after the other may fail until the recording does:
// commands fail now and then, and recorders crash, as perf 6.1 does while another recording
// asks for build IDs of mappings.
const attempts = 3

// works reports whether the command of a side ran to its end before.
func (s *session) works(side Side) bool {
	return s.rec.Plan.Warmup > 0 || slices.ContainsFunc(s.rec.Runs, func(r Run) bool { return r.Side == side })
}

// run records one run of a pair and notes it.
func (s *session) run(ctx context.Context, job Job) error {
	rec := s.rec
	p := Progress{Job: job, Total: 2 * rec.Plan.Runs, Elapsed: time.Since(s.start), Spent: s.spent}
	for number, runs := range rec.perPair() {
		if runs == len(sides) || number == job.Number { // others are recorded again
			p.Done += runs
		}
	}
	if s.recorded > 0 {
		p.Left = p.Elapsed / time.Duration(s.recorded) * time.Duration(p.Total-p.Done)
	}
	s.tell(p)
	if err := CheckSpace(s.dir, rec.bytesLeft(p.Total-p.Done), s.free); err != nil {
		return err
	}
	run, took, err := s.one(ctx, s.dir, rec, job)
	if err != nil {
		return sideErrorf(job.Side, "run %d: %w", job.Number, err)
	}
	rec.Runs = append(rec.Runs, *run)
	if err := rec.write(s.dir); err != nil {
		return err
	}
	s.recorded++
	s.spent.Commands += took.Commands
	s.spent.Recorder += took.Recorder
	p.Done, p.Elapsed, p.Spent, p.Run = p.Done+1, time.Since(s.start), s.spent, run
	p.Left = p.Elapsed / time.Duration(s.recorded) * time.Duration(p.Total-p.Done)
	s.tell(p)
	return nil
}
