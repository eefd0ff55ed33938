package input

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestLimitSize bounds inputs by what they decompress to.
func TestLimitSize(t *testing.T) {
	text := strings.Repeat("main;work 1\n", 1000)
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"plain": text, "gzip": compressed.String()} {
		for _, limit := range []int{len(text), len(text) - 1} {
			src, err := New(name, strings.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			err = src.LimitSize(int64(limit))
			if err == nil {
				_, err = io.Copy(io.Discard, src.Reader)
			}
			if got, want := err != nil, limit < len(text); got != want {
				t.Errorf("%s: of %d bytes, %d allowed: the error is %v", name, len(text), limit, err)
			}
			if err := src.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
