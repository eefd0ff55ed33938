package perffile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A textPiece is a range of a file that is written in one go.
type textPiece struct {
	off, size int64
	write     func() error
}

func (p *textPiece) end() int64 { return p.off + p.size }

// file writes a file. Whatever New says of it, it goes by the header, and takes
// apart what is sound.
func (w *textWriter) file(src io.ReaderAt, size int64) error {
	f, err := New(src, size, Options{AllowTruncated: true})
	switch {
	case errors.Is(err, ErrNotPerfData):
		return err
	case err == nil && f.Pipe:
		return w.pipe(f)
	case err == nil && f.Stats.Truncated != nil && !w.opt.AllowTruncated:
		err = f.Stats.Truncated
	}
	if _, ok := errors.AsType[*FormatError](err); err != nil && !ok {
		return err
	}
	p := textPlan{w: w, src: src, size: size}
	writeErr := p.write(f)
	if writeErr == nil {
		writeErr = p.err
	}
	if _, ok := errors.AsType[*FormatError](writeErr); writeErr == nil || ok && err != nil {
		return err // what a reader of the recording meets first
	}
	return writeErr
}

// A textPlan is what the header of a file says about where things are.
type textPlan struct {
	w      *textWriter
	src    io.ReaderAt
	size   int64
	pieces []textPiece
	ids    []section // lists of ids, which are written with the events
	err    error     // of the data
}

func (p *textPlan) inFile(s section) bool {
	return s.off >= 0 && s.size >= 0 && s.off <= p.size && s.size <= p.size-s.off
}

// read returns a range of the file.
func (p *textPlan) read(off, size int64) ([]byte, error) {
	b := make([]byte, size)
	if n, err := p.src.ReadAt(b, off); err != nil && n < len(b) {
		return nil, err
	}
	return b, nil
}

// add takes a piece into the plan.
func (p *textPlan) add(off, size int64, write func() error) {
	p.pieces = append(p.pieces, textPiece{off, size, write})
}

// addNew takes a piece into the plan unless a part of it is there already.
func (p *textPlan) addNew(off, size int64, write func() error) {
	for i := range p.pieces {
		if q := &p.pieces[i]; size > 0 && off < q.end() && q.off < off+size {
			return
		}
	}
	p.add(off, size, write)
}

// write writes the file that New made f of, nil if it did not.
func (p *textPlan) write(f *File) error {
	w := p.w
	head, err := p.read(0, min(p.size, fileHeaderSize))
	if err != nil {
		return err
	}
	big, err := byteOrder(head)
	c := fieldReader{data: head, big: big}
	c.skip(8)
	if c.u64() < fileHeaderSize || len(head) < fileHeaderSize || err != nil {
		// No header, no structure.
		if w.opt.AllowTruncated {
			return p.hex(0, p.size)
		}
		return nil
	}
	attrSize := int64(min(c.u64(), 1<<20))
	var attrs, data, eventTypes section
	for _, s := range []*section{&attrs, &data, &eventTypes} {
		s.off, s.size = int64(min(c.u64(), 1<<62)), int64(min(c.u64(), 1<<62))
	}
	if f == nil {
		f = newFile(Options{}, big)
		f.src, f.size = p.src, p.size
	}
	features := f.decodeFeatureBits(c.bytes(numFeatures / 8))
	whole := f.Attrs != nil
	w.start(f, big)
	w.x.attrSize = int(attrSize) - 16
	if err := w.header(head, false); err != nil {
		return err
	}
	p.add(0, fileHeaderSize, nil)

	// The events first: whoever reads the text needs them for the records.
	if attrSize >= attrSizeVer0+16 && p.inFile(attrs) && attrs.size%attrSize == 0 {
		p.add(attrs.off, attrs.size, nil)
		if !whole {
			_ = f.readAttrs(attrs, attrSize) // as many as there are
		}
		if err := p.attrs(attrs, attrSize); err != nil {
			return err
		}
	}
	p.addData(data, features)
	if p.inFile(eventTypes) && eventTypes.size > 0 && eventTypes.size <= maxTextSection {
		p.addNew(eventTypes.off, eventTypes.size, func() error { return p.eventTypes(eventTypes) })
	}
	for _, ids := range p.ids {
		p.add(ids.off, ids.size, nil)
	}
	return p.writePieces()
}

