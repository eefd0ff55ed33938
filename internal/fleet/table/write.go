package table

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/klauspost/compress/zstd"

	"profdiff/internal/fleet"
	"profdiff/internal/input"
)

// Sizes of what is written.
const (
	groupRows  = 1 << 19 // rows of a group
	groupLists = 1 << 16 // likewise, if they have lists
	pageValues = 1 << 16 // values of a page
)

// codecZstd is the codec of all pages.
const codecZstd = 6

// compressor compresses pages. It is safe for concurrent use.
var compressor = sync.OnceValue(func() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are wrong
	}
	return z
})

// A Writer writes a file of rows.
type Writer[T Row] struct {
	name    string
	file    *os.File
	out     *bufio.Writer
	columns []column
	limit   int
	pending []T
	room    room
	offset  int64
	rows    int64
	groups  []group
}

// A room is memory that one group after the other uses.
type room struct {
	numbers []int64  // of lists
	levels  []uint32 // two of each value
	indices []uint32
	body    []byte
	packed  []byte
}

// A group is a group of rows that is written.
type group struct {
	rows   int64
	chunks []chunk
}

// A chunk is a column of a group.
type chunk struct {
	encoding                 int64
	values                   int64
	dictionary, data         int64 // offsets, the first is 0 if there is none
	uncompressed, compressed int64
}

// Unfinished is how names of files start that are not complete. Engines skip what starts with a dot.
const Unfinished = ".unfinished-"

// magic starts and ends a file.
const magic = "PAR1"

// Create starts to write a file, in a directory that it makes if need be. The file has its name once [Writer.Close] has
// returned.
func Create[T Row](name string) (*Writer[T], error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, input.PathError(err)
	}
	file, err := os.CreateTemp(dir, Unfinished+"*")
	if err != nil {
		return nil, input.PathError(err)
	}
	w := &Writer[T]{name: name, file: file, out: bufio.NewWriterSize(file, 256<<10), columns: columnsOf[T](), limit: groupRows}
	for _, c := range w.columns {
		if c.list {
			w.limit = groupLists
		}
	}
	w.write([]byte(magic))
	return w, nil
}

// write appends to the file. The error comes from Flush.
func (w *Writer[T]) write(b []byte) {
	n, _ := w.out.Write(b)
	w.offset += int64(n)
}

// Write adds rows.
func (w *Writer[T]) Write(rows []T) error {
	for len(rows) > 0 {
		n := min(len(rows), w.limit-len(w.pending))
		if len(w.pending) == 0 && n == w.limit {
			w.group(rows[:n])
		} else if w.pending = append(w.pending, rows[:n]...); len(w.pending) == w.limit {
			w.EndGroup()
		}
		rows = rows[n:]
	}
	return nil
}

// EndGroup writes a group of the rows so far. What these refer to may be used again.
func (w *Writer[T]) EndGroup() {
	if len(w.pending) > 0 {
		w.group(w.pending)
		w.pending = w.pending[:0]
	}
}

// group writes a group of rows.
func (w *Writer[T]) group(rows []T) {
	g := group{rows: int64(len(rows))}
	for i := range w.columns {
		g.chunks = append(g.chunks, w.chunk(rows, &w.columns[i]))
	}
	w.rows += g.rows
	w.groups = append(w.groups, g)
}

// chunk writes a column of a group.
func (w *Writer[T]) chunk(rows []T, c *column) (ch chunk) {
	all := take(rows, c, w.room.numbers)
	if c.list {
		w.room.numbers = all.numbers
	}
	d, body := newDictionary(&all, c)
	ch.encoding = c.encoding
	switch {
	case d != nil:
		ch.dictionary = w.offset
		w.page(&ch, body, func(t *thriftWriter) {
			t.structure(7) // DictionaryPageHeader
			t.i32(1, int64(d.size()))
			t.i32(2, encodingPlain)
			t.end()
		}, 2)
	case c.encoding == encodingDictionary:
		ch.encoding = encodingPlain
	}
	ch.data = w.offset
	for len(rows) > 0 {
		n, count := 0, 0
		for n < len(rows) && count < pageValues {
			count++
			if c.list {
				count += listLength(rows, n, c)
			}
			n++
		}
		var v values
		v, all = all.cut(n)
		body, levels := v.encode(c, ch.encoding, d, &w.room)
		w.page(&ch, body, func(t *thriftWriter) {
			t.structure(5) // DataPageHeader
			t.i32(1, int64(levels))
			t.i32(2, ch.encoding)
			t.i32(3, encodingRLE)
			t.i32(4, encodingRLE)
			t.end()
		}, 0)
		ch.values += int64(levels)
		rows = rows[n:]
	}
	return ch
}

