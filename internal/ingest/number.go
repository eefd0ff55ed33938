package ingest

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"profdiff/internal/input"
)

// text makes a string of input that is fit for pprof, which holds UTF-8.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// parseWeight reads a number of events, decimal digits only. Numbers that do not
// fit saturate: some kernels record periods just below 2^64.
func parseWeight(b []byte) (int64, error) {
	v, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || len(b) > 20 {
		return 0, fmt.Errorf("%q is no number of events", input.Clip(b))
	}
	if err != nil || v > math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return int64(v), nil
}

// parseCount reads a number of samples, decimal digits only.
func parseCount(b []byte) (int64, error) {
	v, err := strconv.ParseUint(string(b), 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s exceeds 2^63", input.Clip(b))
	case err != nil:
		return 0, fmt.Errorf("%q is no number", input.Clip(b))
	}
	return int64(v), nil
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
