package walk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/report/diff"
	"profdiff/internal/tools/browser"
)

const (
	firstRow   = `document.querySelector(".grid .body .row .name").title`
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
		const cells = `(rows, cell) => [...document.querySelectorAll(rows)].map(r => [...r.querySelectorAll(cell)].map(c => (c.title || c.textContent).replace(/[▲▼\s]/g, "")).join(" ")).sort()`
		first := eval[[]string](t, p, `(`+cells+`)(".mover tbody tr:not(.kind, .more)", "a, td.n")`)
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
