package recording

import (
	"strings"
	"testing"

	"profdiff/internal/branch"
)

// TestReadErrors reads what is none of the formats.
func TestReadErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "is empty"},
		{"binary", "\x7fELF\x02\x01\x01\x00", "is neither perf.data nor the text of perf script -F +brstack, nor callgrind.out"},
		{"gzip", "\x1f\x8b\x08\x00", "is compressed with gzip: decompress it first"},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := Read("text", strings.NewReader(test.text), int64(len(test.text)), &branch.Options{})
			if err == nil || table != nil || err.Error() != test.want {
				t.Errorf("got %v, %v, want %s", table != nil, err, test.want)
			}
		})
	}
}