// addData plans the data section and the features.
func (p *textPlan) addData(data section, features []Feature) {
	w := p.w
	if data.off < fileHeaderSize || data.off > p.size {
		return
	}
	whole := p.inFile(data) && (data.size > 0 || len(features) > 0)
	if !whole {
		data.size = p.size - data.off
	}
	if data.size > 0 {
		p.add(data.off, data.size, func() error {
			err := w.records(newStream(io.NewSectionReader(p.src, data.off, data.size), data.off, data.off+data.size))
			if _, ok := errors.AsType[*FormatError](err); ok && w.opt.AllowTruncated {
				p.err, err = err, nil // the rest of the file is there to be written
			}
			return err
		})
	}
	table := section{data.off + data.size, int64(16 * len(features))}
	if !whole || !p.inFile(table) || table.size == 0 {
		return
	}
	b, err := p.read(table.off, table.size)
	if err != nil {
		return
	}
	p.add(table.off, table.size, func() error { p.featureTable(table.off, b, features); return nil })
	c := fieldReader{data: b, big: w.x.big}
	for _, feature := range features {
		s := section{int64(min(c.u64(), 1<<62)), int64(min(c.u64(), 1<<62))}
		if !p.inFile(s) {
			continue
		}
		p.addNew(s.off, s.size, func() error { return p.feature(feature, s) })
	}
}

// writePieces writes the pieces and what is between them.
func (p *textPlan) writePieces() error {
	slices.SortStableFunc(p.pieces, func(a, b textPiece) int {
		return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.size, b.size))
	})
	at := int64(0)
	for i := range p.pieces {
		q := &p.pieces[i]
		if err := p.gap(at, q.off); err != nil {
			return err
		}
		if q.write != nil {
			if err := q.write(); err != nil {
				return err
			}
		}
		at = max(at, q.end())
	}
	return p.gap(at, p.size)
}

func (p *textPlan) gap(from, to int64) error {
	if to <= from {
		return nil
	}
	return p.hex(from, to-from)
}

func (p *textPlan) hex(off, size int64) error {
	s := newStream(io.NewSectionReader(p.src, off, size), off, off+size)
	if !p.w.hexStream(s, size) && s.err != nil {
		return s.err
	}
	return nil
}

// attrs writes the events with their ids.
func (p *textPlan) attrs(s section, attrSize int64) error {
	w := p.w
	total := int64(0)
	for off := s.off; off < s.off+s.size; off += attrSize {
		entry, err := p.read(off, attrSize)
		if err != nil {
			return err
		}
		sizes := fieldReader{data: entry[attrSize-16:], big: w.x.big}
		ids := section{int64(min(sizes.u64(), 1<<62)), int64(min(sizes.u64(), 1<<62))}
		var list []byte
		var known []uint64
		if total += ids.size; p.inFile(ids) && ids.size%8 == 0 && total <= p.size &&
			ids.size > 0 && ids.size <= maxTextSection {
			b, err := p.read(ids.off, ids.size)
			if err != nil {
				return err
			}
			x := textPrinter{c: &fieldReader{data: b, big: w.x.big}, sep: ' '}
			restNumbers("ids", 8, decimal)(&x)
			list = x.out
			known = (&fieldReader{data: b, big: w.x.big}).u64s(nil, uint64(ids.size/8))
			p.ids = append(p.ids, ids)
		}
		w.begin(off, attrSize, "attr", "")
		mark := len(w.x.out)
		err = w.decode(&fieldReader{data: entry, base: off, section: "attrs", big: w.x.big}, attrEntry)
		w.x.lossy = w.x.lossy || ids.size != 8*int64(len(known))
		w.finish(mark, entry, string(list), err)
		c := fieldReader{data: entry[:attrSize-16], big: w.x.big}
		if a := decodeAttr(&c); c.err == nil {
			a.IDs = known
			_ = w.said.addAttr(a) // what File refuses is no event here either
		}
	}
	return nil
}

