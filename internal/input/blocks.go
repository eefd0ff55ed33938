package input

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Blocks inflate compressed parts of an input, each of which is held in memory. Together they
// grow to no more than a compressed input may. The zero value is ready for use.
type Blocks struct {
	zlib    io.ReadCloser // also a zlib.Resetter
	zstd    *zstd.Decoder
	from    bytes.Reader
	in, out int64
}

// Zlib appends what data (RFC 1950) inflates to, which may be most bytes.
func (b *Blocks) Zlib(to, data []byte, most int) ([]byte, error) {
	b.from.Reset(data)
	var err error
	if b.zlib == nil {
		b.zlib, err = zlib.NewReader(&b.from)
	} else {
		err = b.zlib.(zlib.Resetter).Reset(&b.from, nil)
	}
	if err != nil {
		return to, fmt.Errorf("zlib: %w", err)
	}
	return b.take("zlib", to, b.zlib, len(data), most)
}

// Zstd appends what data, a frame of zstd (RFC 8878), inflates to, which may be most bytes.
func (b *Blocks) Zstd(to, data []byte, most int) ([]byte, error) {
	b.from.Reset(data)
	var err error
	if b.zstd == nil {
		b.zstd, err = zstd.NewReader(&b.from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxDictionary))
	} else {
		err = b.zstd.Reset(&b.from)
	}
	if err != nil {
		return to, fmt.Errorf("zstd: %w", err)
	}
	return b.take("zstd", to, b.zstd, len(data), most)
}

// take reads what size bytes of a form inflate to.
func (b *Blocks) take(form string, to []byte, r io.Reader, size, most int) ([]byte, error) {
	b.in += int64(size)
	most = min(most, int(maxInflation*b.in+inflationAllowance-b.out))
	start := len(to)
	for {
		to = slices.Grow(to, max(size, 4<<10))
		n, err := r.Read(to[len(to):cap(to)])
		to = to[:len(to)+n]
		switch {
		case len(to)-start > most:
			return to[:start], fmt.Errorf("%s: decompresses to more than %d bytes", form, most)
		case err == io.EOF:
			b.out += int64(len(to) - start)
			return to, nil
		case err != nil:
			return to[:start], fmt.Errorf("%s: %w", form, err)
		}
	}
}
