package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
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

func zstded(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll(data, nil)
}

func xzed(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := xz.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
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
		{"zstd", bytes.NewReader(zstded(t, data)), data, -1},
		{"zstd of two parts", bytes.NewReader(append(zstded(t, data[:99]), zstded(t, data[99:])...)), data, -1},
		{"xz", bytes.NewReader(xzed(t, data)), data, -1},
		{"xz of two parts", bytes.NewReader(slices.Concat(xzed(t, data[:99]), make([]byte, 8), xzed(t, data[99:]))), data, -1},
		{"xz of a slow stream", iotest.OneByteReader(bytes.NewReader(xzed(t, data))), data, -1},
		{"empty", bytes.NewReader(nil), nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, err := New(tt.name, tt.r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(src.Reader)
			if err != nil || !bytes.Equal(got, tt.want) {
				t.Errorf("read %d bytes and %v, want %d", len(got), err, len(tt.want))
			}
			if want := tt.want[:min(len(tt.want), HeadSize)]; !bytes.Equal(src.Head, want) {
				t.Errorf("head has %d bytes, want %d", len(src.Head), len(want))
			}
			if src.IsStream() != (tt.size < 0) {
				t.Errorf("is a stream: %v, want %v", src.IsStream(), tt.size < 0)
			}
			if src.IsStream() {
				return
			}
			at, size, err := src.Random()
			if err != nil || size != tt.size {
				t.Fatalf("%d bytes at random and %v, want %d", size, err, tt.size)
			}
			all := make([]byte, size)
			if _, err := at.ReadAt(all, 0); err != nil && err != io.EOF || !bytes.Equal(all, tt.want) {
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
	if _, err := New("x", dir); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("of a directory: %v", err)
	}
	if _, err := New("x", iotest.ErrReader(errors.New("disk on fire"))); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("of a reader that fails: %v", err)
	}
	data := bytes.Repeat([]byte("main;f 1\n"), 1<<16)
	for form, whole := range map[string][]byte{"gzip": gzipped(t, data), "zstd": zstded(t, data), "xz": xzed(t, data)} {
		damaged := bytes.Clone(whole)
		damaged[len(damaged)-6] ^= 1
		for _, tt := range []struct {
			name string
			data []byte
			want string
		}{
			{"header", whole[:6], form + ": data ends too early"},
			{"end", whole[:len(whole)-9], form + ": data ends too early"},
			{"checksum", damaged, form + ": "},
			{"garbage behind", append(bytes.Clone(whole), "xxxx"...), form + ": "},
		} {
			t.Run(form+" "+tt.name, func(t *testing.T) {
				src, err := New("x", bytes.NewReader(tt.data))
				if err == nil {
					_, err = io.Copy(io.Discard, src.Reader)
				}
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
			})
		}
	}
}

// TestAtrace reads what atrace -z prints, which has zlib behind a line or two.
func TestAtrace(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("capturing trace... done\nTRACE:\n")
	z := zlib.NewWriter(&b)
	if _, err := z.Write([]byte("# tracer: nop\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for _, tt := range []struct {
		name, want, err string
		data            []byte
	}{
		{"whole", "# tracer: nop\n", "", whole},
		{"cut", "", "zlib: data ends too early", whole[:len(whole)-9]},
		{"header", "", "zlib: ", []byte("TRACE:\n\x78")},
		{"damaged", "", "zlib: ", append(bytes.Clone(whole[:len(whole)-1]), whole[len(whole)-1]^1)},
		{"text", "TRACE:\n# tracer", "", []byte("TRACE:\n# tracer")},
		{"late", "\x01TRACE:\n\x78", "", []byte("\x01TRACE:\n\x78")},
	} {
		src, err := New("x", bytes.NewReader(tt.data))
		var got []byte
		if err == nil {
			got, err = io.ReadAll(src.Reader)
		}
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.err)
		}
		if tt.err == "" && (err != nil || string(got) != tt.want) {
			t.Errorf("%s: got %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

// TestInflation reads small inputs that decompress to large ones.
func TestInflation(t *testing.T) {
	data := bytes.Repeat([]byte("a;"+strings.Repeat("x", 1<<20)+" 1\n"), 96)
	for form, small := range map[string][]byte{"gzip": gzipped(t, data), "zstd": zstded(t, data), "xz": xzed(t, data)} {
		// Of a stream the size is not known beforehand.
		src, err := New("x", struct{ io.Reader }{bytes.NewReader(small)})
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, src.Reader)
		if want := form + ": decompresses to more than 200 times its size"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if n > inflationAllowance+maxInflation*int64(len(small)) {
			t.Errorf("%s: %d bytes became %d", form, len(small), n)
		}
	}
}

// TestDeclared reads files of zstd that say themselves what they become: no byte of one that
// becomes too large is decompressed.
func TestDeclared(t *testing.T) {
	small := zstded(t, make([]byte, 96<<20))
	_, err := New("x", bytes.NewReader(small))
	want := fmt.Sprintf("zstd: says that its %d bytes decompress to %d, %d times as many", len(small), 96<<20, 96<<20/len(small))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := New("x", bytes.NewReader(zstded(t, make([]byte, inflationAllowance)))); err != nil {
		t.Errorf("what may become as large as it says: %v", err)
	}
}

// TestCreated: a file has a time of its creation that changing its other times does not change.
func TestCreated(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	modified := info.ModTime().Add(-time.Hour)
	if err := os.Chtimes(name, modified, modified); err != nil {
		t.Fatal(err)
	}
	src, err := Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if !src.Modified.Equal(modified) {
		t.Errorf("modified %v, want %v", src.Modified, modified)
	}
	if c := src.Created; !c.IsZero() && (c.Before(modified.Add(time.Minute)) || c.After(info.ModTime())) {
		t.Errorf("created %v, not when it was written, %v", c, info.ModTime())
	}
}
