package perfetto

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Losses say what is missing of a trace, by cause.
type Losses struct {
	// Truncated is set if the trace ends within a packet.
	Truncated bool
	// Damaged counts messages that cannot be decoded; the first error of them says where.
	Damaged      int64
	FirstDamaged error
	// Skipped counts packets that need what was interned before, of sequences of which that
	// is not known: packets before were lost, or the buffer starts in the middle of one.
	Skipped int64
	// Gaps counts, by cause, the places where writers say that packets of theirs are missing.
	Gaps map[string]int64
	// Unconverted counts times on clocks that no snapshot relates to that of the trace.
	Unconverted map[ClockID]int64
	// Buffers are what the recorder's buffers lost (protos/perfetto/common/trace_stats.proto).
	Buffers BufferLosses
	// Kernel is what the kernel's buffers lost.
	Kernel KernelLosses
	// PerfRecords are samples that the kernel did not hand over. Those who decode samples count
	// them.
	PerfRecords int64
}

// BufferLosses are sums over the buffers of a recorder.
type BufferLosses struct {
	ChunksOverwritten, ChunksDiscarded, PacketsLost, PatchesFailed, Violations, InvalidPackets, FailedFlushes int64
}

// KernelLosses are sums over CPUs.
type KernelLosses struct {
	// Bundles counts bundles before which events were overwritten, how many is not known.
	Bundles int64
	// Overruns, CommitOverruns and Dropped are events that were lost while the trace was
	// recorded (tracing_on to the end).
	Overruns, CommitOverruns, Dropped int64
	// Columns counts bundles whose columns of switches or wakings do not go together.
	Columns int64

	cpus map[uint64]*[2][3]uint64 // at the start and at the end
}

// gapCauses are bits of previous_packet_dropped (trace_packet.proto, DataLossReason).
var gapCauses = []struct {
	bit  uint32
	name string
}{
	{2, "gap while reading"},
	{4, "corrupted chunk"},
	{8, "continuation without a start"},
	{16, "gap within a packet"},
	{32, "broken chain of chunks"},
	{64, "overwritten"},
	{128, "writer gave up"},
	{256, "shared memory full"},
}

// dropped takes the causes that a packet names.
func (l *Losses) dropped(bits uint32) {
	if bits == 0 {
		return
	}
	if l.Gaps == nil {
		l.Gaps = make(map[string]int64)
	}
	named := false
	for _, c := range gapCauses {
		if bits&c.bit != 0 {
			l.Gaps[c.name]++
			named = true
		}
	}
	if !named {
		l.Gaps["cause not told"]++
	}
}

func (l *Losses) damaged(err error) {
	if l.Damaged++; l.FirstDamaged == nil {
		l.FirstDamaged = err
	}
}

func (l *Losses) unconverted(id ClockID, n int64) {
	if l.Unconverted == nil {
		l.Unconverted = make(map[ClockID]int64)
	}
	l.Unconverted[id] += n
}

// take counts what a packet itself says of losses.
func (l *Losses) take(d part) {
	var err error
	switch d.kind {
	case TraceStats:
		err = l.Buffers.read(d)
	case FtraceStats:
		err = l.Kernel.read(d)
	}
	if err != nil {
		l.damaged(err)
	}
}

// read replaces what earlier statistics said: they are sums.
func (b *BufferLosses) read(d part) error {
	*b = BufferLosses{}
	f := d.fields()
	for f.Next() {
		switch f.Num {
		case 1: // buffer_stats
			m := f.Message()
			for m.Next() {
				if to := b.field(int32(m.Num)); to != nil {
					*to += int64(m.Uint())
				} else {
					m.Skip()
				}
			}
			f.Take(m.Err)
		case 10:
			b.InvalidPackets = int64(f.Uint())
		case 14:
			b.FailedFlushes = int64(f.Uint())
		default:
			f.Skip()
		}
	}
	return f.Err
}

