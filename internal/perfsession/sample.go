package perfsession

import (
	"math"

	"profdiff/internal/perffile"
)

// A Sample is a sample with its thread and its frames. It is valid during the
// call that hands it over.
type Sample struct {
	// Raw is the sample as recorded.
	Raw perffile.Sample
	// Event is the index in File.Attrs of the event that fired.
	Event  int
	Weight int64 // in the unit of the event
	Thread *Thread
	// Frames is the call chain, leaf first. It has at least one frame.
	Frames []Frame
	// Shared is how many of the outermost frames the thread's previous sample had too.
	Shared int
	// Incomplete is set if the recorder says that the call chain is cut off, or if the
	// stack was recorded as memory and is not unwound to its end.
	Incomplete bool
	// Counters are the events that were counted along with this one since its
	// previous sample, where the recording has group reads.
	Counters []Counter
}

// A Frame is one level of a call chain.
type Frame struct {
	// Addr is an address within the instruction: of callers within the call, not
	// the return address.
	Addr uint64
	// Map is the mapping that has the address, or nil.
	Map    *Mapping
	Kernel bool
	Guest  bool
	// Adjusted is set if the recorded address was a return address: Addr+1.
	Adjusted bool
	// CutOff is set if the frame stands for callers that the recording lacks, because it
	// has too little of the stack. It has no address.
	CutOff bool
}

// A Counter is how far a counter of the sample's group has gone since the previous
// sample.
type Counter struct {
	Event int // index in File.Attrs
	Delta uint64
}

// sample replays one SAMPLE record.
func (s *Session) sample(r *perffile.Record) error {
	out := &s.out
	if err := r.DecodeSample(&out.Raw); err != nil {
		return err
	}
	s.Stats.Samples++
	unwindError := s.unwindError
	s.unwindError = false
	raw := &out.Raw
	if raw.Attr < 0 {
		s.Stats.UnknownEvent++
		return nil
	}
	attr := &s.File.Attrs[raw.Attr]
	weight := raw.Period
	if !raw.HasPeriod {
		weight = max(attr.FixedPeriod(), 1)
	}
	if weight > math.MaxInt64 {
		s.Stats.BadPeriod++
		return nil
	}
	out.Event, out.Weight = raw.Attr, int64(weight)
	out.Thread = s.thread(raw.PID, raw.TID)
	out.Incomplete = unwindError
	callers := s.frames(attr, out)
	s.unwind(attr, out)
	s.resolve(out, callers)
	out.Counters = out.Counters[:0]
	if len(raw.Read.Values) > 0 && attr.ReadFormat.Has(perffile.ReadGroup|perffile.ReadID) {
		s.counters(out)
	}
	if len(raw.Read.Values) > 0 && raw.Read.TimeRunning > 0 {
		s.time(attr, raw)
	}
	return s.handler.Sample(out)
}

// counters turns counter values, which only ever grow, into what was counted since
// the value before. The same counter has a value per thread that inherits it.
func (s *Session) counters(out *Sample) {
	for _, v := range out.Raw.Read.Values {
		event, ok := s.File.EventByID(v.ID)
		if !ok {
			continue
		}
		key := counterKey{id: v.ID}
		if s.File.Attrs[event].Flags.Has(perffile.FlagInherit) {
			key.tid = out.Raw.TID
		}
		last := s.counts[key]
		s.counts[key] = v.Value
		if v.Value > last {
			out.Counters = append(out.Counters, Counter{Event: event, Delta: v.Value - last})
		}
	}
}

