package stacks

import (
	"path"

	"profdiff/internal/perffile"
)

// Synthesized says from what software made the branch stacks of a recording, "" if
// they are the hardware's. Made-up stacks have no predictions.
func Synthesized(file *perffile.File) string {
	if from := injected(file.Info.Cmdline); from != "" {
		return from
	}
	for i := range file.Attrs {
		if trace := traced(file.TracePMU(i)); trace != "" {
			return trace
		}
	}
	return ""
}

// traced says that stacks are made from a trace, by the name of its PMU.
func traced(pmu string) string {
	switch pmu {
	case "cs_etm", "intel_bts", "intel_pt":
		return "stacks were made from a trace of " + pmu + ", which does not have predictions"
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
