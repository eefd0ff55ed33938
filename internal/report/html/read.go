package html

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"profdiff/internal/report/text"
)

// Limits of pages that are read.
const (
	maxPage   = 64 << 20
	maxBlocks = 1000
	maxName   = 32 // of a block, with what follows
	maxMeta   = 8 << 20
	maxJSON   = 128 << 20 // of all blocks, read and written,
	leastJSON = 16 << 20  // but no more than this
	maxGrowth = 24        // and so many times the size of the page: real ones are below 11
	leastRoom = 1 << 20   // that every block may have,
	maxRatio  = 128       // and so many times its compressed size: real ones are below 40
)

// Read reads a page that [Write] of this version wrote, or of an older one. Of the page
// it needs nothing but the blocks. It takes them for hostile: what is written of them
// again is what was understood, with text that was cleaned.
func Read(r io.Reader) (*Page, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPage+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxPage:
		return nil, fmt.Errorf("is larger than a page can be, %d bytes", maxPage)
	}
	m, raw, err := splitPage(data)
	if err != nil {
		return nil, err
	}
	p := &Page{}
	if p.meta, err = readMeta(m); err != nil {
		return nil, fmt.Errorf("block meta at %#x: %w", m.at, err)
	}
	if err := p.readBlocks(raw, min(maxJSON, leastJSON+maxGrowth*len(data))); err != nil {
		return nil, err
	}
	return p, nil
}

// DrawnBy says which program writes the page again.
func (p *Page) DrawnBy(tool string) {
	p.meta.DrawnBy = ""
	if tool = text.Clean(tool); tool != p.meta.Tool {
		p.meta.DrawnBy = tool
	}
}

// Incomplete says what the first screen cannot show, "" if it is complete.
func (p *Page) Incomplete() string {
	if p.meta.Cards == nil {
		return "it was written by a version that did not keep budgets, further sentences and cards as data: they are not on the first screen"
	}
	return ""
}

// A rawBlock is a block as a page has it.
type rawBlock struct {
	name string
	text []byte
	at   int // offset of the text
}

// splitPage finds the blocks. In what is not a block, no text has < and no attribute has
// ", so that there is nothing else that looks like one.
func splitPage(data []byte) (m rawBlock, blocks []rawBlock, err error) {
	end := 0 // of the last
	for {
		next := bytes.Index(data[end:], []byte(blockStart))
		if next < 0 {
			break
		}
		start := end + next
		b := rawBlock{name: "meta"}
		rest, ok := bytes.CutPrefix(data[start+len(blockStart):], []byte(metaStart))
		if !ok {
			if b.name, rest, ok = cutName(rest); !ok {
				return m, nil, fmt.Errorf("block of an unknown kind at %#x", start)
			}
		}
		b.at = len(data) - len(rest)
		if b.text, _, ok = bytes.Cut(rest, []byte(blockEnd)); !ok {
			return m, nil, fmt.Errorf("block %s at %#x has no end", b.name, b.at)
		}
		end = b.at + len(b.text)
		switch {
		case b.name == "meta" && m.text != nil || slices.ContainsFunc(blocks, func(x rawBlock) bool { return x.name == b.name }):
			return m, nil, fmt.Errorf("second block %s at %#x", b.name, b.at)
		case b.name == "meta":
			m = b
		case blockType(b.name) == nil || len(blocks) == maxBlocks:
			return m, nil, fmt.Errorf("block %s at %#x is not known", b.name, b.at)
		default:
			blocks = append(blocks, b)
		}
	}
	if m.text == nil {
		return m, nil, errors.New("is no report of profdiff: it has no block meta; give a file that --html wrote")
	}
	return m, blocks, nil
}

// cutName takes the rest of a tag, with the name of a block of data, from the front.
func cutName(data []byte) (name string, rest []byte, ok bool) {
	data, ok = bytes.CutPrefix(data, []byte(dataStart))
	n := bytes.Index(data[:min(len(data), maxName)], []byte(nameEnd))
	if !ok || n < 0 {
		return "", nil, false
	}
	return text.Clean(string(data[:n])), data[n+len(nameEnd):], true
}

// readMeta reads the block that is not compressed.
func readMeta(b rawBlock) (*meta, error) {
	if len(b.text) > maxMeta {
		return nil, fmt.Errorf("has %d bytes, more than %d", len(b.text), maxMeta)
	}
	var of struct{ Schema string }
	if err := json.Unmarshal(b.text, &of); err != nil {
		return nil, jsonError(err)
	}
	name, own, _ := strings.Cut(Schema, "/v")
	version, err := strconv.Atoi(strings.TrimPrefix(of.Schema, name+"/v"))
	known, _ := strconv.Atoi(own)
	switch {
	case !strings.HasPrefix(of.Schema, name+"/v") || err != nil || version < 1:
		return nil, fmt.Errorf("schema %q is not that of a report", short(of.Schema, 60))
	case version > known:
		return nil, fmt.Errorf("schema %s is of a newer profdiff: this one reads up to %s", of.Schema, Schema)
	}
	text, _, err := rewriteJSON(b.text, reflect.TypeFor[meta](), maxMeta)
	if err != nil {
		return nil, err
	}
	m := new(meta)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, jsonError(err)
	}
	m.Schema = Schema
	m.Verdict.Ground, m.Also, m.Warnings, m.Budgets = list(m.Verdict.Ground), list(m.Also), list(m.Warnings), list(m.Budgets)
	m.Events, m.Blocks = list(m.Events), list(m.Blocks)
	if err := m.pictures(); err != nil {
		return nil, err
	}
	for i := range m.Events {
		e := &m.Events[i]
		if e.Functions < 0 || e.Frames < 0 || len(e.Grew) > maxMovers || len(e.Shrank) > maxMovers {
			return nil, fmt.Errorf("counts of event %d make no sense", i)
		}
		e.Amount = amount(e.Name, e.Unit, e.Share) // which older versions did not tell
		e.How, e.Grew, e.Shrank = list(e.How), list(e.Grew), list(e.Shrank)
	}
	return m, nil
}

