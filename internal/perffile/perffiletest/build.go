package perffiletest

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"profdiff/internal/perffile"
)

// Build makes a recording of its text form, which [perffile.WriteText] describes:
// Build(WriteText(x)) is x. What the text leaves out is computed: places, sizes,
// counts, the header's sections and the table of features. Errors say the line.
func Build(text []byte) ([]byte, error) {
	b := builder{lines: strings.Split(string(text), "\n"), limit: maxImage(len(text))}
	for b.next() {
		if err := b.item(); err != nil {
			return nil, fmt.Errorf("line %d: %w", b.at, err)
		}
	}
	if b.err == nil {
		b.err = b.finish()
	}
	if b.err != nil {
		return nil, fmt.Errorf("line %d: %w", b.at, b.err)
	}
	return b.image, nil
}

// maxImage bounds the size of a recording by that of its text. An item that is
// left out altogether is much shorter than what it stands for, but not that much.
func maxImage(n int) int64 { return 1<<20 + 2048*int64(n) }

// A builder lays out a recording.
type builder struct {
	lines []string
	at    int // number of the line in enc.line
	limit int64
	enc   *encoder // nil before the first item
	err   error

	image []byte
	pos   int64 // where the next item goes if it does not say

	header     string // the line, "" if there is none
	headerLine int
	pipe       bool
	sections   map[string]section
	attrs      []builtAttr // that wait for their place

	features []builtFeature
	open     bool // lines without a place belong to the last feature
	table    bool // the text has the table of features
	zstd     *zstd.Encoder
	packed   bytes.Buffer
}

type builtAttr struct {
	idsOffset  int64
	entry, ids []byte
}

// A builtFeature is a feature whose contents are known, but maybe not its place.
type builtFeature struct {
	feature perffile.Feature
	off     int64 // -1 if it follows the previous one
	data    []byte
	// The entry of FILE or FILE2 that is being filled: its line and where it
	// starts in data.
	entry   string
	entryAt int
	symbols uint64
}

// next finds the next line that holds an item.
func (b *builder) next() bool {
	for b.at < len(b.lines) {
		b.at++
		if b.enc == nil {
			b.enc = newEncoder(false)
		}
		ok, err := b.enc.line.parse(b.lines[b.at-1])
		if err != nil {
			b.err = err
			return false
		}
		if ok {
			return true
		}
	}
	return false
}

// place writes data where the line says or after the previous item, and returns
// where.
func (b *builder) place(off int64, data []byte) (int64, error) {
	if off < 0 {
		off = b.pos
	}
	end := off + int64(len(data))
	if end > b.limit || int64(int(end)) != end {
		return 0, fmt.Errorf("recording of %d bytes is out of proportion to its text", end)
	}
	if end > int64(len(b.image)) {
		b.image = append(b.image, make([]byte, end-int64(len(b.image)))...)
	}
	copy(b.image[off:], data)
	b.pos = end
	return off, nil
}

// placed extends a section of the header by an item.
func (b *builder) placed(name string, off, size int64) {
	s, ok := b.sections[name]
	if !ok {
		s.off = off
	}
	s.size = max(s.size, off+size-s.off)
	b.sections[name] = s
}

func (b *builder) item() error {
	l := &b.enc.line
	if b.sections == nil {
		b.sections = make(map[string]section)
		if l.keyword == "header" {
			return b.startHeader()
		}
	}
	if l.keyword != "attr" {
		if err := b.placeAttrs(); err != nil {
			return err
		}
	}
	switch {
	case l.compressed:
		return errors.New("no compressed record precedes the line")
	case l.keyword == "header":
		return errors.New("header is not the first item")
	case l.keyword == "attr":
		return b.attr()
	case l.keyword == "feature":
		return b.feature()
	case l.isRecord():
		return b.record()
	}
	off, keyword := l.offset, l.keyword
	text := b.lines[b.at-1]
	data, err := b.enc.encode()
	if err != nil {
		return err
	}
	b.enc.accept()
	_, isEntry := entries[keyword]
	if off < 0 && (isEntry || b.open && keyword == "hex") {
		if !b.open {
			return fmt.Errorf("%s is not in a feature", keyword)
		}
		return b.part(keyword, text, slices.Clone(data))
	}
	if off, err = b.place(off, data); err != nil {
		return err
	}
	switch keyword {
	case "event_type":
		b.placed("event_types", off, int64(len(data)))
	case "section":
		b.table = true
	case "hex":
		if _, ok := b.sections["data"]; ok && !b.open {
			b.placed("data", off, int64(len(data)))
		}
	}
	return nil
}

