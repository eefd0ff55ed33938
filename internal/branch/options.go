package branch

import (
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/objects"
	"profdiff/internal/perfstat"
	"profdiff/internal/symbolizer"
)

// Options say what is read and how.
type Options struct {
	// Events are the names of those to read, nil for all.
	Events []string
	// Names say where names and binaries are looked for.
	Names symbolizer.Options
	// Cost is what a miss costs, nil to look up the CPU that the recording names.
	Cost *Cost
	// Calibrated are costs that were measured on cores. If the recording names their CPU
	// they come before the table, and after what its own cycles say.
	Calibrated []CalibratedCost
	// Stat has totals that are taken instead of those of samples, nil for none.
	Stat           *perfstat.Stat
	AllowTruncated bool
}

// Symbols are the options for the names of a recording, whose files have its code too.
func (o *Options) Symbols(r objects.Recording) symbolizer.Options {
	names := o.Names
	names.Objects = names.Objects.Of(r)
	return names
}

// Wanted reports whether an event is to be read, by its name with or without
// modifiers.
func (o *Options) Wanted(name string) bool {
	if len(o.Events) == 0 || slices.Contains(o.Events, name) {
		return true
	}
	base, _, ok := strings.Cut(name, ":")
	return ok && slices.Contains(o.Events, base)
}

// Missing says which event is to be read and is not among those with these names.
func (o *Options) Missing(names []string) error {
	for _, want := range o.Events {
		one := Options{Events: []string{want}}
		if !slices.ContainsFunc(names, one.Wanted) {
			return fmt.Errorf("no event %q, there are %s", want, strings.Join(names, ", "))
		}
	}
	return nil
}
