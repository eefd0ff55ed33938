package record

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRateAlone(t *testing.T) {
	events := []Event{{Name: "cpu-cycles"}, {Name: "instructions:u"}, {Name: "branch-misses"}, {Name: "cpu-clock"}, {Name: "cycles", Period: 5}, {Name: "cycles", Frequency: 7}}
	rateAlone(events)
	want := []Event{
		{Name: "cpu-cycles", Period: alonePeriod},
		{Name: "instructions:u", Period: alonePeriod},
		{Name: "branch-misses", Frequency: aloneFrequency},
		{Name: "cpu-clock"},
		{Name: "cycles", Period: 5},
		{Name: "cycles", Frequency: 7},
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error(diff)
	}
	if !prime(alonePeriod) {
		t.Errorf("%d is not prime", alonePeriod)
	}
}

func TestProcessIDs(t *testing.T) {
	for _, test := range []struct {
		text string
		want []int
		err  string
	}{
		{"", nil, ""},
		{"12", []int{12}, ""},
		{"12,7,12", []int{12, 7}, ""},
		{"12,", nil, `process "": give its number, which pgrep NAME finds`},
		{"nginx", nil, `process "nginx": give its number, which pgrep NAME finds`},
		{"0", nil, `process "0": give its number, which pgrep NAME finds`},
	} {
		got, err := processIDs(test.text)
		if diff := cmp.Diff(test.want, got); diff != "" || err == nil != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%q: %v: %s", test.text, err, diff)
		}
	}
}

// TestAlone records one side with any backend: once, to a file that a failure leaves not behind.
func TestAlone(t *testing.T) {
	dir := t.TempDir()
	f := new(fake)
	var notes []string
	record := func(ctx context.Context, name string) error {
		p := plan(20, 1)
		p.Warmup = 1
		p.Before.Prepare = "touch " + filepath.Join(dir, "prepared")
		_, err := Alone(ctx, f, p, filepath.Join(dir, name), func(note string) { notes = append(notes, note) })
		return err
	}
	if err := record(t.Context(), "in/one.data"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"warm before", "before"}, f.calls); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"chose cpu-clock"}, notes); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"in/one.data", "prepared"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if err := record(t.Context(), "in/one.data"); err == nil || !strings.HasSuffix(err.Error(), "one.data: is there already: -o FILE gives another name") {
		t.Errorf("a file that is there: %v", err)
	}
	if _, err := Alone(t.Context(), f, &Plan{}, filepath.Join(dir, "none.data"), nil); err == nil || !strings.HasPrefix(err.Error(), "give a command: ") {
		t.Errorf("no command: %v", err)
	}
	f.fail = 1
	if err := record(t.Context(), "two.data"); err == nil || err.Error() != "it broke" || exists(filepath.Join(dir, "two.data")) {
		t.Errorf("it fails: %v", err)
	}
}