// page writes a page with its header.
func (w *Writer[T]) page(ch *chunk, body []byte, header func(*thriftWriter), kind int64) {
	w.room.packed = compressor().EncodeAll(body, w.room.packed[:0])
	compressed := w.room.packed
	var t thriftWriter
	t.begin()
	t.i32(1, kind)
	t.i32(2, int64(len(body)))
	t.i32(3, int64(len(compressed)))
	t.i32(4, int64(int32(crc32.ChecksumIEEE(compressed))))
	header(&t)
	t.end()
	w.write(t.b)
	w.write(compressed)
	ch.uncompressed += int64(len(t.b) + len(body))
	ch.compressed += int64(len(t.b) + len(compressed))
}

// encode is the body of a page, and the number of its values, missing ones and empty lists included.
func (v *values) encode(c *column, encoding int64, d *dictionary, room *room) (body []byte, levels int) {
	defer func() { room.body = body }()
	body = room.body[:0]
	var definition []uint32
	switch {
	case c.list:
		most := len(v.lengths) + len(v.numbers)
		room.levels = slices.Grow(room.levels[:0], 2*most)
		repetition, definition := room.levels[:0:most], room.levels[most:most:2*most]
		for _, n := range v.lengths {
			repetition, definition = append(repetition, 0), append(definition, uint32(min(n, 1)))
			for range n - 1 {
				repetition, definition = append(repetition, 1), append(definition, 1)
			}
		}
		body = appendLevels(body, repetition)
		body = appendLevels(body, definition)
		levels = len(definition)
	case c.optional:
		for _, p := range v.present {
			definition = append(definition, 0)
			if p {
				definition[len(definition)-1] = 1
			}
		}
		body = appendLevels(body, definition)
		levels = len(definition)
	default:
		levels = len(v.numbers) + len(v.texts) + len(v.fixed)
	}
	switch encoding {
	case encodingDictionary:
		room.indices = d.indices(room.indices[:0], v)
		return appendHybrid(append(body, byte(d.width())), room.indices, d.width()), levels
	case encodingDelta:
		return appendDelta(body, v.numbers), levels
	}
	return v.appendPlain(body, c.physical), levels
}

// appendPlain appends values as they are.
func (v *values) appendPlain(body []byte, physical int64) []byte {
	for _, n := range v.numbers {
		if physical == typeInt32 {
			body = binary.LittleEndian.AppendUint32(body, uint32(n))
		} else {
			body = binary.LittleEndian.AppendUint64(body, uint64(n))
		}
	}
	for _, s := range v.texts {
		body = appendText(body, s)
	}
	for i := range v.fixed {
		body = append(body, v.fixed[i][:]...)
	}
	return body
}

// A dictionary numbers the values of a column in their order: those of neighbouring rows are near each other then.
type dictionary struct {
	texts   map[string]uint32
	numbers map[int64]uint32
}

// fewValues is by how much the values of a column must be fewer than its rows to be worth a dictionary, if they are
// numbers.
const fewValues = 4

// newDictionary makes the dictionary of a column, as its tag says, and the page of it; nil if there is none.
func newDictionary(v *values, c *column) (*dictionary, []byte) {
	if c.encoding != encodingDictionary {
		return nil, nil
	}
	if c.physical == typeByteArray {
		distinct, numbers := numbered(v.texts)
		return &dictionary{texts: numbers}, (&values{texts: distinct}).appendPlain(nil, c.physical)
	}
	distinct, numbers := numbered(v.numbers)
	if len(distinct)*fewValues > len(v.numbers) {
		return nil, nil
	}
	return &dictionary{numbers: numbers}, (&values{numbers: distinct}).appendPlain(nil, c.physical)
}

// numbered lists different values in order, and numbers them.
func numbered[V cmp.Ordered](all []V) ([]V, map[V]uint32) {
	numbers := make(map[V]uint32)
	for i, v := range all {
		if i == 0 || v != all[i-1] { // rows that follow each other are often alike
			numbers[v] = 0
		}
	}
	distinct := slices.Sorted(maps.Keys(numbers))
	for i, v := range distinct {
		numbers[v] = uint32(i)
	}
	return distinct, numbers
}

func (d *dictionary) size() int { return len(d.texts) + len(d.numbers) }

// width is the number of bits of an index: whole bytes, of which zstd makes less than of the bits that are needed.
func (d *dictionary) width() int { return max(1, (bitsOf(max(0, d.size()-1))+7)/8*8) }

// indices appends the numbers of values.
func (d *dictionary) indices(to []uint32, v *values) []uint32 {
	return appendIndices(appendIndices(to, v.texts, d.texts), v.numbers, d.numbers)
}

func appendIndices[V comparable](indices []uint32, all []V, numbers map[V]uint32) []uint32 {
	for i, v := range all {
		if i > 0 && v == all[i-1] {
			indices = append(indices, indices[len(indices)-1])
		} else {
			indices = append(indices, numbers[v])
		}
	}
	return indices
}

