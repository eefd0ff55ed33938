package table

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Encodings of pages: https://parquet.apache.org/docs/file-format/data-pages/encodings/
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2 // the older name of the indices of a dictionary
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDictionary      = 8
)

var errEncoding = errors.New("a page is damaged")

// slack is how many bytes behind packed numbers are read or written with them.
const slack = 9

// pack puts a number of so many bits at a bit. There are slack bytes behind it.
func pack(data []byte, bit, width int, v uint64) {
	p, off := bit>>3, uint(bit&7)
	low := binary.LittleEndian.Uint64(data[p:])
	binary.LittleEndian.PutUint64(data[p:], low|v<<off)
	if int(off)+width > 64 {
		data[p+8] |= byte(v >> (64 - off))
	}
}

// unpack reads what pack wrote.
func unpack(data []byte, bit, width int) uint64 {
	p, off := bit>>3, uint(bit&7)
	v := binary.LittleEndian.Uint64(data[p:]) >> off
	if int(off)+width > 64 {
		v |= uint64(data[p+8]) << (64 - off)
	}
	if width < 64 {
		v &= 1<<uint(width) - 1
	}
	return v
}

// appendHybrid appends small numbers as runs and as groups of eight that are packed.
func appendHybrid(b []byte, values []uint32, width int) []byte {
	packed := 0 // values before i that are to be packed
	for i := 0; i < len(values); {
		run := 1
		for i+run < len(values) && values[i+run] == values[i] {
			run++
		}
		if run < 8 {
			n := min(8, len(values)-i)
			i, packed = i+n, packed+n
			continue
		}
		b = appendPacked(b, values[i-packed:i], width)
		packed = 0
		b = binary.AppendUvarint(b, uint64(run)<<1)
		for shift := 0; shift < width; shift += 8 {
			b = append(b, byte(values[i]>>shift))
		}
		i += run
	}
	return appendPacked(b, values[len(values)-packed:], width)
}

