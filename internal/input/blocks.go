package input

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Blocks inflate compressed parts of an input, one after the other. Together they grow to no
// more than a compressed input may. The zero value is ready for use.
type Blocks struct {
	zlib    io.Reader // also a zlib.Resetter
	zstd    *zstd.Decoder
	from    bytes.Reader
	form    string
	r       io.Reader // of the current block
	in, out int64
}

// Zlib starts with a block in the form of RFC 1950. What is read from b is inflated from it.
func (b *Blocks) Zlib(block []byte) error {
	b.start("zlib", block)
	var err error
	if b.zlib == nil {
		b.zlib, err = zlib.NewReader(&b.from)
	} else {
		err = b.zlib.(zlib.Resetter).Reset(&b.from, nil)
	}
	b.r = b.zlib
	return b.error(err)
}

// Zstd is like [Blocks.Zlib] for a frame of zstd (RFC 8878).
func (b *Blocks) Zstd(block []byte) error {
	b.start("zstd", block)
	var err error
	if b.zstd == nil {
		b.zstd, err = zstd.NewReader(&b.from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxDictionary))
	} else {
		err = b.zstd.Reset(&b.from)
	}
	b.r = b.zstd
	return b.error(err)
}

func (b *Blocks) start(form string, block []byte) {
	b.form = form
	b.from.Reset(block)
	b.in += int64(len(block))
}

// Read reads what the current block inflates to.
func (b *Blocks) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.out += int64(n)
	if b.out > maxInflation*b.in+inflationAllowance {
		return 0, tooMuch(b.form, maxInflation)
	}
	if err == io.EOF {
		return n, err
	}
	return n, b.error(err)
}

func (b *Blocks) error(err error) error {
	switch err {
	case nil:
		return nil
	case io.EOF, io.ErrUnexpectedEOF:
		return fmt.Errorf("%s: data ends too early", b.form)
	}
	if strings.HasPrefix(err.Error(), b.form+":") {
		return err
	}
	return fmt.Errorf("%s: %w", b.form, err)
}
