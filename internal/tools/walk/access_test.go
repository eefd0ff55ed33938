package walk

import (
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"testing"

	"profdiff/internal/report/html"
	"profdiff/internal/tools/browser"
)

// readAxe returns the script of axe, and checks that it is what its authors published.
func readAxe(t *testing.T) []byte {
	t.Helper()
	f, err := os.Open("testdata/axe/axe.min.js.gz")
	do(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	do(t, err)
	axe, err := io.ReadAll(z)
	do(t, err)
	license, err := os.ReadFile("testdata/axe/LICENSE")
	do(t, err)
	for _, file := range []struct {
		name, want string
		data       []byte
	}{
		{"axe.min.js", "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c", axe},
		{"LICENSE", "af175b9d96ee93c21a036152e1b905b0b95304d4ae8c2c921c7609100ba8df7e", license},
	} {
		if got := fmt.Sprintf("%x", sha256.Sum256(file.data)); got != file.want {
			t.Errorf("%s: SHA-256 %s, want %s", file.name, got, file.want)
		}
	}
	return axe
}

func TestBrowserAccessible(t *testing.T) {
	axe := readAxe(t)
	page, card := render(t, everything(t)), everything(t)
	for _, opt := range []browser.Options{{}, {Dark: true}, {Width: 360, Height: 780}} {
		p := showFile(t, page, "", opt)
		if _, err := browser.Eval[bool](p, string(axe)+";true"); err != nil {
			t.Fatal(err)
		}
		views := []string{cardOf(card.Events[0].Functions[0].Name, card.Events[0].Functions[0].DSO)[1:]}
		for _, tab := range eval[[]string](t, p, tabNames) {
			views = append(views, "view="+tab)
		}
		views = append(views, "view=flame&as=table", "view=flame&dir=up&scale=share", "view=flame&as=table&dir=up", "view=flame&mode=after&q=a", "view=functions&only=decided", "view=functions&q=nothing+has+this")
		for _, view := range views {
			look(t, p, "#"+view)
			do(t, p.Do(`document.querySelectorAll("#panel [aria-expanded=false]:not(.row), details:not([open]) summary").forEach(e => e.click())`))
			found := eval[[]string](t, p, `(async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
				.map(v => v.impact + " " + v.id + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + " " + n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join(" | ")))()`)
			for _, v := range found {
				t.Errorf("%s, %+v: %s", view, opt, v)
			}
		}
	}
}

// TestBrowserPhone checks that nothing is wider than a small window, in any tab, but what
// can be scrolled by itself.
func TestBrowserPhone(t *testing.T) {
	for _, d := range []*html.Document{everything(t), hostileDocument(t)} {
		p := show(t, d, "", browser.Options{Width: 360, Height: 780})
		views := []string{cardOf(d.Events[0].Functions[0].Name, d.Events[0].Functions[0].DSO)[1:], "view=flame&as=table"}
		for _, tab := range eval[[]string](t, p, tabNames) {
			views = append(views, "view="+tab)
		}
		for _, view := range views {
			look(t, p, "#"+view)
			do(t, p.Do(`document.querySelectorAll("#panel [aria-expanded=false]:not(.row), details:not([open]) summary").forEach(e => e.click())`))
			if wide := eval[float64](t, p, `document.documentElement.scrollWidth - 360`); wide > 0 {
				who := eval[[]string](t, p, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 361 && !e.closest(".wide, .grid, .scroll, .view, .vh, .skip")).slice(0, 3).map(e => e.outerHTML.slice(0, 120))`)
				t.Errorf("%s is %v pixels wider than the window: %q", view, wide, who)
			}
		}
	}
}
