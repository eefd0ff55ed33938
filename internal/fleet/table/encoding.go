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

// readHybrid reads n small numbers.
func readHybrid(data []byte, n, width int) ([]uint32, error) {
	if width > 32 {
		return nil, errEncoding
	}
	values := make([]uint32, 0, n)
	for len(values) < n {
		head, size := binary.Uvarint(data)
		if size <= 0 || head>>1 == 0 {
			return nil, errEncoding
		}
		data = data[size:]
		left := n - len(values)
		if head&1 == 0 {
			bytes := (width + 7) / 8
			if bytes > len(data) {
				return nil, errEncoding
			}
			var v uint32
			for i := range bytes {
				v |= uint32(data[i]) << (8 * i)
			}
			data = data[bytes:]
			for range min(head>>1, uint64(left)) {
				values = append(values, v)
			}
			continue
		}
		bytes := len(data)
		if groups := head >> 1; groups*uint64(width) < uint64(bytes) && groups < 1<<28 {
			bytes = int(groups) * width
		}
		count := left
		if groups := head >> 1; groups < uint64(left+7)/8 {
			count = int(groups) * 8
		}
		if (count*width+7)/8 > bytes {
			return nil, errEncoding
		}
		padded := append(data[:bytes:bytes], make([]byte, slack)...)
		for i := range count {
			values = append(values, uint32(unpack(padded, i*width, width)))
		}
		data = data[bytes:]
	}
	return values, nil
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

// readDelta reads n packed differences, which are all that there are, and returns what follows them.
func readDelta(data []byte, n int) (values []int64, rest []byte, err error) {
	r := thriftReader{b: data}
	block, minis, total := r.uvarint(), r.uvarint(), r.uvarint()
	first := r.varint()
	if r.failed || minis == 0 || block == 0 || block > 1<<16 || minis > block || block%minis != 0 || block/minis%8 != 0 || total != uint64(n) {
		return nil, nil, errEncoding
	}
	if n == 0 {
		return nil, r.b, nil
	}
	mini := int(block / minis)
	values = make([]int64, 1, n)
	values[0] = first
	for len(values) < n {
		least := r.varint()
		widths := r.bytes(minis)
		for _, width := range widths {
			if len(values) == n {
				break
			}
			packed := r.bytes(uint64(mini * int(width) / 8))
			if width > 64 || r.failed {
				return nil, nil, errEncoding
			}
			padded := append(packed[:len(packed):len(packed)], make([]byte, slack)...)
			for j := range min(mini, n-len(values)) {
				values = append(values, values[len(values)-1]+least+int64(unpack(padded, j*int(width), int(width))))
			}
		}
		if r.failed {
			return nil, nil, errEncoding
		}
	}
	return values, r.b, nil
}
