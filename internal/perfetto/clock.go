package perfetto

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"profdiff/internal/input"
)

// A ClockID names a clock (BuiltinClock in protos/perfetto/common/builtin_clock.proto). Those
// from 64 to 127 are of one sequence alone.
type ClockID = uint32

// Clocks of the system.
const (
	RealTime        ClockID = 1
	Monotonic       ClockID = 3
	MonotonicCoarse ClockID = 4
	MonotonicRaw    ClockID = 5
	BootTime        ClockID = 6
	PerfClock       ClockID = 10
)

const (
	firstLocal, lastLocal ClockID = 64, 127
	// ftraceLocal is the clock of the kernel's buffers where it is none of the system.
	ftraceLocal ClockID = 1 << 20
)

// isLocal reports whether each sequence has a clock of its own with that number.
func isLocal(id ClockID) bool { return id >= firstLocal && id <= lastLocal || id == ftraceLocal }

// Bounds on snapshots: recorders take some every few seconds, of ten clocks or fewer.
const (
	maxSnapshotClocks = 64
	maxReadings       = 4 << 20
)

var (
	errTooManyClocks   = errors.New("a snapshot has more than 64 clocks")
	errTooManyReadings = errors.New("has more than 4194304 readings of clocks")
)

// A clockKey tells the clocks of a trace apart.
type clockKey struct {
	machine, sequence uint32
	id                ClockID
}

// keyOf is the key of the clock that a sequence calls id.
func keyOf(machine, sequence uint32, id ClockID) clockKey {
	if !isLocal(id) {
		sequence = 0
	}
	return clockKey{machine, sequence, id}
}

// A clock is one of a trace's, with its way to the clock of the trace.
type clock struct {
	key         clockKey
	unit        int64 // of a tick, in ns
	incremental bool
	last        int64 // ns, what increments add to

	readings []reading // in the order of the file
	toward   *clock    // the next clock on the way to that of the trace, nil if there is none
	hop      []pair    // times of this one and of toward, by those of this one
	isTarget bool

	// Times from lo on and before hi are converted by adding shift.
	lo, hi, shift int64
}

// A reading is the time of a clock, in ns, in a snapshot.
type reading struct {
	snapshot uint32
	ns       int64
}

// A pair is one moment on two clocks, in ns.
type pair struct{ from, to int64 }

// clocks are the clocks of a trace and what snapshots tell of them: a graph in which two clocks
// are neighbours if a snapshot has both. Times are converted on the shortest way to the clock
// of the trace, at each step by the last snapshot at or before the time, or the first one.
type clocks struct {
	byKey     map[clockKey]*clock
	snapshots [][]*clock
	readings  int
	primary   ClockID // that snapshots say is the trace's, 0 for none
	target    *clock
	offsets   map[uint32]map[ClockID]int64 // of other machines, to be added to their times
}

// get returns a clock, which is new if no snapshot has it.
func (c *clocks) get(key clockKey) *clock {
	k := c.byKey[key]
	if k == nil {
		k = &clock{key: key, unit: 1, lo: math.MaxInt64, hi: math.MinInt64}
		if c.byKey == nil {
			c.byKey = make(map[clockKey]*clock)
		}
		c.byKey[key] = k
	}
	return k
}

// A tick is what a snapshot says of one clock.
type tick struct {
	id          ClockID
	value       uint64
	incremental bool
	unit        int64
}

// readSnapshot decodes a ClockSnapshot.
func readSnapshot(m input.Fields) (ticks []tick, primary ClockID, err error) {
	for m.Next() {
		switch {
		case m.Num == snapshotPrimaryClock:
			primary = ClockID(m.Uint())
		case m.Num != snapshotClocks:
			m.Skip()
		default:
			t := tick{unit: 1}
			f := m.Message()
			for f.Next() {
				switch f.Num {
				case clockID:
					t.id = ClockID(f.Uint())
				case clockTimestamp:
					t.value = f.Uint()
				case clockIsIncremental:
					t.incremental = f.Uint() != 0
				case clockUnit:
					t.unit = max(1, int64(min(f.Uint(), math.MaxInt64)))
				default:
					f.Skip()
				}
			}
			m.Take(f.Err)
			if ticks = append(ticks, t); len(ticks) > maxSnapshotClocks {
				return nil, 0, errTooManyClocks
			}
		}
	}
	return ticks, primary, m.Err
}

