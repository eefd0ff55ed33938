package walk

import (
	"fmt"
	"strings"
	"testing"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/tools/browser"
	"profdiff/internal/verdict"
)

func sourced(t *testing.T) (d *html.Document, names []string, line int) {
	t.Helper()
	d = sample(t, small())
	names, line = addSource(d)
	return d, names, line
}

// TestBrowserSource looks at both sides beside each other, and opens instructions by keys.
func TestBrowserSource(t *testing.T) {
	d, names, line := sourced(t)
	p := show(t, d, "#view=source", browser.Options{Width: 1280, Height: 900})
	cells := func(row int) string {
		return eval[string](t, p, fmt.Sprintf(`[...document.querySelectorAll(".beside tbody tr")][%d].innerText.replace(/\s+/g, " ").trim()`, row))
	}
	wait := `for (let i = 0; i < 200 && !document.querySelector(".beside .fold"); i++) await new Promise(r => setTimeout(r, 10));`
	do(t, p.Do(wait))
	for row, want := range map[int]string{
		2: fmt.Sprintf("−%d int n = length(list);", line-1),
		7: "⋯ 27 lines without cost",
	} {
		if got := cells(row); !strings.Contains(got, want) {
			t.Errorf("row %d is %q, want %q", row, got, want)
		}
	}
	if got := cells(2); !strings.Contains(got, fmt.Sprintf("+%d int n = count(list);", line-1)) || !strings.Contains(got, "⤷ tiny inlined: 3 → 3 samples") {
		t.Errorf("the line that changed is %q", got)
	}
	if got := eval[string](t, p, `[...document.querySelectorAll(".beside mark")].map(m => m.textContent).join()`); got != "length,count" {
		t.Errorf("what changed in the line is %q", got)
	}
	// Tabs are tabs, and take room.
	if got := eval[string](t, p, `document.querySelector(".beside tbody").textContent`); strings.Contains(got, "U+0009") || !strings.Contains(got, "\tfor (int") {
		t.Error("tabs are not shown as tabs")
	}
	if !eval[bool](t, p, `(() => { const left = (text) => { const r = document.createRange(), n = [...document.querySelectorAll(".beside code")].find(c => c.textContent.includes(text)).firstChild, at = n.textContent.search(/\S/); r.setStart(n, at); r.setEnd(n, at + 1); return r.getBoundingClientRect().left; };
		return left("for (int") > left("void first") + 10 && left("added(i)") > left("for (int") + 10; })()`) {
		t.Error("tabs do not indent")
	}
	// The heat of the line is its cost on both sides.
	if got := eval[int](t, p, `[...document.querySelectorAll(".beside tr.hot .heat")].filter(h => h.getBoundingClientRect().width > 2).length`); got != 2 {
		t.Errorf("%d gutters are hot", got)
	}
	// By keys.
	do(t, p.Do(`document.querySelector('.beside [data-head="`+fmt.Sprint(line)+`"] .fold').focus()`))
	do(t, p.Keys(browser.Enter))
	if got := eval[string](t, p, `document.querySelector(".beside .asm").innerText`); !strings.Contains(got, "inc %rcx") || !strings.Contains(got, "jl +8") || strings.Contains(got, "push") {
		t.Errorf("below the line there is %q", got)
	}
	do(t, p.Do(`[...document.querySelectorAll("#panel button")].find(b => b.textContent === "All instructions").click()`))
	if got := eval[int](t, p, `document.querySelectorAll(".beside .asm").length`); got != 3 {
		t.Errorf("%d lines have their instructions open", got)
	}
	// Another function, of which one side has no text.
	do(t, p.Do(`const s = document.querySelector(".sources select"); s.value = "1"; s.dispatchEvent(new Event("change", {bubbles: true}))`))
	if got := eval[string](t, p, `document.querySelector(".sources").innerText`); !strings.Contains(got, names[1]) || !strings.Contains(got, "Text is withheld: before: program.cc: this is another text.") || !strings.Contains(got, "Only after") {
		t.Errorf("the other function says %q", got)
	}
	// A function without text.
	look(t, p, "#view=source&function=nothing")
	if got := eval[string](t, p, `document.querySelector(".sources").innerText`); !strings.Contains(got, "There is no text of nothing.") {
		t.Errorf("a function without text says %q", got)
	}
	// Its card leads to the line.
	look(t, p, "#function="+names[0])
	do(t, p.Do(`for (let i = 0; i < 200 && !document.querySelector('#panel a[href*="view=source"]'); i++) await new Promise(r => setTimeout(r, 10)); document.querySelector('#panel a[href*="line=h"]').click()`))
	do(t, p.Do(`for (let i = 0; i < 200 && !document.querySelector(".beside [aria-current]"); i++) await new Promise(r => setTimeout(r, 10));`))
	if got := eval[string](t, p, `document.querySelector(".beside [aria-current]").dataset.head`); got != fmt.Sprint(line) {
		t.Errorf("the card leads to line %s, want %d", got, line)
	}
}

