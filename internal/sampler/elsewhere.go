//go:build !linux

package sampler

import (
	"context"
	"fmt"
)

// errElsewhere says that there is no perf_event_open(2) on this system.
var errElsewhere = fmt.Errorf("recording %w on this system: record on Linux or a device", ErrUnsupported)

// Probe says why nothing can be recorded.
func Probe() error { return errElsewhere }

// Count says why nothing can be counted.
func Count([]Event, func() error) ([]float64, error) { return nil, errElsewhere }

// Record says why nothing can be recorded.
func Record(*Options, string, func() error) (*Recording, error) { return nil, errElsewhere }

// Attach says why nothing can be recorded.
func Attach(context.Context, *Options, string, func(context.Context) error) (*Recording, error) {
	return nil, errElsewhere
}
