package listing

import (
	"path"

	"profdiff/internal/run"
)

type sampledFunction struct{ name, dso string }

// A sampledCode is where in a file the samples of a function are.
type sampledCode struct {
	mapping run.Mapping
	at      map[uint64]int64 // samples by offset in the file
}

// sampledAddresses counts the samples of functions by address, with what was inlined into
// them: the code of a function is what its symbol spans.
func sampledAddresses(runs []*run.Run, event string, wanted map[sampledFunction]bool) map[sampledFunction]*sampledCode {
	found := make(map[sampledFunction]*sampledCode)
	names := make(map[string]bool)
	for f := range wanted {
		names[f.name] = true
	}
	for _, r := range runs {
		at, ok := r.EventIndex(event)
		if !ok {
			continue
		}
		of := make([]*sampledCode, len(r.Locations))
		functions := make([]bool, len(r.Functions)) // whose names are wanted in some file
		for i := range r.Functions {
			functions[i] = names[r.Functions[i].Name]
		}
		for i := range r.Locations {
			loc := &r.Locations[i]
			m := &r.Mappings[loc.Mapping]
			function := loc.Lines[len(loc.Lines)-1].Function
			if !functions[function] || loc.Address < m.Start || loc.Address >= m.Limit || m.Kind != run.NativeMapping {
				continue
			}
			key := sampledFunction{r.Functions[function].Name, path.Base(m.File)}
			if !wanted[key] {
				continue
			}
			code, ok := found[key]
			if !ok {
				code = &sampledCode{mapping: *m, at: make(map[uint64]int64)}
				found[key] = code
			}
			if code.mapping.BuildID == m.BuildID {
				of[i] = code
			}
		}
		for i := range r.Samples {
			s := &r.Samples[i]
			if int(s.Event) != at || s.Stack == 0 {
				continue
			}
			id := r.Stacks.Location(s.Stack)
			if code := of[id]; code != nil {
				m := &r.Mappings[r.Locations[id].Mapping]
				code.at[r.Locations[id].Address-m.Start+m.Offset] += s.Count
			}
		}
	}
	return found
}
