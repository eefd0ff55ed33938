package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/report/html"
	"profdiff/internal/tools/browser"
)

// firefox opens a document in Firefox. The page may not have errors nor violate its policy.
func firefox(t *testing.T, d *html.Document, fragment string, opt browser.Options) *browser.Firefox {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	do(t, os.WriteFile(file, render(t, d), 0o666))
	f, err := browser.OpenFirefox(context.Background(), "file://"+file+fragment, opt)
	if errors.Is(err, browser.ErrNoFirefox) {
		t.Skip(err)
	}
	do(t, err)
	t.Cleanup(func() {
		for _, problem := range f.Problems() {
			t.Errorf("the page says: %s", problem)
		}
		f.Close()
	})
	return f
}

func evalFirefox[T any](t *testing.T, f *browser.Firefox, script string) T {
	t.Helper()
	v, err := browser.EvalFirefox[T](f, script)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

// TestFirefox looks at all tabs, in a large window and in a small one, and uses the flame graph, the
// table of functions, the search and the windows by keys.
func TestFirefox(t *testing.T) {
	d := everything(t)
	for _, opt := range []browser.Options{{}, {Width: 500, Height: 780, Dark: true}} {
		f := firefox(t, d, "", opt)
		views := []string{cardOf(d.Events[0].Functions[0].Name, d.Events[0].Functions[0].DSO)[1:], "view=flame&as=table", "view=flame&color=module", "view=flame&dir=both"}
		for _, tab := range evalFirefox[[]string](t, f, tabNames) {
			views = append(views, "view="+tab)
		}
		for _, view := range views {
			do(t, f.Do(fmt.Sprintf(settled, "#"+view)))
			if got := evalFirefox[string](t, f, `document.getElementById("panel").innerText`); len(got) < 40 {
				t.Errorf("%s shows %q", view, got)
			}
			if wide := evalFirefox[float64](t, f, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
				t.Errorf("%s is %v pixels wider than the window of %d", view, wide, opt.Width)
			}
		}
	}
	f := firefox(t, sample(t, small()), "#view=flame", browser.Options{})
	// It draws when it has time.
	drawn := `(async () => { let n = 0; for (let i = 0; i < 500 && n === 0; i++) { await new Promise(r => setTimeout(r, 20)); n = ` + browser.ColoredPixels + ` } return n })()`
	if n := evalFirefox[float64](t, f, drawn); n == 0 {
		t.Error("no decided change is drawn")
	}
	hash := func(want string) {
		t.Helper()
		if got := evalFirefox[string](t, f, "location.hash"); !strings.Contains(got, want) {
			t.Errorf("the address has %s, not %s", got, want)
		}
	}
	do(t, f.Do(`document.querySelector("canvas").focus()`))
	do(t, f.Keys(browser.Down+browser.Enter))
	hash("frame=1&")
	if got := evalFirefox[[]string](t, f, path); len(got) != 2 {
		t.Errorf("the path is %q", got)
	}
	do(t, f.Back())
	hash("view=flame")
	do(t, f.Do(`document.querySelector("canvas").focus()`))
	do(t, f.Keys(browser.Down+"s"))
	hash("dir=both")
	at := evalFirefox[[]float64](t, f, `(() => { const c = [...document.querySelectorAll("canvas")].at(-1); c.scrollIntoView({block: "center"}); const b = c.getBoundingClientRect(); return [b.left + 30, b.top + 19 + 9] })()`)
	was := evalFirefox[string](t, f, "location.hash")
	do(t, f.Click(at[0], at[1]))
	if got := evalFirefox[string](t, f, "location.hash"); got == was {
		t.Error("a click on a callee leads nowhere")
	}
	do(t, f.Keys("?"))
	if !evalFirefox[bool](t, f, `document.querySelector("dialog[open]") !== null`) {
		t.Error("? shows no keys")
	}
	do(t, f.Keys(browser.Escape))
	if evalFirefox[bool](t, f, `document.querySelector("dialog") !== null`) {
		t.Error("Escape does not close the keys")
	}
	do(t, f.Do(fmt.Sprintf(settled, "#view=functions")))
	do(t, f.Keys("/merge"))
	hash("q=merge")
	do(t, f.Do(`document.activeElement.blur(); document.querySelector(".grid [role=columnheader] button").click()`))
	hash("sort=functions.name")
	names := evalFirefox[[]string](t, f, `[...document.querySelectorAll(".grid .body .row .name")].map(e => e.title)`)
	if len(names) == 0 || !slices.IsSorted(names) {
		t.Errorf("sorted by name, the functions are %q", names)
	}
}