// appendPacked appends groups of eight.
func appendPacked(b []byte, values []uint32, width int) []byte {
	if len(values) == 0 {
		return b
	}
	groups := (len(values) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	start := len(b)
	b = append(b, make([]byte, groups*width+slack)...)
	for i, v := range values {
		pack(b[start:], i*width, width, uint64(v))
	}
	return b[:start+groups*width]
}

// A hybrid reads small numbers that are written as runs and as groups that are packed, some at a time.
type hybrid struct {
	data   []byte // behind the run at hand
	width  int
	left   int    // numbers that are not read yet
	run    int    // of these, those of the run at hand
	value  uint32 // of all of the run
	packed []byte // if not nil, what the run has instead, with slack behind it
	at     int    // the next number in packed
}

func newHybrid(data []byte, n, width int) (*hybrid, error) {
	if width > 32 {
		return nil, errEncoding
	}
	return &hybrid{data: data, width: width, left: n}, nil
}

// begin begins the next run.
func (h *hybrid) begin() error {
	head, size := binary.Uvarint(h.data)
	if size <= 0 || head>>1 == 0 {
		return errEncoding
	}
	h.data = h.data[size:]
	if head&1 == 0 {
		bytes := (h.width + 7) / 8
		if bytes > len(h.data) {
			return errEncoding
		}
		h.value, h.packed = 0, nil
		for i := range bytes {
			h.value |= uint32(h.data[i]) << (8 * i)
		}
		h.data = h.data[bytes:]
		h.run = int(min(head>>1, uint64(h.left)))
		return nil
	}
	bytes := len(h.data)
	if groups := head >> 1; groups*uint64(h.width) < uint64(bytes) && groups < 1<<28 {
		bytes = int(groups) * h.width
	}
	h.run = h.left
	if groups := head >> 1; groups < uint64(h.left+7)/8 {
		h.run = int(groups) * 8
	}
	if (h.run*h.width+7)/8 > bytes {
		return errEncoding
	}
	h.packed, h.at = withSlack(h.data[:bytes]), 0
	h.data = h.data[bytes:]
	return nil
}

// read reads the next numbers, as many as there is room for.
func (h *hybrid) read(to []uint32) error {
	if len(to) > h.left {
		return errEncoding
	}
	for len(to) > 0 {
		if h.run == 0 {
			if err := h.begin(); err != nil {
				return err
			}
		}
		n := min(len(to), h.run)
		some := to[:n]
		switch {
		case h.packed == nil:
			for i := range some {
				some[i] = h.value
			}
		case h.width == 8:
			for i, b := range h.packed[h.at : h.at+n] {
				some[i] = uint32(b)
			}
		case h.width == 16:
			from := h.packed[2*h.at : 2*(h.at+n)]
			for i := range some {
				some[i] = uint32(binary.LittleEndian.Uint16(from[2*i:]))
			}
		default:
			for i := range some {
				some[i] = uint32(unpack(h.packed, (h.at+i)*h.width, h.width))
			}
		}
		h.at += n
		h.run -= n
		h.left -= n
		to = to[n:]
	}
	return nil
}

// withSlack is data with bytes behind it that may be read with it, whatever they are.
func withSlack(data []byte) []byte {
	if cap(data)-len(data) >= slack {
		return data[:len(data)+slack]
	}
	return append(data[:len(data):len(data)], make([]byte, slack)...)
}

// readHybrid reads n small numbers.
func readHybrid(data []byte, n, width int) ([]uint32, error) {
	h, err := newHybrid(data, n, width)
	if err != nil {
		return nil, err
	}
	values := make([]uint32, n)
	return values, h.read(values)
}

// Blocks of differences.
const (
	deltaBlock = 128
	deltaMinis = 4
	deltaMini  = deltaBlock / deltaMinis
)

// appendDelta appends numbers as packed differences.
func appendDelta(b []byte, values []int64) []byte {
	b = binary.AppendUvarint(b, deltaBlock)
	b = binary.AppendUvarint(b, deltaMinis)
	b = binary.AppendUvarint(b, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(b, 0)
	}
	b = binary.AppendVarint(b, values[0])
	var deltas [deltaBlock]int64
	for i := 1; i < len(values); i += deltaBlock {
		n := min(deltaBlock, len(values)-i)
		least := values[i] - values[i-1] // differences wrap around
		for j := range n {
			deltas[j] = values[i+j] - values[i+j-1]
			least = min(least, deltas[j])
		}
		b = binary.AppendVarint(b, least)
		widths := len(b)
		b = append(b, make([]byte, deltaMinis)...)
		for m := 0; m*deltaMini < n; m++ {
			mini := deltas[m*deltaMini : min(n, (m+1)*deltaMini)]
			width := 0
			for _, d := range mini {
				width = max(width, bits.Len64(uint64(d-least)))
			}
			b[widths+m] = byte(width)
			start := len(b)
			b = append(b, make([]byte, deltaMini*width/8+slack)...)
			for j, d := range mini {
				pack(b[start:], j*width, width, uint64(d-least))
			}
			b = b[:start+deltaMini*width/8]
		}
	}
	return b
}

// A delta reads numbers that are written as packed differences, some at a time.
type delta struct {
	r      thriftReader // behind the numbers at hand
	minis  uint64       // of a block
	mini   int          // numbers of each
	left   int          // numbers that are not read yet
	value  int64        // the last one, or the first one if none is read yet
	began  bool
	least  int64  // difference of the block
	widths []byte // of the minis of the block that follow
	packed []byte // of the mini at hand, with slack behind it
	width  int
	run    int // numbers of it that are not read yet
	at     int // the next one
}

// newDelta reads n numbers, which are all that there are.
func newDelta(data []byte, n int) (*delta, error) {
	d := &delta{r: thriftReader{b: data}, left: n}
	block, minis, total := d.r.uvarint(), d.r.uvarint(), d.r.uvarint()
	d.value = d.r.varint()
	if d.r.failed || minis == 0 || block == 0 || block > 1<<16 || minis > block || block%minis != 0 || block/minis%8 != 0 || total != uint64(n) {
		return nil, errEncoding
	}
	d.minis, d.mini = minis, int(block/minis)
	return d, nil
}

// begin begins the next mini.
func (d *delta) begin() error {
	if len(d.widths) == 0 {
		d.least = d.r.varint()
		d.widths = d.r.bytes(d.minis)
	}
	if d.r.failed || d.widths[0] > 64 {
		return errEncoding
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	packed := d.r.bytes(uint64(d.mini * d.width / 8))
	if d.r.failed {
		return errEncoding
	}
	d.packed, d.at, d.run = withSlack(packed), 0, min(d.mini, d.left)
	return nil
}

// read reads the next numbers, as many as there is room for.
func (d *delta) read(to []int64) error {
	if len(to) > d.left {
		return errEncoding
	}
	if !d.began && len(to) > 0 {
		to[0], d.began = d.value, true
		to = to[1:]
		d.left--
	}
	for len(to) > 0 {
		if d.run == 0 {
			if err := d.begin(); err != nil {
				return err
			}
		}
		n := min(len(to), d.run)
		value := d.value
		for i := range to[:n] {
			value += d.least + int64(unpack(d.packed, (d.at+i)*d.width, d.width))
			to[i] = value
		}
		d.value = value
		d.at += n
		d.run -= n
		d.left -= n
		to = to[n:]
	}
	return nil
}

// readDelta reads n packed differences, which are all that there are, and returns what follows them.
func readDelta(data []byte, n int) (values []int64, rest []byte, err error) {
	d, err := newDelta(data, n)
	if err != nil {
		return nil, nil, err
	}
	values = make([]int64, n)
	err = d.read(values)
	return values, d.r.b, err
}
