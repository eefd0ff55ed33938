package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
)

// What the page is made of. The script and the style sheet are built from ui by go
// generate.
//
//go:generate go run ./bundle
var (
	//go:embed dist/app.js
	script string
	//go:embed dist/sections.js
	sectionScript string // of sections that few reports have
	//go:embed dist/app.css
	style string
	//go:embed ui/vendor/preact/LICENSE
	license string // of Preact, which is part of script
	//go:embed page.tmpl
	pageText string
)

// Schema names the form of the block called meta.
const Schema = "profdiff.report/v1"

// Limits of a page. What is beyond is pruned, and the page says so.
const (
	// MaxFrames is the number of frames of an event that are kept.
	MaxFrames = 300_000
	// MaxBytes is about the size of a page.
	MaxBytes  = 2_000_000
	maxMovers = 8 // a side
	maxShown  = 12
)

// Write writes a document as one HTML file. Its text is cleaned in place. Equal documents
// give equal bytes.
func Write(w io.Writer, d *Document) error {
	cleanAll(d)
	blocks, err := encode(d)
	if err != nil {
		return err
	}
	id := sha256.New()
	for _, b := range blocks {
		io.WriteString(id, b.name)
		id.Write(b.data)
	}
	m := metaOf(d, blocks)
	m.ID = hex.EncodeToString(id.Sum(nil)[:4])
	meta, err := json.Marshal(m) // escapes <, > and &
	if err != nil {
		return err
	}
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	var head, body bytes.Buffer
	static := screenOf(d)
	if err := page.ExecuteTemplate(&head, "head", static); err != nil {
		return err
	}
	if err := page.ExecuteTemplate(&body, "body", static); err != nil {
		return err
	}
	out := &errWriter{w: w}
	out.text("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n")
	out.text(`<meta http-equiv="Content-Security-Policy" content="` + policy(d) + `">` + "\n")
	out.text(head.String())
	out.text("<style>" + style + "</style>\n")
	out.text(body.String())
	// Blocks are inert, and nothing in them can end them: base64 has no <.
	out.text(`<script type="application/json" id="meta">` + string(meta) + "</script>\n")
	for _, b := range blocks {
		out.text(`<script type="application/octet-stream" id="` + b.name + `">`)
		out.base64(b.data)
		out.text("</script>\n")
	}
	out.text("<!-- The script includes Preact 10.29.8:\n" + license + "-->\n")
	for _, s := range scripts(d) {
		out.text("<script>" + s + "</script>\n")
	}
	out.text("</body>\n</html>\n")
	return out.err
}

// scripts are those that a document needs.
func scripts(d *Document) []string {
	offCPU := slices.ContainsFunc(d.Events, func(e Event) bool { return e.OffCPU })
	if d.Branches != nil || d.Pipeline != nil || offCPU {
		return []string{script, sectionScript}
	}
	return []string{script}
}

