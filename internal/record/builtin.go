package record

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
	if _, err := processIDs(p.Process); err != nil {
		return err
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

// processIDs reads IDs of processes with commas between.
func processIDs(text string) (list []int, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("process %q: give its number, which pgrep NAME finds", part)
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list, nil
}

// options are what a plan says of a side, with a command line that tells others as much.
func (b *Builtin) options(p *Plan, side Side) (opt *sampler.Options, err error) {
	opt = &sampler.Options{
		Chains: p.CallGraph != "none", System: p.SystemWide, Version: strings.TrimSpace("profdiff " + b.Version),
		Command: []string{"profdiff", "record"},
	}
	if opt.Events, err = samplerEvents(p.Events); err != nil {
		return nil, err
	}
	if opt.Processes, err = processIDs(p.Process); err != nil {
		return nil, err
	}
	if way, bytes, _ := strings.Cut(p.CallGraph, ","); way == "dwarf" {
		opt.Stack = defaultStack
		if bytes != "" {
			if opt.Stack, err = strconv.Atoi(bytes); err != nil {
				return nil, err
			}
		}
	}
	if p.CallGraph != "fp" && p.CallGraph != "" {
		opt.Command = append(opt.Command, "--call-graph", p.CallGraph)
	}
	if p.OffCPU {
		opt.Switches = true
		opt.Events = append(opt.Events, sampler.SwitchesEvent)
	}
	if p.SystemWide {
		opt.Command = append(opt.Command, "-a")
	}
	if p.Process != "" {
		opt.Command = append(opt.Command, "-p", p.Process)
	}
	if p.Duration > 0 {
		opt.Command = append(opt.Command, "--duration", strconv.FormatFloat(p.Duration, 'f', -1, 64))
	}
	if words := command.Words(p.Side(side).Run); len(words) > 0 {
		opt.Command = append(append(opt.Command, "--"), words...)
	}
	return opt, nil
}

// Record implements [Backend]. The file is in the folder of the recording.
func (b *Builtin) Record(ctx context.Context, p *Plan, side Side, file string) (*Result, error) {
	opt, err := b.options(p, side)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	result := new(Result)
	r, err := b.sample(ctx, p, side, opt, file, result)
	if err != nil && full(filepath.Dir(file)) && (ctx.Err() == nil || p.Alone) {
		return nil, errFull
	}
	if err != nil {
		return nil, err
	}
	result.After, result.Notes = b.moment(), r.Notes
	if len(r.UserOnly) > 0 {
		result.Notes = append(result.Notes, "only user code was recorded: kernel.perf_event_paranoid allows users no more")
	}
	s, err := Summarize(file)
	if err != nil {
		return nil, err
	}
	result.Samples, result.Lost = s.Samples, s.Lost
	if opt.System || len(opt.Processes) > 0 {
		began = time.Time{} // what ran before named its code before
	} else {
		result.Command = s.Command
	}
	notes, err := b.keep(file, s.Objects, began, p.Alone)
	result.Notes = append(result.Notes, notes...)
	return result, err
}

// sample records while the command of a side runs, or if there is none, until the time is over,
// the processes have ended or the user ends it.
func (b *Builtin) sample(ctx context.Context, p *Plan, side Side, opt *sampler.Options, file string, result *Result) (*sampler.Recording, error) {
	c := p.Side(side)
	run := func(within context.Context) error {
		if c.Run == "" {
			result.Start = time.Now()
			<-within.Done()
			result.Duration = time.Since(result.Start)
			return nil
		}
		done, err := c.under(nil, nil).Run(within)
		if done == nil {
			return err
		}
		result.Process = *done
		if p.Alone { // what was recorded so far is kept
			if within.Err() == nil {
				result.Failed = err
			}
			return nil
		}
		return err
	}
	if !opt.System && len(opt.Processes) == 0 {
		return sampler.Record(opt, file, func() error { return run(ctx) })
	}
	if p.Duration > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Duration(p.Duration*float64(time.Second)))
		defer stop()
	}
	return sampler.Attach(ctx, opt, file, run)
}
