package walk

import (
	"slices"
	"strings"
	"testing"

	"profdiff/internal/tools/browser"
)

// TestBrowserKeyboard checks that what reacts to a click is reached and used by keys, in
// all tabs, and that the addresses of tabs lead there again.
func TestBrowserKeyboard(t *testing.T) {
	d := everything(t)
	p := show(t, d, "", browser.Options{})
	tabs := eval[[]string](t, p, tabNames)
	if want := []string{"functions", "flame", "times", "source", "groups", "branches", "pipeline", "offcpu", "data"}; !slices.Equal(tabs, want) {
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
		skipped = `[...document.querySelectorAll("#app :is(button, input, select, summary, canvas:not([aria-hidden]))")].filter(e => e.tabIndex < 0 && e.getAttribute("role") !== "tab" && !e.matches(".twist")).map(e => e.outerHTML.slice(0, 100))`
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
		{"#view=flame&dir=up&scale=share", `[...document.querySelectorAll("#panel input:checked")].map(i => i.parentElement.textContent.trim()).join()`, "before + after,share of each side,bottom-up,decided changes"},
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
