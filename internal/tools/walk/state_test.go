package walk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/tools/browser"
)

// TestBrowserState changes all that a view can be changed by. The address has it, opened anew it
// shows the same, and back leads back.
func TestBrowserState(t *testing.T) {
	d := everything(t)
	for i := range d.Events[0].Functions {
		d.Events[0].Functions[i].DSO = []string{"program", "libc.so.6", "[kernel]"}[i%3]
	}
	frames := &d.Events[0].Frames
	frames.Threads, frames.Thread = []string{"main", "worker"}, make([]int32, len(frames.Level))
	for i := range frames.Thread {
		frames.Thread[i] = int32(i % 2)
	}
	p := show(t, d, "", browser.Options{})
	const (
		checked = `[...document.querySelectorAll("#panel input:checked")].map(i => i.parentElement.textContent.trim()).join()`
		sorted  = `[...document.querySelectorAll("[aria-sort]")].map(e => e.textContent + e.ariaSort).join()`
	)
	radio := func(label string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#panel label")].find(l => l.textContent.trim() === %q).click()`, label)
	}
	head := func(label string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#panel .by")].find(b => b.textContent.startsWith(%q)).click()`, label)
	}
	for _, test := range []struct{ fragment, change, shows, wants, want string }{
		{"#view=functions", head("Self after"), sorted, "sort=functions.-head", "Self after ↓descending"},
		{"#view=functions&sort=functions.-head", head("Self after"), sorted, "sort=functions.head", "Self after ↑ascending"},
		{"#view=functions&sort=functions.head", head("|Δ| total"), sorted, "sort=functions.-total", "|Δ| total ↓descending"},
		{"#view=groups", head("After"), sorted, "sort=category.-head", "After ↓descending"},
		{"#view=offcpu", head("Function"), sorted, "sort=waits.name", "Function ↑ascending"},
		{"#view=groups", `document.querySelector("select").selectedIndex = 1; document.querySelector("select").dispatchEvent(new Event("change", {bubbles: true}))`, `document.querySelector("select").selectedOptions[0].textContent`, "event=1", "off-cpu"},
		{"#view=flame", radio("module"), checked, "color=module", "before + after,absolute, a run,top-down,module"},
		{"#view=flame&color=module", radio("thread"), `[...document.querySelectorAll(".colors li")].map(e => e.textContent).sort().join()`, "color=thread", "main,several, or others,worker"},
		{"#view=flame", radio("around a function"), checked, "dir=both", "before + after,absolute, a run,around a function,decided changes"},
		{"#view=flame", radio("share of each side"), checked, "scale=share", "before + after,share of each side,top-down,decided changes"},
		{"#view=functions", radio("only decided changes"), checked, "only=decided", "only decided changes"},
		{"#view=functions&q=^%5BA-Z%5D", `document.querySelector(".search button").click()`, `document.querySelector(".search button").ariaPressed`, "re=1", "true"},
		{"#view=functions&q=%2F%5EA%2F", `document.querySelector(".search button").click()`, `document.getElementById("search").value + document.querySelector(".search button").ariaPressed`, "q=%5EA", "^Afalse"},
	} {
		look(t, p, test.fragment)
		before := eval[string](t, p, test.shows)
		do(t, p.Do(test.change))
		look(t, p, eval[string](t, p, "location.hash"))
		got := eval[string](t, p, test.shows)
		if hash := eval[string](t, p, "location.hash"); !strings.Contains(hash, test.wants) || test.want != "" && got != test.want || got == before {
			t.Errorf("%s, changed, is %s and shows %q, want %q", test.fragment, hash, got, test.want)
		}
		do(t, p.Reload())
		look(t, p, eval[string](t, p, "location.hash"))
		if again := eval[string](t, p, test.shows); again != got {
			t.Errorf("%s, opened anew, shows %q, not %q", test.fragment, again, got)
		}
		if strings.Contains(test.change, ".search") {
			continue // what is searched is no step of the history
		}
		do(t, p.Back())
		look(t, p, eval[string](t, p, "location.hash"))
		if again := eval[string](t, p, test.shows); again != before {
			t.Errorf("%s, back, shows %q, not %q", test.fragment, again, before)
		}
	}
}

