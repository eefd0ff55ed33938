// Package perffiletest makes recordings for tests: small ones out of their text form,
// large ones out of a few numbers.
package perffiletest

import (
	"testing"

	"profdiff/internal/perffile"
)

// Build makes a recording of its text form, which [perffile.WriteText] describes:
// Build(WriteText(x)) is x. Errors say the line.
func Build(text []byte) ([]byte, error) { return perffile.ParseText(text) }

// Fixture is Build for text in a test.
func Fixture(t testing.TB, text string) []byte {
	t.Helper()
	data, err := Build([]byte(text))
	if err != nil {
		t.Fatalf("fixture: %v", err)
	}
	return data
}
