package perfetto

import "testing"

// A clockReading is what a snapshot says of a clock on sequence 1.
type clockReading struct {
	id          ClockID
	value       uint64
	unit        int64
	incremental bool
}

// TestConversions has the figures of the public trace processor's tests of its clocks
// (clock_tracker_unittest.cc, various_clocks.textproto). All snapshots are known here before
// anything is converted.
func TestConversions(t *testing.T) {
	type at struct {
		id    ClockID
		value uint64
		want  int64 // -1 if it cannot be converted
	}
	const coarse = MonotonicCoarse
	backwards := [][]clockReading{
		{{id: BootTime, value: 10010}, {id: RealTime, value: 10}},
		{{id: BootTime, value: 10020}, {id: RealTime, value: 20}},
		{{id: BootTime, value: 30040}, {id: RealTime, value: 40}},
		{{id: BootTime, value: 40030}, {id: RealTime, value: 30}},
	}
	chain := [][]clockReading{
		{{id: MonotonicRaw, value: 10}, {id: coarse, value: 9}},
		{{id: coarse, value: 100}, {id: Monotonic, value: 50}},
		{{id: Monotonic, value: 1}, {id: BootTime, value: 1001}, {id: RealTime, value: 10001}},
		{{id: Monotonic, value: 101}, {id: BootTime, value: 2101}, {id: RealTime, value: 9101}},
	}
	equal := [][]clockReading{
		{{id: BootTime, value: 101}, {id: Monotonic, value: 51}, {id: coarse, value: 50}},
		{{id: BootTime, value: 105}, {id: Monotonic, value: 55}, {id: coarse, value: 50}},
		{{id: BootTime, value: 105}, {id: Monotonic, value: 55}, {id: coarse, value: 50}},
	}
	local := [][]clockReading{
		{{id: Monotonic, value: 1000}, {id: BootTime, value: 100000}},
		{
			{id: Monotonic, value: 10000},
			{id: 64, value: 100000},
			{id: 65, value: 100, unit: 1000},
			{id: 66, value: 10, unit: 1000, incremental: true},
		},
	}
	various := [][]clockReading{
		{{id: RealTime, value: 0}, {id: BootTime, value: 10}},
		{{id: RealTime, value: 1652904000000000000}, {id: BootTime, value: 20}},
		{{id: RealTime, value: 1652903999999999995}, {id: BootTime, value: 30}},
		{{id: Monotonic, value: 15}, {id: BootTime, value: 25}},
		{{id: Monotonic, value: 20}, {id: BootTime, value: 35}},
		{{id: Monotonic, value: 25}, {id: BootTime, value: 50}},
	}
	for _, test := range []struct {
		name      string
		to        ClockID
		snapshots [][]clockReading
		times     []at
	}{
		{"domains", BootTime, [][]clockReading{
			{{id: RealTime, value: 10}, {id: BootTime, value: 10010}},
			{{id: RealTime, value: 20}, {id: BootTime, value: 20220}},
			{{id: RealTime, value: 30}, {id: BootTime, value: 30030}},
			{{id: Monotonic, value: 1000}, {id: BootTime, value: 100000}},
		}, []at{
			{RealTime, 0, 10000},
			{RealTime, 1, 10001},
			{RealTime, 9, 10009},
			{RealTime, 10, 10010},
			{RealTime, 11, 10011},
			{RealTime, 19, 10019},
			{RealTime, 20, 20220},
			{RealTime, 21, 20221},
			{RealTime, 29, 20229},
			{RealTime, 30, 30030},
			{RealTime, 40, 30040},
			{Monotonic, 0, 99000},
			{Monotonic, 999, 99999},
			{Monotonic, 1000, 100000},
			{Monotonic, 1e6, 1099000},
			{MonotonicRaw, 5, -1},
			{BootTime, 5, 5},
		}},
		{"goes back", BootTime, backwards, []at{{RealTime, 11, -1}}},
		{"to one that goes back", RealTime, backwards, []at{{BootTime, 10011, 11}, {BootTime, 10029, 29}, {BootTime, 40030, 30}, {BootTime, 40040, 40}}},
		{"two steps", BootTime, [][]clockReading{
			{{id: coarse, value: 1}, {id: Monotonic, value: 11}},
			{{id: Monotonic, value: 100}, {id: BootTime, value: 1100}},
			{{id: Monotonic, value: 200}, {id: BootTime, value: 2200}},
		}, []at{{Monotonic, 110, 1110}, {coarse, 100, 1110}, {coarse, 202, 2212}}},
		{"one step", coarse, chain, []at{{MonotonicRaw, 2, 1}, {MonotonicRaw, 100001, 100000}}},
		{"one step back", MonotonicRaw, chain, []at{
			{coarse, 1, 2}, {coarse, 100000, 100001}, {Monotonic, 2, 53}, {BootTime, 1002, 53}, {BootTime, 2702, 753},
		}},
		{"three steps", BootTime, chain, []at{{MonotonicRaw, 53, 1002}, {MonotonicRaw, 753, 2702}}},
		{"three steps to one that goes back", RealTime, chain, []at{{MonotonicRaw, 53, 10002}, {MonotonicRaw, 753, 9702}}},
		{"equal times", Monotonic, equal, []at{{coarse, 49, 50}, {coarse, 50, 55}, {coarse, 51, 56}}},
		{"equal times, since boot", BootTime, equal, []at{{coarse, 40, 91}, {coarse, 50, 105}, {coarse, 55, 110}}},
		{"equal times, back", coarse, equal, []at{{BootTime, 91, 40}, {BootTime, 105, 50}, {BootTime, 110, 55}}},
		{"of a sequence", Monotonic, local, []at{{64, 150000, 60000}, {65, 150, 60000}, {66, 1, 11000}, {66, 1, 12000}}},
		{"of a sequence, since boot", BootTime, local, []at{{64, 150000, 159000}, {65, 150, 159000}, {66, 3, 112000}, {66, 2, 114000}}},
		// TO_REALTIME(25) is …999995 there, the reading of the next snapshot: it does not let
		// results go beyond that.
		{"various, to real time", RealTime, various, []at{{BootTime, 15, 5}, {BootTime, 25, 1652904000000000005}, {BootTime, 35, 1652904000000000000}}},
		{"various, to monotonic", Monotonic, various, []at{{BootTime, 25, 15}, {BootTime, 35, 20}, {BootTime, 50, 25}}},
		{"no snapshots", 0, nil, []at{{Monotonic, 7, 7}, {BootTime, 8, -1}, {64, 9, -1}}},
		{"saturates", BootTime, [][]clockReading{{{id: BootTime, value: 1 << 62}, {id: 64, value: 0, unit: 1 << 40}}}, []at{{64, 1 << 40, 1<<63 - 1}}},
	} {
		var c clocks
		for _, s := range test.snapshots {
			var ticks []tick
			for _, r := range s {
				ticks = append(ticks, tick{r.id, r.value, r.incremental, max(1, r.unit)})
			}
			if err := c.add(0, 1, ticks, test.to); err != nil {
				t.Fatal(err)
			}
			for _, tick := range ticks { // as the second reading does it
				k := c.get(keyOf(0, 1, tick.id))
				k.last = scale(tick.value, k.unit)
			}
		}
		c.connect()
		for _, at := range test.times {
			k := c.get(keyOf(0, 1, at.id))
			got, ok := c.convert(k, k.ns(at.value))
			if !ok {
				got = -1
			}
			if got != at.want {
				t.Errorf("%s: %d on clock %d is %d, want %d", test.name, at.value, at.id, got, at.want)
			}
		}
	}
}

