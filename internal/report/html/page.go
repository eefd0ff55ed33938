package html

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"profdiff/internal/template"
)

// escaper escapes text as html/template does, in elements and in quoted attributes, in which alone page.tmpl prints.
var escaper = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// What the page is made of. The script and the style sheet are built from ui by go
// generate.
//
//go:generate go -C ../../tools run ./bundle ../report/html
var (
	//go:embed dist/app.js
	script string
	//go:embed dist/aside.js
	asideScript string // of what the first view does not need
	//go:embed dist/sections.js
	sectionScript string // of sections that few reports have
	//go:embed dist/overtime.js
	timesScript string // of the view over time
	//go:embed dist/app.css
	style string
	//go:embed ui/vendor/preact/LICENSE
	license string // of Preact, which is part of script
	//go:embed page.tmpl
	pageText string
)

// Limits of a page. What is beyond is pruned, and the page says so.
const (
	// MaxFrames is the number of frames of an event that are kept.
	MaxFrames = 300_000
	// MaxBytes is about the size of a page.
	MaxBytes  = 2_000_000
	maxMovers = 8  // a side
	maxShown  = 40 // warnings
	maxAtOnce = 4  // of these
)

// Write writes a document as one HTML file. The text of its own is cleaned in place. Equal documents
// give equal bytes.
func Write(w io.Writer, d *Document) error {
	cleanAll(d, d.clean())
	blocks, err := encode(d)
	if err != nil {
		return err
	}
	p := &Page{meta: metaOf(d, blocks), blocks: blocks, runs: len(d.Runs), inputs: inputsOf(d.Runs)}
	p.meta.ID = idOf(blocks)
	return p.Write(w)
}

// A Page is a report as a file has it: blocks of data, and what the first screen shows.
type Page struct {
	meta   *meta
	blocks []block
	// What is read of the block of data.
	runs   int
	inputs []inputView
}

// idOf is what browsers keep choices of a user by.
func idOf(blocks []block) string {
	id := sha256.New()
	for _, b := range blocks {
		io.WriteString(id, b.name)
		id.Write(b.data)
	}
	return hex.EncodeToString(id.Sum(nil)[:4])
}

// has reports whether the page has a block.
func (p *Page) has(name string) bool { return slices.Contains(p.meta.Blocks, name) }

// Write writes the page with the template, scripts and style of this package.
func (p *Page) Write(w io.Writer) error {
	meta, err := json.Marshal(p.meta) // escapes <, > and &
	if err != nil {
		return err
	}
	page, err := template.Parse(pageText, escaper.Replace)
	if err != nil {
		return err
	}
	static := p.screen()
	head, body := page.Execute("head", static), page.Execute("body", static)
	scripts := p.scripts()
	out := &errWriter{w: w}
	out.text("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n")
	out.text(`<meta http-equiv="Content-Security-Policy" content="` + policy(scripts) + `">` + "\n")
	out.text(head)
	out.text("<style>" + style + "</style>\n")
	out.text(body)
	// Blocks are inert, and nothing in them can end them: base64 has no <.
	out.text(blockStart + metaStart + string(meta) + blockEnd + "\n")
	for _, b := range p.blocks {
		out.text(blockStart + dataStart + b.name + nameEnd)
		out.base64(b.data)
		out.text(blockEnd + "\n")
	}
	out.text("<!-- The script includes Preact 10.29.8:\n" + license + "-->\n")
	for _, s := range scripts {
		out.text("<script>" + s + "</script>\n")
	}
	out.text("</body>\n</html>\n")
	return out.err
}

// What stands around blocks.
const (
	blockStart = `<script type="application/`
	metaStart  = `json" id="meta">`
	dataStart  = `octet-stream" id="`
	nameEnd    = `">`
	blockEnd   = `</script>`
)

// scripts are the scripts that the page needs.
func (p *Page) scripts() []string {
	list := []string{script, asideScript}
	offCPU := slices.ContainsFunc(p.meta.Events, func(e metaEvent) bool { return e.OffCPU })
	if p.has("branches") || p.has("listings") || p.has("sources") || p.has("pipeline") || offCPU {
		list = append(list, sectionScript)
	}
	if slices.ContainsFunc(p.meta.Blocks, func(name string) bool { return strings.HasPrefix(name, "times") }) {
		list = append(list, timesScript)
	}
	return list
}

// policy lets nothing run but these scripts and the style of this package, and loads
// nothing.
func policy(scripts []string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	var run strings.Builder
	for _, s := range scripts {
		run.WriteString(hash(s))
	}
	return "default-src 'none'; script-src" + run.String() + "; style-src" + hash(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

// An errWriter keeps the first error.
type errWriter struct {
	w   io.Writer
	err error
}

func (w *errWriter) text(s string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.w, s)
	}
}

func (w *errWriter) base64(data []byte) {
	if w.err != nil {
		return
	}
	e := base64.NewEncoder(base64.StdEncoding, w.w)
	if _, w.err = e.Write(data); w.err == nil {
		w.err = e.Close()
	}
}
