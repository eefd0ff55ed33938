// Package walk holds only tests: they open HTML reports in a browser, look at all views
// and use them as a reader does.
package walk

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/listing"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	reporttext "profdiff/internal/report/text"
	"profdiff/internal/tools/browser"
	"profdiff/internal/verdict"
)

func render(t *testing.T, d *html.Document) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := html.Write(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func sample(t *testing.T, opt comparetest.Options) *html.Document {
	t.Helper()
	c, err := comparetest.Compare(opt)
	if err != nil {
		t.Fatal(err)
	}
	return html.FromComparison(diff.New(c, diff.Parts{Page: &diff.Page{}}), html.Options{Tool: "profdiff test"})
}

func small() comparetest.Options {
	return comparetest.Options{Frames: 400, Depth: 12, Runs: 8, Change: true}
}

// show writes a document and opens it. The page may load nothing but itself, and may not
// have errors nor violate its policy.
func show(t *testing.T, d *html.Document, fragment string, opt browser.Options) *browser.Page {
	t.Helper()
	return showFile(t, render(t, d), fragment, opt)
}

func showFile(t *testing.T, page []byte, fragment string, opt browser.Options) *browser.Page {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := browser.Open(context.Background(), "file://"+file+fragment, opt)
	if errors.Is(err, browser.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, problem := range p.Problems() {
			if strings.Contains(problem, "getImageData") {
				continue // that the tests read what is painted
			}
			t.Errorf("the page says: %s", problem)
		}
		for _, url := range p.Requests() {
			if !strings.HasPrefix(url, "file://"+file) && url != "about:blank" && !strings.HasPrefix(url, "data:") {
				t.Errorf("the page loads %s", url)
			}
		}
		p.Close()
	})
	return p
}

func eval[T any](t *testing.T, p *browser.Page, script string) T {
	t.Helper()
	v, err := browser.Eval[T](p, script)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// look shows a view, with all that it reads.
func look(t *testing.T, p *browser.Page, fragment string) {
	t.Helper()
	do(t, p.Do(fmt.Sprintf(`location.hash = %q; for (let i = 0; i < 200; i++) {
		await new Promise(r => setTimeout(r, 10));
		if (!document.getElementById("panel").textContent.startsWith("Reading")) break;
	}`, fragment)))
}

const text = `document.body.innerText`

func TestBrowserWithoutScript(t *testing.T) {
	d := sample(t, small())
	p := show(t, d, "", browser.Options{NoScript: true})
	got := eval[string](t, p, text)
	for _, want := range []string{strings.Fields(d.Verdict.Sentence)[0], "Grew", "Shrank", "Data quality", "need JavaScript"} {
		if !strings.Contains(got, want) {
			t.Errorf("without scripts the page does not have %q", want)
		}
	}
	if strings.Contains(got, "Flame graph") {
		t.Error("without scripts the page has tabs")
	}
}

func TestBrowserPrints(t *testing.T) {
	p := show(t, sample(t, small()), "", browser.Options{})
	data, err := p.PDF()
	do(t, err)
	if n := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(data, -1)); n != 1 {
		t.Errorf("%d pages", n)
	}
}

const (
	firstRow   = `document.querySelector(".grid .body .row .name").textContent`
	statusText = `document.querySelector("#panel [role=status]").textContent`
)

