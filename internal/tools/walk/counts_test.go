package walk

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/tools/browser"
)

// TestBrowserCounts checks that few counts, as of an operation, are not rounded to nothing.
func TestBrowserCounts(t *testing.T) {
	p := show(t, sample(t, small()), "", browser.Options{})
	got := eval[[]string](t, p, `(() => { `+script(t, "format.ts", "format")+`; return [
		[0.0312, "", 3], [-0.00049, "", 3], [0.00001234, "", 2], [0, "", 3], [7, "", 3], [-312, "", 2], [5.3364, "", 3], [0.0312, ""], [298470, "", 3],
		[0.25, "nanoseconds", 3], [0, "nanoseconds", 3], [3, "nanoseconds", 3], [1590.4, "nanoseconds", 3],
	].map(x => format.weight(...x)) })()`)
	want := []string{
		"0.0312", "−0.00049", "0.000012", "0", "7", "−312", "5.34", "0.031", "298\u202fk",
		"0.25\u202fns", "0\u202fns", "3.00\u202fns", "1.59\u202fµs",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