// startHeader leaves room for the header, whose fields depend on the rest.
func (b *builder) startHeader() error {
	l := &b.enc.line
	big, err := l.byteOrder()
	if err != nil {
		return err
	}
	size := l.attrSizeOfHeader()
	b.header, b.headerLine, b.pipe = b.lines[b.at-1], b.at, l.arg == "pipe"
	b.pos = fileHeaderSize
	if b.pipe {
		b.pos = pipeHeaderSize
	}
	b.enc = newEncoder(big)
	b.enc.attrSize = size // if 0, that of the first event
	b.image = make([]byte, b.pos)
	return nil
}

// attr encodes an event. Lists of ids precede the events, so that those without a
// place wait until all are known.
func (b *builder) attr() error {
	e := b.enc
	if e.attrSize == 0 {
		e.attrSize = attrSizeOf(&e.line.fields)
	}
	idsOffset := b.pos
	for i := range b.attrs {
		idsOffset += int64(len(b.attrs[i].ids))
	}
	n, err := textListLen(e.line.fields.peek("ids"))
	if err != nil {
		return err
	}
	e.defaults = map[string]uint64{"ids_offset": uint64(idsOffset)}
	if n == 0 {
		e.defaults = nil
	}
	off := e.line.offset
	if s := e.line.fields.peek("ids_offset"); s != "" {
		if v, err := plain.parse(s, 8); err == nil {
			idsOffset = int64(min(v, 1<<62))
		}
	}
	entry, err := e.encode()
	e.defaults = nil
	if err != nil {
		return err
	}
	e.accept()
	if off < 0 {
		b.attrs = append(b.attrs, builtAttr{
			idsOffset: idsOffset, entry: slices.Clone(entry), ids: slices.Clone(e.ids),
		})
		return nil
	}
	if err := b.placeIDs(entry, e.ids); err != nil {
		return err
	}
	if off, err = b.place(off, entry); err != nil {
		return err
	}
	b.placed("attrs", off, int64(len(entry)))
	return nil
}

// placeIDs writes a list of ids where the entry says.
func (b *builder) placeIDs(entry, ids []byte) error {
	if len(ids) == 0 {
		return nil
	}
	pos := b.pos
	off := b.enc.order().Uint64(entry[len(entry)-16:])
	_, err := b.place(int64(min(off, 1<<62)), ids)
	b.pos = pos
	return err
}

// placeAttrs writes the events that wait.
func (b *builder) placeAttrs() error {
	waiting := b.attrs
	b.attrs = nil
	for i := range waiting {
		a := &waiting[i]
		pos := b.pos
		if err := b.placeIDs(a.entry, a.ids); err != nil {
			return err
		}
		if a.idsOffset == pos {
			b.pos += int64(len(a.ids))
		}
	}
	for i := range waiting {
		off, err := b.place(-1, waiting[i].entry)
		if err != nil {
			return err
		}
		b.placed("attrs", off, int64(len(waiting[i].entry)))
	}
	return nil
}

// record encodes a record and finds the data that belongs to it.
func (b *builder) record() error {
	e := b.enc
	l := &e.line
	at := b.at
	switch l.keyword {
	case "COMPRESSED", "COMPRESSED2":
		if err := b.compress(); err != nil {
			return err
		}
	case "AUXTRACE", "HEADER_TRACING_DATA":
		e.defaults = map[string]uint64{"size": b.hexAhead()}
	}
	off := l.offset
	data, err := e.encode()
	e.defaults = nil
	if err != nil {
		b.at = at
		return err
	}
	e.accept()
	if off < 0 && b.open {
		f := &b.features[len(b.features)-1]
		f.data = append(f.data, data...)
		return nil
	}
	if off, err = b.place(off, data); err != nil {
		return err
	}
	b.placed("data", off, int64(len(data)))
	return nil
}

// hexAhead is the number of bytes in the hex lines that follow.
func (b *builder) hexAhead() (n uint64) {
	var l textLine
	for _, s := range b.lines[b.at:] {
		ok, err := l.parse(s)
		if err != nil || ok && l.keyword != "hex" {
			break
		}
		if ok {
			n += uint64(len(l.arg) / 2)
		}
	}
	return n
}

