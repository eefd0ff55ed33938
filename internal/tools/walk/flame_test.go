package walk

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/tools/browser"
	"profdiff/internal/verdict"
)

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
	if got := eval[string](t, p, text); !strings.Contains(got, "No function can be told to have changed") || !strings.Contains(got, "no change in view is decided") {
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
	rows := eval[[][]string](t, p, `[...document.querySelectorAll("[role=treegrid] [aria-level='2']")].map(r => [...r.querySelectorAll(".name, .cell:nth-child(2), .cell:nth-child(3)")].map(c => c.title || c.textContent))`)
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

// TestBrowserAround checks what is around a function against sums over the tree: each caller has the cost
// of the calls from it, each callee what it costs below the function.
func TestBrowserAround(t *testing.T) {
	d := sample(t, small())
	e := &d.Events[0]
	f := &e.Frames
	// The function that most frames have, with other functions above and below.
	count := make(map[int32]int)
	for i, fn := range f.Function {
		if fn >= 0 && f.Level[i] > 1 && i+1 < len(f.Level) && f.Level[i+1] > f.Level[i] {
			count[fn]++
		}
	}
	most := int32(-1)
	for fn, n := range count {
		if most < 0 || n > count[most] || n == count[most] && fn < most {
			most = fn
		}
	}
	total := func(i int) float64 {
		sum := f.Base[i]
		for k := i + 1; k < len(f.Level) && f.Level[k] > f.Level[i]; k++ {
			sum += f.Base[k]
		}
		return sum
	}
	callers, callees := make(map[string]float64), make(map[string]float64)
	var stack []int32
	inside := int32(math.MaxInt32) // level of the outermost call
	for i, fn := range f.Function {
		if f.Level[i] <= inside {
			inside = math.MaxInt32
		}
		stack = append(stack[:f.Level[i]], fn)
		if fn == most && inside == math.MaxInt32 {
			inside = f.Level[i]
			callers[e.Functions[stack[len(stack)-2]].Name] += total(i)
		} else if f.Level[i] == inside+1 {
			callees[e.Functions[fn].Name] += total(i)
		}
	}
	p := show(t, d, cardOf(e.Functions[most].Name, e.Functions[most].DSO)+"&view=flame&dir=both", browser.Options{})
	// Keys go through the first row of a half, from its widest to its neighbors.
	for half, want := range []map[string]float64{callers, callees} {
		do(t, p.Do(fmt.Sprintf(`document.querySelectorAll("canvas")[%d].focus()`, half)))
		do(t, p.Keys([]string{browser.Up, browser.Down}[half]))
		n, last := 0, ""
		for {
			name := eval[string](t, p, `document.querySelector("#selected .name").textContent`)
			said := eval[string](t, p, `document.getElementById("selected").textContent.match(/before (.+?) \(/)[1]`)
			if name == last {
				break
			}
			if got := parseWeight(t, said); math.Abs(got-want[name]) > 0.006*want[name] {
				t.Errorf("half %d: %s has %v, want %v", half, name, got, want[name])
			}
			last = name
			n++
			do(t, p.Keys(browser.Right))
		}
		if n != len(want) || n == 0 {
			t.Errorf("half %d has %d functions, want %d", half, n, len(want))
		}
	}
	// What was tested is marked, and no part of it.
	do(t, p.Do(`document.querySelectorAll("canvas")[1].focus()`))
	do(t, p.Keys(browser.Down))
	if got := eval[string](t, p, `document.getElementById("selected").textContent`); !strings.Contains(got, "not tested: a part of the cost of a function") {
		t.Errorf("a callee says %q", got)
	}
	// Enter goes to what is around another function, Escape back to the graph of all.
	do(t, p.Keys(browser.Enter))
	if hash := eval[string](t, p, "location.hash"); !strings.Contains(hash, "dir=both") || strings.Contains(hash, cardOf(e.Functions[most].Name, "")[1:]) {
		t.Errorf("Enter leads to %s", hash)
	}
	do(t, p.Do(`document.querySelector("canvas").focus()`))
	do(t, p.Keys(browser.Escape))
	if hash := eval[string](t, p, "location.hash"); strings.Contains(hash, "dir=both") {
		t.Errorf("Escape leads to %s", hash)
	}
}

// TestBrowserLeads checks that of one run a side the leads are listed beside the graph, the largest first, and
// nothing is colored.
func TestBrowserLeads(t *testing.T) {
	d := sample(t, comparetest.Options{Frames: 400, Depth: 12, Runs: 1, Change: true})
	e := &d.Events[0]
	var want []string
	for i := range e.Functions {
		if c := &e.Functions[i].Self; c.Tested && len(want) < 3 {
			c.Lead = verdict.More
			want = append(want, e.Functions[i].Name)
		}
	}
	p := show(t, d, "#view=flame", browser.Options{})
	got := eval[[]string](t, p, listed)
	if len(want) == 0 || len(got) != min(len(want), 10) {
		t.Fatalf("%q are listed, leads are %q", got, want)
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s is listed and no lead", name)
		}
	}
	if n := colored(t, p); n != 0 {
		t.Errorf("%v pixels are colored", n)
	}
	do(t, p.Do(`document.querySelector(".changes button").click()`))
	if name := eval[string](t, p, `document.getElementById("fn").firstChild.textContent`); name != got[0] {
		t.Errorf("the first lead leads to %s, want %s", name, got[0])
	}
}
