// Package perffiletest makes recordings for tests: small ones out of their text form,
// large ones out of a few numbers.
package perffiletest

import "testing"

// Fixture is Build for text in a test.
func Fixture(t testing.TB, text string) []byte {
	t.Helper()
	data, err := Build([]byte(text))
	if err != nil {
		t.Fatalf("fixture: %v", err)
	}
	return data
}
