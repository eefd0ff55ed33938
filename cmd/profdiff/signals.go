package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"profdiff/internal/limit"
	"profdiff/internal/scratch"
)

// grace is how long a command may take to end after a signal. Recorders need some of it, to
// end what they record; what reads or computes is ended when it is over.
const grace = 700 * time.Millisecond

// finishes is set by a command that makes a file of what it has when a signal comes: it may take
// its time, and only a second signal ends it.
var finishes atomic.Bool

// watchSignals gives a context that the first signal ends. A command that goes on for longer than
// the grace period is ended then, and by a second signal at once; its temporary files are removed.
// So is one that uses more memory than it may, with the exit code failure.
// interrupted turns the exit code of a command that a signal made fail into 128 + its number, as
// shells have it.
func watchSignals(failure int) (ctx context.Context, interrupted func(code int) int) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		// nohup(1) makes SIGHUP ignored. Shells make SIGINT ignored in what they start in the
		// background, where kill -INT has to end a recording none the less.
		if s != syscall.SIGHUP || !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	// Writing to a pipe that nobody reads gives an error then, and what was begun is removed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	var first atomic.Int32
	end := func(reason any, code int) {
		fmt.Fprintf(os.Stderr, "profdiff: %v\n", reason)
		_ = scratch.End() // there is nobody left to tell
		os.Exit(code)
	}
	go func() {
		var s syscall.Signal
		select {
		case reason := <-limit.Exceeded:
			end(reason, failure)
		case signal := <-signals:
			s, _ = signal.(syscall.Signal)
		}
		first.Store(int32(s))
		cancel(errInterrupted)
		var late <-chan time.Time
		if !finishes.Load() {
			late = time.After(grace)
		}
		select {
		case <-signals:
		case <-late:
		}
		end(errInterrupted, 128+int(s))
	}()
	return ctx, func(code int) int {
		if s := first.Load(); s != 0 && code != exitOK {
			return 128 + int(s)
		}
		return code
	}
}

// errInterrupted is why a command ends that a signal ended.
var errInterrupted = errors.New("interrupted")
