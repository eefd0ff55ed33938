package perfetto_test

import (
	"bytes"
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
)

// A tally counts packets by kind, track events by type, and events of the kernel by kind.
type tally struct {
	Packets, Types, Events map[int]int
}

// tallyOf counts what this package decodes.
func tallyOf(t *testing.T, data []byte) tally {
	t.Helper()
	trace, err := open(t, data)
	if err != nil {
		t.Fatal(err)
	}
	c := tally{make(map[int]int), make(map[int]int), make(map[int]int)}
	for p := range trace.Packets() {
		c.Packets[int(p.Kind)]++
		switch p.Kind {
		case perfetto.TrackEvent:
			for f := p.Message(); f.Next(); {
				if f.Num == 9 {
					c.Types[int(f.Uint())]++
				} else {
					f.Skip()
				}
			}
		case perfetto.FtraceEvents:
			b, err := p.Bundle()
			if err != nil {
				t.Fatal(err)
			}
			for e := range b.Events() {
				c.Events[int(e.Kind)]++
			}
		}
	}
	for kind, n := range trace.Counts {
		if c.Packets[int(kind)] != int(n) {
			t.Errorf("%s: %d packets, and %d counted", kind, c.Packets[int(kind)], n)
		}
	}
	return c
}

// tallyOfText counts in what protoc --decode_raw prints: fields by their numbers, two spaces
// deeper in each message.
func tallyOfText(text string) tally {
	notData := map[int]bool{3: true, 8: true, 10: true, 12: true, 13: true, 36: true, 41: true, 42: true, 58: true, 59: true, 79: true, 87: true, 98: true}
	field := regexp.MustCompile(`^( *)(\d+)(?:: (.*)| \{)$`)
	c := tally{make(map[int]int), make(map[int]int), make(map[int]int)}
	var path [16]int
	for line := range strings.SplitSeq(text, "\n") {
		m := field.FindStringSubmatch(line)
		if m == nil || len(m[1])/2 >= len(path) {
			continue
		}
		depth := len(m[1]) / 2
		path[depth], _ = strconv.Atoi(m[2])
		switch {
		case depth == 1 && !notData[path[1]]:
			c.Packets[path[1]]++
		case depth == 2 && path[1] == int(perfetto.TrackEvent) && path[2] == 9:
			n, _ := strconv.Atoi(m[3])
			c.Types[n]++
		case depth == 3 && path[1] == int(perfetto.FtraceEvents) && path[2] == 2 && path[3] != 1 && path[3] != 2 && path[3] != 5:
			c.Events[path[3]]++
		}
	}
	return c
}

// TestProtoc compares counts with those in the text that protoc makes of traces.
func TestProtoc(t *testing.T) {
	protoc, err := exec.LookPath("protoc")
	if err != nil {
		t.Skip(err)
	}
	made := new(perfettotest.Trace)
	s := made.Sequence(1)
	for i := range 100 {
		s.Begin(uint64(i), 1, "c", "slice")
		s.End(uint64(i), 1)
	}
	src, err := input.Open("../ingest/traces/testdata/chromium-fib.pftrace.xz", nil)
	if err != nil {
		t.Fatal(err)
	}
	chromium, err := src.ReadAll(64 << 20)
	if err := errors.Join(err, src.Close()); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"slices": made.Bytes(), "of the kernel": perfettotest.Kernel(1 << 20).Bytes(), "everything": everything().Bytes(), "Chromium": chromium,
	} {
		cmd := exec.Command(protoc, "--decode_raw")
		cmd.Stdin = bytes.NewReader(data)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(name, err)
		}
		if d := cmp.Diff(tallyOfText(string(out)), tallyOf(t, data)); d != "" {
			t.Errorf("%s: (-protoc +here)\n%s", name, d)
		}
	}
}