// TestBrowserSourceNarrow has one column below 900 pixels, and nothing wider than the screen.
func TestBrowserSourceNarrow(t *testing.T) {
	d, _, line := sourced(t)
	for _, width := range []int64{360, 800} {
		p := show(t, d, "#view=source", browser.Options{Width: width, Height: 900})
		got := eval[string](t, p, `[...document.querySelectorAll(".beside tbody tr")].map(r => r.innerText.replace(/\s+/g, " ").trim()).join("|")`)
		if want := fmt.Sprintf("−%d int n = length(list);|", line-1); !strings.Contains(got, want) || strings.Index(got, "length(list)") > strings.Index(got, "count(list)") {
			t.Errorf("%d pixels: %q", width, got)
		}
		if over := eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("%d pixels: the page is %d wider", width, over)
		}
	}
}

// TestBrowserSourceMisses has the misses of a line from the table of branches.
func TestBrowserSourceMisses(t *testing.T) {
	d, names, line := sourced(t)
	many, few := 298_500.0, 6.0
	d.Branches = &html.Branches{Head: &html.BranchSource{}, Base: &html.BranchSource{}, Rows: []html.Branch{
		{Function: names[0], File: "program.cc", Line: int64(line), Base: &html.BranchSide{Misses: &few}, Head: &html.BranchSide{Misses: &many}, Code: -1},
	}}
	p := show(t, d, "#view=source", browser.Options{Width: 1280, Height: 900})
	do(t, p.Do(`for (let i = 0; i < 200 && !document.querySelector(".beside .miss"); i++) await new Promise(r => setTimeout(r, 10));`))
	got := eval[string](t, p, `[...document.querySelectorAll('.beside [data-head="`+fmt.Sprint(line)+`"] .miss')].map(c => c.innerText.trim()).join(" → ")`)
	if strings.ReplaceAll(got, "\u202f", " ") != "6 → 298 k" && strings.ReplaceAll(got, "\u202f", " ") != "6 → 299 k" {
		t.Errorf("misses are %q", got)
	}
}

// TestBrowserSourceMissesEvent has the misses of a line from an event that counts them.
func TestBrowserSourceMissesEvent(t *testing.T) {
	d := sample(t, comparetest.Options{Frames: 400, Depth: 12, Runs: 8, Change: true, Events: []string{"cpu-clock", "branch-misses"}})
	_, line := addSource(d)
	p := show(t, d, "#view=source", browser.Options{Width: 1280, Height: 900})
	do(t, p.Do(`for (let i = 0; i < 200 && !document.querySelector(".beside .miss"); i++) await new Promise(r => setTimeout(r, 10));`))
	got := eval[[]string](t, p, `[...document.querySelectorAll('.beside [data-head="`+fmt.Sprint(line)+`"] .miss')].map(c => c.innerText.trim())`)
	if len(got) != 2 || got[0] == "" || got[1] == "" {
		t.Errorf("misses are %q", got)
	}
	if got := eval[string](t, p, `document.querySelector(".sources").innerText`); !strings.Contains(got, "cpu-clock and branch-misses") {
		t.Errorf("what gutters have is not said: %q", got)
	}
}

