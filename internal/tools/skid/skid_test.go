package main

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
)

var update = flag.Bool("update", false, "write the table of acceptance.md")

const (
	recordings = "../../../../shared/perfdata/lbr"
	document   = "acceptance.md"
	text       = `# How well the branch behind an imprecise sample is found

Written by ` + "`go -C internal/tools test ./skid -update`" + `.

The recording is test.lbr of AutoFDO: branch stacks of gzip on an Intel Westmere, with
its binary. Where the newest entry of a sample's stack is a conditional branch that was
mispredicted, an imprecise sample of mispredicted branches at the same address would be
of that branch. The attribution is given the addresses of samples alone. The distances
between branches and samples (the skid) are learned from the addresses of such samples,
without the answers, as for every recording; two rows learn them from one half of the
samples and are measured on the other. How often a block ran is taken from the addresses
of all samples of the recording. Tables rank as the last row does.

Bounds that the test keeps: the function at least 95 %, the branch among the first three
candidates at least 80 %.

Limits: the event of the recording is taken branches, so that all answers are branches
that were mispredicted and taken; one x86 CPU; no recording of an Arm CPU with a binary
was to be had.

`
)

// TestAcceptance measures the attribution and compares it with the bounds and with the
// document.
func TestAcceptance(t *testing.T) {
	recording, binary := filepath.Join(recordings, "test.lbr"), filepath.Join(recordings, "test.binary")
	for _, file := range []string{recording, binary} {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			t.Skip("the recordings in ../shared/perfdata are not here")
		}
	}
	e, err := read(recording, binary)
	if err != nil {
		t.Fatal(err)
	}
	results := e.results()
	for _, r := range results {
		if r.samples < 400 {
			t.Errorf("%s: only %d samples", r.name, r.samples)
		}
		for _, bound := range []struct {
			what  string
			n     int
			least float64
		}{{"function", r.function, 0.95}, {"first 3 candidates", r.first[2], 0.80}, {"all candidates", r.set, 0.93}} {
			if p := part(bound.n, r.samples); p < bound.least {
				t.Errorf("%s: %s in %.1f %%, want at least %.0f %%", r.name, bound.what, 100*p, 100*bound.least)
			}
		}
	}
	last := results[len(results)-1]
	for c, least := range map[branch.Confidence]float64{branch.High: 0.95, branch.Medium: 0.85} {
		if n := last.confidence[c]; n == nil || part(n[1], n[0]) < least {
			t.Errorf("confidence %s: %v samples and right ones, want at least %.0f %%", c, n, 100*least)
		}
	}
	got := text + table(e)
	if *update {
		if err := os.WriteFile(document, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs, -update rewrites it: %s", document, diff)
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := read(empty, filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no binary: %v", err)
	}
	if _, err := read(empty, empty); err == nil || !strings.HasPrefix(err.Error(), empty+": ") {
		t.Errorf("empty binary: %v", err)
	}
}