// compress makes the data of a compressed record of the records on the lines that
// start with |. All of them are one stream.
func (b *builder) compress() error {
	line, at := b.lines[b.at-1], b.at
	var plain []byte
	for b.at < len(b.lines) {
		if s := strings.TrimSpace(b.lines[b.at]); s != "" && s[0] != '#' && s[0] != '|' {
			break
		}
		b.at++
		ok, err := b.enc.line.parse(b.lines[b.at-1])
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if !b.enc.line.isRecord() {
			return errors.New("only records can be compressed")
		}
		data, err := b.enc.encode()
		if err != nil {
			return err
		}
		b.enc.accept()
		if plain = append(plain, data...); int64(len(plain)) > b.limit {
			return errors.New("compressed records are out of proportion to their text")
		}
	}
	if plain == nil {
		b.at = at
	}
	if _, err := b.enc.line.parse(line); err != nil || plain == nil {
		return err
	}
	if b.zstd == nil {
		z, err := zstd.NewWriter(&b.packed, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstd.MinWindowSize))
		if err != nil {
			return err
		}
		b.zstd = z
	}
	if _, err := b.zstd.Write(plain); err != nil {
		return err
	}
	if err := b.zstd.Flush(); err != nil {
		return err
	}
	fields := &b.enc.line.fields
	fields.list = append(fields.list, textField{name: "data", value: hex.EncodeToString(b.packed.Bytes())})
	b.packed.Reset()
	return nil
}

// feature starts a feature.
func (b *builder) feature() error {
	l := &b.enc.line
	f, err := parseFeature(l.arg)
	if err != nil {
		return err
	}
	off := l.offset
	data, err := b.enc.encode()
	if err != nil {
		return err
	}
	data = slices.Clone(data) // closeEntry encodes too
	if err := b.closeEntry(); err != nil {
		return err
	}
	b.features = append(b.features, builtFeature{feature: f, off: off, data: data})
	b.open = true
	if off < 0 {
		return nil
	}
	_, err = b.place(off, data)
	return err
}

// part adds a line to the feature that is open.
func (b *builder) part(keyword, text string, data []byte) error {
	f := &b.features[len(b.features)-1]
	switch entry := entries[keyword]; {
	case keyword != "hex" && entry.feature != f.feature:
		return fmt.Errorf("%s does not belong into feature %v", keyword, f.feature)
	case keyword == "file" || keyword == "file2":
		if err := b.closeEntry(); err != nil {
			return err
		}
		f.entry, f.entryAt, f.symbols = text, len(f.data), 0
	case keyword == "symbol":
		f.symbols++
	}
	f.data = append(f.data, data...)
	return nil
}

// closeEntry fills in what the line of an entry of FILE and FILE2 leaves out.
func (b *builder) closeEntry() error {
	if len(b.features) == 0 {
		return nil
	}
	f := &b.features[len(b.features)-1]
	if f.entry == "" {
		return nil
	}
	b.enc.defaults = map[string]uint64{
		"size":         uint64(len(f.data) - f.entryAt - 4),
		"symbol_count": f.symbols,
	}
	if _, err := b.enc.line.parse(f.entry); err != nil {
		return err
	}
	data, err := b.enc.encode()
	b.enc.defaults = nil
	copy(f.data[f.entryAt:], data)
	f.entry = ""
	return err
}

// finish places the features and writes the header.
func (b *builder) finish() error {
	if b.enc == nil || b.header == "" {
		return nil
	}
	if err := b.placeAttrs(); err != nil {
		return err
	}
	if err := b.closeEntry(); err != nil {
		return err
	}
	if _, ok := b.sections["data"]; !ok {
		b.sections["data"] = section{off: b.pos}
	}
	if err := b.placeFeatures(); err != nil {
		return err
	}
	b.at = b.headerLine
	e := b.enc
	if _, err := e.line.parse(b.header); err != nil {
		return err
	}
	e.sections = b.sections
	for i := range b.features {
		e.features = append(e.features, b.features[i].feature)
	}
	if e.attrSize == 0 {
		e.attrSize = defaultAttrSize
	}
	data, err := e.header(&e.line)
	if err != nil {
		return err
	}
	_, err = b.place(0, data)
	return err
}

// placeFeatures writes the table of features after the data section, and the
// features that have no place after it.
func (b *builder) placeFeatures() error {
	data := b.sections["data"]
	table := !b.table && len(b.features) > 0
	if b.pos = max(b.pos, data.off+data.size); table {
		b.pos += 16 * int64(len(b.features))
	}
	at := make([]section, len(b.features))
	for i := range b.features {
		f := &b.features[i]
		if f.off >= 0 {
			at[i] = section{f.off, int64(len(f.data))}
			continue
		}
		off, err := b.place(-1, f.data)
		if err != nil {
			return err
		}
		at[i] = section{off, int64(len(f.data))}
	}
	if !table {
		return nil
	}
	order := make([]int, len(b.features))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(b.features[i].feature, b.features[j].feature)
	})
	x := encoder{big: b.enc.big}
	for n, i := range order {
		if n > 0 && b.features[i].feature == b.features[order[n-1]].feature {
			return fmt.Errorf("feature %v is there twice", b.features[i].feature)
		}
		x.put(uint64(at[i].off), 8)
		x.put(uint64(at[i].size), 8)
	}
	_, err := b.place(data.off+data.size, x.buf)
	return err
}