func TestBrowserFunctions(t *testing.T) {
	d := sample(t, small())
	p := show(t, d, "", browser.Options{})
	e := &d.Events[0]
	if got := eval[string](t, p, firstRow); got != e.Functions[0].Name {
		t.Errorf("the first function is %q, want %q", got, e.Functions[0].Name)
	}
	// By name, both ways.
	least, most := e.Functions[0].Name, e.Functions[0].Name
	for i := range e.Functions {
		least, most = min(least, e.Functions[i].Name), max(most, e.Functions[i].Name)
	}
	sort := `document.querySelector(".grid [role=columnheader] button").click()`
	do(t, p.Do(sort))
	if got := eval[string](t, p, firstRow); got != least {
		t.Errorf("by name the first is %q, want %q", got, least)
	}
	do(t, p.Do(sort))
	if got := eval[string](t, p, firstRow); got != most {
		t.Errorf("by name backwards the first is %q, want %q", got, most)
	}
	// Search, as text and as an expression.
	search := func(q string) {
		do(t, p.Do(fmt.Sprintf(`const i = document.querySelector("input[type=search]"); i.value = %q; i.dispatchEvent(new Event("input", {bubbles: true}))`, q)))
	}
	for _, test := range []struct{ query, in string }{{"GitHub.com", "github.com"}, {`/^__\w+_\d+$/`, "__"}} {
		n := 0
		for i := range e.Functions {
			if strings.HasPrefix(e.Functions[i].Name, test.in) {
				n++
			}
		}
		search(test.query)
		if got := eval[string](t, p, statusText); !strings.HasPrefix(got, fmt.Sprintf("%d of %d ", n, len(e.Functions))) {
			t.Errorf("%s: %q, want %d functions", test.query, got, n)
		}
	}
	search("/(/")
	if got := eval[string](t, p, statusText); !strings.Contains(got, "Invalid regular expression") {
		t.Errorf("a wrong expression: %q", got)
	}
	search("")
	// Keys open a function, back leads back.
	do(t, p.Do(`document.querySelector(".grid").focus()`))
	do(t, p.Keys(browser.Down+browser.Enter))
	if got := eval[string](t, p, `document.getElementById("fn").firstChild.textContent`); got == "" || got == most {
		t.Errorf("the card is of %q", got)
	}
	do(t, p.Back())
	if !eval[bool](t, p, `document.querySelector(".grid") !== null && !location.hash.includes("view=function")`) {
		t.Error("back does not lead back")
	}
	// Only decided changes.
	do(t, p.Do(`document.querySelector("#panel input[type=checkbox]").click()`))
	n := 0
	for i := range e.Functions {
		if decided(&e.Functions[i].Self) {
			n++
		}
	}
	if got := eval[string](t, p, statusText); n == 0 || !strings.HasPrefix(got, fmt.Sprintf("%d of ", n)) {
		t.Errorf("decided: %q, want %d", got, n)
	}
}

// TestBrowserNumbers checks that the table of functions has the numbers of the first
// screen, though it rounds and subtracts on its own.
func TestBrowserNumbers(t *testing.T) {
	for _, share := range []bool{false, true} {
		d := sample(t, small())
		d.Events[0].Share = share
		if share {
			for i := range d.Events[0].Functions {
				for _, c := range []*diff.Change{&d.Events[0].Functions[i].Self, &d.Events[0].Functions[i].Total} {
					c.Base, c.Head = c.Base/d.Events[0].Total.Base, c.Head/d.Events[0].Total.Head
				}
			}
		}
		p := show(t, d, "#view=functions&only=decided", browser.Options{Height: 2000, Width: 1440})
		const cells = `(rows, cell) => [...document.querySelectorAll(rows)].map(r => [...r.querySelectorAll(cell)].map(c => c.textContent.replace(/[▲▼\s]/g, "")).join(" ")).sort()`
		first := eval[[]string](t, p, `(`+cells+`)(".mover tbody tr", "a, td.n")`)
		table := eval[[]string](t, p, `(`+cells+`)(".grid .body .row", ".name, .cell:nth-child(2), .cell:nth-child(3), .cell:nth-child(4), .cell:nth-child(5)")`)
		if len(first) == 0 {
			t.Fatal("nothing changed")
		}
		for _, row := range first {
			if !slices.Contains(table, row) {
				t.Errorf("the table does not have %q but\n%s", row, strings.Join(table, "\n"))
			}
		}
	}
}

