package input

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Text makes a string of input that is valid UTF-8.
func Text[T ~string | ~[]byte](b T) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// ParseWeight reads a number of events, decimal digits only. Numbers that do not
// fit saturate: some kernels record periods just below 2^64.
func ParseWeight(b []byte) (int64, error) {
	v, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || len(b) > 20 {
		return 0, fmt.Errorf("%q is no number of events", Clip(b))
	}
	if err != nil || v > math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return int64(v), nil
}

// ParseCount reads a number of samples, decimal digits only.
func ParseCount(b []byte) (int64, error) {
	v, err := strconv.ParseUint(string(b), 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s exceeds 2^63", Clip(b))
	case err != nil:
		return 0, fmt.Errorf("%q is no number", Clip(b))
	}
	return int64(v), nil
}

// IsDigits reports whether text is decimal digits only.
func IsDigits[T ~string | ~[]byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

// IsHex reports whether text is hexadecimal digits only, in lower case.
func IsHex[T ~string | ~[]byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(text) > 0
}
