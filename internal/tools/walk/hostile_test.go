package walk

import (
	"encoding/json"
	"fmt"
	"testing"

	"profdiff/internal/compare/comparetest"
	reporttext "profdiff/internal/report/text"
	"profdiff/internal/tools/browser"
)

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