// time adds how long the event of a sample was enabled, and on the hardware, since the same
// counter was read before.
func (s *Session) time(attr *perffile.Attr, raw *perffile.Sample) {
	key := counterKey{id: raw.Read.Values[0].ID}
	if key.id == 0 {
		return // of which thread or CPU is not known
	}
	if attr.Flags.Has(perffile.FlagInherit) {
		key.tid = raw.TID
	}
	now, last := CounterTime{float64(raw.Read.TimeEnabled), float64(raw.Read.TimeRunning)}, s.times[key]
	s.times[key] = now
	if now.Enabled < last.Enabled || now.Running < last.Running || now.Running > now.Enabled {
		return
	}
	if s.Stats.Times == nil {
		s.Stats.Times = make(map[int]CounterTime)
	}
	sum := s.Stats.Times[raw.Attr]
	sum.Enabled += float64(now.Enabled - last.Enabled)
	sum.Running += float64(now.Running - last.Running)
	s.Stats.Times[raw.Attr] = sum
}

type counterKey struct {
	id  uint64
	tid int32
}

// frames fills in the addresses of the call chain of a sample, but for as many of its outermost
// frames as it returns: they are as the thread's previous sample had them.
//
// Linux records return addresses; an address within the call is one less. The
// first user address below kernel frames is where user code entered the kernel: of
// a fault the instruction itself, of a system call the one behind it, in the same
// function; it stays. simpleperf has adjusted addresses when it recorded
// (SampleRecord::AdjustCallChainGeneratedByKernel in simpleperf/record.cpp).
func (s *Session) frames(attr *perffile.Attr, out *Sample) (known int) {
	raw := &out.Raw
	out.Frames = s.head[:0]
	mode := raw.Misc.CPUMode()
	kernel := raw.Misc.Kernel()
	guest := mode == perffile.CPUModeGuestKernel || mode == perffile.CPUModeGuestUser
	hasIP := attr.SampleType.Has(perffile.SampleIP)
	if hasIP {
		out.Frames = append(out.Frames, Frame{Addr: raw.IP, Kernel: kernel, Guest: guest})
	}
	chain := raw.Callchain
	callStack := attr.BranchSampleType.Has(perffile.BranchCallStack) && len(raw.Branches) > 0
	if !callStack && !attr.SampleType.Has(perffile.SampleStackUser) {
		known = s.callers(chain, kernel, guest, out)
		chain = chain[:len(chain)-known]
	}
	first := true // no address of the chain seen yet
	leaf := !hasIP
	for _, ip := range chain {
		if ip >= perffile.ContextMax {
			wasKernel := kernel
			kernel, guest = context(ip, kernel, guest)
			// The address that follows is where the kernel was entered.
			leaf = leaf || ip == perffile.ContextUser && wasKernel
			continue
		}
		if callStack && !kernel {
			break
		}
		if first && hasIP {
			first = false
			if ip == raw.IP {
				leaf = false
				continue
			}
		}
		first = false
		adjust := !leaf && !s.simpleperf
		leaf = false
		if ip < 2 {
			// Where unwinding by frame pointers went wrong. perf and simpleperf
			// show it as an unknown caller, so that the stack does not pass for
			// a complete one.
			out.Incomplete = true
			adjust = false
		}
		if adjust {
			ip--
		}
		out.Frames = append(out.Frames, Frame{Addr: ip, Kernel: kernel, Guest: guest, Adjusted: adjust})
	}
	if callStack {
		branchFrames(out, hasIP && !raw.Misc.Kernel())
	}
	if len(out.Frames) == 0 && known == 0 {
		out.Frames = append(out.Frames, Frame{Addr: raw.IP, Kernel: kernel, Guest: guest})
	}
	s.head = out.Frames
	return known
}

// context is in what code the addresses behind a marker of a call chain are.
func context(marker uint64, kernel, guest bool) (k, g bool) {
	switch marker {
	case perffile.ContextKernel, perffile.ContextHV:
		return true, false
	case perffile.ContextUser:
		return false, false
	case perffile.ContextGuestKernel:
		return true, true
	case perffile.ContextGuest, perffile.ContextGuestUser:
		return false, true
	}
	return kernel, guest
}