func TestBrowserFlameGraph(t *testing.T) {
	d := sample(t, small())
	p := show(t, d, "#view=flame", browser.Options{})
	selected := func() string { return eval[string](t, p, `document.querySelector("#selected .name").textContent`) }
	if got := selected(); got != "total" {
		t.Errorf("selected is %q", got)
	}
	do(t, p.Do(`document.querySelector("canvas").focus()`))
	do(t, p.Keys(browser.Down))
	first := selected()
	if want := d.Events[0].Functions[d.Events[0].Frames.Function[1]].Name; first != want {
		t.Errorf("below the total is %q, want %q", first, want)
	}
	do(t, p.Keys(browser.Enter))
	if hash := eval[string](t, p, `location.hash`); !strings.Contains(hash, "frame=1&report=") {
		t.Errorf("zoomed, the address has %s", hash)
	}
	do(t, p.Back())
	if hash := eval[string](t, p, `location.hash`); strings.Contains(hash, "frame=") {
		t.Errorf("back, the address has %s", hash)
	}
	// The next decided change is one.
	do(t, p.Do(`document.querySelector("canvas").focus()`))
	do(t, p.Keys("n"))
	if got := eval[string](t, p, `document.getElementById("selected").textContent`); !strings.Contains(got, "decided: ") {
		t.Errorf("n selects %q", got)
	}
	// A click zooms into what is under it.
	do(t, p.Do(`document.querySelector("canvas").scrollIntoView({block: "center"})`))
	at := eval[[]float64](t, p, `(() => { const b = document.querySelector("canvas").getBoundingClientRect(); return [b.left + 30, b.top + 19 * 2 + 9] })()`)
	do(t, p.Click(at[0], at[1]))
	if hash := eval[string](t, p, `location.hash`); !strings.Contains(hash, "frame=2") {
		t.Errorf("clicked, the address has %s", hash)
	}
	// The total of a search sums up frames, each counted once.
	do(t, p.Do(`location.hash = "#view=flame&q=" + encodeURIComponent("/./")`))
	if got := eval[string](t, p, statusText); !strings.Contains(got, "(100.00") {
		t.Errorf("all frames match: %q", got)
	}
	// The same as a table, which opens.
	do(t, p.Do(`location.hash = "#view=flame&as=table"`))
	rows := eval[float64](t, p, `Number(document.querySelector("[role=treegrid]").getAttribute("aria-rowcount"))`)
	do(t, p.Do(`document.querySelector("[role=treegrid]").focus()`))
	do(t, p.Keys(browser.Left)) // closes the root
	if got := eval[float64](t, p, `Number(document.querySelector("[role=treegrid]").getAttribute("aria-rowcount"))`); rows < 3 || got != 2 {
		t.Errorf("%v rows, closed %v", rows, got)
	}
	// Bottom-up, the self costs of all functions are the total.
	do(t, p.Do(`location.hash = "#view=flame&as=table&dir=up"`))
	if got := eval[string](t, p, `document.querySelector("[role=treegrid] [aria-level='1']").textContent`); !strings.Contains(got, "total") {
		t.Errorf("bottom-up starts with %q", got)
	}
	// A link to a frame of another report is refused.
	do(t, p.Do(`location.hash = "#view=flame&frame=3&report=00000000"`))
	if got := eval[string](t, p, text); !strings.Contains(got, "another report") {
		t.Error("a link to another report is not refused")
	}
}

func colored(t *testing.T, p *browser.Page) float64 {
	t.Helper()
	return eval[float64](t, p, browser.ColoredPixels)
}

func TestBrowserNull(t *testing.T) {
	d := sample(t, comparetest.Options{Frames: 400, Depth: 12, Runs: 8})
	p := show(t, d, "#view=flame", browser.Options{})
	if got := eval[string](t, p, text); !strings.Contains(got, "No function changed decidably") || !strings.Contains(got, "no change in view is decided") {
		t.Error("a comparison without changes does not say so")
	}
	for _, view := range []string{"", "&dir=up", "&scale=share", "&mode=after", "&frame=1"} {
		look(t, p, "#view=flame"+view)
		if n := colored(t, p); n != 0 {
			t.Errorf("%s: %v pixels are colored", view, n)
		}
	}
}

// listed are the names of the frames whose change is listed as decided.
const listed = `[...document.querySelectorAll(".changes button")].map(b => b.title)`

