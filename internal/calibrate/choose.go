package calibrate

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"profdiff/internal/asm"
)

// ChooseCPUs are the CPUs to measure, the first of each group. only is the number of
// one, or -1.
func ChooseCPUs(only int, all bool) ([][]CPU, error) {
	allowed, err := allowed()
	if err != nil {
		return nil, err
	}
	list, err := CPUs(os.DirFS("/"))
	if err != nil {
		return nil, err
	}
	for _, i := range allowed {
		if !slices.ContainsFunc(list, func(c CPU) bool { return c.Index == i }) {
			list = append(list, CPU{Index: i})
		}
	}
	list = slices.DeleteFunc(list, func(c CPU) bool {
		return !slices.Contains(allowed, c.Index) || only >= 0 && c.Index != only
	})
	switch {
	case len(list) == 0 && only >= 0:
		return nil, fmt.Errorf("cpu %d: may not be used, those allowed are %s", only, strings.Trim(fmt.Sprint(allowed), "[]"))
	case len(list) == 0:
		return nil, errors.New("no CPU may be used")
	case all:
		var groups [][]CPU
		for _, c := range list {
			groups = append(groups, []CPU{c})
		}
		return groups, nil
	}
	return kinds(list), nil
}

// MeasureKind measures the first of CPUs of one kind.
func MeasureKind(kind []CPU, opt Options) (*Core, error) {
	first := kind[0]
	unpin, err := pin(first.Index)
	if err != nil {
		return nil, err
	}
	defer unpin()
	c, err := measure(newHardware(), architectures[runtime.GOARCH], opt.Widths[first.ID], opt)
	if err != nil {
		return nil, fmt.Errorf("cpu %d: %w", first.Index, err)
	}
	for _, k := range kind {
		c.CPUs = append(c.CPUs, k.Index)
	}
	c.ID, c.ModelName, c.PMU = first.ID, first.ModelName, first.PMU
	return c, nil
}

// architectures are those of Go that have kernels.
var architectures = map[string]asm.Arch{"amd64": asm.X8664, "arm64": asm.AArch64}