// callers returns how many addresses at the end of a call chain are frames that the thread's
// previous sample had. These are behind the last marker and behind another address, so that nothing
// but the mode counts for what frames they are; frames takes those that are left one by one.
func (s *Session) callers(chain []uint64, kernel, guest bool, out *Sample) (known int) {
	recent := s.recent(out.Thread)
	most := min(len(chain), len(recent))
	if most == 0 {
		return 0
	}
	if ip := chain[len(chain)-1]; ip != recent[len(recent)-1].Addr && ip != recent[len(recent)-1].Addr+1 {
		return 0
	}
	start := len(chain) // of what is behind the last marker
	for start > 0 && chain[start-1] < perffile.ContextMax {
		start--
	}
	if start > 0 {
		// A marker that is not known leaves the mode as the ones before it made it.
		for _, ip := range chain[:start] {
			if ip >= perffile.ContextMax {
				kernel, guest = context(ip, kernel, guest)
			}
		}
	}
	most = min(most, len(chain)-start-1)
	for known < most {
		ip := chain[len(chain)-1-known]
		adjust := !s.simpleperf && ip >= 2
		addr := ip
		if adjust {
			addr--
		}
		f := &recent[len(recent)-1-known]
		if f.Addr != addr || f.Kernel != kernel || f.Guest != guest || f.Adjusted != adjust || f.CutOff {
			break
		}
		out.Incomplete = out.Incomplete || ip < 2
		known++
	}
	return max(known, 0)
}

// branchFrames appends the user call chain that the hardware kept in call-stack
// mode: each branch is a call that has not returned, From being the call itself. Of
// the function called last, only the start is known unless the sample was taken in it
// and hasLeaf is set. Must match resolve_lbr_callchain_sample in
// tools/perf/util/machine.c.
func branchFrames(out *Sample, hasLeaf bool) {
	branches := out.Raw.Branches
	if !hasLeaf {
		out.Frames = append(out.Frames, Frame{Addr: branches[0].To})
	}
	for i := range branches {
		out.Frames = append(out.Frames, Frame{Addr: branches[i].From})
	}
}

// recent returns the frames of the thread's previous sample, none if mappings have changed since.
func (s *Session) recent(t *Thread) []Frame {
	// Versions only ever grow, so that their sum tells.
	if version := t.Process.space.version + s.kernel.version + s.guest.version; t.version != version {
		t.recent, t.version = 0, version
	}
	return t.frames[len(t.frames)-int(t.recent):]
}

// resolve finds the mappings of the frames and completes them by the outermost ones of the
// thread's previous sample, of which known are callers of theirs. Mostly there are more of these:
// they are looked up again only if mappings have changed.
func (s *Session) resolve(out *Sample, known int) {
	t := out.Thread
	recent := s.recent(t)
	head := out.Frames
	n, shared := len(head)+known, known
	for shared < n && shared < len(recent) {
		f := head[n-1-shared]
		last := &recent[len(recent)-1-shared]
		if f.Map = last.Map; f != *last {
			break
		}
		shared++
	}
	out.Shared = shared
	// Frames that stay are at the end of the buffer, and remain where they are.
	if n > len(t.frames) {
		room := n // of most threads of a recording with many there is one sample
		if t.frames != nil {
			room = max(16, n+n/2)
		}
		grown := make([]Frame, room)
		copy(grown[len(grown)-shared:], recent[len(recent)-shared:])
		t.frames = grown
	}
	t.recent = uint32(n)
	out.Frames = t.frames[len(t.frames)-n:]
	space := &t.Process.space
	for i := range out.Frames[:n-shared] {
		f := &out.Frames[i]
		*f = head[i]
		switch {
		case f.CutOff, f.Map != nil:
		case f.Guest:
			f.Map = s.guest.find(f.Addr)
		case f.Kernel:
			f.Map = s.kernel.find(f.Addr)
		default:
			f.Map = space.find(f.Addr)
		}
	}
}
