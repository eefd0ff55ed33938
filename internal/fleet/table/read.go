package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"os"
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"profdiff/internal/input"
)

// Bounds of what is read.
const (
	readRows  = 4096     // rows that are handed on at a time
	maxFooter = 64 << 20 // bytes
	maxPage   = 64 << 20 // bytes, decompressed
	maxGroup  = 1 << 22  // rows of a group, and values of a page
	maxValues = 1 << 26  // of a column of a group
)

// Codecs of pages that are read: ours, and what engines write by default.
const (
	codecNone   = 0
	codecSnappy = 1
)

var decompressor = sync.OnceValue(func() *zstd.Decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPage))
	if err != nil {
		panic(err) // the options are wrong
	}
	return z
})

// Read hands on the rows of a file, in its order. The slice is used again, what strings and slices in rows refer to is
// not. Errors of each are returned as they are, all others name the file.
func Read[T Row](name string, each func([]T) error) error {
	buffer := make([]T, readRows)
	return readGroups(name, columnsOf[T](), func(r *reader, g thriftFields) error {
		rows, columns, err := r.group(g)
		if err != nil {
			return r.damaged(err)
		}
		for rows > 0 {
			part := buffer[:min(rows, readRows)]
			clear(part)
			for i := range r.columns {
				if r.columns[i].leaf >= 0 {
					fill(part, &r.columns[i].column, &columns[i])
				}
			}
			if err := each(part); err != nil {
				return err
			}
			rows -= len(part)
		}
		return nil
	})
}

