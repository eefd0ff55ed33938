package table

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// blockRows is the number of rows of a block, at most.
const blockRows = 2048

// A Block is some rows of a file by columns, those that were asked for and in that order.
type Block struct {
	Rows    int
	columns []*columnReader
}

// Numbers are the values of a column of integers.
func (b *Block) Numbers(column int) []int64 { return b.columns[column].numbers[:b.Rows] }

// Texts are the values of a column of texts.
func (b *Block) Texts(column int) Texts {
	c := b.columns[column]
	return Texts{c.distinct, c.at[:b.Rows]}
}

// Texts are different texts, and of each row which of them it has. Distinct is the same slice for all blocks that have the same
// texts because a dictionary of the file has them.
type Texts struct {
	Distinct []string
	At       []uint32
}

// ReadColumns hands on columns of the rows of a file, in its order, some at a time. Slices of a block, but
// for the different texts, are used again. It keeps the page at hand of each column, as the file has it, and the dictionary: not the
// rows of a group, as [Read] does, so that many files can be read at a time. Columns are those of T by name, and neither optional nor
// lists. Errors of each are returned as they are, all others name the file.
func ReadColumns[T Row](name string, columns []string, each func(*Block) error) error {
	var wanted []column
	all := columnsOf[T]()
	for _, name := range columns {
		i := slices.IndexFunc(all, func(c column) bool { return c.name == name && !c.optional && !c.list && c.physical != typeFixed })
		if i < 0 {
			panic(fmt.Sprintf("%q is no column that is read by itself", name))
		}
		wanted = append(wanted, all[i])
	}
	return readGroups(name, wanted, func(r *reader, g thriftFields) error {
		left, chunks, err := r.chunks(g)
		if err != nil {
			return r.damaged(err)
		}
		b := &Block{}
		for i := range r.columns {
			c := &columnReader{chunkReader: chunkReader{column: &r.columns[i]}}
			if c.pages, err = r.pages(chunks[i]); err != nil {
				return r.damaged(err)
			}
			b.columns = append(b.columns, c)
		}
		for left > 0 {
			if err := b.read(left); err != nil {
				return r.damaged(err)
			}
			left -= b.Rows
			if err := each(b); err != nil {
				return err
			}
		}
		for _, c := range b.columns {
			if c.left > 0 || c.pages.left > 0 {
				return r.damaged(fmt.Errorf("column %s: it has more rows than the others", c.column.name))
			}
		}
		return nil
	})
}

// read reads the next rows, at most so many: no column ends a page among them.
func (b *Block) read(most int) error {
	b.Rows = min(most, blockRows)
	for _, c := range b.columns {
		if c.left == 0 {
			if err := c.nextPage(); err != nil {
				return fmt.Errorf("column %s: %w", c.column.name, err)
			}
		}
		b.Rows = min(b.Rows, c.left)
	}
	for _, c := range b.columns {
		if err := c.next(b.Rows); err != nil {
			return fmt.Errorf("column %s: %w", c.column.name, err)
		}
	}
	return nil
}

// A columnReader reads a column of a group, some rows at a time.
type columnReader struct {
	chunkReader
	pages *pageReader
	left  int // values of the page at hand that are not read yet

	// Where they come from, one of these; or distinct has the texts of the page.
	indices *hybrid
	deltas  *delta
	plainly []byte

	numbers  []int64
	at       []uint32
	distinct []string
	first    int // of distinct, if there are no indices
}

// nextPage begins a page of values.
func (c *columnReader) nextPage() error {
	for {
		if c.pages.left == 0 {
			return fmt.Errorf("it has fewer rows than the others")
		}
		p, err := c.pages.next()
		if err != nil {
			return err
		}
		if p.dictionary {
			if err := c.readDictionary(&p); err != nil {
				return err
			}
			continue
		}
		body, present, err := c.levels(&p)
		if err != nil {
			return err
		}
		c.left, c.indices, c.deltas, c.plainly = present, nil, nil, nil
		return c.begin(p.encoding, body)
	}
}

// begin begins the values of a page.
func (c *columnReader) begin(encoding int64, body []byte) (err error) {
	switch {
	case encoding == encodingDictionary || encoding == encodingPlainDictionary:
		if len(body) == 0 {
			return errEncoding
		}
		c.distinct = c.dictionary.texts
		c.indices, err = newHybrid(body[1:], c.left, int(body[0]))
	case encoding == encodingDelta && c.column.numbers():
		c.deltas, err = newDelta(body, c.left)
	case encoding == encodingPlain && c.column.numbers():
		if c.plainly = body; len(body) < c.left*c.width() {
			err = errEncoding
		}
	case encoding == encodingPlain || encoding == encodingDeltaLength:
		c.values, c.first = values{}, 0
		if encoding == encodingPlain {
			err = c.plain(&c.values, body, c.left)
		} else {
			err = c.deltaLength(body, c.left)
		}
		c.distinct = c.values.texts
	default:
		return fmt.Errorf("its encoding %d is not read", encoding)
	}
	return err
}

// width is the number of bytes of an integer.
func (c *columnReader) width() int {
	if c.column.stored == typeInt32 {
		return 4
	}
	return 8
}

// next reads the next values of the page, which has as many.
func (c *columnReader) next(n int) error {
	c.left -= n
	if len(c.at) < n {
		c.at = make([]uint32, blockRows)
		if c.column.physical != typeByteArray {
			c.numbers = make([]int64, blockRows)
		}
	}
	numbers, at := c.numbers[:min(n, len(c.numbers))], c.at[:n]
	switch {
	case c.indices != nil:
		if err := c.indices.read(at); err != nil {
			return err
		}
		return c.lookUpNumbers(numbers, at)
	case c.deltas != nil:
		return c.deltas.read(numbers)
	case c.plainly != nil:
		width := c.width()
		for i := range numbers {
			if width == 4 {
				numbers[i] = int64(int32(binary.LittleEndian.Uint32(c.plainly[4*i:])))
			} else {
				numbers[i] = int64(binary.LittleEndian.Uint64(c.plainly[8*i:]))
			}
		}
		c.plainly = c.plainly[n*width:]
		return nil
	}
	for i := range at {
		at[i] = uint32(c.first + i)
	}
	c.first += n
	return nil
}

// lookUpNumbers checks indices, and has the numbers that they stand for.
func (c *columnReader) lookUpNumbers(numbers []int64, at []uint32) error {
	size := uint32(len(c.dictionary.numbers) + len(c.dictionary.texts))
	if len(at) > 0 && slices.Max(at) >= size {
		return errEncoding
	}
	for i := range numbers {
		numbers[i] = c.dictionary.numbers[at[i]]
	}
	return nil
}
