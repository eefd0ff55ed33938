package stacks

import (
	"path"
	"strings"

	"profdiff/internal/perffile"
)

// Synthesized says from what software made the branch stacks of a recording, "" if
// they are the hardware's. Made-up stacks have no predictions.
func Synthesized(file *perffile.File) string {
	if from := injected(file.Info.Cmdline); from != "" {
		return from
	}
	pmus := make(map[perffile.EventType]string)
	for _, p := range file.Info.PMUs {
		pmus[p.Type] = p.Name
	}
	for i := range file.Attrs {
		a := &file.Attrs[i]
		if trace := tracer(pmus[a.Type]); trace != "" && a.Type > perffile.TypeBreakpoint {
			return trace
		}
		if trace := tracer(a.Name); trace != "" {
			return trace
		}
	}
	return ""
}

// tracer says that stacks are made from a trace, by the name of its event or PMU.
func tracer(name string) string {
	for _, pmu := range []string{"cs_etm", "intel_pt", "intel_bts"} {
		if strings.HasPrefix(name, pmu) {
			return "stacks were made from a trace of " + pmu + ", which does not have predictions"
		}
	}
	return ""
}

// injected says that perf inject or simpleperf inject made the recording, by its
// command line.
func injected(args []string) string {
	if len(args) < 2 || args[1] != "inject" {
		return ""
	}
	switch tool := path.Base(args[0]); tool {
	case "perf", "simpleperf":
		return "stacks were made by " + tool + " inject, which does not know predictions"
	}
	return ""
}
