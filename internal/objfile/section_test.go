package objfile

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestSectionErrors checks what becomes of compressed sections that lie.
func TestSectionErrors(t *testing.T) {
	plain := bytes.Repeat([]byte("debug information "), 1000)
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zst := enc.EncodeAll(plain, nil)
	header := func(typ uint32, size int) []byte {
		b := binary.LittleEndian.AppendUint32(nil, typ)
		b = binary.LittleEndian.AppendUint32(b, 0)
		b = binary.LittleEndian.AppendUint64(b, uint64(size))
		return binary.LittleEndian.AppendUint64(b, 1)
	}
	old := func(magic string, size int) []byte {
		return binary.BigEndian.AppendUint64([]byte(magic), uint64(size))
	}
	n := len(plain)
	tests := []struct {
		name, section string
		flags         elf.SectionFlag
		data          []byte
		want          string // error
	}{
		{"plain", ".debug_info", 0, plain, ""},
		{"zlib", ".debug_info", elf.SHF_COMPRESSED, slices.Concat(header(1, n), z.Bytes()), ""},
		{"zstd", ".debug_info", elf.SHF_COMPRESSED, slices.Concat(header(2, n), zst), ""},
		{"old", ".zdebug_info", 0, slices.Concat(old("ZLIB", n), z.Bytes()), ""},
		{"old without magic", ".zdebug_info", 0, slices.Concat(old("zlib", n), z.Bytes()), ".debug_info: not a ZLIB section at 0x0"},
		{"no header", ".debug_info", elf.SHF_COMPRESSED, plain[:10], ".debug_info: needs 8 bytes, has 2 at 0x8"},
		{"unknown", ".debug_info", elf.SHF_COMPRESSED, slices.Concat(header(3, n), zst), "not supported"},
		{"too large a claim", ".debug_info", elf.SHF_COMPRESSED, slices.Concat(header(1, 1<<30), z.Bytes()), "claims to expand from"},
		{"less than claimed", ".debug_info", elf.SHF_COMPRESSED, slices.Concat(header(1, n+1), z.Bytes()), ".debug_info: expands to 18000 bytes instead of 18001 at 0x0"},
		{"less than claimed, zstd", ".debug_info", elf.SHF_COMPRESSED, slices.Concat(header(2, n+1), zst), ".debug_info: expands to 18000 bytes instead of 18001 at 0x0"},
		{"broken", ".debug_info", elf.SHF_COMPRESSED, slices.Concat(header(1, n), []byte("no zlib")), ".debug_info: zlib: invalid header"},
		{"broken, zstd", ".debug_info", elf.SHF_COMPRESSED, slices.Concat(header(2, n), []byte("no zstd")), ".debug_info: "},
	}
	for _, test := range tests {
		f := elfImage{machine: elf.EM_X86_64, sections: []testSection{
			{name: test.section, typ: elf.SHT_PROGBITS, flags: test.flags, data: test.data},
		}}.parse(t)
		s := f.debugSection("debug_info")
		got, err := s.load()
		if test.want == "" {
			if !bytes.Equal(got, plain) || err != nil {
				t.Errorf("%s: got %d bytes, %v", test.name, len(got), err)
			}
			piece, err := s.bytes(6, 11)
			if string(piece) != "information" || err != nil {
				t.Errorf("%s: bytes: got %q, %v", test.name, piece, err)
			}
			if _, err := s.bytes(1, uint64(n)); err == nil {
				t.Errorf("%s: bytes beyond the end: no error", test.name)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want %s", test.name, err, test.want)
		}
		if _, err := f.Lines(); err == nil {
			t.Errorf("%s: Lines: no error", test.name)
		}
	}
}

func TestSectionStrings(t *testing.T) {
	long := strings.Repeat("x", 3*maxName)
	data := "\x00short\x00" + strings.Repeat("m", 1000) + "\x00" + long + "\x00end"
	f := elfImage{machine: elf.EM_X86_64, sections: []testSection{{name: ".debug_str", typ: elf.SHT_PROGBITS, data: []byte(data)}}}.parse(t)
	s := f.debugSection("debug_str")
	for off, want := range map[uint64]string{
		0: "", 1: "short", 3: "ort", 7: strings.Repeat("m", 1000), 1008: long[:maxName],
		uint64(len(data) - 3): "end", uint64(len(data)): "", 1 << 40: "",
	} {
		if got := s.str(off); got != want {
			t.Errorf("string at %#x: got %d bytes, want %d", off, len(got), len(want))
		}
	}
}

func TestXZErrors(t *testing.T) {
	plain := bytes.Repeat([]byte("symbols "), 1000)
	good := compressXZ(t, plain)
	if got, err := inflateXZ(good, "xz", 1<<20); !bytes.Equal(got, plain) || err != nil {
		t.Fatalf("got %d bytes, %v", len(got), err)
	}
	if _, err := inflateXZ(good, "xz", 7999); err == nil || !strings.Contains(err.Error(), "expands to more than") {
		t.Errorf("limit: got error %v", err)
	}
	if got, err := inflateXZ(good, "xz", 8000); len(got) != 8000 || err != nil {
		t.Errorf("limit just reached: got %d bytes, %v", len(got), err)
	}
	for n := range len(good) - 24 { // index and footer are not needed
		if _, err := inflateXZ(good[:n], "xz", 1<<20); err == nil {
			t.Errorf("cut to %d of %d bytes: no error", n, len(good))
		}
	}
	flipped := 0
	for i := range len(good) - 24 {
		data := slices.Clone(good)
		data[i] ^= 0x10
		if got, err := inflateXZ(data, "xz", 1<<20); err == nil && !bytes.Equal(got, plain) {
			t.Errorf("bit flipped in byte %d: no error", i)
		} else if err != nil {
			flipped++
		}
	}
	if flipped < len(good)/2 {
		t.Errorf("only %d of %d flipped bits were noticed", flipped, len(good))
	}
	unknown := slices.Clone(good)
	unknown[7] = 2 // check
	if _, err := inflateXZ(unknown, "xz", 1<<20); !errors.Is(err, ErrUnsupported) {
		t.Errorf("unknown check: got error %v, want ErrUnsupported", err)
	}
}
