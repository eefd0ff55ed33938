package record

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"path/filepath"
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
	case len(p.Events) > 0 || p.Frequency > 0:
		return nil, nil, errors.New("callgrind counts what it counts: leave events and --frequency out")
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
		if words := command.Words(p.Side(side).Run); len(words) > 0 {
			err = hintGo(words[0], p.Side(side).Dir, err)
		}
		return nil, err
	}
	return &Result{Process: *done}, nil
}

// hintGo adds to an error of Valgrind what lets it run a program, if that is of Go: Valgrind 3.19
// aborts where Go's runtime collects garbage, stops goroutines by signals, or runs many threads.
func hintGo(program, dir string, err error) error {
	if !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	if _, not := buildinfo.ReadFile(program); not != nil {
		return err
	}
	return fmt.Errorf("%w; of a Go program, GOMAXPROCS=1 GODEBUG=asyncpreemptoff=1 GOGC=off in the environment lets Valgrind run more", err)
}
