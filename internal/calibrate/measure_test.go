package calibrate

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"profdiff/internal/asm"
	"profdiff/internal/probe"
)

// A model is a machine whose costs are known, with a clock of its own.
type model struct {
	random *rand.Rand
	ns     float64 // since its start
	cycle  float64 // in nanoseconds
	// sibling and alone are how long another thread is on the core, and how long not, on
	// average in nanoseconds; without sibling it never is.
	sibling, alone float64
	busy           bool
	slow           float64 // how much it slows now
	until          float64 // when that changes
	// throttle is how often the clock changes, in nanoseconds, 0 for never.
	throttle, nextThrottle float64
	migrations             float64 // the same of moves to another CPU and back
	nextMigration          float64
	at                     int
	step                   float64 // of the clock, in nanoseconds
	noise                  float64 // of each run
	nop, float             float64 // cycles of one, and of a floating-point addition
	miss                   map[code]float64
	learnt                 float64 // part of the misses at 50 % that do not happen
	data                   float64 // cycles more by element for random data
}

func newModel() *model {
	return &model{
		random: rand.New(rand.NewPCG(1, 2)), cycle: 0.3, step: 1, noise: 0.002, nop: 0.17, float: 4, until: -1,
		miss: map[code]float64{onRegister: 16, onLoad: 20, onTwoLoads: 24},
	}
}

// cost is what a piece of a kernel takes on a core of its own, in cycles.
func (m *model) cost(k *kernel) float64 {
	switch {
	case k.name == chainName:
		return 1
	case k.name == chainsName:
		return 1 / 4.6
	case k.name == nopName:
		return m.nop
	case k.Probe == nil:
		return 1.1
	}
	if k.name == floatName {
		return m.float
	}
	h := fnv.New32()
	h.Write([]byte(k.name))
	least := 0.2
	if k.Chained() {
		least = float64(len(k.Unit)) / float64(k.Count)
	}
	return least * (1 + float64(h.Sum32()%100)/10)
}

// slowdown is by how much the other thread on the core slows a kernel down.
func (m *model) slowdown(k *kernel) float64 {
	switch {
	case k.Probe == nil:
		return 1 + (m.slow-1)/2
	case k.Chained():
		return 1
	}
	return m.slow
}

func (m *model) now() time.Duration {
	m.ns += 20 + m.random.Float64()*5
	return time.Duration(math.Floor(m.ns/m.step) * m.step)
}
func (m *model) pause(d time.Duration)       { m.ns += float64(d) }
func (m *model) cpu() int                    { return m.at }
func (m *model) prepare(*kernel, int)        { m.ns += 100 }
func (m *model) warm(k *kernel, n int) error { return m.run(k, max(k.least(), n/4)) }

func (m *model) run(k *kernel, n int) error {
	pieces := float64(n) * k.perRound()
	cycles := pieces*m.cost(k) + 20
	if k.Probe == nil && k.trial.misses > 0 {
		random := pieces * float64(k.trial.misses) / half
		missed := random/2 + math.Sqrt(random)/2*m.random.NormFloat64()
		if k.trial.misses == half {
			missed *= 1 - m.learnt
		}
		cycles += missed*m.miss[k.trial.code] + m.data*random
	}
	cycles *= math.Exp(m.noise * m.random.NormFloat64())
	for cycles > 0 {
		if m.throttle > 0 && m.ns >= m.nextThrottle {
			m.cycle = 0.3 * (1 + m.random.Float64())
			m.nextThrottle = m.ns + m.throttle*m.random.ExpFloat64()
		}
		if m.migrations > 0 && m.ns >= m.nextMigration {
			m.at = 1 - m.at
			m.nextMigration = m.ns + m.migrations*m.random.ExpFloat64()
		}
		for m.ns >= m.until {
			switch {
			case m.sibling == 0:
				m.until = math.Inf(1)
			default:
				m.busy = !m.busy
				mean := m.alone
				if m.busy {
					mean, m.slow = m.sibling, 1.15+m.random.Float64()
				}
				m.until = max(m.until, 0) + mean*m.random.ExpFloat64()
			}
		}
		cycle := m.cycle
		if m.busy {
			cycle *= m.slowdown(k)
		}
		if m.at != 0 {
			cycle *= 1.7 * (1 + 0.5*float64(len(k.name)%3)) // another kind of core
		}
		end := min(m.ns+cycles*cycle, m.until)
		if m.throttle > 0 {
			end = min(end, m.nextThrottle)
		}
		if m.migrations > 0 {
			end = min(end, m.nextMigration)
		}
		cycles -= (end - m.ns) / cycle
		m.ns = end
		if cycles < 1e-3 { // less than the time can tell
			break
		}
	}
	return nil
}

func measureModel(t *testing.T, m *model) (*Core, error) {
	t.Helper()
	return measure(m, architecture(t), 0, Options{Rounds: DefaultRounds, Limit: 30 * time.Second})
}

