package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// A machine runs kernels and tells the time.
type machine interface {
	// now is a monotonic clock.
	now() time.Duration
	pause(time.Duration)
	// cpu is the number of the one that this runs on.
	cpu() int
	// prepare makes new data for n rounds of a kernel, and for those that warm.
	prepare(k *kernel, n int)
	// warm runs a kernel, so that its code is known to the caches and the predictors.
	warm(k *kernel, n int) error
	// run runs n rounds of a kernel.
	run(k *kernel, n int) error
}

// How long things take.
const (
	leastGuard      = 1250 * time.Nanosecond // each of its two runs
	leastRepetition = 5 * time.Microsecond
	mostRepetition  = 40 * time.Microsecond
	// A clock has steps: guards are at least so many of them long, and repetitions.
	guardSteps, repetitionSteps = 200, 400
	warmUp                      = 100 * time.Millisecond // in which the frequency rises
	survey                      = 500 * time.Millisecond // of widths before anything counts
	// After patience without a clean guard comes a pause: whoever else is there may be gone
	// then, and the system gives time to those who do not take all of it. Cores are often
	// alone for less than a millisecond: pauses may not be most of the time.
	patience = time.Millisecond
	rest     = time.Millisecond
	// sharedAtOnce are the repetitions taken before a pause, see [sampler.shared].
	sharedAtOnce = 10
	// moreRandom is by what factor there are more repetitions where outcomes are random.
	moreRandom = 3
)

// A sample is a repetition that may count.
type sample struct {
	cycles float64 // of a piece
	width  float64 // the lesser of the guards before and after it
	cycle  float64 // in nanoseconds
}

// A series is a kernel and its repetitions.
type series struct {
	*kernel
	n int // rounds of a repetition
	// clean are samples between guards of full width, steady those for which only the
	// cycle has to agree.
	clean, steady []sample
	tried         int
}

// pieces is what the time of a repetition is divided by.
func (s *series) pieces() float64 { return float64(s.n) * s.perRound() }

// A sampler collects samples.
type sampler struct {
	machine  machine
	overhead float64       // nanoseconds that timing a run of nothing takes
	step     time.Duration // of the clock
	chain    series
	chains   series
	list     []*series
	widths   []float64
	last     guard
	home     int     // the CPU that is measured
	known    float64 // width of an earlier run, 0 for none
	full     FullWidth
	// seen is for how many widths full is.
	seen int
}

// newSampler warms the core up and finds out how long repetitions have to be.
func newSampler(m machine, kernels []*kernel) (*sampler, error) {
	s := &sampler{machine: m, home: m.cpu()}
	var err error
	if s.step, err = clockStep(m); err != nil {
		return nil, err
	}
	var nothing *kernel
	for _, k := range kernels {
		switch k.name {
		case chainName:
			s.chain = series{kernel: k, n: 16}
		case chainsName:
			s.chains = series{kernel: k, n: 16}
		case nothingName:
			nothing = k
		}
		s.list = append(s.list, &series{kernel: k})
	}
	for start := m.now(); m.now()-start < warmUp; {
		if err := m.run(s.chain.kernel, s.chain.n); err != nil {
			return nil, err
		}
	}
	var times []float64
	for range 1001 {
		t0 := m.now()
		if err := m.run(nothing, 1); err != nil {
			return nil, err
		}
		times = append(times, float64(m.now()-t0))
	}
	slices.Sort(times)
	s.overhead = times[len(times)/2]
	long := max(leastRepetition, repetitionSteps*s.step)
	for _, k := range s.list {
		if err := s.size(k, long); err != nil {
			return nil, err
		}
	}
	short := max(leastGuard, guardSteps*s.step)
	for _, k := range []*series{&s.chain, &s.chains} {
		if err := s.size(k, short); err != nil {
			return nil, err
		}
	}
	return s, s.emulated()
}

// What only emulators have, in cycles. They drop what does nothing, which no front end is wide
// enough for, and call functions for floating-point numbers.
const (
	leastNop      = 1. / 16
	mostFloatAdds = 8.
)

// emulated says so if no CPU runs this.
func (s *sampler) emulated() error {
	const adds = 20_000 // so many that timing does not matter
	least := func(name string) (float64, error) {
		k := s.list[slices.IndexFunc(s.list, func(k *series) bool { return k.name == name })]
		best, rounds := math.Inf(1), max(1, int(adds/k.perRound()))
		for range 20 {
			t0 := s.machine.now()
			if err := s.machine.run(k.kernel, rounds); err != nil {
				return 0, err
			}
			best = min(best, float64(s.machine.now()-t0)/float64(rounds)/k.perRound())
		}
		return best, nil
	}
	cycle, errCycle := least(chainName)
	nop, errNop := least(nopName)
	add, errAdd := least(floatName)
	if err := cmp.Or(errCycle, errNop, errAdd); err != nil {
		return err
	}
	switch {
	case nop < leastNop*cycle:
		return inconclusive("a nop takes %.2g cycles: this is an emulator, and what it takes tells nothing about a CPU", nop/cycle)
	case add > mostFloatAdds*cycle:
		return inconclusive("a floating-point addition takes %.2g cycles: this is an emulator, and what it takes tells nothing about a CPU", add/cycle)
	}
	return nil
}

