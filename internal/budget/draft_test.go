package budget

import "testing"

// TestDraftFile leaves the file of a function out if it is the program, whose name may be another after the next build.
func TestDraftFile(t *testing.T) {
	s := &symbols{list: []symbolFacts{
		{symbol: symbol{"work", "/opt/app"}}, {symbol: symbol{"free", "/opt/app"}}, {symbol: symbol{"free", "/lib/libc.so"}},
	}}
	for _, test := range []struct {
		function, dso, program string
		want                   bool
	}{
		{"work", "/opt/app", "app", true},
		{"work", "/opt/app", "", false},
		{"work", "/opt/app", "other", false},
		{"free", "/opt/app", "app", false},
	} {
		if got := s.needless(&DraftEntry{Function: test.function, DSO: test.dso}, test.program); got != test.want {
			t.Errorf("%s of %s in a recording of %q: %v, want %v", test.function, test.dso, test.program, got, test.want)
		}
	}
}
