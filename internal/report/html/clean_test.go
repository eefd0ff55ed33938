package html

import (
	"testing"
)

func TestTrimPaths(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"perf record -o /home/me/a/perf.data -- /opt/app/bin/server --root=/srv/www/x", "perf record -o …/perf.data -- …/server --root=…/x"},
		{"100/200 a/b", "100/200 a/b"},
		{"/proc/kallsyms", "…/kallsyms"},
	} {
		if got := trimPaths(test.in); got != test.want {
			t.Errorf("trimPaths(%q) = %q, want %q", test.in, got, test.want)
		}
	}
	for _, test := range []struct{ in, want string }{
		{"/home/me/runs/before/01.data", "before/01.data"},
		{"before/01.data", "before/01.data"},
		{"01.data", "01.data"},
		{"/01.data", "01.data"},
		{"../x/01.data", "x/01.data"},
	} {
		if got := trimName(test.in); got != test.want {
			t.Errorf("trimName(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}
