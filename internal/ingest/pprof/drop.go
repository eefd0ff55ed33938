package pprof

import (
	"regexp"
	"strings"

	"profdiff/internal/run"
)

// A frameFilter drops frames as pprof does: frames of a function that drop_frames matches
// and keep_frames does not, and all that these call.
type frameFilter struct {
	drop, keep *regexp.Regexp
	locations  map[uint64]dropped
}

// dropped says what is dropped of a location.
type dropped uint8

const (
	dropNothing dropped = iota
	dropInlined         // what is inlined in it and what it calls
	dropAll             // also the location
)

// newFrameFilter returns nil if all frames are to stay.
func newFrameFilter(drop, keep string) (*frameFilter, error) {
	if drop == "" {
		return nil, nil
	}
	f := &frameFilter{locations: make(map[uint64]dropped)}
	var err error
	if f.drop, err = regexp.Compile("^(" + drop + ")$"); err != nil {
		return nil, err
	}
	if keep == "" {
		return f, nil
	}
	if f.keep, err = regexp.Compile("^(" + keep + ")$"); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *frameFilter) drops(function string) bool {
	if f == nil {
		return false
	}
	name := withoutArguments(function)
	return f.drop.MatchString(name) && (f.keep == nil || !f.keep.MatchString(name))
}

// withoutArguments is the name of a function as drop_frames is matched with it: without
// the list of arguments and the dot that starts the names of PowerPC's ELFv1 ABI.
func withoutArguments(function string) string {
	name := strings.TrimPrefix(function, ".")
	for i := 0; i < len(name); i++ {
		if name[i] != '(' {
			continue
		}
		const anonymous = "(anonymous namespace)"
		switch {
		case strings.HasPrefix(name[i:], anonymous):
			i += len(anonymous) - 1
		case strings.HasSuffix(name[:i], "operator") && strings.HasPrefix(name[i:], "()"):
			i++
		default:
			return name[:i]
		}
	}
	return name
}

// location returns the lines of a location that stay.
func (f *frameFilter) location(id uint64, lines []run.Line, functions []functionRow) []run.Line {
	for i := len(lines) - 1; i >= 0; i-- {
		if !functions[lines[i].Function].drop {
			continue
		}
		if i == len(lines)-1 {
			f.locations[id] = dropAll
			return lines
		}
		f.locations[id] = dropInlined
		return lines[i+1:]
	}
	return lines
}

// stack returns what stays of the ids of a stack's locations, leaf first. The frames at
// the root stay up to the first that is not to be dropped, so that something is left.
func (f *frameFilter) stack(ids []uint64) []uint64 {
	kept := false
	for i := len(ids) - 1; i >= 0; i-- {
		switch d := f.locations[ids[i]]; {
		case d == dropNothing:
			kept = true
		case kept && d == dropAll:
			return ids[i+1:]
		case kept:
			return ids[i:]
		}
	}
	return ids
}
