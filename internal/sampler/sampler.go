package sampler

import (
	"errors"
	"fmt"
	"time"
)

// Options say what is recorded, and how.
type Options struct {
	// Events have a period or a frequency each.
	Events []Event
	// Chains asks for call chains by frame pointers. With Stack, so many bytes of the stack of
	// user code are copied for each sample with its registers, a multiple of 8 up to 65528.
	Chains bool
	Stack  int
	// Switches notes when threads get a CPU and lose it.
	Switches bool
	// Pages of a ring, a power of two; 0 is 128, or 512 with copies of stacks.
	Pages int
	// Processes run already, and System is all of them, for [Attach].
	Processes []int
	System    bool
	// Version is of the recorder, and Command its command line, for the file.
	Version string
	Command []string
}

func (o *Options) pages() int {
	switch {
	case o.Pages > 0:
		return o.Pages
	case o.Stack > 0:
		return 512
	}
	return 128
}

// running reports whether something is recorded that runs already.
func (o *Options) running() bool { return o.System || len(o.Processes) > 0 }

// A Recording is what came of recording a command.
type Recording struct {
	// Pages is how large each ring was.
	Pages int
	// Bytes of records, of so many rounds.
	Bytes  int64
	Rounds int
	// Throttled is how often the kernel stopped an event because it took too much time.
	Throttled int64
	// Lost is how many records the rings had no room for.
	Lost int64
	// UserOnly are the events that could be recorded in user code only, which the system
	// allows.
	UserOnly []string
	// Notes are what the user should know: what the kernel is too old for, or forbids.
	Notes []string
	// Overhead is what this process took before the command was started, and after it.
	Before, After time.Duration
}

// Errors of [Record], [Count] and [Probe], each with what to do.
var (
	// ErrUnsupported says that there is no such event here.
	ErrUnsupported = errors.New("is not supported")
	// ErrForbidden says that the system lets nobody record, or not this user.
	ErrForbidden = errors.New("recording is not allowed here")
	// ErrNothing says that the command never ran: a recording without an exec.
	ErrNothing = errors.New("the events did not reach the command")
)

// check refuses what cannot be recorded anywhere.
func (o *Options) check() error {
	switch {
	case len(o.Events) == 0:
		return errors.New("no events")
	case o.Stack < 0 || o.Stack > maxStack || o.Stack%8 != 0:
		return fmt.Errorf("%d bytes of each stack: a multiple of 8 up to %d", o.Stack, maxStack)
	case o.pages()&(o.pages()-1) != 0:
		return fmt.Errorf("%d pages are no power of two", o.Pages)
	}
	for _, e := range o.Events {
		if e.Period == 0 && e.Frequency == 0 {
			return fmt.Errorf("event %s has neither a period nor a frequency", e.Name)
		}
	}
	return nil
}

// maxStack is the largest copy of a stack (perf_event_attr.sample_stack_user): the size of a
// record has 16 bits.
const maxStack = 65528
