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
	// Broken says where packets can be told apart no more, nil if that is nowhere.
	Broken error
	// Damaged counts messages that cannot be decoded; the first error of them says where.
	Damaged      int64
	FirstDamaged error
	// Skipped counts packets that need what was interned before, of sequences of which that
	// is not known: packets before were lost, or the buffer starts in the middle of one.
	Skipped int64
	// Sequences counts those of which all packets were skipped so.
	Sequences int64
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
	// LastFlush is set if the flush at the end failed where others did not. In Chromium it always
	// fails, and nothing is missing.
	LastFlush bool
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
	// Pages counts pieces of the kernel's buffers that the recorder could not decode.
	Pages int64
	// Probes counts hits of probes that were missed.
	Probes int64

	cpus   map[uint64]*[2][3]uint64 // at the start and at the end
	probes [2]int64
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
	var succeeded, last uint64
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
		case 13:
			succeeded = f.Uint()
		case 15:
			last = f.Uint()
		default:
			f.Skip()
		}
	}
	const failed = 2
	b.LastFlush = last == failed && succeeded > 0
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
	known := phase == start || phase == end
	for f.Next() {
		if f.Num == 10 && known { // kprobe_stats
			m := f.Message()
			for m.Next() {
				if v := m.Uint(); m.Num == 2 {
					k.probes[phase-start] = int64(v)
				}
			}
			f.Take(m.Err)
			continue
		}
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
		if !known || cpu >= maxCPUs {
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
	k.Probes = max(0, k.probes[1]-k.probes[0])
	return f.Err
}

// Lines say what is missing, one line a cause. There are none if nothing is.
func (l *Losses) Lines() []string {
	var lines []string
	line := func(what string, n int64, consequence string, args ...any) {
		if n == 0 {
			return
		}
		s := fmt.Sprintf("%s: %d", what, n)
		if consequence != "" {
			s += fmt.Sprintf("; "+consequence, args...)
		}
		lines = append(lines, s)
	}
	if l.Truncated {
		lines = append(lines, "the trace ends within a packet; what stands before it was read")
	}
	if l.Broken != nil {
		lines = append(lines, fmt.Sprintf("%v: no packet can be found behind that; what stands before it was read", l.Broken))
	}
	line("packets that cannot be decoded, left out", l.Damaged, "the first: %v", l.FirstDamaged)
	b := &l.Buffers
	line("chunks overwritten in the recorder's buffers", b.ChunksOverwritten, "the trace begins later than the recording, or has gaps")
	line("chunks discarded because the recorder's buffers were full", b.ChunksDiscarded, "")
	line("packets lost by their writers because shared memory was full", b.PacketsLost, "")
	line("packets left incomplete because what was to be added came too late", b.PatchesFailed, "")
	line("chunks that broke the rules of the recorder's shared memory", b.Violations, "")
	line("packets that were invalid when the recorder read them", b.InvalidPackets, "")
	if b.LastFlush {
		lines = append(lines, "the flush at the end of the recording failed; the last packets of some writers are missing")
	} else {
		line("flushes that failed", b.FailedFlushes, "packets of some writers may be missing")
	}
	var gaps int64
	var causes []string
	for name, n := range l.Gaps {
		gaps += n
		causes = append(causes, fmt.Sprintf("%s: %d", name, n))
	}
	slices.Sort(causes)
	line("gaps between packets of a writer", gaps, "%s", strings.Join(causes, ", "))
	if l.Sequences == 0 {
		line("packets skipped because what they refer to was lost before them", l.Skipped, "")
	} else {
		line("packets skipped because what they refer to was lost before them", l.Skipped, "of some writers nothing else is left: %d", l.Sequences)
	}
	k := &l.Kernel
	line("times that events of the kernel were overwritten before they were read", k.Bundles, "how many is not known")
	line("events overwritten in the kernel's buffers", k.Overruns, "")
	line("events lost in the kernel while an interrupt wrote (commit overrun)", k.CommitOverruns, "")
	line("events dropped by the kernel because its buffers were full", k.Dropped, "")
	line("bundles whose columns of switches or wakings differ in length", k.Columns, "")
	line("pieces of the kernel's buffers that the recorder could not decode", k.Pages, "")
	line("hits of probes that the kernel missed", k.Probes, "")
	line("samples lost in the kernel's buffers", l.PerfRecords, "")
	for _, id := range slices.Sorted(maps.Keys(l.Unconverted)) {
		line(fmt.Sprintf("times on clock %d, which no snapshot relates to that of the trace", id), l.Unconverted[id], "what happened then is left out")
	}
	return lines
}
