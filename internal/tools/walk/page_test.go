// Package walk holds only tests: they open HTML reports in a browser, look at all views
// and use them as a reader does.
package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/tools/browser"
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
	do(t, p.Do(fmt.Sprintf(settled, fragment)))
}

// settled is a script that goes to a fragment and waits until it was read.
const settled = `location.hash = %q; for (let i = 0; i < 200; i++) {
	await new Promise(r => setTimeout(r, 10));
	if (!document.getElementById("panel").textContent.startsWith("Reading")) break;
}`

const text = `document.body.innerText`

func TestBrowserWithoutScript(t *testing.T) {
	d := sample(t, small())
	p := show(t, d, "", browser.Options{NoScript: true})
	got := eval[string](t, p, text)
	for _, want := range []string{strings.Fields(d.Verdict.Sentence)[0], "What changed", "Slower", "From before to after", "Where it is spent", "Data quality", "need JavaScript"} {
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
