package record

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"profdiff/internal/record/command"
)

// Callgrind counts instructions and simulates branch misses with valgrind: it needs no
// counters of hardware, and repeats to within what the environment of a process
// changes. It is some fifty times slower than the program.
type Callgrind struct{ host }

// Name implements [Backend].
func (*Callgrind) Name() string { return "callgrind" }

// Suffix implements [Backend].
func (*Callgrind) Suffix() string { return ".out" }

// Probe implements [Backend].
func (b *Callgrind) Probe(ctx context.Context, p *Plan) (*Machine, []string, error) {
	switch {
	case len(p.Events) > 0:
		return nil, nil, errors.New("callgrind counts what it counts: leave the events out")
	case p.SystemWide || p.OffCPU:
		return nil, nil, errors.New("callgrind simulates one program: it knows neither the system nor time")
	}
	m := b.machine()
	version, err := command.Run(ctx, []string{"valgrind", "--version"}, nil)
	if errors.Is(err, command.ErrNotFound) {
		return nil, nil, errors.New("valgrind is not installed: install the package valgrind")
	}
	if err != nil {
		return nil, nil, err
	}
	m.Tools = []string{strings.TrimSpace(string(version.Output))}
	return m, nil, nil
}

// Record implements [Backend].
func (b *Callgrind) Record(ctx context.Context, p *Plan, side Side, file string) (*Result, error) {
	if strings.Contains(file, "%") {
		return nil, fmt.Errorf("%s: valgrind replaces %% in names of files: choose another folder", file)
	}
	args := []string{
		"valgrind", "-q", "--tool=callgrind", "--branch-sim=yes", "--dump-instr=yes", "--collect-jumps=yes",
		"--callgrind-out-file=" + file,
	}
	args = append(args, p.Arguments...)
	done, err := p.Side(side).under(args, nil).Run(ctx)
	if err != nil {
		return nil, err
	}
	return &Result{Process: *done}, nil
}
