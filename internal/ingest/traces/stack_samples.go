package traces

import (
	"cmp"

	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// A stackSource is an event of StackSample.
type stackSource struct {
	event      uint32
	multiplier uint64
}

// A stackSample is a StackSample, with what it refers to.
type stackSample struct {
	pid, tid, cpu int64
	mode, failed  string // why the stack is not whole
	async         uint64
	inline        *input.Fields
	callstack     uint64
	main          *input.Fields  // descriptor of what the weight counts
	followers     []input.Fields // and of what others count
	own           bool           // followers are not those of the defaults
	weight        uint64
	weights       []uint64 // of followers
}

// stackSample reads a sample whose counter the packet or the defaults of its sequence describe.
func (s *samples) stackSample(p *perfetto.Packet) error {
	d := stackSample{pid: trace.Unknown, tid: trace.Unknown, cpu: -1, weight: 1}
	d.main, d.followers = s.stackDefaults(p.Sequence)
	if err := d.decode(p); err != nil {
		return err
	}
	who, process := s.thread(p.Machine, d.pid, d.tid, d.cpu, d.mode)
	if d.async != 0 {
		who = s.async(p, d.async, d.pid, d.cpu, d.mode)
	}
	stack, ok := run.StackID(0), true
	switch {
	case d.inline != nil:
		stack = s.places.inline(*d.inline)
	case d.callstack != 0:
		stack, ok = s.places.callstack(p.Sequence, d.callstack, process)
	}
	stack = s.whole(stack, ok, d.failed)
	source := s.descriptor(d.main)
	s.add(source.event, who, stack, p.Time, scaled(d.weight, source.multiplier))
	for i := range min(len(d.followers), len(d.weights)) {
		source := s.descriptor(&d.followers[i])
		s.add(source.event, who, stack, p.Time, scaled(d.weights[i], source.multiplier))
	}
	return nil
}

func (d *stackSample) decode(p *perfetto.Packet) error {
	interned := func(t perfetto.Table, iid uint64) input.Fields {
		if e := p.Sequence.Interned(t, iid); e != nil {
			return e.Fields()
		}
		return input.Fields{}
	}
	f := p.Message()
	for f.Next() {
		switch f.Num {
		case sampleTask:
			d.task(f.Message())
		case sampleTaskIID:
			d.task(interned(perfetto.TaskContexts, f.Uint()))
		case sampleExecution:
			d.execution(f.Message())
		case sampleExecutionIID:
			d.execution(interned(perfetto.ExecutionContexts, f.Uint()))
		case sampleCallstack:
			m := f.Message()
			d.inline = &m
		case sampleCallstackIID:
			d.callstack = f.Uint()
		case sampleUnwindError:
			d.failed = clean(f.Bytes())
		case sampleUnwindIID:
			f.Uint() // which table has it, the definition does not say
			d.failed = "error"
		case sampleDescriptor:
			m := f.Message()
			d.main = &m
		case sampleDescriptorIID:
			m := interned(perfetto.CounterDescriptors, f.Uint())
			d.main = &m
		case sampleWeight:
			d.weight = f.Uint()
		case sampleFollowers:
			if !d.own {
				d.followers, d.own = nil, true
			}
			d.followers = append(d.followers, f.Message())
		case sampleFollowerIIDs:
			d.followers, d.own = nil, true
			for _, iid := range f.Uints(nil) {
				d.followers = append(d.followers, interned(perfetto.CounterDescriptors, iid))
			}
		case sampleFollowed:
			d.weights = f.Uints(d.weights)
		default:
			f.Skip()
		}
	}
	return f.Err
}

// task reads a TaskContext.
func (d *stackSample) task(f input.Fields) {
	for f.Next() {
		switch f.Num {
		case contextPID:
			d.pid = int64(uint32(f.Uint()))
		case contextTID:
			d.tid = int64(uint32(f.Uint()))
		case contextAsync:
			d.async = f.Uint()
		default:
			f.Skip()
		}
	}
}

// execution reads an ExecutionContext.
func (d *stackSample) execution(f input.Fields) {
	for f.Next() {
		switch f.Num {
		case executionCPU:
			d.cpu = int64(uint32(f.Uint()))
		case executionMode:
			d.mode = modeOf(modes[:], f.Uint())
		default:
			f.Skip()
		}
	}
}

// stackDefaults are what the defaults of a sequence say of the counters of its samples.
func (s *samples) stackDefaults(seq *perfetto.Sequence) (main *input.Fields, followers []input.Fields) {
	for f := seq.Defaults(); f.Next(); {
		if f.Num != defaultsStackSample {
			f.Skip()
			continue
		}
		for d := f.Message(); d.Next(); {
			switch d.Num {
			case stackDefaultsMain:
				m := d.Message()
				main = &m
			case stackDefaultsOthers:
				followers = append(followers, d.Message())
			default:
				d.Skip()
			}
		}
	}
	return main, followers
}

// descriptor is the event that a CounterDescriptor means.
func (s *samples) descriptor(message *input.Fields) stackSource {
	var text []byte
	if message != nil {
		text = message.Data()
	}
	if known, ok := s.stacked[string(text)]; ok {
		return known
	}
	source := stackSource{multiplier: 1}
	e := run.Event{Name: "samples", Unit: "count"}
	if message != nil {
		for f := message.Again(); f.Next(); {
			switch f.Num {
			case descriptorName:
				e.Name = cmp.Or(clean(f.Bytes()), e.Name)
			case descriptorUnit:
				if n := f.Uint(); n > 0 && n < uint64(len(units)) {
					e.Unit = units[n]
				}
			case descriptorUnitName:
				e.Unit = cmp.Or(clean(f.Bytes()), e.Unit)
			case descriptorMultiplier:
				source.multiplier = f.Uint()
			default:
				f.Skip()
			}
		}
	}
	source.event = s.event(e)
	s.stacked[string(text)] = source
	return source
}
