package traces

import (
	"fmt"
	"slices"

	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// measure lists how long the frames and the starts of apps took, as far as they are in the times that were chosen.
//
//  1. A frame lasts from where the app began with it until it was shown, as the timeline of frames says, and the
//     system says whether the app missed its deadline: the share of those is one value of the trace. Traces
//     without such a timeline tell how long the main thread was at each frame.
//  2. A start lasts from the intent until Android says that it is complete. Until the first frame was drawn
//     it is the time to initial display.
func (p *profile) measure() []run.Measured {
	var m measuring
	frames := p.tl.AppFrames()
	late := make(map[trace.ProcessID][2]float64) // frames that were, of all
	for i := range frames {
		f := &frames[i]
		if !p.chosen(f.Process, f.Start, f.End) {
			continue
		}
		of := m.of(p.nameOf(f.Process), "frame", "ns")
		n := late[f.Process]
		if n[1]++; f.Jank.App() {
			n[0]++
		}
		late[f.Process] = n
		if f.End == trace.Unended {
			of.Unended++
			continue
		}
		of.Values = append(of.Values, float64(f.End-f.Start))
	}
	for id := range p.tl.Processes {
		if n, ok := late[trace.ProcessID(id)]; ok {
			of := m.of(p.nameOf(trace.ProcessID(id)), "frames that missed the deadline", "%")
			of.Values = append(of.Values, 100*n[0]/n[1])
		}
	}
	if len(frames) == 0 {
		for _, s := range p.tl.MainThreadFrames() {
			if p.chosen(s.Process, s.Start, s.End) {
				of := m.of(p.nameOf(s.Process), "frame in the main thread", "ns")
				of.Values = append(of.Values, float64(s.End-s.Start))
			}
		}
	}
	for _, s := range p.tl.Startups() {
		if !p.chosen(s.Process, s.Start, s.End) {
			continue
		}
		kind := ""
		if s.Type != "" {
			kind = ", " + s.Type
		}
		of := m.of(s.Package, "start"+kind, "ns")
		of.Values = append(of.Values, float64(s.End-s.Start))
		if end, ok := p.tl.InitialDisplay(&s); ok {
			of := m.of(s.Package, "time to initial display"+kind, "ns")
			of.Values = append(of.Values, float64(end-s.Start))
		}
	}
	return m.list
}

// nameOf is the name of a process, or its number where the trace does not list processes: what several did is not one metric.
func (p *profile) nameOf(id trace.ProcessID) string {
	process := &p.tl.Processes[id]
	if process.Name == "" && process.PID > 0 {
		return fmt.Sprintf("process %d", process.PID)
	}
	return process.Name
}

// chosen reports whether a time of a process is in those that were chosen, in part at least.
func (p *profile) chosen(process trace.ProcessID, start, end int64) bool {
	if end == trace.Unended {
		end = p.tl.End
	}
	return p.spans == nil || p.spans.Overlap(0, process, start, max(end, start+1)) > 0
}

// measuring collects values by what they are of, in the order in which that comes first.
type measuring struct{ list []run.Measured }

func (m *measuring) of(process, quantity, unit string) *run.Measured {
	i := slices.IndexFunc(m.list, func(x run.Measured) bool { return x.Process == process && x.Quantity == quantity })
	if i < 0 {
		i = len(m.list)
		m.list = append(m.list, run.Measured{Process: process, Quantity: quantity, Unit: unit})
	}
	return &m.list[i]
}
