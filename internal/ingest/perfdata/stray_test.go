package perfdata

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

// TestStrays: what was followed without frame pointers ends in data.
func TestStrays(t *testing.T) {
	for _, test := range []struct {
		name         string
		whole, stray int
		want         []string
	}{
		{"most", 10, 30, []string{"75.0% of the stacks end at addresses that are in no file, most of them behind libx.so, which seems to be built without frame pointers: --call-graph dwarf records whole stacks"}},
		{"few", 10, 3, nil},
		{"a small share", 500, 25, nil},
	} {
		var text strings.Builder
		text.WriteString("header\n" + clockAttr + mapped)
		for i := range test.whole + test.stray {
			ips := "0x400010,0x7f0021,0x400031"
			switch {
			case i >= test.whole && i%10 == 0:
				ips = "0x400010,0x900000,0x900100"
			case i >= test.whole:
				ips = "0x7f0011,0x7f0021,0x900000,0x900100"
			}
			fmt.Fprintf(&text, "SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=%d cpu=0 period=5 ips=[PERF_CONTEXT_USER,%s]\n", 10+i, ips)
		}
		r := readFixture(t, text.String(), new(reading.Options))
		if diff := cmp.Diff(test.want, ingesttest.ReaderWarnings(r)); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestIncomplete says what completes call chains, to those who can record them otherwise.
func TestIncomplete(t *testing.T) {
	for _, test := range []struct {
		truncated  int64
		simpleperf bool
		want       string
	}{
		{1, false, ""},
		{5, false, "5.0% of the call chains are incomplete: --call-graph dwarf records whole stacks, or build with -fno-omit-frame-pointer"},
		{5, true, "5.0% of the call chains are incomplete"},
	} {
		r := &run.Run{}
		r.Accounting.In, r.Accounting.TruncatedStacks = 100, test.truncated
		accountIncomplete(r, test.simpleperf)
		if got := strings.Join(r.Warnings, "\n"); got != test.want {
			t.Errorf("%d of 100: %q, want %q", test.truncated, got, test.want)
		}
	}
}