// architecture is that of this machine.
func architecture(t *testing.T) asm.Arch {
	t.Helper()
	if !supported {
		t.Skip("no kernels for this architecture")
	}
	return architectures[runtime.GOARCH]
}

// check compares what was measured with what is known.
func (m *model) check(t *testing.T, c *Core, wanted func(*kernel) bool) {
	t.Helper()
	list, _ := kernelsOf(architecture(t))
	for _, k := range list {
		if k.Probe == nil {
			continue
		}
		got, ok := c.Probes[k.name]
		switch want := m.cost(k); {
		case ok != wanted(k):
			t.Errorf("%s: measured %v: %+v, %s", k.name, ok, got, c.Refused[k.name])
		case ok && (math.Abs(got.Centre/want-1) > 0.02 || !(got.Lo <= got.Centre && got.Centre <= got.Hi)):
			t.Errorf("%s: %+v, want %v", k.name, got, want)
		case ok == (c.Refused[k.name] != ""):
			t.Errorf("%s: measured %v, refused for %q", k.name, ok, c.Refused[k.name])
		}
	}
}

// TestMeasureModel checks that what disturbs a core changes no value by more than 2 %, and
// costs of misses, whose outcomes are random, by no more than 3 %.
func TestMeasureModel(t *testing.T) {
	all := func(*kernel) bool { return true }
	for name, change := range map[string]func(*model){
		"alone":                 func(*model) {},
		"noise":                 func(m *model) { m.noise = 0.01 },
		"sibling half the time": func(m *model) { m.sibling, m.alone = 1e6, 1e6 },
		"sibling most of time":  func(m *model) { m.sibling, m.alone = 2e7, 4e5 },
		"sibling for moments":   func(m *model) { m.sibling, m.alone = 3e4, 1e5 },
		"clock that changes":    func(m *model) { m.throttle = 1e6 },
		"migrations":            func(m *model) { m.migrations = 1e7 },
		"clock of 24 MHz":       func(m *model) { m.step = 1e9 / 24e6 },
		"clock of 19.2 MHz":     func(m *model) { m.step = 1e9 / 19.2e6; m.sibling, m.alone = 1e6, 1e6 },
		"slow core":             func(m *model) { m.cycle = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			change(m)
			c, err := measureModel(t, m)
			if err != nil {
				t.Fatal(err)
			}
			m.check(t, c, all)
			for k, e := range map[code]*probe.Estimate{onRegister: c.Register, onLoad: c.Load, onTwoLoads: c.TwoLoads} {
				if want := m.miss[k]; e == nil || math.Abs(e.Centre/want-1) > 0.03 || !(e.Lo <= e.Centre && e.Centre <= e.Hi) {
					t.Errorf("a miss, %s: %+v, want %v: %v", codeNames[k], e, want, c.Refused)
				}
			}
			if c.Cost == nil || c.Cost.Centre != c.Load.Centre || c.Cost.Lo > c.Register.Lo || c.Cost.Hi < c.TwoLoads.Hi {
				t.Errorf("cost %+v of %+v, %+v, %+v", c.Cost, c.Register, c.Load, c.TwoLoads)
			}
			if w := c.FullWidth; w.Refused != "" || math.Abs(w.Additions/4.6-1) > 0.02 {
				t.Errorf("full width %+v", w)
			}
			if e := c.TakenPerCycle; e == nil || math.Abs(e.Centre*1.1-1) > 0.02 {
				t.Errorf("taken branches %+v", e)
			}
			if len(c.Levels) != 5 || c.Levels[0].CyclesPerMiss != nil || c.Levels[4].MissProbability != 0.5 {
				t.Errorf("levels %+v", c.Levels)
			}
			if v := c.Values(); v[probe.MissLoad] != *c.Load || v[probe.Chain] != c.Probes[probe.Chain].Estimate {
				t.Errorf("values %+v", v)
			}
			if got := m.ns; got > 31e9 {
				t.Errorf("took %v", time.Duration(got))
			}
		})
	}
}

// TestNeverAlone checks that a core that always has another thread on it tells latencies
// only.
func TestNeverAlone(t *testing.T) {
	for name, change := range map[string]func(*model){
		"never":  func(m *model) { m.sibling, m.alone = 2e5, 1 },
		"rarely": func(m *model) { m.sibling, m.alone = 2e7, 5e3 },
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			change(m)
			c, err := measure(m, architecture(t), 0, Options{Rounds: DefaultRounds, Limit: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if c.FullWidth.Refused == "" || c.Cost != nil || c.TakenPerCycle != nil {
				t.Errorf("%+v, cost %+v, taken %+v", c.FullWidth, c.Cost, c.TakenPerCycle)
			}
			for name, v := range c.Probes {
				if !v.Shared || !strings.HasSuffix(name, ".latency") {
					t.Errorf("%s: %+v", name, v)
				}
			}
			if c.Refused[probe.MissLoad] == "" || c.Refused["nop.throughput"] == "" {
				t.Errorf("refused: %v", c.Refused)
			}
			m.check(t, c, (*kernel).latency)
		})
	}
}