// clockStep is the least by which a clock proceeds, a nanosecond if its calls take longer
// than that: then the times between calls have many values, not only multiples.
func clockStep(m machine) (time.Duration, error) {
	values := make(map[time.Duration]bool)
	last := m.now()
	for range 10000 {
		now := m.now()
		if now > last {
			values[now-last] = true
		}
		last = now
	}
	if len(values) == 0 {
		return 0, errors.New("the clock stands still")
	}
	least := slices.Min(slices.Collect(maps.Keys(values)))
	near := 0
	for v := range values {
		if v < least+least/2 {
			near++
		}
	}
	if near > 3 { // a multiple is rounded up or down
		return time.Nanosecond, nil
	}
	return least, nil
}

// size chooses the rounds of a kernel so that a repetition takes so long.
func (s *sampler) size(k *series, long time.Duration) error {
	for n := k.least(); ; n *= 2 {
		best := time.Duration(1 << 62)
		for range 3 {
			s.machine.prepare(k.kernel, n)
			t0 := s.machine.now()
			if err := s.machine.run(k.kernel, n); err != nil {
				return err
			}
			best = min(best, s.machine.now()-t0)
		}
		if best >= long/2 || 2*n > k.most() {
			k.n = n
			if best > 0 {
				k.n = int(float64(n) * float64(long) / float64(best))
			}
			k.n = max(k.least(), min(k.n, k.most())/k.least()*k.least())
			if best > mostRepetition && n == k.least() {
				return fmt.Errorf("a kernel takes %v: the clock or the machine is too slow", best)
			}
			return nil
		}
	}
}

// clean reports whether it is the core that is measured, with its full width.
func (s *sampler) clean(g guard) bool {
	if len(s.widths) > s.seen*5/4 {
		s.findFull()
	}
	return g.cpu == s.home && s.full.Additions > 0 && g.width >= leastWidth*s.full.Additions
}

// repeat runs a kernel after a guard, and another guard.
func (s *sampler) repeat(k *series, before guard) (after guard, err error) {
	m := s.machine
	if err := m.warm(k.kernel, k.n); err != nil {
		return guard{}, err
	}
	t0 := m.now()
	if err := m.run(k.kernel, k.n); err != nil {
		return guard{}, err
	}
	t1 := m.now()
	if after, err = s.guard(); err != nil {
		return guard{}, err
	}
	k.tried++
	if !before.steady(after) || after.cpu != s.home {
		return after, nil
	}
	cycle := (before.cycle + after.cycle) / 2
	x := sample{cycles: s.net(t1-t0) / k.pieces() / cycle, width: min(before.width, after.width), cycle: cycle}
	if x.cycles <= 0 {
		return after, nil
	}
	if s.clean(before) && s.clean(after) {
		k.clean = append(k.clean, x)
	} else {
		k.steady = append(k.steady, x)
	}
	return after, nil
}

// sample collects samples until there are want clean ones of each kernel, or until the
// time is up.
func (s *sampler) sample(want int, until time.Duration) error {
	m := s.machine
	for end := min(until, m.now()+survey); m.now() < end; {
		for turn := m.now(); m.now()-turn < patience; {
			if _, err := s.guard(); err != nil {
				return err
			}
		}
		m.pause(rest)
	}
	turn := m.now()
	for m.now() < until {
		next := s.next(want)
		if next == nil {
			return nil
		}
		m.prepare(next.kernel, next.n)
		g, err := s.guard()
		if err != nil {
			return err
		}
		if !s.clean(g) {
			if m.now()-turn < patience {
				continue
			}
			for range sharedAtOnce {
				if err := s.shared(want); err != nil {
					return err
				}
			}
			m.pause(rest)
			turn = m.now()
			continue
		}
		for s.clean(g) && next != nil && m.now() < until {
			if g, err = s.repeat(next, g); err != nil {
				return err
			}
			if next = s.next(want); next != nil && next.fresh() {
				break
			}
		}
		turn = m.now()
	}
	return nil
}

// shared takes a sample of a chain of latencies while the core is not alone, for the case
// that it never is.
func (s *sampler) shared(want int) error {
	count := func(k *series) int {
		if k.Probe == nil || !k.Chained() {
			return math.MaxInt
		}
		return len(k.clean) + len(k.steady)
	}
	k := slices.MinFunc(s.list, func(a, b *series) int { return cmp.Compare(count(a), count(b)) })
	if count(k) >= want {
		return nil
	}
	before, err := s.guard()
	if err != nil {
		return err
	}
	_, err = s.repeat(k, before)
	return err
}

// next is the kernel with the fewest clean samples, nil if all have enough. It takes more of
// those that have random data.
func (s *sampler) next(want int) *series {
	count := func(k *series) int {
		if k.fresh() {
			return len(k.clean) / moreRandom
		}
		return len(k.clean)
	}
	k := slices.MinFunc(s.list, func(a, b *series) int { return cmp.Compare(count(a), count(b)) })
	if count(k) >= want {
		return nil
	}
	return k
}
