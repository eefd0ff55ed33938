package input

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
)

// TestNumbers reads repeated numbers that are packed, single, and both.
func TestNumbers(t *testing.T) {
	packed := func(to []byte, num protowire.Number, list ...uint64) []byte {
		var p []byte
		for _, v := range list {
			p = protowire.AppendVarint(p, v)
		}
		return protowire.AppendBytes(protowire.AppendTag(to, num, protowire.BytesType), p)
	}
	single := func(to []byte, num protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(to, num, protowire.VarintType), v)
	}
	mixed := packed(single(packed(packed(single(nil, 2, 9), 3, 1, 300), 4, 5), 3, 1<<63), 3, 7)
	for _, test := range []struct {
		name    string
		message []byte
		want    []uint64
		err     string
	}{
		{"none", nil, nil, ""},
		{"mixed", mixed, []uint64{1, 300, 1 << 63, 7}, ""},
		{"cut in a number", packed(nil, 3, 1, 2)[:3], nil, "unexpected EOF"},
		{"damaged number", []byte{3<<3 | 2, 2, 1, 0xff}, []uint64{1}, "unexpected EOF"},
		{"wrong type", []byte{3<<3 | 1, 0, 0, 0, 0, 0, 0, 0, 0}, nil, "wrong wire type 1"},
	} {
		f := NewFields(test.message, 0)
		n := f.Numbers(3)
		var got []uint64
		for v, ok := n.Next(); ok; v, ok = n.Next() {
			got = append(got, v)
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s: %s", test.name, d)
		}
		if err := n.Err(); (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.err)
		}
	}
}

// TestView reads parts of a stream that fit into its buffer, that do not, and that are cut off.
func TestView(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 50_000)
	s := NewFieldStream(bytes.NewReader(data), 1<<40)
	at := 0
	for _, n := range []int{0, 1, 1000, 3*HeadSize + 5, 7, HeadSize} {
		if got := s.View(n); !bytes.Equal(got, data[at:at+n]) || s.Err != nil {
			t.Errorf("%d bytes at %d: others, %v", n, at, s.Err)
		}
		if at += n; s.Offset() != int64(at) {
			t.Errorf("offset %d, want %d", s.Offset(), at)
		}
	}
	s.View(len(data))
	if !errors.Is(s.Err, io.ErrUnexpectedEOF) {
		t.Errorf("beyond the end: %v", s.Err)
	}
	s.Reset(strings.NewReader("ab"))
	if got := s.View(2); string(got) != "ab" || s.Err != nil || s.Next() {
		t.Errorf("%q, %v", got, s.Err)
	}
}

// TestBlocks inflates blocks one after the other by the same decoders.
func TestBlocks(t *testing.T) {
	deflated := func(s string) []byte {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		if _, err := w.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return z.Bytes()
	}
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 80<<20)
	var b Blocks
	for _, test := range []struct {
		name  string
		start func([]byte) error
		block []byte
		want  string
		err   string
	}{
		{"zlib", b.Zlib, deflated("one"), "one", ""},
		{"zstd", b.Zstd, w.EncodeAll([]byte("two"), nil), "two", ""},
		{"zlib again", b.Zlib, deflated("three"), "three", ""},
		{"zstd again", b.Zstd, w.EncodeAll([]byte("four"), nil), "four", ""},
		{"cut", b.Zlib, deflated("five")[:8], "", "zlib: data ends too early"},
		{"nothing", b.Zlib, nil, "", "zlib: data ends too early"},
		{"not zlib", b.Zlib, []byte("nonsense"), "", "zlib: invalid header"},
		{"not zstd", b.Zstd, []byte("nonsense"), "", "magic number mismatch"},
		{"after errors", b.Zlib, deflated("six"), "six", ""},
		{"too large", b.Zstd, w.EncodeAll([]byte(large), nil), "", "zstd: decompresses to more than 200 times its size"},
	} {
		err := test.start(test.block)
		n, got := int64(0), new(strings.Builder)
		if err == nil {
			n, err = io.Copy(got, io.LimitReader(&b, 90<<20))
		}
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v after %d bytes, want %s", test.name, err, n, test.err)
			}
		} else if err != nil || got.String() != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got.String(), err, test.want)
		}
	}
}
