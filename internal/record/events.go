package record

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/sampler"
)

// Periods that the backend chooses are prime, so that they do not fall in step with
// loops of the program.
const (
	clockPeriod = 1003009 // of cpu-clock and task-clock: nanoseconds, 997 times a second
	// perSecond is about how many samples of other events are taken in a second.
	perSecond = 1000
)

// Counts are how often events happened, by their names, in so many seconds.
type Counts struct {
	Events  map[string]float64
	Seconds float64
}

// ErrUnsupported says that there is no such event where it was to be counted.
var ErrUnsupported = sampler.ErrUnsupported

// ChooseEvents completes the events of a plan and their periods; without counters in
// hardware it chooses time, and notes why. count counts the events of the plan while a
// command runs, or while nothing does.
func ChooseEvents(ctx context.Context, p *Plan, why string, count func(*Command) (*Counts, error)) (notes []string, err error) {
	chosen := len(p.Events) == 0
	if chosen {
		p.Events = []Event{{Name: "cpu-cycles", Frequency: p.Frequency}}
	}
	// What a command of no duration counts tells whether an event is there.
	counted, err := count(nil)
	if chosen && errors.Is(err, ErrUnsupported) {
		p.Events[0].Name = "cpu-clock"
		notes = append(notes, why)
		counted, err = count(nil)
	}
	if err != nil {
		return nil, err
	}
	if p.Alone {
		rateAlone(p.Events)
	}
	open := func(e Event) bool { return e.Period == 0 && e.Frequency == 0 }
	// To choose periods takes a run of the program.
	if slices.ContainsFunc(p.Events, func(e Event) bool { return open(e) && !IsClock(e.Name) }) {
		if err := prepare(ctx, p, Before); err != nil {
			return nil, fmt.Errorf("before: %w", err)
		}
		if counted, err = count(&p.Before); err != nil {
			return nil, err
		}
	}
	for i := range p.Events {
		e := &p.Events[i]
		if !open(*e) {
			continue
		}
		e.Period = clockPeriod
		if !IsClock(e.Name) {
			e.Period = choosePeriod(counted.Events[e.Name], counted.Seconds)
			notes = append(notes, fmt.Sprintf("%s: a sample every %d", e.Name, e.Period))
		}
	}
	return notes, nil
}

func IsClock(event string) bool {
	name, _, _ := strings.Cut(event, ":")
	return name == "cpu-clock" || name == "task-clock"
}

// choosePeriod is a prime period that gives about perSecond samples a second of an
// event that was counted so often in so many seconds. Rare events are all sampled.
func choosePeriod(count, seconds float64) uint64 {
	want := count / max(seconds, 1e-3) / perSecond
	if !(want > 2) {
		return 1
	}
	n := uint64(math.Min(want, 1<<40)) | 1
	for !prime(n) {
		n += 2
	}
	return n
}

func prime(n uint64) bool {
	for d := uint64(3); d*d <= n; d += 2 {
		if n%d == 0 {
			return false
		}
	}
	return n > 2
}