// TestBrowserMarks checks that only those frames are marked of which just that was tested
// which is shown.
func TestBrowserMarks(t *testing.T) {
	d := sample(t, small())
	e := &d.Events[0]
	marked := 0
	for _, f := range e.Frames.Flags {
		if f&(diff.Grew|diff.Shrank) != 0 {
			marked++
		}
	}
	p := show(t, d, "#view=flame", browser.Options{})
	if n := colored(t, p); n == 0 || marked == 0 {
		t.Fatalf("%v pixels are colored, %d frames changed", n, marked)
	}
	// One side alone is no change.
	look(t, p, "#view=flame&mode=before")
	if n := colored(t, p); n != 0 {
		t.Errorf("of one side %v pixels are colored", n)
	}
	// Costs were tested, their shares were not.
	for _, dir := range []string{"down", "up"} {
		look(t, p, "#view=flame&scale=share&dir="+dir)
		if n := colored(t, p); n != 0 {
			t.Errorf("shares, %s: %v pixels are colored", dir, n)
		}
		if got := eval[string](t, p, text); !strings.Contains(got, "None: shares were not tested") || !strings.Contains(got, "the cost") {
			t.Errorf("shares, %s: the page does not say what was tested", dir)
		}
		look(t, p, "#view=flame&as=table&scale=share&dir="+dir)
		if got := eval[string](t, p, `document.querySelector("[role=treegrid]").innerText`); strings.ContainsAny(got, "▲▼") {
			t.Errorf("shares, %s: the table marks a change", dir)
		}
	}
	// Bottom-up, the first row has the self costs of functions, and no other is marked.
	var want []string
	for i := range e.Functions {
		if decided(&e.Functions[i].Self) {
			want = append(want, e.Functions[i].Name)
		}
	}
	slices.Sort(want)
	look(t, p, "#view=flame&dir=up")
	got := eval[[]string](t, p, listed)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("bottom-up %q changed, want %q", got, want)
	}
	rowHeight := 19.0
	below := fmt.Sprintf(`(() => { const c = document.querySelector("canvas"), d = c.getContext("2d").getImageData(0, %v, c.width, c.height - %v).data;
		let n = 0; for (let i = 0; i < d.length; i += 4) if (Math.max(d[i], d[i+1], d[i+2]) - Math.min(d[i], d[i+1], d[i+2]) > 50) n++; return n })()`, 2*rowHeight, 2*rowHeight)
	if n := eval[float64](t, p, below); n != 0 || colored(t, p) == 0 {
		t.Errorf("bottom-up %v pixels below the first row are colored", n)
	}
	do(t, p.Do(`document.querySelector("canvas").focus()`))
	do(t, p.Keys(browser.Down+browser.Down))
	if got := eval[string](t, p, `document.getElementById("selected").textContent`); !strings.Contains(got, "not tested: a part of the self cost") {
		t.Errorf("a caller says %q", got)
	}
	// What was compared as shares was tested as shares.
	e.Share = true
	for i := range e.Functions {
		for _, c := range []*diff.Change{&e.Functions[i].Self, &e.Functions[i].Total} {
			c.Base, c.Head = c.Base/e.Total.Base, c.Head/e.Total.Head
		}
	}
	for i := range e.Frames.Base {
		e.Frames.Base[i] /= e.Total.Base
		e.Frames.Head[i] /= e.Total.Head
	}
	p = show(t, d, "#view=flame&scale=share", browser.Options{})
	if n := colored(t, p); n == 0 || strings.Contains(eval[string](t, p, text), "share of each side") {
		t.Errorf("compared as shares, %v pixels are colored", n)
	}
}