// cardText opens the card of a function.
func cardText(t *testing.T, p *browser.Page, f *diff.Function) string {
	t.Helper()
	look(t, p, cardOf(f.Name, f.DSO))
	return eval[string](t, p, `document.querySelector("#panel article").innerText`)
}

// TestBrowserCardWhy has what is known beside a change, and links to the evidence.
func TestBrowserCardWhy(t *testing.T) {
	d, names, line := sourced(t)
	f := &d.Events[0].Functions[d.Events[0].HotLines[0].Function]
	f.Why = []diff.Reason{
		{Kind: diff.WhyMisses, Text: "+298 k misses at line 138", Line: int64(line), Sources: true},
		{Kind: diff.WhyCode, Text: "same instructions"},
	}
	p := show(t, d, "", browser.Options{})
	got := cardText(t, p, f)
	if !strings.Contains(got, "misses at line 138") || !strings.Contains(got, "same instructions") {
		t.Errorf("the card of %s says %q", names[0], got)
	}
	do(t, p.Do(`document.querySelector("#panel a.chip").click()`))
	do(t, p.Do(`for (let i = 0; i < 200 && !document.querySelector(".beside [aria-current]"); i++) await new Promise(r => setTimeout(r, 10));`))
	if got := eval[string](t, p, `document.querySelector(".beside [aria-current]").dataset.head`); got != fmt.Sprint(line) {
		t.Errorf("the reason leads to line %s, want %d", got, line)
	}
}

// TestBrowserCardWithheld says once why there is no verdict, and shows no p-value without one.
func TestBrowserCardWithheld(t *testing.T) {
	d := sample(t, small())
	e := &d.Events[0]
	e.Withheld = "the runs were recorded in blocks"
	for i := range e.Functions {
		for _, c := range []*diff.Change{&e.Functions[i].Self, &e.Functions[i].Total} {
			if c.Tested {
				c.Verdict, c.Adjusted = verdict.Inconclusive, 1e-5
			}
		}
	}
	p := show(t, d, "", browser.Options{})
	got := cardText(t, p, &e.Functions[0])
	if strings.Count(got, e.Withheld) != 1 || strings.Contains(got, "adjusted p") || !strings.Contains(got, "withheld") || strings.Contains(got, "can't tell") {
		t.Errorf("the card says %q", got)
	}
}

// TestBrowserCardLead marks what is furthest from noise where there is one run a side.
func TestBrowserCardLead(t *testing.T) {
	d := sample(t, small())
	e := &d.Events[0]
	e.Single = true
	for i, lead := range []verdict.Lead{verdict.More, verdict.Less, verdict.NoLead} {
		c := &e.Functions[i].Self
		c.Tested, c.Verdict, c.Lead = true, verdict.Inconclusive, lead
	}
	p := show(t, d, "", browser.Options{})
	for i, want := range []string{"△ lead", "▽ lead", "can’t tell yet"} {
		if got := cardText(t, p, &e.Functions[i]); !strings.Contains(strings.ReplaceAll(got, "'", "’"), want) || strings.Contains(got, "adjusted p") {
			t.Errorf("the card says %q, want %s", got, want)
		}
	}
}

// TestBrowserCardNarrow has nothing wider than a phone.
func TestBrowserCardNarrow(t *testing.T) {
	d, _, _ := sourced(t)
	p := show(t, d, "", browser.Options{Width: 360, Height: 800})
	cardText(t, p, &d.Events[0].Functions[d.Events[0].HotLines[0].Function])
	if over := eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		t.Errorf("the page is %d pixels wider", over)
	}
	if over := eval[int](t, p, `Math.max(0, ...[...document.querySelectorAll("#panel article > .two *, #panel article > h2, #panel article > dl")].map(e => e.getBoundingClientRect().right - innerWidth))`); over > 0 {
		t.Errorf("costs and callers are %d pixels wider than the window", over)
	}
}
