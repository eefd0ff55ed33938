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

// contrast is a script that measures the contrast of text, by WCAG 2.2, where axe says that it does not know:
// which is text with a picture behind, or under what sticks to the top. It returns what is too low.
const contrast = `(async () => {
	const found = await axe.run(document, {runOnly: ["color-contrast"], resultTypes: ["incomplete"]});
	const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m };
	const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
	const low = [];
	for (const n of found.incomplete.flatMap((v) => v.nodes)) {
		const el = document.querySelector(n.target[0]);
		if (!el || !el.checkVisibility() || el.closest("[aria-hidden=true]")) continue;
		let at = el, behind = [0, 0, 0, 0];
		while (at && behind[3] === 0) { behind = parse(getComputedStyle(at).backgroundColor); at = at.parentElement }
		const style = getComputedStyle(el), text = parse(style.color), size = parseFloat(style.fontSize);
		const [x, y] = [light(text), light(behind)].sort((a, b) => b - a), ratio = (x + 0.05) / (y + 0.05);
		if (ratio < (size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5)) low.push(ratio.toFixed(2) + " " + el.outerHTML.slice(0, 120));
	}
	return low;
})()`

// graphContrast measures the names of frames on all colors that frames have.
const graphContrast = `(() => {
	const g = document.createElement("canvas").getContext("2d"), css = getComputedStyle(document.documentElement);
	const parse = (color) => { g.fillStyle = color; g.fillRect(0, 0, 1, 1); return [...g.getImageData(0, 0, 1, 1).data] };
	const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
	const text = light(parse(css.getPropertyValue("--frame-text")));
	const fills = ["--frame", "--frame-alt", "--shrank-fill", "--match", "--grew-fill"].map((n) => css.getPropertyValue(n));
	for (const e of document.querySelectorAll(".colors .swatch")) fills.push(getComputedStyle(e).backgroundColor);
	return fills.map((f) => { const [x, y] = [light(parse(f)), text].sort((a, b) => b - a); return [f, (x + 0.05) / (y + 0.05)] }).filter(([, r]) => r < 4.5).map(String);
})()`

// TestBrowserAccessible has axe look at all views, in a large and a small window, light and dark.
func TestBrowserAccessible(t *testing.T) {
	axe := readAxe(t)
	d := everything(t)
	fn := d.Events[0].Functions[0]
	page := render(t, d)
	for _, opt := range []browser.Options{{}, {Dark: true}, {Width: 360, Height: 780}, {Width: 360, Height: 780, Dark: true}} {
		p := showFile(t, page, "", opt)
		if _, err := browser.Eval[bool](p, string(axe)+";true"); err != nil {
			t.Fatal(err)
		}
		check := func(what string) {
			t.Helper()
			found := eval[[]string](t, p, `(async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
				.map(v => v.impact + " " + v.id + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + " " + n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join(" | ")))()`)
			for _, v := range append(found, eval[[]string](t, p, contrast)...) {
				t.Errorf("%s, %+v: %s", what, opt, v)
			}
		}
		views := []string{cardOf(fn.Name, fn.DSO)[1:], cardOf(fn.Name, fn.DSO)[1:] + "&view=flame&dir=both"}
		for _, tab := range eval[[]string](t, p, tabNames) {
			views = append(views, "view="+tab)
		}
		views = append(views, "view=flame&as=table", "view=flame&dir=up&scale=share", "view=flame&as=table&dir=up", "view=flame&mode=after&q=a", "view=flame&frame=5&color=module", "view=functions&only=decided", "view=functions&q=nothing+has+this")
		for _, view := range views {
			look(t, p, "#"+view)
			do(t, p.Do(`document.querySelectorAll("#panel [aria-expanded=false]:not(.row), details:not([open]) summary").forEach(e => e.click())`))
			check(view)
		}
		for _, low := range eval[[]string](t, p, graphContrast) {
			t.Errorf("%+v: the contrast of names of frames is low: %s", opt, low)
		}
		for _, label := range []string{"Share", "Keys"} {
			do(t, p.Do(fmt.Sprintf(`[...document.querySelectorAll(".tools button")].find(b => b.textContent.includes(%q)).click(); while (!document.querySelector("dialog[open]")) await new Promise(r => setTimeout(r, 20))`, label)))
			check(label)
			do(t, p.Do(`document.querySelector("dialog").close(); while (document.querySelector("dialog")) await new Promise(r => setTimeout(r, 20))`))
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