// TestBrowserPruned checks that the first row of a tree from the leaves up has all of the
// self cost of functions, which is what was tested, though frames were left out.
func TestBrowserPruned(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	d := sample(t, comparetest.Options{Frames: html.MaxFrames * 11 / 10, Depth: 60, Runs: 1})
	e := &d.Events[0]
	p := show(t, d, "#view=flame&dir=up&as=table", browser.Options{Height: 2000})
	if len(e.Frames.Level) >= e.Frames.All {
		t.Fatalf("all of %d frames are in the page", e.Frames.All)
	}
	// Only the root is open.
	do(t, p.Do(`document.querySelector("[role=treegrid]").focus()`))
	do(t, p.Keys(browser.Left+browser.Right))
	for range 40 {
		do(t, p.Do(`const open = [...document.querySelectorAll("[role=treegrid] [aria-level='2'][aria-expanded=true] .twist")]; open[0]?.click()`))
	}
	rows := eval[[][]string](t, p, `[...document.querySelectorAll("[role=treegrid] [aria-level='2']")].map(r => [...r.querySelectorAll(".name, .cell:nth-child(2), .cell:nth-child(3)")].map(c => c.textContent))`)
	if len(rows) < 15 {
		t.Fatalf("%d functions are shown", len(rows))
	}
	at := make(map[string]*diff.Function)
	for i := range e.Functions {
		at[e.Functions[i].Name] = &e.Functions[i]
	}
	for _, row := range rows {
		f := at[row[0]]
		if f == nil {
			t.Errorf("%s is no function", row[0])
			continue
		}
		for i, want := range []float64{f.Self.Base, f.Self.Head} {
			if got := parseWeight(t, row[1+i]); math.Abs(got-want) > 0.006*want {
				t.Errorf("%s: %s, want %v ns", row[0], row[1+i], want)
			}
		}
	}
}

// parseWeight reads a time, in nanoseconds.
func parseWeight(t *testing.T, s string) float64 {
	t.Helper()
	d, err := time.ParseDuration(strings.ReplaceAll(s, "\u202f", ""))
	if err != nil {
		t.Fatal(err)
	}
	return float64(d)
}

// cardOf is the fragment that opens the card of a function.
func cardOf(name, dso string) string {
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	return "#function=" + escape(name) + "&dso=" + escape(dso)
}

// decided reports whether a change was shown.
func decided(c *diff.Change) bool {
	return c.Tested && c.Verdict.Changed()
}

func hostileDocument(t *testing.T) *html.Document {
	t.Helper()
	opt := comparetest.Options{Frames: 300, Depth: 20, Runs: 4, Change: true, Names: comparetest.HostileNames()}
	d := sample(t, opt)
	for i, n := range comparetest.HostileNames() {
		d.Warnings = append(d.Warnings, n)
		d.Budgets = append(d.Budgets, html.Budget{Name: n, Limit: n, Measured: n, Interval: n, Outcome: verdict.Fail, Reason: n})
		d.Events[0].Functions[i].DSO = n
		d.Events[0].Groups[0].Rows = append(d.Events[0].Groups[0].Rows, diff.Row{Name: n})
		d.Runs = append(d.Runs, html.Run{Name: n, Command: n, Tool: n, Warnings: []string{n}})
		d.Facts = append(d.Facts, html.Fact{Name: n, Text: n})
		d.Listings = append(d.Listings, listing.New(d.Events[0].Functions[i].Name, n, "e", []listing.Instruction{{Text: n, Key: n, File: n, Line: 1, Source: n}}, nil))
	}
	d.Base, d.Head, d.Tool = comparetest.HostileNames()[0], comparetest.HostileNames()[1], comparetest.HostileNames()[2]
	d.Verdict.Sentence += comparetest.HostileNames()[0]
	d.Branches = &html.Branches{Base: &html.BranchSource{Name: "</script>", Tier: "S"}, Code: []html.BranchCode{{Function: "<b>", Rows: []html.CodeRow{{Base: &html.CodeInst{Text: "<img src=x onerror=__canary=9>", Branch: 0}}}}}}
	for _, n := range comparetest.HostileNames() {
		d.Branches.Rows = append(d.Branches.Rows, html.Branch{Function: n, DSO: n, Place: n, File: n, Kind: n, Base: &html.BranchSide{Confidence: n, Class: n}, Change: n})
	}
	d.Pipeline = &html.Pipeline{Model: comparetest.HostileNames()[0], Tool: comparetest.HostileNames()[1], Loops: []html.Loop{{Name: comparetest.HostileNames()[1], Notes: comparetest.HostileNames(), Base: &html.LoopSide{Bottleneck: "<b>", Timeline: []html.Step{{Text: "</script>", Retired: 3}}}}}}
	return d
}

