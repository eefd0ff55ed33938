package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// recordings lists recordings of every format: those kept here and, where they are,
// those that others made.
func recordings(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{
		"../../profiles/message-heap/before/01.data",
		"../../../shared/perfdata/simpleperf/*.data",
		"../../../shared/perfdata/simpleperf/*.perf-script",
		"../../../shared/perfdata/simpleperf/*.foldedstack",
		"../../../shared/perfdata/simpleperf/*.proto_data",
		"../../../shared/perfdata/linux/*",
	} {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, matches...)
	}
	if len(files) == 0 {
		t.Fatal("no recordings")
	}
	return files
}

// readable lists the recordings that are not damaged by intent, every third of them with
// -short.
func readable(t *testing.T) []string {
	t.Helper()
	var files []string
	for i, file := range recordings(t) {
		if testing.Short() && i%3 != 0 {
			continue
		}
		if filepath.Base(file) != "invalid_perf.data" {
			files = append(files, file)
		}
	}
	return files
}

// traceOnly has a hardware trace, which is not decoded, and no event that has samples.
const traceOnly = "etm_perf_etm.data"

// sampled lists the recordings of readable that have events.
func sampled(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(readable(t), func(file string) bool { return filepath.Base(file) == traceOnly })
}

// TestTraceIsNoProfile: of a recording that has a trace only there is nothing to convert or to
// compare, which is said in one line; show tells what it has.
func TestTraceIsNoProfile(t *testing.T) {
	file := filepath.Join(sharedPerfdata(t), "simpleperf", traceOnly)
	const why = "384 bytes of the recording are a hardware trace (Arm CoreSight), which is not decoded"
	out := filepath.Join(t.TempDir(), "out.pb.gz")
	for _, args := range [][]string{{"convert", "-o", out, file}, {"diff", filepath.Join(filepath.Dir(file), "perf.data"), file}} {
		var stdout, stderr bytes.Buffer
		if code := execute(context.Background(), args, strings.NewReader(""), &stdout, &stderr); code != exitInput {
			t.Errorf("profdiff %q: exit code %d", args, code)
		}
		if last := stderr.String()[strings.LastIndex(strings.TrimSpace(stderr.String()), "\n")+1:]; !strings.Contains(last, why) || stdout.Len() > 0 {
			t.Errorf("profdiff %q: %s%s", args, &stdout, &stderr)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an empty profile was written")
	}
	if text := runProfdiff(t, "show", file); !strings.Contains(text, why) || strings.Contains(text, "cs-etm:u: ") {
		t.Errorf("show: %s", text)
	}
}

// TestConservation checks that every sample of every recording comes out, or was
// filtered, or was dropped for a reason, whatever is asked for.
func TestConservation(t *testing.T) {
	for _, file := range readable(t) {
		var in int64
		for i, flags := range []inputFlags{
			{},
			{showART: true, unknown: "offset", labels: []string{"pid", "tid", "cpu", "mode"}},
			{process: "e", ignore: "a"},
			{thread: "[0-9]", dso: `\.so`},
			{focus: "main|start", allowTruncated: true},
		} {
			if flags.unknown == "" {
				flags.unknown = "dso"
			}
			l, err := flags.loader(&cobra.Command{}, &stdio{out: io.Discard, err: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.load(file)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			a := &r.Accounting
			if !a.Balanced() {
				t.Errorf("%s with %+v: %d in, %d out, %d filtered, %v dropped", file, flags, a.In, a.Out, a.Filtered, a.Dropped)
			}
			if i == 0 {
				in = a.In
				if a.Out == 0 && a.In > 0 {
					t.Errorf("%s: none of %d samples came out", file, a.In)
				}
			}
			if a.In != in {
				t.Errorf("%s with %+v: %d samples in, not %d", file, flags, a.In, in)
			}
		}
	}
}

// TestSameBytes checks that an output depends on its input alone.
func TestSameBytes(t *testing.T) {
	for _, file := range sampled(t) {
		for _, args := range [][]string{
			{"convert", "-o", "-", "--label", "tid", file},
			{"show", "--format", "json", file},
		} {
			var first []byte
			for range 2 {
				var out, errs bytes.Buffer
				if code := execute(context.Background(), args, strings.NewReader(""), &out, &errs); code != exitOK {
					t.Fatalf("profdiff %q: exit code %d: %s", args, code, errs.String())
				}
				if first == nil {
					first = out.Bytes()
				} else if !bytes.Equal(first, out.Bytes()) {
					t.Errorf("profdiff %q: two runs differ", args)
				}
			}
		}
	}
}