func appendText(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
}

// appendLevels appends levels of 0 and 1 with their size before them.
func appendLevels(b []byte, levels []uint32) []byte {
	start := len(b)
	b = appendHybrid(append(b, 0, 0, 0, 0), levels, 1)
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// Close ends the file and gives it its name.
func (w *Writer[T]) Close() error {
	w.EndGroup()
	footer := w.footer()
	w.write(footer)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	w.write([]byte(magic))
	err := w.out.Flush()
	if err == nil {
		err = w.file.Sync()
	}
	if err == nil {
		err = w.file.Chmod(0o644)
	}
	if err = errors.Join(err, w.file.Close()); err == nil {
		err = os.Rename(w.file.Name(), w.name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.name, errors.Join(err, os.Remove(w.file.Name())))
	}
	return nil
}

// Discard gives up: there is no file.
func (w *Writer[T]) Discard() error {
	return errors.Join(w.file.Close(), os.Remove(w.file.Name()))
}

// footer is the metadata of the file: FileMetaData of parquet.thrift.
func (w *Writer[T]) footer() []byte {
	var t thriftWriter
	t.begin()
	t.i32(1, 1) // version
	writeSchema(&t, w.columns)
	t.i64(3, w.rows)
	t.list(4, thriftStruct, len(w.groups))
	for i := range w.groups {
		w.rowGroup(&t, &w.groups[i])
	}
	t.list(5, thriftStruct, 2)
	for _, pair := range [][2]string{{"profdiff.schema", strconv.Itoa(fleet.Schema)}, {"profdiff.decoder", strconv.Itoa(Decoder)}} {
		t.begin()
		t.text(1, pair[0])
		t.text(2, pair[1])
		t.end()
	}
	t.text(6, "profdiff")
	t.end()
	return t.b
}

func (w *Writer[T]) rowGroup(t *thriftWriter, g *group) {
	t.begin()
	t.list(1, thriftStruct, len(g.chunks))
	var uncompressed int64
	for i, ch := range g.chunks {
		c := &w.columns[i]
		uncompressed += ch.uncompressed
		t.begin()
		t.i64(2, ch.data)
		t.structure(3) // ColumnMetaData
		t.i32(1, c.physical)
		encodings := []int64{ch.encoding, encodingRLE}
		if ch.dictionary > 0 {
			encodings = append(encodings, encodingPlain)
		}
		t.list(2, thriftI32, len(encodings))
		for _, e := range encodings {
			t.b = binary.AppendVarint(t.b, e)
		}
		path := c.path()
		t.list(3, thriftBinary, len(path))
		for _, name := range path {
			t.element(name)
		}
		t.i32(4, codecZstd)
		t.i64(5, ch.values)
		t.i64(6, ch.uncompressed)
		t.i64(7, ch.compressed)
		t.i64(9, ch.data)
		if ch.dictionary > 0 {
			t.i64(11, ch.dictionary)
		}
		t.end()
		t.end()
	}
	t.i64(2, uncompressed)
	t.i64(3, g.rows)
	t.end()
}

// Repetitions of a column, and the kinds of text and lists.
const (
	required = 0
	optional = 1
	repeated = 2
)

// writeSchema writes the columns as a list of SchemaElement.
func writeSchema(t *thriftWriter, columns []column) {
	n := 1 + len(columns)
	for _, c := range columns {
		if c.list {
			n += 2
		}
	}
	t.list(2, thriftStruct, n)
	node := func(name string, repetition int64, children int) {
		t.begin()
		t.i32(3, repetition)
		t.text(4, name)
		t.i32(5, int64(children))
	}
	t.begin()
	t.text(4, "profdiff")
	t.i32(5, int64(len(columns)))
	t.end()
	for _, c := range columns {
		leaf, repetition := c.name, int64(required)
		if c.optional {
			repetition = optional
		}
		if c.list {
			node(c.name, required, 1)
			t.i32(6, 3) // ConvertedType LIST
			t.structure(10)
			t.structure(3) // LogicalType LIST
			t.end()
			t.end()
			t.end()
			node("list", repeated, 1)
			t.end()
			leaf = "element"
		}
		t.begin()
		t.i32(1, c.physical)
		if c.physical == typeFixed {
			t.i32(2, fixedSize)
		}
		t.i32(3, repetition)
		t.text(4, leaf)
		if c.physical == typeByteArray {
			t.i32(6, 0) // ConvertedType UTF8
			t.structure(10)
			t.structure(1) // LogicalType STRING
			t.end()
			t.end()
		}
		t.end()
	}
}

// Write writes a file of rows, see [Create].
func Write[T Row](name string, rows []T) error {
	w, err := Create[T](name)
	if err != nil {
		return err
	}
	if err := w.Write(rows); err != nil {
		return errors.Join(err, w.Discard())
	}
	return w.Close()
}
