package perfdata

import (
	"strings"
	"testing"

	"profdiff/internal/perfsession"
)

// TestNotWhole says why stacks are not whole by where most of them end.
func TestNotWhole(t *testing.T) {
	file, memory := &perfsession.DSO{Path: "/usr/bin/x"}, &perfsession.DSO{Path: perfsession.AnonPath}
	for _, test := range []struct {
		why  perfsession.StackEndReason
		in   *perfsession.DSO
		n    int64
		want string
	}{
		{perfsession.StackNoTable, file, 10, "10.0% of the stacks are not whole: most (10 of 10) end in /usr/bin/x, which has no unwind information: build it with"},
		{perfsession.StackNoTable, memory, 10, "10.0% of the stacks are not whole: most (10 of 10) end in //anon, code that was made while the program ran"},
		{perfsession.StackNoTable, nil, 10, "10.0% of the stacks are not whole: they end outside of all files"},
		{perfsession.StackNoFile, file, 10, "10.0% of the stacks are not whole: most (10 of 10) end in /usr/bin/x, which is not here as it was recorded"},
		{perfsession.StackRanOff, file, 10, "10.0% of the stacks are not whole: most (10 of 10) end in /usr/bin/x, whose unwind information leads out"},
		{perfsession.StackNoRegisters, nil, 10, "10.0% of the stacks cannot be unwound"},
		{perfsession.StackCut, nil, 10, ""},
		{perfsession.StackNoTable, file, 5, ""},
	} {
		var ends perfsession.StackEnds
		ends.Samples[perfsession.StackWhole] = 100 - test.n
		ends.Samples[test.why] += test.n
		if test.in != nil {
			ends.In = map[perfsession.StackEnd]int64{{Why: test.why, In: test.in}: test.n}
		}
		if got := notWhole(&ends); !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%v in %s: %q, want %q", test.why, pathOf(test.in), got, test.want)
		}
	}
}
