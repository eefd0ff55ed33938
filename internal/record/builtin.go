package record

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/record/command"
	"profdiff/internal/sampler"
)

// Builtin records with what this program has itself, perf_event_open(2) of Linux: it needs no
// perf that fits the kernel, and takes some milliseconds where perf takes a quarter of a second
// before and after each command.
type Builtin struct {
	host
	keeper
	// Version is of this program, for the files.
	Version string
}

// Name implements [Backend].
func (*Builtin) Name() string { return "builtin" }

// Suffix implements [Backend].
func (*Builtin) Suffix() string { return ".data" }

// ErrForbidden says that the system lets nobody record, or not this user.
var ErrForbidden = sampler.ErrForbidden

// Can reports why a plan needs perf, nil if it does not.
func (b *Builtin) Can(p *Plan) error {
	var what string
	switch {
	case len(p.Arguments) > 0:
		what = "arguments for the recorder"
	case p.SystemWide:
		what = "the whole system"
	case p.CallGraph == "lbr":
		what = "--call-graph lbr"
	}
	if what != "" {
		return fmt.Errorf("%s: not without perf: --with perf", what)
	}
	for _, e := range p.Events {
		if _, err := sampler.ParseEvent(e.Name); err != nil {
			return err
		}
	}
	return sampler.Probe()
}

// Probe implements [Backend]. Without counters in hardware it records time.
func (b *Builtin) Probe(ctx context.Context, p *Plan) (*Machine, []string, error) {
	if err := b.Can(p); err != nil {
		return nil, nil, err
	}
	m := b.machine()
	m.Tools = []string{strings.TrimSpace("profdiff " + b.Version)}
	notes, err := ChooseEvents(ctx, p, "this machine has no hardware counters: recording cpu-clock, which is time; --with callgrind counts instructions and simulates branch misses", func(c *Command) (*Counts, error) {
		return b.count(ctx, p.Events, c)
	})
	return m, notes, err
}

// count counts events while a command runs, or none.
func (b *Builtin) count(ctx context.Context, events []Event, c *Command) (*Counts, error) {
	parsed, err := samplerEvents(events)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = &Command{Run: "true"}
	}
	var done *command.Process
	counts, err := sampler.Count(parsed, func() (err error) {
		done, err = c.under(nil, nil).Run(ctx)
		return err
	})
	if errors.Is(err, sampler.ErrUnsupported) {
		return nil, fmt.Errorf("%w: -e cpu-clock records time, and --with callgrind simulates branch misses", err)
	}
	if err != nil {
		return nil, err
	}
	counted := &Counts{Events: make(map[string]float64), Seconds: done.Duration.Seconds()}
	for i, e := range events {
		counted.Events[e.Name] = counts[i]
	}
	return counted, nil
}

func samplerEvents(events []Event) (list []sampler.Event, err error) {
	for _, e := range events {
		s, err := sampler.ParseEvent(e.Name)
		if err != nil {
			return nil, err
		}
		s.Period, s.Frequency = e.Period, e.Frequency
		list = append(list, s)
	}
	return list, nil
}

// defaultStack is how much of each stack is copied, as perf does.
const defaultStack = 8192

// Record implements [Backend]. The file is in the folder of the recording.
func (b *Builtin) Record(ctx context.Context, p *Plan, side Side, file string) (*Result, error) {
	events, err := samplerEvents(p.Events)
	if err != nil {
		return nil, err
	}
	argv := command.Words(p.Side(side).Run)
	opt := &sampler.Options{
		Events: events, Chains: p.CallGraph != "none", Version: strings.TrimSpace("profdiff " + b.Version),
		Command: append([]string{"profdiff", "record", "--"}, argv...),
	}
	if way, bytes, _ := strings.Cut(p.CallGraph, ","); way == "dwarf" {
		opt.Stack = defaultStack
		if bytes != "" {
			if opt.Stack, err = strconv.Atoi(bytes); err != nil {
				return nil, err
			}
		}
	}
	if p.OffCPU {
		opt.Switches = true
		opt.Events = append(opt.Events, sampler.SwitchesEvent)
	}
	began := time.Now()
	var done *command.Process
	r, err := sampler.Record(opt, file, func() (err error) {
		done, err = p.Side(side).under(nil, nil).Run(ctx)
		return err
	})
	if err != nil && ctx.Err() == nil && full(filepath.Dir(file)) {
		return nil, errFull
	}
	if err != nil {
		return nil, err
	}
	result := &Result{Process: *done, After: b.moment(), Notes: r.Notes}
	if len(r.UserOnly) > 0 {
		result.Notes = append(result.Notes, "only user code was recorded: kernel.perf_event_paranoid allows users no more")
	}
	s, err := Summarize(file)
	if err != nil {
		return nil, err
	}
	result.Samples, result.Lost, result.Command = s.Samples, s.Lost, s.Command
	notes, err := b.keep(file, s.Objects, began)
	result.Notes = append(result.Notes, notes...)
	return result, err
}
