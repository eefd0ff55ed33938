package calibrate

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// A model is a machine whose costs are known.
type model struct {
	random *rand.Rand
	// cycle is in nanoseconds, base and cost in cycles.
	cycle, base float64
	cost        map[kernel]float64
	noise       float64 // relative, of each time
	outliers    float64 // part of the times that are tenfold
	drift       float64 // relative change of the frequency from round to round
	data        float64 // cycles more by element for random data
	learnt      float64 // part of the misses at 50 % that do not happen
}

func newModel() *model {
	return &model{
		random: rand.New(rand.NewPCG(1, 2)), cycle: 0.27, base: 1.1,
		cost: map[kernel]float64{onRegister: 16, onLoad: 20, onTwoLoads: 24},
	}
}

func (m *model) time(t trial) (float64, error) {
	var ns float64
	switch t.kernel {
	case chain:
		m.cycle *= 1 + m.drift*(m.random.Float64()-0.5)
		ns = adds * m.cycle
	default:
		missed := float64(t.misses) / 64
		if t.misses == half {
			missed *= 1 - m.learnt
		}
		ns = branches * m.cycle * (m.base + missed*m.cost[t.kernel] + float64(t.misses)/half*m.data)
	}
	ns *= math.Exp(m.noise * m.random.NormFloat64())
	if m.random.Float64() < m.outliers {
		ns *= 10
	}
	return ns, nil
}

func measureModel(t *testing.T, m *model) (*Core, error) {
	t.Helper()
	list, err := rounds(m, 480, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return estimate(list)
}

func TestEstimateRecoversCost(t *testing.T) {
	for name, change := range map[string]func(*model){
		"exact":                  func(*model) {},
		"noise":                  func(m *model) { m.noise = 0.03 },
		"interruptions":          func(m *model) { m.noise = 0.01; m.outliers = 0.1 },
		"frequency that wanders": func(m *model) { m.noise = 0.01; m.drift = 0.02 },
		"shallow pipeline":       func(m *model) { m.cost = map[kernel]float64{onRegister: 7, onLoad: 8, onTwoLoads: 9}; m.cycle = 0.6 },
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			change(m)
			c, err := measureModel(t, m)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []struct {
				kernel kernel
				got    Estimate
			}{{onRegister, c.Register}, {onLoad, c.Load}, {onTwoLoads, c.TwoLoads}} {
				want := m.cost[k.kernel]
				if math.Abs(k.got.Centre-want) > 0.02*want || k.got.Lo > k.got.Centre || k.got.Centre > k.got.Hi {
					t.Errorf("kernel %d: got %+v cycles, want %v", k.kernel, k.got, want)
				}
			}
			if lo, hi := c.Cost.Lo/m.cost[onRegister], c.Cost.Hi/m.cost[onTwoLoads]; c.Cost.Centre != c.Load.Centre || c.Cost.Lo > c.Register.Lo || c.Cost.Hi < c.TwoLoads.Hi || lo < 0.98 || hi > 1.02 {
				t.Errorf("cost %+v of %+v, %+v, %+v", c.Cost, c.Register, c.Load, c.TwoLoads)
			}
			if got := c.TakenPerCycle.Centre; math.Abs(got*m.base-1) > 0.02 {
				t.Errorf("%v taken branches per cycle, want %v", got, 1/m.base)
			}
			if got := c.CostNS.Centre / c.Cost.Centre; m.drift == 0 && math.Abs(got-m.cycle) > 0.02*m.cycle {
				t.Errorf("a cycle of %v ns, want %v", got, m.cycle)
			}
			if len(c.Levels) != 5 || c.Levels[0].CyclesPerMiss != nil || c.Levels[4].MissProbability != 0.5 {
				t.Errorf("levels %+v", c.Levels)
			}
		})
	}
}

// TestEstimateCoverage measures how often the interval holds the truth.
func TestEstimateCoverage(t *testing.T) {
	held := 0
	const n = 200
	for i := range n {
		m := newModel()
		m.random = rand.New(rand.NewPCG(uint64(i), 7))
		m.noise = 0.02
		c, err := measureModel(t, m)
		if err != nil {
			t.Fatal(err)
		}
		if c.Load.Lo <= 20 && 20 <= c.Load.Hi {
			held++
		}
	}
	if held < 180 {
		t.Errorf("the 95 %% interval held the cost %d of %d times", held, n)
	}
}

func TestEstimateRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*model)
		want   string
	}{
		"noise":           {func(m *model) { m.noise = 1.5 }, "the machine is too busy"},
		"no misses":       {func(m *model) { m.cost = map[kernel]float64{onRegister: 0.5, onLoad: 0.5, onTwoLoads: 0.5} }, "less than any pipeline takes to fill"},
		"learnt by heart": {func(m *model) { m.learnt = 0.6 }, "but 8 if half are"},
		"slow data":       {func(m *model) { m.data = 2 }, "the difference is not one of branches"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			test.change(m)
			c, err := measureModel(t, m)
			if _, ok := errors.AsType[*InconclusiveError](err); !ok || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %+v, %v, want an error with %q", c, err, test.want)
			}
			if c != nil {
				t.Error("a value beside the error")
			}
		})
	}
	list, err := rounds(newModel(), 10, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := estimate(list); err == nil || !strings.Contains(err.Error(), "time for 10 of at least 120 rounds") {
		t.Errorf("few rounds: %v", err)
	}
}

// TestRoundsOrder checks that every trial comes at every place.
func TestRoundsOrder(t *testing.T) {
	var order recorder
	n := 2 * len(trials)
	if _, err := rounds(&order, n, func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	seen := make(map[[2]int]int)
	for i, at := range order {
		seen[[2]int{at, i % len(trials)}]++
	}
	if len(seen) != len(trials)*len(trials) {
		t.Errorf("%d pairs of trial and place, want %d", len(seen), len(trials)*len(trials))
	}
	left := 3
	list, err := rounds(&order, n, func() bool { left--; return left >= 0 })
	if err != nil || len(list) != 3 {
		t.Errorf("%d rounds until time is up, %v", len(list), err)
	}
}

type recorder []int

func (r *recorder) time(t trial) (float64, error) {
	*r = append(*r, index(t))
	return 1, nil
}