// parts writes the items that fill a section of the file, as long as they are sound;
// then hex.
func (p *textPlan) parts(name string, s section, next func(c *fieldReader) bool) error {
	b, err := p.read(s.off, s.size)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.partsOf(&fieldReader{data: b, base: s.off, section: name, big: p.w.x.big}, next)
	return nil
}

func (p *textPlan) partsOf(c *fieldReader, next func(c *fieldReader) bool) {
	for c.remaining() > 0 {
		at := *c
		if !next(c) || c.err != nil {
			if c.err != nil {
				p.w.comment("%v", c.err)
			}
			// next writes whole items or nothing, the rest begins where it began.
			p.w.hexRest(&at)
			return
		}
	}
}

// part writes one item that starts at c. It reports false, having written nothing, if
// it cannot be decoded.
func (p *textPlan) part(c *fieldReader, keyword string, spec textSpec) bool {
	w := p.w
	start := *c
	w.x.out, w.x.sep, w.x.lossy = w.x.out[:0], ' ', false
	if w.decode(c, spec) != nil {
		return false
	}
	fields, lossy := string(w.x.out), w.x.lossy
	item := start.bytes(uint64(c.off - start.off))
	w.begin(c.base+int64(c.off-len(item)), int64(len(item)), keyword, "")
	mark := len(w.x.out)
	w.x.out, w.x.lossy = append(w.x.out, fields...), lossy
	w.finish(mark, item, "", nil)
	return true
}

func (p *textPlan) eventTypes(s section) error {
	return p.parts("event_types", s, func(c *fieldReader) bool { return p.part(c, "event_type", eventType) })
}

// featureTable writes where the features are.
func (p *textPlan) featureTable(off int64, b []byte, features []Feature) {
	w := p.w
	c := fieldReader{data: b, base: off, section: "features", big: w.x.big}
	for i, feature := range features {
		at := off + 16*int64(i)
		entry := c.bytes(16)
		w.begin(at, 16, "section", string(featureNames.append(nil, uint64(feature), 8)))
		mark := len(w.x.out)
		err := w.decode(&fieldReader{data: entry, base: at, big: w.x.big}, sectionEntry)
		w.finish(mark, entry, "", err)
	}
}

// maxTextSection is the size up to which a section is read as a whole to be taken
// apart. They have some kilobytes.
const maxTextSection = 64 << 20

// feature writes a feature: a line, and lines for its parts or hex.
func (p *textPlan) feature(feature Feature, s section) error {
	w := p.w
	name := string(featureNames.append(nil, uint64(feature), 8))
	section := "feature " + name
	w.begin(s.off, s.size, "feature", name)
	if spec, ok := featureSpecs[feature]; ok && s.size <= maxTextSection {
		b, err := p.read(s.off, s.size)
		if err != nil {
			return fmt.Errorf("%s: %w", section, err)
		}
		mark := len(w.x.out)
		c := fieldReader{data: b, base: s.off, section: section, big: w.x.big}
		if err = w.decode(&c, spec); err == nil {
			w.x.restBytes(textTail)
			if !w.x.lossy {
				w.end()
				return nil
			}
			err = errNotReproduced
		}
		decoded := string(w.x.out[mark:])
		w.x.out = w.x.out[:mark]
		w.end()
		w.comment("%v:%s", err, decoded)
		w.hexLines(s.off, b)
		return nil
	}
	w.end()
	switch {
	case feature == FeatureFile:
		return p.entries(section, s, p.file1)
	case feature == FeatureFile2:
		return p.entries(section, s, p.file2)
	case s.size > maxTextSection:
		return p.hex(s.off, s.size)
	}
	switch feature {
	case FeatureMetaInfo:
		return p.parts(section, s, func(c *fieldReader) bool {
			return p.part(c, "meta", textEntries["meta"].spec)
		})
	case FeatureBuildID:
		return p.parts(section, s, p.buildID)
	case FeatureInitMap:
		return p.parts(section, s, p.initRecord)
	}
	return p.hex(s.off, s.size)
}