// TestRemote has another machine, whose clock since boot is 10,000 behind.
func TestRemote(t *testing.T) {
	var c clocks
	tickOf := func(id ClockID, v uint64) tick { return tick{id: id, value: v, unit: 1} }
	for _, s := range []struct {
		machine, sequence uint32
		ticks             []tick
	}{
		{0, 1, []tick{tickOf(RealTime, 5), tickOf(BootTime, 5)}},
		{7, 1, []tick{tickOf(RealTime, 10), tickOf(BootTime, 10010)}},
		{7, 1, []tick{tickOf(RealTime, 20), tickOf(BootTime, 20220)}},
		{7, 1, []tick{tickOf(Monotonic, 1000), tickOf(BootTime, 100000)}},
		{7, 1, []tick{tickOf(Monotonic, 2000), tickOf(64, 1200)}},
	} {
		if err := c.add(s.machine, s.sequence, s.ticks, 0); err != nil {
			t.Fatal(err)
		}
	}
	c.offsets = map[uint32]map[ClockID]int64{7: {BootTime: 10000}}
	c.connect()
	for _, at := range []struct {
		machine uint32
		id      ClockID
		value   uint64
		want    int64
	}{
		{7, RealTime, 0, 20000},
		{7, RealTime, 20, 30220},
		{7, Monotonic, 999, 109999},
		{7, 64, 1100, 110900},
		{0, RealTime, 9, 9},
		{7, BootTime, 1, 10001},
		{9, BootTime, 1, 1},
	} {
		k := c.get(keyOf(at.machine, 1, at.id))
		if got, ok := c.convert(k, k.ns(at.value)); !ok || got != at.want {
			t.Errorf("machine %d: %d on clock %d is %d, %t, want %d", at.machine, at.value, at.id, got, ok, at.want)
		}
	}
}
