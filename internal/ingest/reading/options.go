// Package reading has what readers of recordings share, whatever their format.
//
//  1. [Options] say how to read; a [Reader] is called with them.
//  2. A file that the input names becomes one mapping of the Run: [Files] keeps them, and
//     [MappingKind] tells from a path whether it is the kernel, code of Java, and so on.
//  3. Where a tool had no symbol it printed a stand-in: [UnknownSymbol] knows their forms, and
//     [UnknownFunction] gives all of them one name, so that formats can be compared.
//  4. Between frames of Java, the frames of its runtime are left out: [WithoutRuntime].
//  5. A [Tally] sums samples of inputs that name threads and processes only at their end.
package reading

import (
	"profdiff/internal/input"
	"profdiff/internal/objects"
	"profdiff/internal/retrace"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// Options say how an input is read.
type Options struct {
	// Objects has the object files for the DSOs of the recording, nil for none.
	Objects *objects.Store
	// Kallsyms names kernel addresses.
	Kallsyms *objects.Kallsyms
	// Retrace holds the original names of obfuscated Java methods.
	Retrace *retrace.Mapping
	// ShowARTFrames keeps the frames of the Java runtime between Java frames, and
	// compiled methods apart from interpreted ones.
	ShowARTFrames bool
	// Unnamed leaves the addresses of perf.data files without names of functions: nothing is read but the
	// recording. What it costs in all is the same.
	Unnamed bool
	// UnknownOffset names addresses without a symbol dso[+hex] instead of [dso].
	UnknownOffset bool
	// AllowTruncated reads what there is of a recording that ends too early.
	AllowTruncated bool
	// PID, TID, CPU and Mode add these labels to samples. They keep samples of
	// different runs from being summed, so they are off by default.
	PID, TID, CPU, Mode bool
	// Timeline keeps every sample in the order of time where the input tells it
	// (run.Run.Timeline), for the noise of a single run.
	Timeline bool
	// During chooses times of a trace, nil for all.
	During *trace.During
	// NoAddresses is set if functions and source lines are all that is asked for. Stacks of a pprof profile that
	// differ in nothing but addresses, or lines of callers, are then one: see run.Builder.PlainLocation.
	NoAddresses bool
	// Last is set if no recording is read after this one: what names addresses of a file is
	// dropped when all have names.
	Last bool
	// Waits keeps who waited when, and for whom, where the input tells it (run.Run.Waits).
	Waits bool
}

// A Reader reads an input of one format.
type Reader = func(*input.Source, *Options) (*run.Run, error)
