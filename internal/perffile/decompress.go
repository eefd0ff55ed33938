package perffile

import (
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// A decompressor turns the payloads of COMPRESSED records back into records. The
// payloads are pieces of one zstd stream that was flushed at their ends, cut
// anywhere, so the decoder runs as a coroutine that is resumed with every piece
// and stops where it wants more, or when enough output has piled up.
type decompressor struct {
	in      []byte // payload not yet decoded
	out     []byte // records not yet consumed
	total   int64  // bytes of all output
	fed     int64  // bytes of all payloads
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	stopped bool
	starved bool // stopped because the payload is used up
	busy    bool // records of the current payload are being yielded
	err     error
}

const (
	// outputChunk is how much output may pile up before it is consumed.
	outputChunk = 1 << 20
	// maxExpansion bounds the ratio of output to payload. Recordings reach 3 to
	// 30; stack dumps full of zeros some hundreds.
	maxExpansion = 2048
	// maxWindow bounds the memory of the zstd decoder: 8 MiB is what every
	// decoder must support (RFC 8878, 3.1.1.1.2); higher levels use more.
	maxWindow = 64 << 20
)

func newDecompressor() *decompressor {
	d := &decompressor{}
	d.next, d.stop = iter.Pull(d.run)
	return d
}

// run is the coroutine.
func (d *decompressor) run(yield func(struct{}) bool) {
	d.yield = yield
	z, err := zstd.NewReader(decompressorInput{d}, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err == nil {
		_, err = z.WriteTo(decompressorOutput{d})
		z.Close()
	}
	if !d.stopped {
		d.err = err
	}
}

// pause gives control back to the caller of more. It reports whether to go on.
func (d *decompressor) pause() bool {
	if !d.stopped && !d.yield(struct{}{}) {
		d.stopped = true
	}
	return !d.stopped
}

type decompressorInput struct{ d *decompressor }

func (r decompressorInput) Read(p []byte) (int, error) {
	for len(r.d.in) == 0 {
		r.d.starved = true
		if !r.d.pause() {
			return 0, io.ErrUnexpectedEOF
		}
	}
	n := copy(p, r.d.in)
	r.d.in = r.d.in[n:]
	return n, nil
}

type decompressorOutput struct{ d *decompressor }

func (w decompressorOutput) Write(p []byte) (int, error) {
	w.d.out = append(w.d.out, p...)
	w.d.total += int64(len(p))
	if w.d.total > maxExpansion*w.d.fed+outputChunk {
		return 0, fmt.Errorf("expands to more than %d times its size", maxExpansion)
	}
	if len(w.d.out) >= outputChunk && !w.d.pause() {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// feed hands over the next payload. The previous one must be used up: more must
// have returned false.
func (d *decompressor) feed(payload []byte) {
	d.in = payload
	d.starved = false
	d.fed += int64(len(payload))
}

// more decodes on until the payload is used up or a chunk of output is there. It
// reports whether there may be more output for this payload.
func (d *decompressor) more() (bool, error) {
	_, alive := d.next()
	if d.err != nil {
		return false, d.err
	}
	if !alive {
		return false, io.ErrUnexpectedEOF
	}
	return !d.starved, nil
}

func (d *decompressor) close() {
	d.stopped = true
	d.stop()
}
