package walk

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"strings"
	"testing"

	"profdiff/internal/report/html"
	"profdiff/internal/tools/browser"
)

// path are the full names of the frames that lead to what is zoomed.
const path = `[...document.querySelectorAll(".path a")].map(a => a.title)`

// takeAway keeps what the page copies and saves.
const takeAway = `Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { globalThis.copied = text }}});
	URL.createObjectURL = (blob) => { globalThis.saved = blob; return "blob:" };
	HTMLAnchorElement.prototype.click = function () { globalThis.savedAs = this.download }`

// press opens the window for sharing and presses a button in it.
func press(t *testing.T, p *browser.Page, label string) {
	t.Helper()
	do(t, p.Do(fmt.Sprintf(`[...document.querySelectorAll(".tools button")].find(b => b.textContent === "Share").click();
		globalThis.saved = undefined;
		for (let i = 0; i < 100 && !document.querySelector("dialog[open]"); i++) await new Promise(r => setTimeout(r, 20));
		const b = [...document.querySelectorAll("dialog button")].find(b => b.textContent === %q);
		if (!b) throw new Error("no button " + %q + " at " + location.hash);
		b.click(); for (let i = 0; i < 100 && !globalThis.copied && !globalThis.saved; i++) await new Promise(r => setTimeout(r, 20));
		document.querySelector("dialog").close();
		for (let i = 0; i < 100 && document.querySelector("dialog"); i++) await new Promise(r => setTimeout(r, 20))`, label, label)))
}

func copied(t *testing.T, p *browser.Page, label string) string {
	t.Helper()
	do(t, p.Do(`globalThis.copied = ""`))
	press(t, p, label)
	return eval[string](t, p, `copied`)
}

func saved(t *testing.T, p *browser.Page, label string) []byte {
	t.Helper()
	do(t, p.Do(`globalThis.copied = ""`))
	press(t, p, label)
	data, err := base64.StdEncoding.DecodeString(eval[string](t, p, `(async () => { const b = new Uint8Array(await saved.arrayBuffer()); let s = ""; for (const x of b) s += String.fromCharCode(x); return btoa(s) })()`))
	do(t, err)
	return data
}

func TestBrowserShare(t *testing.T) {
	d := everything(t)
	e := &d.Events[0]
	p := show(t, d, "#view=functions&sort=functions.name", browser.Options{})
	do(t, p.Do(takeAway))
	if got, want := copied(t, p, "Copy link to this view"), eval[string](t, p, "location.href"); got != want || !strings.Contains(got, "sort=functions.name") {
		t.Errorf("the link is %q, want %q", got, want)
	}
	// As Markdown there is what is seen, of which the rest is counted.
	first := eval[string](t, p, firstRow)
	text := copied(t, p, "Copy as Markdown")
	rows := strings.Count(text, "\n| ") - 2
	if !strings.Contains(text, "| Function | Self before | Self after |") || !strings.Contains(text, "\n| "+escapeMarkdown(first)+" |") || rows != 30 || !strings.Contains(text, fmt.Sprintf("… %d more", len(e.Functions)-30)) {
		t.Errorf("as Markdown, %d rows, without %q:\n%s", rows, escapeMarkdown(first), text)
	}
	// For spreadsheets there is all of it.
	for _, table := range []struct {
		data  string
		comma rune
	}{{copied(t, p, "Copy as TSV"), '\t'}, {string(saved(t, p, "Save as CSV")), ','}} {
		r := csv.NewReader(strings.NewReader(table.data))
		r.Comma, r.LazyQuotes = table.comma, table.comma == '\t'
		all, err := r.ReadAll()
		do(t, err)
		if len(all) != len(e.Functions)+1 || all[1][0] != first {
			t.Errorf("%d lines, the first of %q, want %d of %q", len(all), all[1][0], len(e.Functions)+1, first)
		}
	}
	if name := eval[string](t, p, "savedAs"); !strings.HasSuffix(name, "-functions.csv") {
		t.Errorf("saved as %q", name)
	}
	// The card of a function, with its facts and tables.
	f := &e.Functions[0]
	look(t, p, cardOf(f.Name, f.DSO))
	text = copied(t, p, "Copy as Markdown")
	for _, want := range []string{"**" + escapeMarkdown(f.Name) + "**", "| module | ", "**Self**", "| verdict | ", "**Callers**", "**Callees**"} {
		if !strings.Contains(text, want) {
			t.Errorf("the card as Markdown does not have %q:\n%s", want, text)
		}
	}
	// Every other tab has something to copy.
	for _, view := range []string{"groups", "branches", "pipeline", "offcpu", "data", "flame&as=table"} {
		look(t, p, "#view="+view)
		if text := copied(t, p, "Copy as Markdown"); strings.Count(text, "|") < 10 {
			t.Errorf("%s as Markdown: %q", view, text)
		}
	}
}

// TestBrowserShareChanges copies the list of changes beside the flame graph.
func TestBrowserShareChanges(t *testing.T) {
	p := show(t, sample(t, small()), "#view=flame", browser.Options{})
	do(t, p.Do(takeAway))
	names := eval[[]string](t, p, listed)
	text := copied(t, p, "Copy as Markdown")
	for _, name := range names {
		if !strings.Contains(text, "| "+escapeMarkdown(name)+" | ▲ +") && !strings.Contains(text, "| "+escapeMarkdown(name)+" | ▼ −") {
			t.Errorf("%q is not copied:\n%s", name, text)
		}
	}
	if len(names) == 0 {
		t.Error("nothing changed")
	}
}

// escapeMarkdown is what the page does with names.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>|#~&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// TestBrowserPictures checks what flame graphs are saved as, with any names.
func TestBrowserPictures(t *testing.T) {
	for _, d := range []*html.Document{everything(t), hostileDocument(t)} {
		f := &d.Events[0].Functions[0]
		p := show(t, d, "#view=flame", browser.Options{})
		do(t, p.Do(takeAway))
		for _, view := range []string{"#view=flame", "#view=flame&frame=2", "#view=flame&color=module", cardOf(f.Name, f.DSO) + "&view=flame&dir=both"} {
			look(t, p, view)
			picture := saved(t, p, "Save flame graph as SVG")
			elements, texts := 0, ""
			for dec := xml.NewDecoder(bytes.NewReader(picture)); ; {
				token, err := dec.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: the SVG is not well-formed: %v", view, err)
				}
				switch x := token.(type) {
				case xml.StartElement:
					elements++
					if name := x.Name.Local; !strings.Contains(" svg defs pattern path rect text g title ", " "+name+" ") {
						t.Errorf("%s: the SVG has <%s>", view, name)
					}
				case xml.CharData:
					texts += string(x) + "\n"
				}
			}
			if elements < 50 || !strings.Contains(texts, "before ") {
				t.Errorf("%s: the SVG has %d elements", view, elements)
			}
			img, err := png.Decode(bytes.NewReader(saved(t, p, "as PNG")))
			do(t, err)
			colors := make(map[[3]uint32]bool)
			for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 7 {
				for x := 0; x < img.Bounds().Max.X; x += 11 {
					r, g, b, _ := img.At(x, y).RGBA()
					colors[[3]uint32{r, g, b}] = true
				}
			}
			if len(colors) < 4 {
				t.Errorf("%s: the PNG has %d colors", view, len(colors))
			}
		}
	}
}