// buildID writes an entry of the BUILD_ID feature.
func (p *textPlan) buildID(c *fieldReader) bool {
	head := *c
	head.skip(6)
	entry := fieldReader{base: c.base + int64(c.off), section: c.section, big: c.big}
	size := head.u16()
	if head.err != nil || size < recordHeaderSize {
		return false
	}
	if entry.data = c.bytes(uint64(size)); c.err != nil {
		return false
	}
	if !p.part(&entry, "build_id", buildIDEntry) {
		c.err = entry.err
		return false
	}
	return true
}

// initRecord writes a record of simpleperf's INIT_MAP feature.
func (p *textPlan) initRecord(c *fieldReader) bool {
	head := *c
	rd := recordReader{f: p.w.f, s: &stream{name: c.section}}
	off := c.base + int64(c.off)
	b := head.bytes(recordHeaderSize)
	if head.err != nil {
		return false
	}
	t, misc, size, err := rd.header(b, off)
	if err != nil || uint64(size) > uint64(c.remaining()) {
		return false
	}
	p.w.record(off, t, misc, c.bytes(uint64(size)))
	return true
}

// entries writes a feature of entries that start with their size.
func (p *textPlan) entries(name string, s section, next func(c *fieldReader) bool) error {
	w := p.w
	st := newStream(io.NewSectionReader(p.src, s.off, s.size), s.off, s.off+s.size)
	for st.fill(4) {
		head := fieldReader{data: st.buf[st.pos:], big: w.x.big}
		size := int64(head.u32()) + 4
		if size > min(int64(st.left()), 1<<30) || !st.fill(int(size)) {
			w.comment("%s: entry of %d bytes", name, size-4)
			break
		}
		off := st.off
		p.partsOf(&fieldReader{data: st.take(int(size)), base: off, section: name, big: w.x.big}, next)
	}
	w.hexStream(st, -1)
	if st.err != nil {
		return fmt.Errorf("%s: %w", name, st.err)
	}
	return nil
}

// file1 writes the next part of an entry of the FILE feature.
func (p *textPlan) file1(c *fieldReader) bool {
	head := *c
	head.skip(4)
	head.cstring()
	kind := DSOType(head.u32())
	head.u64()
	n := head.u32()
	if !p.part(c, "file", textEntries["file"].spec) {
		return false
	}
	tail := "elf_file"
	switch kind {
	case DSODex:
		tail = "dex_file"
	case DSOKernelModule:
		tail = "kernel_module"
	case DSOELF:
	default:
		tail = ""
	}
	// Something is written: what is left must be written here.
	ok := true
	for ; n > 0 && ok && c.remaining() > 0; n-- {
		ok = p.restOnFailure(c, "symbol")
	}
	if ok && tail != "" && c.remaining() > 0 {
		ok = p.restOnFailure(c, tail)
	}
	if ok {
		p.w.hexRest(c)
	}
	return true
}

// restOnFailure is part, or hex for all that remains.
func (p *textPlan) restOnFailure(c *fieldReader, keyword string) bool {
	at := *c
	entry := textEntries[keyword]
	spec := entry.spec
	if entry.message != 0 {
		spec = textSpec{protoMessage(entry.spec)}
	}
	if p.part(c, keyword, spec) {
		return true
	}
	p.w.comment("%v", c.err)
	*c = at
	p.w.hexRest(c)
	return false
}

// file2 writes an entry of the FILE2 feature.
func (p *textPlan) file2(c *fieldReader) bool {
	if !p.part(c, "file2", textEntries["file2"].spec) {
		return false
	}
	for c.remaining() > 0 {
		keyword, ok := nextFile2Entry(c.peek(0))
		if !ok {
			p.w.hexRest(c)
			break
		}
		if !p.restOnFailure(c, keyword) {
			break
		}
	}
	return true
}
