package run

import "time"

// Conditions are what the machine was doing during a recording, as far as the recorder
// noted it. What is not known is zero.
type Conditions struct {
	Governor string // of the frequency of the CPUs: performance, schedutil, …
	// FrequencyMHz and FrequencyLimitMHz are means over the CPUs: what they ran at around
	// the recording, and what they were allowed to.
	FrequencyMHz, FrequencyLimitMHz float64
	// Throttled is how often a CPU was slowed down because it was hot.
	Throttled int64
	// ThermalStatus is what Android says, 0 none to 6 shutdown.
	ThermalStatus int
	// Cores is how many CPUs there are. OwnCPUs, BackgroundCPUs and StolenCPUs are how many
	// of them the recorder with its command took, other programs, and the host of a virtual
	// machine, means over the recording.
	Cores                               int
	OwnCPUs, BackgroundCPUs, StolenCPUs float64
}

// What makes costs in time doubtful.
const (
	// minFree is the share of the CPUs that has to be left. Programs that take turns with
	// others on a CPU find the caches full of other data. The CPU time of 77 runs each of
	// Lua, minigzip and jq on two CPUs was the same while 0.2 CPUs or more were free, and
	// 21 %, 3 % and 6 % more (medians) once none was. Not used to choose it: mawk +35 %, xz +85 %.
	minFree = 0.05
	// MaxStolen is the share of a run's time that the host may take: clocks of the guest go
	// on meanwhile, so that its costs may be too high by as much. It is the change that does
	// not matter.
	MaxStolen = 0.02
)

// Crowded reports whether other programs left no CPU free. A program that needs all of them
// itself is not crowded.
func (c *Conditions) Crowded() bool {
	least := minFree * float64(c.Cores)
	return c.BackgroundCPUs > least && c.FreeCPUs() < least
}

// FreeCPUs is how many CPUs nobody used.
func (c *Conditions) FreeCPUs() float64 {
	return float64(c.Cores) - c.OwnCPUs - c.BackgroundCPUs - c.StolenCPUs
}

// StolenShare is the part of the time that programs ran in which the host had in truth taken
// their CPU away: 0 to 1. It meets all that run alike.
func (c *Conditions) StolenShare() float64 {
	if c.StolenCPUs <= 0 {
		return 0
	}
	return min(1, c.StolenCPUs/max(c.OwnCPUs+c.BackgroundCPUs, c.StolenCPUs))
}

// throttleTick is the longest time for which the kernel stops an event that it throttles:
// until the next tick of the timer, of which there are 100 a second or more.
const throttleTick = 10 * time.Millisecond

// ThrottledShare is the most of the time, 0 to 1, in which the kernel may have stopped an
// event that took too much of it (PERF_RECORD_THROTTLE): samples are missing there, and
// cost with them.
func (r *Run) ThrottledShare() float64 {
	n := r.Accounting.Throttled
	if n == 0 {
		return 0
	}
	if r.Recording.Duration <= 0 {
		return 1
	}
	return min(1, float64(n)*float64(throttleTick)/float64(r.Recording.Duration))
}
