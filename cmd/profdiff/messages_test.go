package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSay checks that what comes from a file can neither command a terminal nor begin a line of
// its own, which the log of a build would take for a command.
func TestSay(t *testing.T) {
	const foreign = "cpu\n::error::x\x1b[31m\r##[error]y\u202e"
	for _, test := range []struct {
		name string
		say  func(*stdio)
		want string
	}{
		{"an error", func(s *stdio) { s.report(errors.New(foreign)) }, "profdiff: cpu⟨U+000A⟩::error::x⟨U+001B⟩[31m⟨U+000D⟩##[error]y⟨U+202E⟩\n"},
		{"two errors", func(s *stdio) { s.report(errors.Join(errors.New("a"), errors.New("b"))) }, "profdiff: a\nprofdiff: b\n"},
		{"a warning", func(s *stdio) { s.warn("event %s", "\x00\x07") }, "profdiff: warning: event ⟨U+0000⟩⟨U+0007⟩\n"},
		{"a note", func(s *stdio) { s.note("5.3 µs ± 1%, 100% of a") }, "profdiff: 5.3 µs ± 1%, 100% of a\n"},
		{"nothing", func(s *stdio) { s.note("") }, ""},
	} {
		var out bytes.Buffer
		test.say(&stdio{err: &out})
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