// TestBrowserSearchField checks that / leads to the search and means nothing in it, but that a text
// between two of them is an expression, as is any with the button beside it.
func TestBrowserSearchField(t *testing.T) {
	d := sample(t, small())
	p := show(t, d, "#view=functions", browser.Options{})
	n := func() (n int) {
		_, err := fmt.Sscanf(eval[string](t, p, statusText), "%d of", &n)
		do(t, err)
		return n
	}
	do(t, p.Do(`document.querySelector(".grid").focus()`))
	do(t, p.Do(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true, cancelable: true}))`))
	do(t, p.Keys("github.com/acme"))
	if got := eval[string](t, p, `document.activeElement.id + document.activeElement.value`); got != "searchgithub.com/acme" {
		t.Fatalf("the search has %q", got)
	}
	want := 0
	for i := range d.Events[0].Functions {
		if strings.Contains(d.Events[0].Functions[i].Name, "github.com/acme") {
			want++
		}
	}
	if got := n(); got != want || want == 0 {
		t.Errorf("%d functions, want %d", got, want)
	}
	// A slash at the start is text.
	do(t, p.Do(`const i = document.getElementById("search"); i.value = "/acme("; i.dispatchEvent(new Event("input", {bubbles: true}))`))
	if got := eval[string](t, p, statusText); strings.Contains(got, "Invalid") {
		t.Errorf("a slash says %q", got)
	}
	// With the button it is an expression, and one that is wrong says so.
	do(t, p.Do(`document.querySelector(".search button").click()`))
	if got := eval[string](t, p, statusText); !strings.Contains(got, "Invalid regular expression") {
		t.Errorf("a wrong expression says %q", got)
	}
	do(t, p.Do(`const i = document.getElementById("search"); i.value = "^__"; i.dispatchEvent(new Event("input", {bubbles: true}))`))
	want = 0
	for i := range d.Events[0].Functions {
		if strings.HasPrefix(d.Events[0].Functions[i].Name, "__") {
			want++
		}
	}
	if got := n(); got != want || want == 0 {
		t.Errorf("^__ as an expression finds %d functions, want %d", got, want)
	}
}

// TestBrowserColumns checks that columns have the width that pointer and keys give them, and that names
// are elided in it and not cut.
func TestBrowserColumns(t *testing.T) {
	p := show(t, sample(t, small()), "#view=functions", browser.Options{})
	const (
		width = `document.querySelector(".grid .head .cell").offsetWidth`
		cut   = `[...document.querySelectorAll(".grid .body .row")].filter(r => { const n = r.querySelector(".name"), c = r.querySelector(".cell"); return !r.querySelector(".note") && n.offsetWidth > c.clientWidth }).map(r => r.querySelector(".name").textContent)`
		room  = `Math.max(...[...document.querySelectorAll(".grid .body .name")].map(n => n.textContent.length))`
		edge  = `(() => { const b = document.querySelector(".grid .head .edge").getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()`
	)
	do(t, p.Do(`document.querySelector(".grid").scrollIntoView()`))
	at, was := eval[[]float64](t, p, edge), eval[float64](t, p, width)
	if n := eval[float64](t, p, room); n < 36 {
		t.Errorf("at 1440 pixels there is room for %v letters of a name", n)
	}
	do(t, p.Drag(at[0], at[1], at[0]-120, at[1]))
	if got := eval[float64](t, p, width); got != was-120 {
		t.Errorf("dragged by 120 pixels, %v are %v", was, got)
	}
	if got := eval[[]string](t, p, cut); len(got) > 0 {
		t.Errorf("names are cut: %q", got)
	}
	narrow := eval[float64](t, p, room)
	do(t, p.Do(`document.querySelector(".grid .head button").focus()`))
	do(t, p.ShiftKeys(strings.Repeat(browser.Right, 12)))
	if got := eval[float64](t, p, width); got != was-120+12*24 {
		t.Errorf("by keys, the width is %v", got)
	}
	if wide := eval[float64](t, p, room); wide <= narrow || len(eval[[]string](t, p, cut)) > 0 {
		t.Errorf("there is room for %v letters, in a narrow column %v", wide, narrow)
	}
	// The order is what it was, and another tab and back keeps the width.
	look(t, p, "#view=groups")
	look(t, p, "#view=functions")
	if got := eval[float64](t, p, width); got != was-120+12*24 {
		t.Errorf("after another tab the width is %v", got)
	}
	if hash := eval[string](t, p, "location.hash"); strings.Contains(hash, "sort") {
		t.Errorf("the address has %s", hash)
	}
}

// TestBrowserWindows checks the windows over the page: they say what they are, take the focus, and give it
// back when Escape closes them.
func TestBrowserWindows(t *testing.T) {
	p := show(t, everything(t), "#view=flame", browser.Options{})
	focused := `document.activeElement.tagName + (document.activeElement.closest("dialog") ? " in a window" : "")`
	for _, test := range []struct{ open, title string }{
		{`document.querySelector("canvas").focus()`, "Keys"},
		{`const b = [...document.querySelectorAll(".tools button")].find(b => b.textContent === "Share"); b.focus(); b.click()`, "Share this view"},
	} {
		do(t, p.Do(test.open))
		was := focused
		if test.title == "Keys" {
			was = eval[string](t, p, focused)
			do(t, p.Keys("?"))
		} else {
			was = "BUTTON"
		}
		if got := eval[string](t, p, `(() => { const d = document.querySelector("dialog:modal"); return document.getElementById(d.getAttribute("aria-labelledby")).textContent })()`); got != test.title {
			t.Errorf("the window is called %q, want %q", got, test.title)
		}
		if got := eval[string](t, p, focused); !strings.HasSuffix(got, "in a window") {
			t.Errorf("%s: the focus is at %s", test.title, got)
		}
		do(t, p.Keys(browser.Escape))
		if eval[bool](t, p, `document.querySelector("dialog") !== null`) {
			t.Errorf("%s: Escape does not close it", test.title)
		}
		if got := eval[string](t, p, focused); got != was {
			t.Errorf("%s: then the focus is at %s, was at %s", test.title, got, was)
		}
	}
	// Every key that is told of does something somewhere: here, those of the flame graph.
	do(t, p.Do(`document.querySelector("canvas").focus()`))
	do(t, p.Keys(browser.Down+"f"))
	if hash := eval[string](t, p, "location.hash"); !strings.Contains(hash, "view=function&") && !strings.Contains(hash, "#function=") {
		t.Errorf("f leads to %s", hash)
	}
}

// TestBrowserPath zooms into a deep frame: the path leads to each caller.
func TestBrowserPath(t *testing.T) {
	d := sample(t, small())
	f := &d.Events[0].Frames
	deep := slices.Index(f.Level, slices.Max(f.Level))
	var want []string
	for i, level := deep, f.Level[deep]; i >= 0; i-- {
		if f.Level[i] == level {
			name := "total"
			if f.Function[i] >= 0 {
				name = d.Events[0].Functions[f.Function[i]].Name
			}
			want = append(want, name)
			level--
		}
	}
	slices.Reverse(want)
	p := show(t, d, fmt.Sprintf("#view=flame&frame=%d", deep), browser.Options{})
	got := eval[[]string](t, p, path)
	if len(want) > 9 {
		want = append(want[:2:2], want[len(want)-6:]...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the path is\n%q, want\n%q", got, want)
	}
	do(t, p.Do(`document.querySelectorAll(".path a")[1].click()`))
	if hash := eval[string](t, p, "location.hash"); !strings.Contains(hash, "frame=1&") {
		t.Errorf("the second of the path leads to %s", hash)
	}
	if got := eval[string](t, p, `document.getElementById("selected").textContent`); !strings.Contains(got, " → ") || strings.Contains(got, "of its caller") {
		t.Errorf("what nothing but the total calls says %q", got)
	}
	do(t, p.Do(`document.querySelector("canvas").focus()`))
	do(t, p.Keys(browser.Down))
	if got := eval[string](t, p, `document.getElementById("selected").textContent`); !strings.Contains(got, "of its caller") {
		t.Errorf("a frame does not say its share of its caller: %q", got)
	}
}
