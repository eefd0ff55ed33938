package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Alone records what a plan says of the side before, once, with nothing to compare it with, to a
// file that is not there; symbols/ beside it gets what names its addresses. The command, if there
// is one, has the standard files of this process. The built-in backend needs none where processes
// or the system are recorded, and keeps what it recorded until the command failed or ctx ended.
func Alone(ctx context.Context, b Backend, p *Plan, file string, tell func(note string)) (*Result, error) {
	_, builtin := b.(*Builtin)
	switch {
	case exists(file):
		return nil, fmt.Errorf("%s: is there already: -o FILE gives another name", file)
	case strings.TrimSpace(p.Before.Run) == "" && !builtin:
		return nil, fmt.Errorf("give a command: %s records while it runs", b.Name())
	}
	own := *p
	own.Alone, own.Before.Attended = true, true
	_, notes, err := b.Probe(ctx, &own)
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		tell(note)
	}
	for range own.Warmup {
		if err := prepare(ctx, &own, Before); err != nil {
			return nil, err
		}
		if _, err := b.Warm(ctx, &own, Before); err != nil {
			return nil, fmt.Errorf("warming up: %w", err)
		}
	}
	if err := prepare(ctx, &own, Before); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), dirMode); err != nil {
		return nil, err
	}
	result, err := b.Record(ctx, &own, Before, file)
	if err != nil && ctx.Err() == nil {
		if removed := os.RemoveAll(file); removed != nil {
			err = errors.Join(err, removed)
		}
	}
	if err != nil {
		return nil, err
	}
	p.Events = own.Events
	for _, note := range result.Notes {
		tell(note)
	}
	if result.Samples == 0 && builtin {
		tell("no sample was taken: what was recorded hardly ran")
	}
	return result, nil
}

// Periods and frequency of events other than time where a command is recorded alone: it is not
// run beforehand to count them.
const (
	alonePeriod    = 2000003 // of cycles and instructions: some thousand a second
	aloneFrequency = 997
)

// rateAlone completes events that have neither a period nor a frequency.
func rateAlone(events []Event) {
	for i := range events {
		e := &events[i]
		name, _, _ := strings.Cut(e.Name, ":")
		switch {
		case e.Period > 0 || e.Frequency > 0 || IsClock(name):
		case name == "cpu-cycles" || name == "cycles" || name == "instructions":
			e.Period = alonePeriod
		default:
			e.Frequency = aloneFrequency
		}
	}
}
