package perfetto_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/ingest/pprof"
	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
)

// TestRecognise tells traces from what starts with the same byte.
func TestRecognise(t *testing.T) {
	event := func(made *perfettotest.Trace) { made.Sequence(1).Begin(5, 1, "c", "n") }
	profile := func(value *perfettotest.Message) []byte {
		m := message().Message(1, value).Message(2, message().Packed(1, 1).Packed(2, 5)).String(6, "").String(6, "cpu")
		return m.Bytes()
	}
	trace := func(build func(*perfettotest.Trace)) []byte {
		var made perfettotest.Trace
		build(&made)
		return made.Bytes()
	}
	long := trace(func(made *perfettotest.Trace) {
		made.Packet(message().String(int(perfetto.ModuleSymbols), strings.Repeat("x", input.HeadSize)).Uint(10, 1))
	})
	for _, test := range []struct {
		name string
		head []byte
		want bool
	}{
		{"an event", trace(event), true},
		{"kernel events alone", trace(func(made *perfettotest.Trace) {
			made.Packet(message().Message(1, message().Uint(1, 0).Message(2, message().Uint(1, 5).Uint(2, 6))))
		}), true},
		{"a process tree alone", trace(func(made *perfettotest.Trace) {
			made.Packet(message().Message(2, message().Message(1, message().Uint(1, 5))))
		}), true},
		{"an empty packet first", append([]byte{0x0a, 0}, trace(event)...), true},
		{"cut", append(trace(event), 0x0a, 0x50, 0x40)[:], true},
		{"a packet longer than the head", append(trace(event), long...)[:input.HeadSize], true},
		{"another field between", append(trace(event), 0x10, 1), false},
		{"damage behind a few", append(bytes.Repeat(trace(event), 7), 0x12, 1, 0), false},
		{"damage behind many", append(bytes.Repeat(trace(event), 8), 0x12, 1, 0), true},
		{"a damaged packet behind many", append(bytes.Repeat(trace(event), 8), 0x0a, 2, 0xff, 0xff, 0x0a, 0), true},
		{"a pprof profile", profile(message().Uint(1, 1).Uint(2, 2)), false},
		{"one without names", profile(message()), false},
		{"descriptors", message().Message(1, message().String(1, "a.proto").String(2, "pkg").Message(4, message().String(1, "M"))).Bytes(), false},
		{"text", []byte("\n\x20@1234567890123456789012345678901\n"), false},
		{"nothing", nil, false},
		{"empty packets", []byte{0x0a, 0, 0x0a, 0}, false},
	} {
		head := input.Head(test.head)
		if got := perfetto.Recognise(head).Is; got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
		if test.want && pprof.Recognise(head).Is {
			t.Errorf("%s is taken for a profile of pprof", test.name)
		}
	}
}

// TestOthers looks at the recordings that tests of other formats have: none is a trace.
func TestOthers(t *testing.T) {
	n := 0
	for _, root := range []string{"../ingest", "../../profiles", "../perffile", "../objfile/testdata"} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(path, "testdata") && !strings.Contains(path, "profiles") || strings.Contains(path, "trace") {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
				data, _ = io.ReadAll(io.LimitReader(z, input.HeadSize))
			}
			n++
			if perfetto.Recognise(input.Head(data[:min(len(data), input.HeadSize)])).Is {
				t.Errorf("%s is taken for a trace", path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 50 {
		t.Errorf("looked at %d files only", n)
	}
}
