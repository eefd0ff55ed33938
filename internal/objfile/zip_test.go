package objfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// testZip has a stored, a compressed and an empty entry.
func testZip(t testing.TB) (archive, stored, compressed []byte) {
	t.Helper()
	stored = bytes.Repeat([]byte("\x7fELF stored"), 30)
	compressed = bytes.Repeat([]byte("dex compressed"), 300)
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, e := range []struct {
		name   string
		method uint16
		data   []byte
	}{
		{"classes.dex", zip.Deflate, compressed},
		{"lib/arm64-v8a/libfoo.so", zip.Store, stored},
		{"../evil", zip.Store, []byte("x")},
		{"assets/", zip.Store, nil},
	} {
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err == nil {
			_, err = f.Write(e.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), stored, compressed
}

func TestZip(t *testing.T) {
	archive, stored, compressed := testZip(t)
	r, size := bytes.NewReader(archive), int64(len(archive))
	for name, want := range map[string][]byte{
		"lib/arm64-v8a/libfoo.so": stored,
		"classes.dex":             compressed,
		"assets/":                 nil,
	} {
		section, err := OpenZipEntry(r, size, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := io.ReadAll(section); !bytes.Equal(got, want) || err != nil || section.Size() != int64(len(want)) {
			t.Errorf("%s: got %d bytes, %v, want %d", name, len(got), err, len(want))
		}
	}
	if _, err := OpenZipEntry(r, size, "lib/x86/libfoo.so"); !errors.Is(err, ErrNotFound) {
		t.Errorf("missing entry: got error %v, want ErrNotFound", err)
	}
	start := int64(bytes.Index(archive, stored))
	for _, test := range []struct {
		off  int64
		want string
	}{
		{start - 1, ""},
		{start, "lib/arm64-v8a/libfoo.so"},
		{start + int64(len(stored)) - 1, "lib/arm64-v8a/libfoo.so"},
		{start + int64(len(stored)), ""},
		{0, ""},
		{size, ""},
		{-1, ""},
	} {
		name, at, n, ok := ZipEntryAtOffset(r, size, uint64(test.off))
		if name != test.want || ok != (test.want != "") || ok && (at != start || n != int64(len(stored))) {
			t.Errorf("entry at %#x: got %q, %d, %d, %v, want %q", test.off, name, at, n, ok, test.want)
		}
	}
}

func TestZipErrors(t *testing.T) {
	archive, _, _ := testZip(t)
	open := func(data []byte, name string) error {
		_, err := OpenZipEntry(bytes.NewReader(data), int64(len(data)), name)
		return err
	}
	// edit changes a field of the entry's record in the central directory.
	edit := func(name string, off int, value ...byte) []byte {
		data := slices.Clone(archive)
		at := bytes.LastIndex(data, []byte(name)) - 46
		copy(data[at+off:], value)
		return data
	}
	const so, dex = "lib/arm64-v8a/libfoo.so", "classes.dex"
	u32 := func(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
	if err := open(archive[:len(archive)-1], so); err == nil || !strings.HasPrefix(err.Error(), "zip: ") {
		t.Errorf("cut short: got error %v", err)
	}
	if _, _, _, ok := ZipEntryAtOffset(strings.NewReader("no archive"), 10, 3); ok {
		t.Error("entry of something else than an archive")
	}
	if err := open(edit(so, 8, 1), so); !errors.Is(err, ErrUnsupported) {
		t.Errorf("encrypted: got error %v, want ErrUnsupported", err)
	}
	if err := open(edit(dex, 8, 1), dex); !errors.Is(err, ErrUnsupported) {
		t.Errorf("encrypted and compressed: got error %v, want ErrUnsupported", err)
	}
	if err := open(edit(dex, 10, 93), dex); !errors.Is(err, ErrUnsupported) {
		t.Errorf("unknown method: got error %v, want ErrUnsupported", err)
	}
	if err := open(edit(dex, 24, u32(1<<31)...), dex); !errors.Is(err, ErrUnsupported) {
		t.Errorf("huge: got error %v, want ErrUnsupported", err)
	}
	if err := open(edit(dex, 24, u32(100)...), dex); err == nil {
		t.Error("expands to more than it says: no error")
	}
	var format *FormatError
	if err := open(edit(so, 20, u32(1<<30)...), so); !errors.As(err, &format) {
		t.Errorf("stored beyond the end: got error %v", err)
	}
}
