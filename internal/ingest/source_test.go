package ingest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
)

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSource(t *testing.T) {
	data := bytes.Repeat([]byte("main;f 1\n"), 20000)
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(skip int64) io.Reader {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if _, err := f.Seek(skip, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, tt := range []struct {
		name string
		r    io.Reader
		want []byte
		size int64
	}{
		{"file", open(0), data, int64(len(data))},
		{"file that was read", open(9), data[9:], int64(len(data) - 9)},
		{"memory", bytes.NewReader(data), data, int64(len(data))},
		{"stream", io.MultiReader(bytes.NewReader(data)), data, -1},
		{"slow stream", iotest.OneByteReader(bytes.NewReader(data)), data, -1},
		{"gzip", bytes.NewReader(gzipped(t, data)), data, -1},
		{"gzip of two parts", bytes.NewReader(append(gzipped(t, data[:99]), gzipped(t, data[99:])...)), data, -1},
		{"empty", bytes.NewReader(nil), nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, err := newSource(tt.name, tt.r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(src.Reader)
			if err != nil || !bytes.Equal(got, tt.want) {
				t.Errorf("read %d bytes and %v, want %d", len(got), err, len(tt.want))
			}
			if want := tt.want[:min(len(tt.want), headSize)]; !bytes.Equal(src.Head, want) {
				t.Errorf("head has %d bytes, want %d", len(src.Head), len(want))
			}
			if src.Size != tt.size || (src.ReaderAt != nil) != (tt.size >= 0) {
				t.Errorf("size is %d, want %d", src.Size, tt.size)
			}
			if src.ReaderAt == nil {
				return
			}
			all := make([]byte, src.Size)
			if _, err := src.ReaderAt.ReadAt(all, 0); err != nil && err != io.EOF || !bytes.Equal(all, tt.want) {
				t.Errorf("read at random: %v", err)
			}
		})
	}
}

func TestSourceErrors(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := newSource("x", dir); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("of a directory: %v", err)
	}
	if _, err := newSource("x", iotest.ErrReader(errors.New("disk on fire"))); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("of a reader that fails: %v", err)
	}
	whole := gzipped(t, bytes.Repeat([]byte("main;f 1\n"), 1<<16))
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-6] ^= 1
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"header", whole[:5], "gzip: data ends too early"},
		{"end", whole[:len(whole)-9], "gzip: data ends too early"},
		{"checksum", damaged, "gzip: "},
		{"garbage behind", append(bytes.Clone(whole), "xx"...), "gzip: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, err := newSource("x", bytes.NewReader(tt.data))
			if err == nil {
				_, err = readFolded(src, &Options{})
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestInflation reads a small input that decompresses to a large one.
func TestInflation(t *testing.T) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	line := []byte("a;" + strings.Repeat("x", 1<<20) + " 1\n")
	for range 256 {
		if _, err := z.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := newSource("x", bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readFolded(src, &Options{}); err == nil || !strings.Contains(err.Error(), "decompresses to more than 200 times its size") {
		t.Errorf("got %v", err)
	}
}