// add notes a snapshot of a sequence.
func (c *clocks) add(machine, sequence uint32, ticks []tick, primary ClockID) error {
	if c.primary == 0 && machine == 0 && !isLocal(primary) {
		c.primary = primary
	}
	var snapshot []*clock
	for _, t := range ticks {
		k := c.get(keyOf(machine, sequence, t.id))
		if slices.Contains(snapshot, k) {
			continue
		}
		if len(k.readings) == 0 {
			// A clock keeps the unit that it was first seen with.
			k.unit, k.incremental = t.unit, t.incremental && isLocal(t.id)
		}
		snapshot = append(snapshot, k)
		k.readings = append(k.readings, reading{uint32(len(c.snapshots)), scale(t.value, k.unit)})
	}
	c.snapshots = append(c.snapshots, snapshot)
	if c.readings += len(snapshot); c.readings > maxReadings {
		return errTooManyReadings
	}
	return nil
}

// connect is called when all snapshots are known: it finds each clock's way to the clock of
// the trace, by a search in width from there.
func (c *clocks) connect() {
	id := c.primary
	if id == 0 {
		id = BootTime
		if len(c.snapshots) > 0 && c.byKey[clockKey{id: id}] == nil {
			// The trace has another clock alone: the first one of the system in a snapshot.
			for _, k := range slices.Concat(c.snapshots...) {
				if k.key.machine == 0 && !isLocal(k.key.id) {
					id = k.key.id
					break
				}
			}
		}
	}
	if len(c.snapshots) == 0 && c.primary == 0 {
		return // the first clock that a packet names is that of the trace
	}
	c.setTarget(id)
}

// defaultID is the clock of the trace, which is that of times that name none.
func (c *clocks) defaultID() ClockID {
	if c.target == nil {
		return BootTime
	}
	return c.target.key.id
}

// setTarget makes a clock that of the trace.
func (c *clocks) setTarget(id ClockID) {
	c.target = c.get(clockKey{id: id})
	// Other machines have the same clock, with an offset if they tell one.
	queue := []*clock{c.target}
	c.target.isTarget = true
	for key, k := range c.byKey {
		if key.machine != 0 && key.id == id {
			k.isTarget = true
			queue = append(queue, k)
		}
	}
	slices.SortFunc(queue, func(a, b *clock) int { return cmp.Compare(a.key.machine, b.key.machine) })
	seen := make([]bool, len(c.snapshots))
	for len(queue) > 0 {
		near := queue[0]
		queue = queue[1:]
		for _, r := range near.readings {
			if seen[r.snapshot] {
				continue
			}
			seen[r.snapshot] = true
			for _, k := range c.snapshots[r.snapshot] {
				if k.toward == nil && !k.isTarget {
					k.toward = near
					queue = append(queue, k)
				}
			}
		}
	}
}

// ns is the time that a value of a clock stands for, on that clock. Of clocks that count
// increments, each value adds to the last one.
func (k *clock) ns(value uint64) int64 {
	v := scale(value, k.unit)
	if k.incremental {
		k.last = add(k.last, v)
		return k.last
	}
	return v
}

// convert turns a time of a clock, in ns, into one of the trace's clock.
func (c *clocks) convert(k *clock, ns int64) (int64, bool) {
	if ns >= k.lo && ns < k.hi {
		return add(ns, k.shift), true
	}
	if c.target == nil && !isLocal(k.key.id) && k.key.machine == 0 {
		c.setTarget(k.key.id)
	}
	if c.target != nil && k.key.id == c.target.key.id {
		k.isTarget = true // of a machine that no snapshot is from
	}
	lo, hi, shift := int64(math.MinInt64), int64(math.MaxInt64), int64(0)
	at := k
	for !at.isTarget {
		if at.toward == nil || !at.findHop() {
			return 0, false
		}
		t := add(ns, shift)
		i, _ := slices.BinarySearchFunc(at.hop, t, func(p pair, t int64) int {
			if p.from <= t {
				return -1
			}
			return 1
		})
		if i > 0 {
			i--
		}
		if i > 0 {
			lo = max(lo, add(at.hop[i].from, -shift))
		}
		if i+1 < len(at.hop) {
			hi = min(hi, add(at.hop[i+1].from, -shift))
		}
		shift = add(shift, add(at.hop[i].to, -at.hop[i].from))
		at = at.toward
	}
	shift = add(shift, c.offsets[k.key.machine][at.key.id])
	k.lo, k.hi, k.shift = lo, hi, shift
	return add(ns, shift), true
}