func TestBrowserHostile(t *testing.T) {
	d := hostileDocument(t)
	p := show(t, d, "", browser.Options{})
	for _, view := range []string{"functions", "flame", "flame&as=table", "flame&dir=up", "groups", "branches", "pipeline", "data"} {
		look(t, p, "#view="+view)
		if got := eval[string](t, p, `document.getElementById("panel").textContent`); len(got) < 20 {
			t.Errorf("%s shows %q", view, got)
		}
	}
	for i := range d.Events[0].Functions {
		f := &d.Events[0].Functions[i]
		name := reporttext.Clean(f.Name)
		look(t, p, cardOf(name, reporttext.Clean(f.DSO)))
		if got := eval[string](t, p, `document.getElementById("fn")?.firstChild.textContent ?? document.getElementById("panel").textContent`); got != name && name != "" {
			t.Errorf("the card of %.80q is of %.80q", name, got)
		}
	}
	for _, q := range comparetest.HostileNames() {
		literal, err := json.Marshal(q)
		do(t, err)
		do(t, p.Do(fmt.Sprintf(`location.hash = "#view=functions&q=" + encodeURIComponent(%s.slice(0, 500))`, literal)))
	}
	if got := eval[string](t, p, `String(globalThis.__canary) + String(({}).polluted) + document.querySelectorAll("img,iframe,object,b[onmouseover]").length`); got != "undefinedundefined0" {
		t.Errorf("a name was run: %s", got)
	}
}

