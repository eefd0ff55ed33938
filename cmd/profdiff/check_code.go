package main

import (
	"iter"

	"profdiff/internal/budget"
	"profdiff/internal/objects"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
)

// codeOf lists the files with code that runs loaded, with their functions where the file is
// found. They are read when they are asked for.
func codeOf(runs []*run.Run, files *objects.Store) (list []budget.Code) {
	type file struct{ path, buildID string }
	at := make(map[file]int)
	add := func(m *run.Mapping) {
		key := file{m.File, m.BuildID}
		i, ok := at[key]
		if !ok && m.File != "" {
			i = len(list)
			at[key] = i
			c := budget.Code{Path: m.File}
			if m.Kind == run.NativeMapping || m.Kind == run.UnknownMapping {
				c.Functions = func() (iter.Seq[budget.Function], error) {
					frames, err := symbolizer.Functions(files, objects.Recorded{Path: key.path, BuildID: key.buildID})
					return functionsOf(frames), err
				}
			}
			list = append(list, c)
		}
		// Names of the kernel come with the recording, or not at all.
		if m.File != "" && m.HasFunctions && m.Kind != run.KernelMapping && m.Kind != run.ModuleMapping && m.Kind != run.VDSOMapping {
			list[i].Named = true
		}
	}
	for _, r := range runs {
		for i := range r.Mappings {
			add(&r.Mappings[i])
		}
		for _, f := range r.Idle {
			add(&run.Mapping{File: f.File, BuildID: f.BuildID, Kind: f.Kind})
		}
	}
	return list
}

func functionsOf(frames iter.Seq[symbolizer.Frame]) iter.Seq[budget.Function] {
	return func(yield func(budget.Function) bool) {
		for f := range frames {
			if !yield(budget.Function{Name: f.Name, System: f.SystemName, File: f.File}) {
				return
			}
		}
	}
}