// readGroups opens a file and hands on its groups of rows. Errors of each are returned as they are, all others name the file.
func readGroups(name string, columns []column, each func(*reader, thriftFields) error) error {
	file, err := os.Open(name)
	if err != nil {
		return input.PathError(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return input.PathError(err)
	}
	r := &reader{file: file, size: info.Size()}
	groups, err := r.open(columns)
	if err != nil {
		return fmt.Errorf("%s: is no table of profdiff: %w", name, err)
	}
	for _, g := range groups {
		if err := each(r, g); err != nil {
			return err
		}
	}
	return nil
}

// damaged is an error of what is in the file.
func (r *reader) damaged(err error) error {
	return fmt.Errorf("%s: is damaged: %w", r.file.Name(), err)
}

// A reader reads one file.
type reader struct {
	file    *os.File
	size    int64
	columns []storedColumn
}

// A storedColumn is a column as a file has it.
type storedColumn struct {
	column
	leaf   int   // number among the columns of the file, -1 if it has none
	stored int64 // physical type there
	// definition and repetition are the highest levels of values.
	definition, repetition int
	// empty is the level from which on a list has an element, if only an empty one.
	empty int
}

// open reads the metadata and finds the columns. It returns the groups of rows.
func (r *reader) open(columns []column) ([]thriftFields, error) {
	const tail = 4 + len(magic)
	if r.size < int64(len(magic)+tail) {
		return nil, errors.New("it is too short")
	}
	var end [tail]byte
	if _, err := r.file.ReadAt(end[:], r.size-int64(tail)); err != nil {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != magic || size > r.size-int64(tail+len(magic)) || size > maxFooter {
		return nil, errors.New("it does not end as a file of Parquet does")
	}
	data := make([]byte, size)
	if _, err := r.file.ReadAt(data, r.size-int64(tail)-size); err != nil {
		return nil, err
	}
	meta, _, err := readThrift(data)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		r.columns = append(r.columns, storedColumn{column: c, leaf: -1})
	}
	if err := r.schema(meta.structs(2)); err != nil {
		return nil, err
	}
	groups := meta.structs(4)
	var rows int64
	for _, g := range groups {
		rows += g.number(3)
	}
	if rows != meta.number(3) {
		return nil, errThrift
	}
	return groups, nil
}

// schema finds the columns among the leaves of a tree, which is listed depth first.
func (r *reader) schema(nodes []thriftFields) error {
	if len(nodes) == 0 {
		return errThrift
	}
	leaf := 0
	rest := nodes[1:]
	// below reads a node and those below it. top is the name of the column that it is of.
	var below func(top string, definition, repetition, empty, depth int) error
	below = func(top string, definition, repetition, empty, depth int) error {
		if len(rest) == 0 || depth > maxThriftDepth {
			return errThrift
		}
		node := rest[0]
		rest = rest[1:]
		switch node.number(3) {
		case optional:
			definition++
		case repeated:
			definition++
			repetition++
			empty = definition
		}
		if top == "" {
			top = node.text(4)
		}
		children := node.number(5)
		for range children {
			if err := below(top, definition, repetition, empty, depth+1); err != nil {
				return err
			}
		}
		if children > 0 {
			return nil
		}
		for i := range r.columns {
			c := &r.columns[i]
			if c.name != top {
				continue
			}
			physical := node.number(1)
			// Engines write numbers and bytes as they like.
			fits := c.physical == physical || c.physical == typeInt64 && physical == typeInt32 || c.physical == typeFixed && physical == typeByteArray
			if c.leaf >= 0 || !fits || repetition > 1 || (repetition == 1) != c.list ||
				physical == typeFixed && node.number(2) != fixedSize {
				return fmt.Errorf("column %s is of another type", c.name)
			}
			c.leaf, c.definition, c.repetition, c.empty, c.stored = leaf, definition, repetition, empty, physical
		}
		leaf++
		return nil
	}
	for len(rest) > 0 {
		if err := below("", 0, 0, 0, 0); err != nil {
			return err
		}
	}
	for _, c := range r.columns {
		if c.leaf < 0 && !c.optional {
			return fmt.Errorf("it has no column %s", c.name)
		}
	}
	return nil
}

// chunks are the rows of a group, and the columns of it that are read: those that the file lacks are nil.
func (r *reader) chunks(g thriftFields) (rows int, chunks []thriftFields, err error) {
	n := g.number(3)
	if n < 0 || n > maxGroup {
		return 0, nil, fmt.Errorf("it has a group of %d rows, and at most %d are read", n, maxGroup)
	}
	all := g.structs(1)
	chunks = make([]thriftFields, len(r.columns))
	for i := range r.columns {
		switch leaf := r.columns[i].leaf; {
		case leaf < 0:
		case leaf >= len(all):
			return 0, nil, errThrift
		default:
			chunks[i] = all[leaf].structure(3)
		}
	}
	return int(n), chunks, nil
}

// group reads the columns of a group of rows.
func (r *reader) group(g thriftFields) (rows int, columns []filler, err error) {
	rows, chunks, err := r.chunks(g)
	if err != nil {
		return 0, nil, err
	}
	columns = make([]filler, len(r.columns))
	for i := range r.columns {
		c := &r.columns[i]
		if c.leaf < 0 {
			continue
		}
		d := chunkReader{column: c, rows: rows}
		if err := d.read(r, chunks[i]); err != nil {
			return 0, nil, fmt.Errorf("column %s: %w", c.name, err)
		}
		columns[i].values = d.values
	}
	return rows, columns, nil
}

// A chunkReader reads a column of a group.
type chunkReader struct {
	column *storedColumn
	rows   int
	// The dictionary has numbers, texts or fixed.
	dictionary values
	values     values
	n          int // rows so far, the last list included
}

// read reads the pages of a chunk.
func (d *chunkReader) read(r *reader, meta thriftFields) error {
	pages, err := r.pages(meta)
	if err != nil {
		return err
	}
	for pages.left > 0 {
		p, err := pages.next()
		switch {
		case err != nil:
		case p.dictionary:
			err = d.readDictionary(&p)
		default:
			err = d.page(&p)
		}
		if err != nil {
			return err
		}
	}
	if rows := d.n; rows != d.rows {
		return fmt.Errorf("it has %d rows of %d", rows, d.rows)
	}
	if d.column.physical == d.column.stored {
		return nil
	}
	for _, s := range d.values.texts {
		if len(s) != fixedSize {
			return errEncoding
		}
		d.values.fixed = append(d.values.fixed, [fixedSize]byte([]byte(s)))
	}
	return nil
}

// A pageReader reads the pages of a chunk, one after the other.
type pageReader struct {
	*reader
	codec   int64
	at, end int64 // of the file
	left    int64 // values
}

// A page of values, or of a dictionary.
type page struct {
	dictionary bool
	n          int
	encoding   int64
	body       []byte
	repetition int // bytes of these levels, -1 if that stands before them
	definition int // likewise
}

func (r *reader) pages(meta thriftFields) (*pageReader, error) {
	start, size, left := meta.number(9), meta.number(7), meta.number(5)
	if dictionary := meta.number(11); dictionary > 0 && dictionary < start {
		start = dictionary
	}
	if start < 0 || size < 0 || start > r.size || size > r.size-start || left < 0 || left > maxValues {
		return nil, errThrift
	}
	return &pageReader{reader: r, codec: meta.number(4), at: start, end: start + size, left: left}, nil
}

// header reads the header of a page, and what was read behind it.
func (c *pageReader) header() (header thriftFields, rest []byte, err error) {
	const usual = 4 << 10 // many times what they have
	for size := int64(usual); ; size *= 16 {
		data := make([]byte, min(size, c.end-c.at))
		if _, err := c.file.ReadAt(data, c.at); err != nil {
			return nil, nil, err
		}
		if header, rest, err = readThrift(data); err == nil || len(data) == int(c.end-c.at) {
			c.at += int64(len(data) - len(rest))
			return header, rest, err
		}
	}
}

// next reads the next page of values or of a dictionary.
func (c *pageReader) next() (p page, err error) {
	for {
		header, body, err := c.header()
		if err != nil {
			return p, err
		}
		compressed := header.number(3)
		if compressed < 0 || compressed > c.end-c.at {
			return p, errThrift
		}
		if int64(len(body)) < compressed {
			body = make([]byte, compressed)
			if _, err := c.file.ReadAt(body, c.at); err != nil {
				return p, err
			}
		}
		body = body[:compressed:compressed]
		c.at += compressed
		if header.has(4) && uint32(header.number(4)) != crc32.ChecksumIEEE(body) {
			return p, errors.New("a page has another checksum than it says")
		}
		var n int64
		switch header.number(1) {
		case 0: // DATA_PAGE
			values := header.structure(5)
			n = values.number(1)
			p = page{encoding: values.number(2), repetition: -1, definition: -1}
			p.body, err = c.inflate(body, header.number(2))
		case 2: // DICTIONARY_PAGE
			n = header.structure(7).number(1)
			p = page{dictionary: true}
			p.body, err = c.inflate(body, header.number(2))
		case 3: // DATA_PAGE_V2, whose levels are not compressed
			values := header.structure(8)
			n = values.number(1)
			definition, repetition := values.number(5), values.number(6)
			levels := definition + repetition
			if definition < 0 || repetition < 0 || levels > compressed {
				return p, errThrift
			}
			p = page{encoding: values.number(4), repetition: int(repetition), definition: int(definition)}
			rest := body[levels:]
			if whole, ok := values[7].(bool); !ok || whole {
				rest, err = c.inflate(rest, header.number(2)-levels)
			}
			p.body = append(body[:levels:levels], rest...)
		default:
			continue
		}
		if err != nil {
			return p, err
		}
		if n < 0 || n > maxGroup || !p.dictionary && (n == 0 || n > c.left) {
			return p, errThrift
		}
		if p.n = int(n); !p.dictionary {
			c.left -= n
		}
		return p, nil
	}
}

// inflate decompresses a page of so many bytes.
func (c *pageReader) inflate(body []byte, size int64) (out []byte, err error) {
	if size < 0 || size > maxPage {
		return nil, fmt.Errorf("a page has %d bytes, and at most %d are read", size, maxPage)
	}
	switch c.codec {
	case codecNone:
		out = body
	case codecZstd:
		out, err = decompressor().DecodeAll(body, make([]byte, 0, size+slack))
	case codecSnappy:
		if n, err := s2.DecodedLen(body); err != nil || int64(n) != size {
			return nil, errEncoding
		}
		out, err = s2.Decode(nil, body)
	default:
		return nil, fmt.Errorf("its codec %d is none of zstd and snappy", c.codec)
	}
	if err == nil && int64(len(out)) != size {
		err = errEncoding
	}
	return out, err
}

// readDictionary reads the values that pages refer to.
func (d *chunkReader) readDictionary(p *page) error {
	d.dictionary = values{}
	return d.plain(&d.dictionary, p.body, p.n)
}

// page reads a page of values.
func (d *chunkReader) page(p *page) error {
	body, present, err := d.levels(p)
	if err != nil {
		return err
	}
	switch p.encoding {
	case encodingPlain:
		return d.plain(&d.values, body, present)
	case encodingDelta:
		numbers, _, err := readDelta(body, present)
		if err != nil || !d.column.numbers() {
			return errEncoding
		}
		d.values.numbers = append(d.values.numbers, numbers...)
		return nil
	case encodingDeltaLength:
		return d.deltaLength(body, present)
	case encodingDictionary, encodingPlainDictionary:
		return d.lookUp(body, present)
	}
	return fmt.Errorf("its encoding %d is not read", p.encoding)
}

// numbers reports whether a column is stored as integers.
func (c *storedColumn) numbers() bool { return c.stored == typeInt64 || c.stored == typeInt32 }

// levels reads which rows of a page have values. It returns what follows, and how many there are.
func (d *chunkReader) levels(p *page) (body []byte, present int, err error) {
	repetition, body, err := levels(p.body, p.n, d.column.repetition, p.repetition)
	if err != nil {
		return nil, 0, err
	}
	definition, body, err := levels(body, p.n, d.column.definition, p.definition)
	if err != nil {
		return nil, 0, err
	}
	present = p.n
	if definition != nil {
		present = 0
		for _, level := range definition {
			if int(level) == d.column.definition {
				present++
			}
		}
	}
	return body, present, d.note(repetition, definition, p.n, present)
}

// note notes which rows have values, and how many.
func (d *chunkReader) note(repetition, definition []uint32, n, present int) error {
	c := d.column
	switch {
	case c.list:
		for i, level := range repetition {
			if level == 0 {
				d.values.lengths = append(d.values.lengths, 0)
				d.n++
			} else if d.n == 0 {
				return errEncoding
			}
			switch {
			case int(definition[i]) == c.definition:
				d.values.lengths[d.n-1]++
			case int(definition[i]) >= c.empty || level != 0:
				return errors.New("a list lacks an element")
			}
		}
		return nil
	case c.optional:
		for i := range n {
			d.values.present = append(d.values.present, definition == nil || int(definition[i]) == c.definition)
		}
	case present != n:
		return errors.New("a row has no value")
	}
	d.n += n
	return nil
}

// levels reads n levels of at most a highest one. There are none if that is 0.
func levels(body []byte, n, highest, size int) (read []uint32, rest []byte, err error) {
	if highest == 0 {
		if size > len(body) {
			return nil, nil, errEncoding
		}
		return nil, body[max(0, size):], nil
	}
	if size < 0 {
		if len(body) < 4 {
			return nil, nil, errEncoding
		}
		size, body = int(binary.LittleEndian.Uint32(body)), body[4:]
	}
	if size > len(body) {
		return nil, nil, errEncoding
	}
	read, err = readHybrid(body[:size], n, bitsOf(highest))
	return read, body[size:], err
}

func bitsOf(n int) int { return bits.Len(uint(n)) }

// plain reads n values that are written as they are.
func (d *chunkReader) plain(to *values, body []byte, n int) error {
	switch d.column.stored {
	case typeInt32:
		if len(body) < 4*n {
			return errEncoding
		}
		for i := range n {
			to.numbers = append(to.numbers, int64(int32(binary.LittleEndian.Uint32(body[4*i:]))))
		}
	case typeInt64:
		if len(body) < 8*n {
			return errEncoding
		}
		for i := range n {
			to.numbers = append(to.numbers, int64(binary.LittleEndian.Uint64(body[8*i:])))
		}
	case typeFixed:
		if len(body) < fixedSize*n {
			return errEncoding
		}
		for i := range n {
			to.fixed = append(to.fixed, [fixedSize]byte(body[fixedSize*i:]))
		}
	case typeByteArray:
		all := string(body) // of which the values are parts
		for range n {
			if len(body) < 4 {
				return errEncoding
			}
			size := uint64(binary.LittleEndian.Uint32(body))
			if size > uint64(len(body)-4) {
				return errEncoding
			}
			start := len(all) - len(body) + 4
			to.texts = append(to.texts, all[start:start+int(size)])
			body = body[4+size:]
		}
	}
	return nil
}

// deltaLength reads n texts whose lengths stand before all of them.
func (d *chunkReader) deltaLength(body []byte, n int) error {
	if d.column.stored != typeByteArray {
		return errEncoding
	}
	lengths, rest, err := readDelta(body, n)
	if err != nil {
		return err
	}
	all := string(rest)
	for _, n := range lengths {
		if n < 0 || n > int64(len(all)) {
			return errEncoding
		}
		d.values.texts = append(d.values.texts, all[:n])
		all = all[n:]
	}
	return nil
}

// lookUp reads n values by their numbers in the dictionary.
func (d *chunkReader) lookUp(body []byte, n int) error {
	if n == 0 {
		return nil
	}
	if len(body) == 0 {
		return errEncoding
	}
	indices, err := readHybrid(body[1:], n, int(body[0]))
	if err != nil {
		return err
	}
	all, to := &d.dictionary, &d.values
	if highest := int(slices.Max(indices)); highest >= len(all.numbers)+len(all.texts)+len(all.fixed) {
		return errEncoding
	}
	switch d.column.stored {
	case typeByteArray:
		for _, i := range indices {
			to.texts = append(to.texts, all.texts[i])
		}
	case typeFixed:
		for _, i := range indices {
			to.fixed = append(to.fixed, all.fixed[i])
		}
	default:
		for _, i := range indices {
			to.numbers = append(to.numbers, all.numbers[i])
		}
	}
	return nil
}