func TestBrowserDeep(t *testing.T) {
	d := sample(t, comparetest.Options{Frames: 4000, Depth: 3000, Runs: 2})
	p := show(t, d, "#view=flame", browser.Options{})
	painted := `(() => { const c = document.querySelector("canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
		for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i+1] << 8 | d[i+2]); return seen.size })()`
	if n := eval[float64](t, p, painted); n < 4 {
		t.Errorf("the top is painted with %v colors", n)
	}
	do(t, p.Do(`document.querySelector(".view").scrollTop = 1e9`))
	if y := eval[float64](t, p, `document.querySelector(".view").scrollTop`); y < 50_000 {
		t.Errorf("the graph ends at %v pixels", y)
	}
	do(t, p.Do(`location.hash = "#view=flame&frame=2990"`))
	if n := eval[float64](t, p, painted); n < 4 {
		t.Errorf("the bottom is painted with %v colors", n)
	}
	if h := eval[float64](t, p, `document.querySelector("canvas").height`); h > 2000 {
		t.Errorf("the canvas is %v pixels high", h)
	}
	do(t, p.Do(`location.hash = "#view=flame&dir=up"`))
	do(t, p.Do(`location.hash = "#view=flame&as=table"`))
}

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
	for _, opt := range []browser.Options{{}, {Dark: true}, {Width: 390, Height: 844}} {
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
		p := show(t, d, "", browser.Options{Width: 390, Height: 844})
		views := []string{cardOf(d.Events[0].Functions[0].Name, d.Events[0].Functions[0].DSO)[1:], "view=flame&as=table"}
		for _, tab := range eval[[]string](t, p, tabNames) {
			views = append(views, "view="+tab)
		}
		for _, view := range views {
			look(t, p, "#"+view)
			do(t, p.Do(`document.querySelectorAll("#panel [aria-expanded=false]:not(.row), details:not([open]) summary").forEach(e => e.click())`))
			if wide := eval[float64](t, p, `document.documentElement.scrollWidth - 390`); wide > 0 {
				who := eval[[]string](t, p, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 391 && !e.closest(".wide, .grid, .scroll, .view, .vh, .skip")).slice(0, 3).map(e => e.outerHTML.slice(0, 120))`)
				t.Errorf("%s is %v pixels wider than the window: %q", view, wide, who)
			}
		}
	}
}

const tabNames = `[...document.querySelectorAll("[role=tab]")].map(t => t.id.slice(4))`

// everything is a document with all sections.
func everything(t *testing.T) *html.Document {
	t.Helper()
	d := sample(t, comparetest.Options{Frames: 400, Depth: 12, Runs: 8, Change: true, Events: []string{"cpu-clock", "off-cpu"}})
	d.Budgets = []html.Budget{{Name: "total", Limit: "+1 %", Measured: "+2 %", Outcome: verdict.Fail}, {Name: "other", Outcome: verdict.Inconclusive}}
	d.Warnings = []string{"a warning"}
	rate, number, pair := 0.2, 1200.0, [2]float64{0.1, 0.3}
	side := &html.BranchSide{Rate: &rate, CI: &pair, N: 100, Misses: &number, Taken: &rate, MPKI: &rate, Lost: &pair, Confidence: "place exact", Class: "random"}
	bounded := &html.BranchSide{Bounds: &pair, CI: &pair, OfTaken: &rate, OfTakenCI: &pair, N: 100}
	inst := func(text string, branch int) *html.CodeInst { return &html.CodeInst{Text: text, Branch: branch} }
	d.Branches = &html.Branches{
		Base: &html.BranchSource{Name: "x", Tier: "B", Means: "stacks"}, Head: &html.BranchSource{Name: "y", Tier: "B", Means: "stacks", Unknown: "not recorded"},
		Rows: []html.Branch{
			{Function: "f", Place: "+a", File: "f.c", Line: 7, Kind: "conditional", Base: side, Head: bounded, Verdict: verdict.Regressed, Change: "misses +3 %", Code: 0},
			{Function: "f", Place: "+c", Base: side, Change: "removed", Code: -1},
			{Function: "g", Place: "+0", Head: &html.BranchSide{N: 2}, Verdict: verdict.Unchanged, Change: "unchanged", Code: -1},
		},
		Functions: []html.BranchFunction{{Name: "f", DSO: "program", PMU: "cpu_atom", Base: &html.FunctionMisses{Misses: 10, CI: &pair, Samples: 9}, Head: &html.FunctionMisses{Misses: 5, Samples: 4}, Verdict: verdict.Improved, Change: "misses −50 %"}},
		Code:      []html.BranchCode{{Function: "f", Rows: []html.CodeRow{{Base: inst("jl", 0), Head: inst("jl", 0), File: "f.c", Line: 7}, {Base: inst("jg", 1)}, {Head: inst("ret", -1)}}}},
	}
	d.Pipeline = &html.Pipeline{Model: "m", Tool: "llvm-mca", Loops: []html.Loop{{
		Name: "loop", Base: &html.LoopSide{Throughput: 2, Cycles: []html.Part{{Name: "a", Cycles: 0.5}, {Name: "b", Cycles: 1.5}}, Timeline: []html.Step{{Text: "add", Issued: 2, Executed: 3, Retired: 5}}},
		BreakEven: []html.Point{{Rate: 0, Speedup: 1, Lo: 0.9, Hi: 1.1}, {Rate: 0.5, Speedup: 2, Lo: 1.5, Hi: 2.5}}, Rate: &html.Estimate{Value: 0.1, Lo: 0.05, Hi: 0.2},
	}}}
	code := []listing.Instruction{{Text: "push", Key: "push", Samples: 3}, {Text: "ret", Key: "ret"}}
	fn := &d.Events[0].Functions[0]
	d.Listings = []listing.Listing{listing.New(fn.Name, fn.DSO, "cpu-clock", code, code)}
	return d
}

// TestBrowserKeyboard checks that what reacts to a click is reached and used by keys, in
// all tabs, and that the addresses of tabs lead there again.
func TestBrowserKeyboard(t *testing.T) {
	d := everything(t)
	p := show(t, d, "", browser.Options{})
	tabs := eval[[]string](t, p, tabNames)
	if want := []string{"functions", "flame", "groups", "branches", "pipeline", "offcpu", "data"}; !slices.Equal(tabs, want) {
		t.Fatalf("tabs %q, want %q", tabs, want)
	}
	const (
		chosen = `document.querySelector("[role=tab][aria-selected=true]").id.slice(4)`
		focus  = `document.activeElement.id.slice(4)`
		// What can be clicked is a control, or in one that takes keys.
		unreached = `[...document.querySelectorAll("#app *")].filter(e => getComputedStyle(e).cursor === "pointer" && e.checkVisibility()
			&& !e.closest("a[href], button, input, select, label, summary, canvas[tabindex], [role=grid], [role=treegrid]")).map(e => e.outerHTML.slice(0, 100))`
		// All controls have a place in the order of Tab, but for tabs that arrows reach, and
		// buttons of rows that do what keys of the table do.
		skipped = `[...document.querySelectorAll("#app :is(button, input, select, summary, canvas)")].filter(e => e.tabIndex < 0 && e.getAttribute("role") !== "tab" && !e.matches(".twist")).map(e => e.outerHTML.slice(0, 100))`
	)
	do(t, p.Do(`document.getElementById("tab-functions").focus()`))
	for i := 1; i <= len(tabs); i++ {
		want := tabs[i%len(tabs)]
		do(t, p.Keys(browser.Right))
		look(t, p, eval[string](t, p, "location.hash"))
		if got := eval[string](t, p, chosen); got != want || eval[string](t, p, focus) != want {
			t.Errorf("right of %s is %s, want %s", tabs[i-1], got, want)
		}
		for _, script := range []string{unreached, skipped} {
			for _, e := range eval[[]string](t, p, script) {
				t.Errorf("%s: no key reaches %s", want, e)
			}
		}
	}
	// Back and forward, and again from the address.
	for i := len(tabs) - 1; i >= 0; i-- {
		do(t, p.Back())
		if got := eval[string](t, p, chosen); got != tabs[i] {
			t.Errorf("back leads to %s, want %s", got, tabs[i])
		}
	}
	for _, want := range tabs[1:] {
		do(t, p.Forward())
		if got := eval[string](t, p, chosen); got != want {
			t.Errorf("forward leads to %s, want %s", got, want)
		}
	}
	// Links into a view, opened anew.
	fn := &d.Events[0].Functions[2]
	for _, test := range []struct{ fragment, script, want string }{
		{cardOf(fn.Name, fn.DSO), `document.getElementById("fn").firstChild.textContent`, fn.Name},
		{"#view=flame&frame=2", `document.querySelector("#selected .name").textContent`, d.Events[0].Functions[d.Events[0].Frames.Function[2]].Name},
		{"#view=flame&dir=up&scale=share", `[...document.querySelectorAll("#panel input:checked")].map(i => i.parentElement.textContent.trim()).join()`, "before + after,share of each side,bottom-up"},
		{"#view=functions&q=%2F^__%2F", `document.querySelector("input[type=search]").value`, "/^__/"},
		{"#view=branches&q=f", `document.querySelector("#panel [aria-expanded]") !== null ? "code" : "none"`, "code"},
		{"#view=groups&event=1", `document.querySelector("select").selectedOptions[0].textContent`, "off-cpu"},
		{"#view=data&theme=dark", `document.documentElement.dataset.theme`, "dark"},
	} {
		look(t, p, test.fragment)
		do(t, p.Reload())
		look(t, p, eval[string](t, p, "location.hash"))
		if got := eval[string](t, p, test.script); got != test.want {
			t.Errorf("%s shows %q, want %q", test.fragment, got, test.want)
		}
	}
	// From the list of changes keys go on in the graph.
	look(t, p, "#view=flame")
	do(t, p.Do(`document.querySelector(".changes button").focus()`))
	do(t, p.Keys(browser.Enter))
	do(t, p.Keys(browser.Enter))
	if hash := eval[string](t, p, "location.hash"); !strings.Contains(hash, "frame=") {
		t.Errorf("Enter, twice, leads to %s", hash)
	}
	do(t, p.Keys(browser.Escape))
	if hash := eval[string](t, p, "location.hash"); strings.Contains(hash, "frame=") {
		t.Errorf("Escape leads to %s", hash)
	}
	// The code of a branch opens.
	look(t, p, "#view=branches")
	do(t, p.Do(`document.querySelector("#panel [aria-expanded]").focus()`))
	do(t, p.Keys(browser.Enter))
	if !eval[bool](t, p, `document.querySelector("#panel [aria-expanded=true]") !== null && document.querySelector(".code") !== null`) {
		t.Error("the code of a branch does not open")
	}
}