// pictures checks what is drawn of the main event.
func (m *meta) pictures() error {
	if m.Main < 0 || m.Main > 0 && m.Main >= len(m.Events) {
		return fmt.Errorf("event %d is not there", m.Main)
	}
	if w := m.Waterfall; w != nil && (len(m.Events) == 0 || len(w.Bars) > maxBars || w.Decided < 0) {
		return errors.New("the waterfall makes no sense")
	}
	if f := m.Flame; f != nil {
		if len(m.Events) == 0 || len(f.Frames) > maxFlame/bytesOfFrame || slices.ContainsFunc(f.Frames, func(f metaFrame) bool {
			return f.Level < 0 || f.Level >= flameLevels || f.Above < 0 || f.Below < 0 || f.Flags < 0 || f.Flags > 15
		}) {
			return errors.New("the flame graph makes no sense")
		}
	}
	return nil
}

// jsonError is an error of encoding/json with its offset, if it has one.
func jsonError(err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("JSON at offset %d: %w", e.Offset, err)
	}
	return fmt.Errorf("JSON: %w", err)
}

// readBlocks reads the compressed blocks: those that meta names, in the same order. room bounds
// their JSON, read and written.
func (p *Page) readBlocks(raw []rawBlock, room int) error {
	var names []string
	for _, b := range raw {
		names = append(names, b.name)
	}
	if !slices.Equal(names, p.meta.Blocks) {
		return fmt.Errorf("blocks are %s, meta names %s", short(strings.Join(names, " "), 200), short(strings.Join(p.meta.Blocks, " "), 200))
	}
	for i := range p.meta.Events {
		for _, name := range []string{"names", "event" + strconv.Itoa(i)} {
			if !p.has(name) {
				return fmt.Errorf("block %s is missing", name)
			}
		}
	}
	for _, b := range raw {
		data, err := base64.StdEncoding.Strict().AppendDecode(nil, b.text)
		if err != nil {
			return fmt.Errorf("block %s at %#x: base64: %w", b.name, b.at, err)
		}
		p.blocks = append(p.blocks, block{b.name, data})
	}
	if id := idOf(p.blocks); id != p.meta.ID {
		return fmt.Errorf("blocks have the digest %s, meta says %s: the data of the page was changed", id, p.meta.ID)
	}
	texts := 0
	var gz compressor
	for i, b := range raw {
		text, err := p.readBlock(&p.blocks[i], &gz, room, &texts)
		if err != nil {
			return fmt.Errorf("block %s at %#x: %w", b.name, b.at, err)
		}
		room -= text
	}
	p.meta.ID = idOf(p.blocks)
	return nil
}

// readBlock checks a block, and replaces it if an older version wrote it, or no version
// did. It returns the size of its JSON. texts is how many texts the block of names has,
// once that block was read.
func (p *Page) readBlock(b *block, gz *compressor, room int, texts *int) (size int, err error) {
	text, err := inflate(b.data, room)
	if err != nil {
		return 0, err
	}
	again, found, err := rewriteJSON(text, blockType(b.name), room)
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(text, again) {
		if b.data, err = gz.compress(again); err != nil {
			return 0, err
		}
	}
	c := &checker{root: found}
	kind := strings.TrimRight(b.name, "0123456789")
	number, _ := strconv.Atoi(b.name[len(kind):]) // of the event
	if kind == "event" || kind == "lines" || kind == "times" {
		if number >= len(p.meta.Events) || b.name != kind+strconv.Itoa(number) {
			return 0, errors.New("is of no event")
		}
	}
	switch kind {
	case "names":
		*texts = found.n
	case "event":
		c.event(&p.meta.Events[number], *texts)
	case "lines":
		c.lines(&p.meta.Events[number])
	case "times":
		c.times(&p.meta.Events[number])
	case "branches":
		c.branches()
	case "data":
		var d struct {
			Runs []struct {
				Head         bool
				Name, Digest string
			}
		}
		if err := json.Unmarshal(again, &d); err != nil {
			return 0, jsonError(err)
		}
		p.runs = len(d.Runs)
		for _, r := range d.Runs {
			p.inputs = append(p.inputs, inputsOf([]Run{{Head: r.Head, Name: r.Name, Digest: r.Digest}})...)
		}
	}
	return len(text) + len(again), c.err
}

// inflate decompresses a block to no more than room, and no more than blocks are
// compressed.
func inflate(data []byte, room int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	defer z.Close()
	limit := min(int64(room), leastRoom+maxRatio*int64(len(data)))
	text, err := io.ReadAll(io.LimitReader(z, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("gzip: %w", err)
	case int64(len(text)) > limit:
		return nil, fmt.Errorf("gzip: %d bytes become more than %d", len(data), limit)
	}
	return text, nil
}
