package reportsample

import (
	"errors"
	"fmt"
	"math"
	"time"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

// finish names what samples refer to.
func (r *reader) finish() error {
	if len(r.events) == 0 && r.samples > 0 {
		if !r.truncated {
			return errors.New("file has samples but no event types")
		}
		r.events = append(r.events, "unknown")
	}
	if r.samples > 0 && int(r.maxEvent) >= len(r.events) {
		return fmt.Errorf("sample of event type %d, but there are %d", r.maxEvent, len(r.events))
	}
	if err := r.names(); err != nil {
		return err
	}
	u := r.b.Run()
	rec := &u.Recording
	rec.Tool, rec.TraceOffCPU = "simpleperf", r.traceOffCPU
	if r.samples > 0 {
		rec.FirstSample, rec.LastSample = r.first, r.last
		rec.Duration = time.Duration(min(r.last-r.first, math.MaxInt64))
	}
	u.Accounting.In = r.samples
	u.Accounting.Lost = int64(min(r.lostCount, math.MaxInt64))
	r.warnings()
	for tid, th := range r.threads {
		if th.pid == tid {
			r.tally.Comms[int64(th.pid)] = th.name
		}
	}
	r.addEvents()
	return nil
}

// names gives functions to locations and files to mappings.
func (r *reader) names() error {
	u := r.b.Run()
	r.b.NewLocations(len(r.frames))
	for loc, f := range r.frames {
		file := r.files[f.file]
		m := &u.Mappings[file.mapping]
		if !file.known && !r.truncated {
			return fmt.Errorf("call chain refers to file %d, which is not there", f.file)
		}
		if m.File == "" && reading.IsFile(file.path) {
			m.File, m.Kind = file.path, reading.MappingKind(file.path)
		}
		fn := reading.UnknownFunction(file.path, f.vaddr, r.opt)
		switch {
		case f.symbol >= 0 && int(f.symbol) < len(file.symbols) && file.symbols[f.symbol] == "":
		case f.symbol >= 0 && int(f.symbol) < len(file.symbols):
			fn = run.Function{Name: file.symbols[f.symbol]}
			if len(file.mangled) > 0 {
				fn.SystemName = file.mangled[f.symbol]
			}
			m.HasFunctions = true
		case f.symbol < -1 || f.symbol >= 0 && !r.truncated:
			return fmt.Errorf("call chain refers to symbol %d of %s, which has %d", f.symbol, file.path, len(file.symbols))
		}
		l := run.Location{Address: f.vaddr, Lines: []run.Line{{Function: r.b.Function(fn)}}}
		if m.File != "" {
			l.Mapping = file.mapping
		}
		u.Locations[loc] = l
	}
	return nil
}

// addEvents adds the events and the sums of their samples.
func (r *reader) addEvents() {
	ids := make([]uint32, len(r.events), len(r.events)+2)
	states := make([]string, len(r.events), len(r.events)+2)
	for i, name := range r.events {
		ids[i] = r.b.Event(run.Event{Name: name})
		if r.traceOffCPU {
			states[i] = "off-cpu"
			if i == 0 {
				states[i] = "on-cpu"
			}
		}
	}
	if r.traceOffCPU && len(r.events) > 0 {
		if run.EventUnit(r.events[0]) == "nanoseconds" {
			r.tally.CopyEvent(0, uint32(len(ids)))
			ids = append(ids, r.b.Event(run.Event{Name: "on-cpu", Derived: true}))
			states = append(states, "on-cpu")
		}
		wait := r.addWait
		if !r.opt.Waits {
			wait = nil
		}
		if n := r.offCPU.derive(r.tally, uint32(len(ids)), wait); n > 0 {
			r.warn(blockedWarning(n))
		}
		ids = append(ids, r.b.Event(run.Event{Name: "off-cpu", Derived: true, Complete: true}))
		states = append(states, "off-cpu")
	}
	r.tally.Flush(r.b, r.opt, func(event uint32, th reading.Thread) (uint32, reading.Thread) {
		if named, ok := r.threads[int32(th.TID)]; ok {
			th.Comm, th.PID = named.name, int64(named.pid)
		}
		th.State = states[event]
		return ids[event], th
	})
}

// warnings tells of what report-sample may have left out.
func (r *reader) warnings() {
	if r.hasLost && r.sampleCount != uint64(r.samples) {
		r.warn(fmt.Sprintf("file says that it has %d samples, but it has %d", r.sampleCount, r.samples))
	}
	if r.samples > 0 && r.deepest <= 1 {
		r.warn("samples have no call chains: make the file with report-sample --show-callchain")
	}
	if r.samples > 0 && !r.keepsGaps() {
		r.warn("samples with broken stacks may be missing: report-sample removes up to 3 in a row unless --remove-gaps 0 is given")
	}
}
