package trace

import (
	"strconv"
	"strings"
)

// A State is what a thread does, as the kernel's scheduler has it. 0 is runnable: it could run
// and has no CPU.
type State uint16

// The states. All but Running, Preempted and Invalid are reasons to be blocked, of which a
// thread may have several. The letters are those that sched_switch prints.
const (
	Runnable        State = 0      // R
	Sleeping        State = 0x01   // S: waits, for a signal too
	Uninterruptible State = 0x02   // D: waits, mostly for a disk or a lock of the kernel
	Stopped         State = 0x04   // T
	Traced          State = 0x08   // t
	Dead            State = 0x10   // X
	Zombie          State = 0x20   // Z
	Parked          State = 0x40   // P
	TaskDead        State = 0x80   // x
	WakeKill        State = 0x100  // K
	Waking          State = 0x200  // W
	NoLoad          State = 0x400  // N
	IdleTask        State = 0x800  // I: a thread of the kernel that waits for work
	Preempted       State = 0x1000 // R+: it had to leave its CPU
	Running         State = 0x2000
	Invalid         State = 0x4000 // of which nothing is known
	Created         State = 0x8000 // it has not run yet
)

var stateLetters = []struct {
	state  State
	letter byte
}{
	{Sleeping, 'S'},
	{Uninterruptible, 'D'},
	{Stopped, 'T'},
	{Traced, 't'},
	{Dead, 'X'},
	{Zombie, 'Z'},
	{Parked, 'P'},
	{TaskDead, 'x'},
	{WakeKill, 'K'},
	{Waking, 'W'},
	{NoLoad, 'N'},
	{IdleTask, 'I'},
}

// String is the state as sched_switch prints it, "Running", or "?".
func (s State) String() string {
	switch s {
	case Runnable:
		return "R"
	case Preempted:
		return "R+"
	case Running:
		return "Running"
	case Created:
		return "Created"
	}
	if s&(Invalid|Running) != 0 {
		return "?"
	}
	var b strings.Builder
	for _, l := range stateLetters {
		if s&l.state != 0 {
			b.WriteByte(l.letter)
		}
	}
	return b.String()
}

// Blocked reports whether a thread in this state waits for something else than a CPU.
func (s State) Blocked() bool { return s&^(Preempted|Running) != 0 }

// Exited reports whether a thread in this state never runs again: it waits for nothing.
func (s State) Exited() bool { return s&(Dead|Zombie|TaskDead) != 0 && s&Invalid == 0 }

// A SwitchState is the state of a thread that leaves its CPU, as a recording has it.
type SwitchState uint32

const decodedState = 1 << 16

// RawState is the number that the kernel has for it, which depends on the kernel's version.
func RawState(n int64) SwitchState { return SwitchState(uint16(n)) }

// StateOf is a state that is known.
func StateOf(s State) SwitchState { return decodedState | SwitchState(s) }

// StateLetters is what sched_switch prints: "S", "R+", "D|K", "DK".
func StateLetters(letters string) SwitchState {
	var s State
	switch letters {
	case "R":
		return StateOf(Runnable)
	case "R+":
		return StateOf(Preempted)
	case "":
		return StateOf(Invalid)
	}
	for i := range len(letters) {
		known := letters[i] == '|' || letters[i] == '+'
		for _, l := range stateLetters {
			if letters[i] == l.letter {
				s, known = s|l.state, true
			}
		}
		if !known {
			return StateOf(Invalid)
		}
	}
	return StateOf(s)
}

// A kernelVersion is major<<16 + minor, 0 if unknown.
type kernelVersion uint32

// parseKernel reads a version as uname -r prints it.
func parseKernel(release string) kernelVersion {
	major, rest, _ := strings.Cut(release, ".")
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	a, err := strconv.ParseUint(major, 10, 15)
	b, err2 := strconv.ParseUint(rest[:end], 10, 15)
	if err != nil || err2 != nil {
		return 0
	}
	return kernelVersion(a<<16 | b)
}

func version(major, minor int) kernelVersion { return kernelVersion(major<<16 | minor) }

// state decodes what a kernel of a version reports. Numbers up to 0x20 never changed.
//
//  1. Since 4.14 the kernel reports parked as 0x40, idle as 0x80 and preempted as 0x100.
//  2. Before, it reported the bits that its scheduler had, of which the upper ones differ. Preempted is
//     the bit above all others: 0x1000 since 4.8, when a state was added, else 0x800.
//
// A kernel that is not known is taken for 4.4, as the trace processor does: traces that lack the
// version are old.
func (s SwitchState) state(v kernelVersion) State {
	if s&decodedState != 0 {
		return State(s)
	}
	raw := uint16(s)
	state := State(raw & 0x3f)
	has := func(bit uint16, what State) {
		if raw&bit != 0 {
			state |= what
		}
	}
	if v >= version(4, 14) {
		has(0x40, Parked)
		has(0x80, IdleTask)
		has(0x100, Preempted)
		if raw&0xfe00 != 0 {
			return Invalid
		}
		return state
	}
	has(0x40, TaskDead)
	has(0x80, WakeKill)
	has(0x100, Waking)
	has(0x200, Parked)
	has(0x400, NoLoad)
	if state == Uninterruptible|NoLoad {
		state = IdleTask
	}
	if v >= version(4, 8) {
		has(0x1000, Preempted)
	} else {
		has(0x800, Preempted)
	}
	return state
}