func (b *BufferLosses) field(num int32) *int64 {
	switch num {
	case 3:
		return &b.ChunksOverwritten
	case 6:
		return &b.PatchesFailed
	case 9:
		return &b.Violations
	case 18:
		return &b.ChunksDiscarded
	case 19:
		return &b.PacketsLost
	}
	return nil
}

// read takes the counts of all CPUs at the start or at the end of a trace.
func (k *KernelLosses) read(d part) error {
	const start, end = 1, 2
	phase := uint64(end)
	f := d.fields()
	for g := f.Again(); g.Next(); {
		if g.Num == 1 {
			phase = g.Uint()
		} else {
			g.Skip()
		}
	}
	for f.Next() {
		if f.Num != 2 { // cpu_stats
			f.Skip()
			continue
		}
		var cpu uint64
		var lost [3]uint64
		m := f.Message()
		for m.Next() {
			switch m.Num {
			case 1:
				cpu = m.Uint()
			case 3, 4:
				lost[m.Num-3] = m.Uint()
			case 8:
				lost[2] = m.Uint()
			default:
				m.Skip()
			}
		}
		f.Take(m.Err)
		if phase != start && phase != end || cpu >= maxCPUs {
			continue
		}
		if k.cpus == nil {
			k.cpus = make(map[uint64]*[2][3]uint64)
		}
		if k.cpus[cpu] == nil {
			k.cpus[cpu] = new([2][3]uint64)
		}
		k.cpus[cpu][phase-start] = lost
	}
	var sums [3]int64
	for _, c := range k.cpus {
		for i := range sums {
			sums[i] += max(0, int64(c[1][i]-c[0][i]))
		}
	}
	k.Overruns, k.CommitOverruns, k.Dropped = sums[0], sums[1], sums[2]
	return f.Err
}

// Lines say what is missing, one line a cause, most harmful first. There are none if nothing is.
func (l *Losses) Lines() []string {
	var lines []string
	line := func(n int64, format string, args ...any) {
		if n != 0 {
			lines = append(lines, fmt.Sprintf(format, append([]any{n}, args...)...))
		}
	}
	if l.Truncated {
		lines = append(lines, "the trace ends within a packet: what stands before it was read")
	}
	line(l.Damaged, "%d packets cannot be decoded and are left out, the first: %v", l.FirstDamaged)
	b := &l.Buffers
	line(b.ChunksOverwritten, "%d chunks were overwritten in the recorder's buffers: the trace begins later than the recording, or has gaps")
	line(b.ChunksDiscarded, "%d chunks were discarded: the recorder's buffers were full")
	line(b.PacketsLost, "%d packets were lost by those who wrote them: shared memory was full")
	line(b.PatchesFailed, "%d packets stayed incomplete: what was to be added came too late")
	line(b.Violations, "%d chunks broke the rules of the recorder's shared memory")
	line(b.InvalidPackets, "%d packets were invalid when the recorder read them")
	line(b.FailedFlushes, "%d flushes failed: the last packets of some writers may be missing")
	var gaps int64
	var causes []string
	for name, n := range l.Gaps {
		gaps += n
		causes = append(causes, fmt.Sprintf("%s: %d", name, n))
	}
	slices.Sort(causes)
	line(gaps, "%d gaps between packets of a writer (%s)", strings.Join(causes, ", "))
	line(l.Skipped, "%d packets were skipped: what they refer to was lost before them")
	k := &l.Kernel
	line(k.Bundles, "%d times events of the kernel were overwritten before they were read")
	line(k.Overruns, "%d events were overwritten in the kernel's buffers")
	line(k.CommitOverruns, "%d events were lost in interrupts of others (commit overrun)")
	line(k.Dropped, "%d events were dropped by the kernel, whose buffers were full")
	line(k.Columns, "%d bundles of switches and wakings have columns of different length")
	line(l.PerfRecords, "%d samples were lost in the kernel's buffers")
	for _, id := range slices.Sorted(maps.Keys(l.Unconverted)) {
		line(l.Unconverted[id], "%d times are on clock %d, which no snapshot relates to that of the trace: what happened then is left out", id)
	}
	return lines
}