// TestKnownWidth checks that a core with the same other thread on it all the time, which looks
// like a narrow one, is found out by a width that was seen before.
func TestKnownWidth(t *testing.T) {
	m := newModel()
	m.sibling, m.busy, m.slow, m.until = 1, true, 1.5, math.Inf(1)
	c, err := measure(m, architecture(t), 4.6, Options{Rounds: DefaultRounds, Limit: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	m.check(t, c, (*kernel).latency)
	if w := c.FullWidth; w.Additions != 4.6 || !strings.Contains(w.Refused, "3.06 additions a cycle at most, and 4.6 in an earlier run") || c.Cost != nil {
		t.Errorf("%+v, a miss %+v", w, c.Cost)
	}
	c, err = measure(newModel(), architecture(t), 4.5, Options{Rounds: DefaultRounds, Limit: 3 * time.Second})
	if err != nil || c.FullWidth.Refused != "" || c.FullWidth.Additions < 4.55 {
		t.Errorf("a lower one: %+v, %v", c.FullWidth, err)
	}
}

func (k *kernel) latency() bool { return k.Chained() }

// TestCoverage counts how often the interval holds the truth, and how often two runs
// contradict each other.
func TestCoverage(t *testing.T) {
	const n = 30
	var cores []*Core
	m := newModel()
	for i := range n {
		m = newModel()
		m.random = rand.New(rand.NewPCG(uint64(i), 7))
		m.sibling, m.alone, m.noise = 1e6, 1e6, 0.01
		c, err := measure(m, architecture(t), 0, Options{Rounds: MinRounds, Limit: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		cores = append(cores, c)
	}
	held, meet, pairs, total := 0, 0, 0, 0
	list, _ := kernelsOf(architecture(t))
	for _, k := range list {
		if k.Probe == nil {
			continue
		}
		for i, c := range cores {
			e := c.Probes[k.name]
			total++
			if want := m.cost(k); e.Lo <= want && want <= e.Hi {
				held++
			}
			for _, d := range cores[:i] {
				pairs++
				if f := d.Probes[k.name]; e.Lo <= f.Hi && f.Lo <= e.Hi {
					meet++
				}
			}
		}
	}
	misses := 0
	for _, c := range cores {
		if c.Load != nil && c.Load.Lo <= 20 && 20 <= c.Load.Hi {
			misses++
		}
	}
	t.Logf("of %d intervals %d hold the value, of %d pairs %d meet, misses %d of %d", total, held, pairs, meet, misses, n)
	if held < total*9/10 || meet < pairs*19/20 || misses < n*9/10 {
		t.Errorf("of %d intervals %d hold the value, of %d pairs %d meet, misses %d of %d", total, held, pairs, meet, misses, n)
	}
}

func TestRefusesCosts(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*model)
		want   string
	}{
		"no misses":       {func(m *model) { m.miss = map[code]float64{onRegister: 0.5, onLoad: 0.5, onTwoLoads: 0.5} }, "less than any pipeline takes to fill"},
		"learnt by heart": {func(m *model) { m.learnt = 0.6 }, "% of branches are mispredicted, but "},
		"slow data":       {func(m *model) { m.data = 2; m.miss[noBranch] = 2 }, "the difference is not one of branches"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			test.change(m)
			c, err := measureModel(t, m)
			if err != nil {
				t.Fatal(err)
			}
			if why := c.Refused[probe.MissLoad]; !strings.Contains(why, test.want) || c.Cost != nil || c.Load != nil {
				t.Errorf("got %+v, refused for %q, want %q", c.Load, why, test.want)
			}
			m.check(t, c, func(*kernel) bool { return true })
		})
	}
}

func TestRefusesMachines(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*model)
		want   string
	}{
		"emulator":    {func(m *model) { m.nop = 0.005 }, "this is an emulator"},
		"another":     {func(m *model) { m.float = 20 }, "a floating-point addition takes 20 cycles: this is an emulator"},
		"slow":        {func(m *model) { m.cycle = 1e4 }, "the clock or the machine is too slow"},
		"stuck clock": {func(m *model) { m.step = 1e18 }, "the clock stands still"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			test.change(m)
			c, err := measure(m, architecture(t), 0, Options{Rounds: MinRounds, Limit: time.Second})
			if err == nil || !strings.Contains(err.Error(), test.want) || c != nil {
				t.Errorf("got %+v, %v, want an error with %q", c, err, test.want)
			}
		})
	}
	if _, err := measure(newModel(), architecture(t), 0, Options{Rounds: 3}); err == nil || err.Error() != fmt.Sprintf("3 rounds are too few, it takes %d", MinRounds) {
		t.Errorf("3 rounds: %v", err)
	}
	if _, err := measure(newModel(), "riscv64", 0, Options{Rounds: MinRounds}); !errors.Is(err, errUnsupported) {
		t.Errorf("another architecture: %v", err)
	}
}
