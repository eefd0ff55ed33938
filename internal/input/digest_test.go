package input

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestDigests checks that the digest of a file does not depend on how it was read.
func TestDigests(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	type part struct{ off, n int64 }
	for name, parts := range map[string][]part{
		"nothing":        nil,
		"all":            {{0, 160_000}},
		"in order":       {{0, 100}, {100, 60_000}, {60_100, 99_900}},
		"again":          {{0, 50_000}, {10, 20}, {40_000, 20_000}, {0, 70_000}},
		"backwards":      {{150_000, 10_000}, {100_000, 1000}, {0, 10}},
		"with gaps":      {{0, 10}, {1000, 10}, {100_000, 10}, {1010, 5000}},
		"beyond the end": {{0, 200_000}, {200_000, 10}},
	} {
		file := filepath.Join(t.TempDir(), "input")
		if err := os.WriteFile(file, content, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		d := make(Digests)
		in := d.watch(file, f).(io.ReaderAt)
		for _, p := range parts {
			got := make([]byte, p.n)
			n, err := in.ReadAt(got, p.off)
			if err != nil && err != io.EOF {
				t.Fatal(err)
			}
			if want := content[min(p.off, int64(len(content))):min(p.off+p.n, int64(len(content)))]; !bytes.Equal(got[:n], want) {
				t.Errorf("%s: other bytes at %d", name, p.off)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		for range 2 {
			if got, want := d.Of(file), hex.EncodeToString(sum[:]); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
	// A file that is another one by now.
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, content, 0o666); err != nil {
		t.Fatal(err)
	}
	d := make(Digests)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := d.watch(file, f).(io.ReaderAt).ReadAt(make([]byte, 1000), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("other"), 0o666); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("other"))
	if got, want := d.Of(file), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("changed: %s, want %s", got, want)
	}
	if got := d.Of("none"); got != "" {
		t.Errorf("of no file: %s", got)
	}
}