// policy lets nothing run but the scripts and the style of this package, and loads
// nothing.
func policy(d *Document) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	var run strings.Builder
	for _, s := range scripts(d) {
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

// A screen is what the template shows: text that is ready.
type screen struct {
	Title, Heading, Base, Head, Tool string
	Outcome                          Outcome
	Mark, Word, Sentence             string
	Ground, Warnings                 []string
	Also                             []Fact
	MoreWarnings                     int
	Budgets                          []budgetRow
	Cards                            []cardView
	Movers                           *moversView
	How                              []string
	Explorer                         bool
	Inputs                           []inputView
}

type inputView struct {
	Side, Name, Digest string
}

type budgetRow struct {
	Budget
	Mark, Word string
}

type cardView struct {
	Card
	Mark string
}

type moversView struct {
	Event, Per   string
	Grew, Shrank moversTable
	// None says why there are none.
	None string
}

type moversTable struct {
	Title, Mark string
	Class       Outcome
	Rows        []moverRow
	More        int
}

type moverRow struct {
	Name, Link, Note, Base, Head, Delta, Change, Interval string
	Bar                                                   bar
}

// A bar is an interval of a ratio as a picture of 100 by 12.
type bar struct {
	Lo, Hi, At       string
	CutLo, CutHi, OK bool
}

func screenOf(d *Document) *screen {
	s := &screen{
		Heading: d.Title, Base: d.Base, Head: d.Head, Tool: d.Tool,
		Outcome: d.Verdict.Outcome, Mark: d.Verdict.Outcome.mark(), Word: d.Verdict.Outcome.word(), Sentence: d.Verdict.Sentence,
		Ground: d.Verdict.Ground, Also: d.Also, Explorer: len(d.Events) > 0 || d.Branches != nil || d.Pipeline != nil || len(d.Runs) > 0,
	}
	switch {
	case s.Sentence == "":
		s.Title = d.Title
	case s.Word == "":
		s.Title = s.Sentence
	default:
		s.Title = s.Mark + " " + s.Word + ": " + s.Sentence
	}
	s.Warnings = d.Warnings
	if n := len(d.Warnings) - maxShown; n > 0 {
		s.Warnings, s.MoreWarnings = d.Warnings[:maxShown], n
	}
	for _, b := range d.Budgets {
		s.Budgets = append(s.Budgets, budgetRow{b, b.Outcome.mark(), budgetWord(b.Outcome)})
	}
	for _, c := range d.Cards {
		s.Cards = append(s.Cards, cardView{c, c.Outcome.mark()})
	}
	if len(d.Events) > 0 {
		s.Movers = moversOf(&d.Events[0])
		s.How = d.Events[0].How
	}
	for _, r := range d.Runs {
		if r.Digest != "" {
			s.Inputs = append(s.Inputs, inputView{map[bool]string{false: "before", true: "after"}[r.Head], r.Name, r.Digest})
		}
	}
	return s
}

func budgetWord(o Outcome) string {
	switch o {
	case Pass:
		return "within"
	case Fail:
		return "exceeded"
	case Warn:
		return "warning"
	}
	return "not decidable"
}

func moversOf(e *Event) *moversView {
	grew, shrank := e.movers()
	v := &moversView{Event: e.Name, Per: e.Per}
	if e.Share {
		v.Per = "share of the total"
	}
	if len(grew)+len(shrank) == 0 {
		v.None = "No function changed decidably."
		tested := 0
		for i := range e.Functions {
			if e.Functions[i].Self.Tested {
				tested++
			}
		}
		switch {
		case e.Withheld != "":
			v.None += " Verdicts are withheld: " + e.Withheld + "."
		case e.Single:
			v.None += " One run a side does not tell how much runs differ: record several, in turns."
		default:
			v.None += fmt.Sprintf(" %s of %s tested.", plural(tested, "function"), count(int64(len(e.Functions))))
		}
		return v
	}
	reach := math.Log(1.1)
	for _, list := range [][]mover{grew, shrank} {
		for _, m := range list[:min(len(list), maxMovers)] {
			for _, x := range []float64{m.change.Ratio, m.change.Lo, m.change.Hi} {
				if x > 0 && !math.IsInf(x, 1) {
					reach = max(reach, math.Abs(math.Log(x)))
				}
			}
		}
	}
	reach = min(reach, math.Log(4))
	table := func(title string, class Outcome, list []mover) moversTable {
		t := moversTable{Title: title, Class: class, Mark: class.mark(), More: max(0, len(list)-maxMovers)}
		for _, m := range list[:min(len(list), maxMovers)] {
			f := &e.Functions[m.function]
			t.Rows = append(t.Rows, moverRow{
				Name: m.name, Link: functionLink(f), Note: m.note,
				Base: e.cost(m.change.Base), Head: e.cost(m.change.Head), Delta: e.delta(m.change.Head - m.change.Base),
				Change: m.change.relative(), Interval: m.change.interval(), Bar: barOf(m.change, reach),
			})
		}
		return t
	}
	v.Grew, v.Shrank = table("Grew", Regressed, grew), table("Shrank", Improved, shrank)
	return v
}

// functionLink is the fragment that opens the card of a function.
func functionLink(f *Function) string {
	const hexDigits = "0123456789ABCDEF"
	escape := func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			switch c := s[i]; {
			case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.~", c) >= 0:
				b.WriteByte(c)
			default:
				b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
			}
		}
		return b.String()
	}
	return "#function=" + escape(f.Name) + "&dso=" + escape(f.DSO)
}

func barOf(c *Change, reach float64) bar {
	if !c.known() {
		return bar{}
	}
	place := func(ratio float64) (x float64, cut bool) {
		l := math.Log(ratio) / reach
		return 50 + 46*max(-1, min(1, l)), math.Abs(l) > 1.0001
	}
	text := func(x float64) string { return fmt.Sprintf("%.1f", x) }
	lo, cutLo := place(c.Lo)
	hi, cutHi := place(c.Hi)
	at, _ := place(c.Ratio)
	return bar{text(lo), text(hi), text(at), cutLo, cutHi, true}
}
