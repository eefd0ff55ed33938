package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// driftingSides writes ten recordings a side in ABBA order, on a machine that gets slower by drift
// from the first to the last. Head costs change more.
func driftingSides(t *testing.T, drift, change float64) (before, after string) {
	t.Helper()
	dir := t.TempDir()
	before, after = filepath.Join(dir, "before"), filepath.Join(dir, "after")
	for _, side := range []string{before, after} {
		if err := os.Mkdir(side, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	const runs, samples = 20, 400
	rng := rand.New(rand.NewPCG(1, 1))
	for at := range runs {
		side, factor := before, 1.0
		if at%4 == 1 || at%4 == 2 {
			side, factor = after, 1+change
		}
		cost := 1e9 * factor * (1 + drift*float64(at)/(runs-1)) * math.Exp(0.01*rng.NormFloat64())
		var script strings.Builder
		for i := range samples {
			fmt.Fprintf(&script, "app 7/7 [000] %d.%06d: %10.0f cpu-clock: \n\t400%03x main+0x%x (/bin/app)\n\n", 100+10*at, 1000*i, cost/samples, 16+i%8, 16+i%8)
		}
		if err := os.WriteFile(filepath.Join(side, fmt.Sprintf("%02d.script", at+1)), []byte(script.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return before, after
}

// TestDrift is of a change that drift of the machine hides from a comparison of two groups.
func TestDrift(t *testing.T) {
	before, after := driftingSides(t, 0.1, 0.03)
	for _, test := range []struct {
		flags []string
		want  []string
	}{
		{[]string{"--full"}, []string{"order  10 pairs, ABBA (fixed order)\n", "]: slower\n", "(signed-rank)"}},
		{[]string{"--format", "json"}, []string{`"order": "interleaved"`, `"pairs": 10`, `"sequence": "ABBA"`}},
		{[]string{"--format", "markdown"}, []string{"recorded in turns: 10 pairs, ABBA (fixed order)", "**Slower: "}},
		{[]string{"--unpaired", "--full"}, []string{"order  interleaved, compared as two groups: on request\n", "]: ? ", "(mann-whitney)"}},
	} {
		var out, stderr bytes.Buffer
		args := append([]string{"diff", before, after, "--normalize", "none"}, test.flags...)
		if code := execute(t.Context(), args, strings.NewReader(""), &out, &stderr); code != 0 {
			t.Fatalf("%v: exit %d: %s", test.flags, code, stderr.String())
		}
		for _, want := range test.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v: no %q in\n%s", test.flags, want, out.String())
			}
		}
	}
}
