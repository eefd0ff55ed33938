package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/goccy/go-yaml"
)

// publishedFrame is a frame of the published stack.
type publishedFrame struct {
	Address    uint64
	File, Name string
	Source     string
	Line       int64
}

var (
	publishedNative = regexp.MustCompile(`^native: #\d\d pc ([0-9a-f]{16}) (/\S+) \((.*)$`)
	publishedJava   = regexp.MustCompile(`^at (\S+)\((?:Native method|(\w+\.java):(\d+))\)$`)
)

// TestPublishedRendererStart compares what profdiff reads of the published stack with
// its lines, and the changes of the published metrics with their values.
func TestPublishedRendererStart(t *testing.T) {
	const dir = "../../profiles/renderer-start"
	text, err := os.ReadFile(filepath.Join(dir, "stack.txt"))
	if err != nil {
		t.Fatal(err)
	}
	missing := publishedFrame{Name: notShown}
	want := []publishedFrame{missing} // the first frame is number 4
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "..." {
			want = append(want, missing)
			continue
		}
		if m := publishedNative.FindStringSubmatch(line); m != nil {
			pc, err := strconv.ParseUint(m[1], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			name, whole := strings.CutSuffix(m[3], "+52)")
			if !whole {
				name += "…" // the slide has cut it off
			}
			want = append(want, publishedFrame{Address: pc, File: m[2], Name: name})
			continue
		}
		m := publishedJava.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q is no frame", line)
		}
		f := publishedFrame{File: "[java]", Name: m[1], Source: m[2]}
		if m[3] != "" {
			if f.Line, err = strconv.ParseInt(m[3], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, f)
	}
	if len(want) != 9+10+2 {
		t.Errorf("the stack has %d frames", len(want))
	}

	var out, errs bytes.Buffer
	args := []string{"convert", filepath.Join(dir, "stack.txt"), "--show-art-frames", "-o", "-"}
	if code := execute(context.Background(), args, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, &errs)
	}
	p, err := profile.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) != 1 || !cmp.Equal(p.Sample[0].Value, []int64{1, 1}) {
		t.Fatalf("samples %v", p.Sample)
	}
	var got []publishedFrame
	for _, l := range p.Sample[0].Location {
		f := publishedFrame{Address: l.Address, Name: l.Line[0].Function.Name, Source: l.Line[0].Function.Filename, Line: l.Line[0].Line}
		if l.Mapping != nil {
			f.File = l.Mapping.File
		}
		got = append(got, f)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
	checkPublishedMetrics(t, dir)
}

// checkPublishedMetrics checks that the changes in the table follow from its values, as
// far as these are rounded, and the changes in words from the table.
func checkPublishedMetrics(t *testing.T, dir string) {
	t.Helper()
	var c struct {
		Says []struct {
			What, Metric string
			Percent      float64
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(dir, "metrics.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	// number returns a value and by how much it may be rounded.
	number := func(s string) (v, round float64) {
		t.Helper()
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		_, decimals, _ := strings.Cut(s, ".")
		return v, 0.5 * math.Pow10(-len(decimals))
	}
	percents := make(map[string]float64)
	for i, line := range strings.Split(strings.TrimSuffix(string(table), "\n"), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 6 {
			t.Fatalf("metrics.tsv:%d: %d columns", i+1, len(f))
		}
		if i == 0 {
			continue
		}
		before, roundBefore := number(f[1])
		after, roundAfter := number(f[2])
		change, roundChange := number(f[4])
		percent, roundPercent := number(strings.TrimSuffix(f[5], "%"))
		// All but the percentages may be cut off instead of rounded.
		if slack := 2 * (roundBefore + roundAfter + roundChange); math.Abs(after-before-change) > slack {
			t.Errorf("%s: %v - %v is not %v", f[0], after, before, change)
		}
		if slack := roundPercent + 200*roundChange/before; math.Abs(100*change/before-percent) > slack {
			t.Errorf("%s: %v of %v is not %v%%", f[0], change, before, percent)
		}
		percents[f[0]] = percent
	}
	if len(percents) < 10 {
		t.Errorf("%d metrics", len(percents))
	}
	words := 0
	for _, s := range c.Says {
		if s.Metric == "" {
			continue
		}
		words++
		if got := math.Floor(-percents[s.Metric]); got != s.Percent {
			t.Errorf("%s is %v%% less, the source says %v%%", s.Metric, -percents[s.Metric], s.Percent)
		}
	}
	if words == 0 {
		t.Error("case.yaml says nothing of the metrics")
	}
}