// findHop pairs the readings of a clock with those of the next one. It returns false if one
// time of the clock stands for several: clocks that people set go back.
func (k *clock) findHop() bool {
	if k.hop != nil {
		return len(k.hop) > 0
	}
	k.hop = pairs(k.readings, k.toward.readings)
	byFrom := func(a, b pair) int { return cmp.Compare(a.from, b.from) }
	if !slices.IsSortedFunc(k.hop, byFrom) {
		// Packets may be out of order: then the other clock tells the order.
		slices.SortStableFunc(k.hop, func(a, b pair) int { return cmp.Compare(a.to, b.to) })
		if !slices.IsSortedFunc(k.hop, byFrom) {
			k.hop = []pair{}
		}
	}
	return len(k.hop) > 0
}

// pairs are the readings of two clocks in the same snapshots.
func pairs(from, to []reading) []pair {
	list := []pair{}
	for _, r := range from {
		i, ok := slices.BinarySearchFunc(to, r.snapshot, func(r reading, s uint32) int { return cmp.Compare(r.snapshot, s) })
		if ok {
			list = append(list, pair{r.ns, to[i].ns})
		}
		to = to[i:]
	}
	return list
}

// scale multiplies a value, which may be negative, by a unit. Results that do not fit saturate.
func scale(value uint64, unit int64) int64 {
	v := int64(value)
	if unit <= 1 {
		return v
	}
	if p := v * unit; p/unit == v {
		return p
	}
	if v < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// add adds. Sums that do not fit saturate.
func add(a, b int64) int64 {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

// sync takes from a RemoteClockSync how far clocks of another machine are off: at moments in
// turn, each side reads its clocks. Half of the way there and back is taken to be the delay.
func (c *clocks) sync(machine uint32, m input.Fields) {
	type round struct{ client, host map[ClockID]int64 }
	var rounds []round
	for m.Next() {
		if m.Num != syncSyncedClocks {
			m.Skip()
			continue
		}
		var r round
		f := m.Message()
		for f.Next() {
			if f.Num != syncedClocksOfClient && f.Num != syncedClocksOfHost {
				f.Skip()
				continue
			}
			ticks, _, err := readSnapshot(f.Message())
			f.Take(err)
			times := make(map[ClockID]int64)
			for _, t := range ticks {
				times[t.id] = int64(t.value)
			}
			if f.Num == syncedClocksOfClient {
				r.client = times
			} else {
				r.host = times
			}
		}
		rounds = append(rounds, r)
	}
	sums, counts := make(map[ClockID]int64), make(map[ClockID]int64)
	for i := 1; i < len(rounds); i++ {
		a, b := rounds[i-1], rounds[i]
		const apart = 30e9 // ns between exchanges
		if b.client[BootTime]-a.client[BootTime] >= apart {
			continue
		}
		for id, c1 := range a.client {
			h1, c2, h2 := a.host[id], b.client[id], b.host[id]
			if c1 == 0 || h1 == 0 || c2 == 0 || h2 == 0 {
				continue
			}
			// Client, host, client, host: two ways there and back.
			sums[id] += c1/2 + c2/2 - h1 + c2 - h1/2 - h2/2
			counts[id] += 2
		}
	}
	for id, n := range counts {
		if c.offsets == nil {
			c.offsets = make(map[uint32]map[ClockID]int64)
		}
		if c.offsets[machine] == nil {
			c.offsets[machine] = make(map[ClockID]int64)
		}
		c.offsets[machine][id] = -sums[id] / n
	}
}
