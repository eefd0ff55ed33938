package walk

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/compare"
	"profdiff/internal/compare/comparetest"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/run"
	"profdiff/internal/tools/browser"
)

// timed are comparisons whose samples have times.
func timed() comparetest.Options {
	opt := small()
	opt.Times = true
	return opt
}

// Of the view over time: what is chosen, the span in the address, and the flame graph's total.
const (
	chosenText = `document.getElementById("time-selected").textContent`
	spanText   = `new URLSearchParams(location.hash.slice(1)).get("span") ?? ""`
	totalText  = `document.getElementById("selected").textContent`
)

// TestBrowserTimes chooses spans with the mouse and by keys: the flame graph has what was spent in them.
func TestBrowserTimes(t *testing.T) {
	d := sample(t, timed())
	p := show(t, d, "#view=times", browser.Options{Height: 1400})
	look(t, p, "#view=times")
	if got := eval[string](t, p, chosenText); !strings.HasPrefix(got, "all of the time: before ") {
		t.Errorf("chosen is %q", got)
	}
	whole := eval[string](t, p, totalText)
	// Drag over the second fifth of the time.
	do(t, p.Do(`document.querySelector(".heat-map canvas").scrollIntoView({block: "center"})`))
	do(t, p.Do(drag(0.2, 0.4)))
	span := eval[string](t, p, spanText)
	var from, to float64
	if _, err := fmt.Sscanf(span, "%f-%f", &from, &to); err != nil || math.Abs(from-1) > 0.25 || math.Abs(to-2) > 0.25 {
		t.Fatalf("the span of 1 to 2 s is %q: %v", span, err)
	}
	part := eval[string](t, p, totalText)
	if part == whole || !strings.Contains(eval[string](t, p, text), "of which nothing was tested") {
		t.Errorf("the flame graph of a part says %q, of the whole %q", part, whole)
	}
	// Its total is what the chosen cells cost.
	if chosen := eval[string](t, p, chosenText); len(chosen) == 0 || !strings.Contains(part, between(chosen, "before ", ",")) || !strings.Contains(part, between(chosen, "after ", ",")) {
		t.Errorf("the flame graph says %q, the cells %q", part, chosen)
	}
	// Keys move the span and its end.
	do(t, p.Do(`document.querySelector(".heat-map canvas").focus()`))
	do(t, p.Keys(browser.Right))
	moved := eval[string](t, p, spanText)
	do(t, p.Keys(browser.Left))
	if back := eval[string](t, p, spanText); moved == span || back != span {
		t.Errorf("→ and ← lead from %s to %s to %s", span, moved, back)
	}
	do(t, p.Do(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", shiftKey: true, bubbles: true}))`))
	if grown := eval[string](t, p, spanText); grown == span || !strings.HasPrefix(grown, strings.Split(span, "-")[0]+"-") {
		t.Errorf("with shift, → leads from %s to %s", span, grown)
	}
	// A thread of its own, which the address has.
	do(t, p.Keys(browser.Down))
	if got := eval[string](t, p, spanText); !strings.Contains(got, ",tmain") && !strings.Contains(got, ",tworker-") {
		t.Errorf("↓ chooses %q", got)
	}
	// The tab of the flame graph shows the same part, and leads back.
	link := eval[string](t, p, spanText)
	part = eval[string](t, p, totalText)
	look(t, p, "#view=flame&span="+link)
	do(t, p.Do(`for (let i = 0; i < 200 && !document.getElementById("selected"); i++) await new Promise(r => setTimeout(r, 10))`))
	if got := eval[string](t, p, totalText); got != part {
		t.Errorf("the tab of the flame graph says %q, want %q", got, part)
	}
	do(t, p.Do(`[...document.querySelectorAll("#panel button")].find(b => b.textContent === "All of the time").click()`))
	if got := eval[string](t, p, totalText); got != whole || eval[string](t, p, spanText) != "" {
		t.Errorf("all of the time is %q, want %q", got, whole)
	}
	// Escape forgets what was chosen.
	look(t, p, "#view=times&span="+link)
	do(t, p.Do(`document.querySelector(".heat-map canvas").focus()`))
	do(t, p.Keys(browser.Escape))
	if got := eval[string](t, p, spanText); got != "" {
		t.Errorf("after escape the span is %q", got)
	}
}

// drag moves the pointer over a part of the first map.
func drag(from, to float64) string {
	return fmt.Sprintf(`{ const c = document.querySelector(".heat-map canvas"), b = c.getBoundingClientRect();
		c.setPointerCapture = () => {};
		for (const [type, at] of [["pointerdown", %v], ["pointermove", %v], ["pointerup", %[2]v]]) {
			c.dispatchEvent(new PointerEvent(type, {bubbles: true, button: 0, pointerId: 1, clientX: b.left + b.width * at, clientY: b.top + 60}));
			await new Promise(r => setTimeout(r, 50));
		} }`, from, to)
}

func between(s, start, end string) string {
	_, s, _ = strings.Cut(s, start)
	s, _, _ = strings.Cut(s, end)
	return s
}

// TestBrowserTimesSides chooses a span of its own for each side, a run, and the table.
func TestBrowserTimesSides(t *testing.T) {
	p := show(t, sample(t, timed()), "#view=times&span=b0.0-1.0,a1.0-2.0,r2", browser.Options{})
	look(t, p, "#view=times&span=b0.0-1.0,a1.0-2.0,r2")
	if got := eval[string](t, p, chosenText); !strings.Contains(got, " before and ") || !strings.Contains(got, "of run 2") {
		t.Errorf("chosen is %q", got)
	}
	look(t, p, "#view=times&as=table")
	got := eval[[]float64](t, p, `[...document.querySelectorAll("#panel table")].map(t => t.rows.length)`)
	if len(got) == 0 || got[0] < 10 {
		t.Errorf("tables have %v rows", got)
	}
	if got := eval[string](t, p, text); !strings.Contains(got, "What ran before") {
		t.Error("the table does not say what ran")
	}
}

// inTurns is a program that reads, sorts and prints, one after the other, while a second thread works in bursts.
// Sorting takes half as long after.
func inTurns(t *testing.T) *html.Document {
	t.Helper()
	var sides [2][]*run.Run
	for side := range sides {
		for i := range 4 {
			b := run.NewBuilder(fmt.Sprintf("%d/%d.data", side, i))
			b.KeepTimeline()
			event := b.Event(run.Event{Name: "cpu-clock"})
			call := func(caller run.StackID, name string) run.StackID {
				return b.Stack(caller, b.Location(0, 0, run.Line{Function: b.Function(run.Function{Name: name})}))
			}
			main := call(0, "main")
			labels := make(map[string]uint32)
			for _, name := range []string{"main", "helper"} {
				labels[name] = b.Labels(run.Labels{Process: "program", Thread: name, PID: -1, TID: -1, CPU: -1})
			}
			const ms = 1_000_000
			at := int64(1000 * ms)
			for _, turn := range []struct {
				name   string
				length int
			}{{"read_all", 800}, {"sort_all", 2400 / (1 + side)}, {"print_all", 800}} {
				stack := call(call(main, turn.name), turn.name+"_step")
				for k := range turn.length {
					at += ms
					b.AddTimed(run.TimedSample{Event: event, Stack: stack, Labels: labels["main"], Weight: ms, Time: at})
					if k%500 < 50 {
						b.AddTimed(run.TimedSample{Event: event, Stack: call(0, "collect"), Labels: labels["helper"], Weight: ms, Time: at})
					}
				}
			}
			r, err := b.Finish()
			if err != nil {
				t.Fatal(err)
			}
			sides[side] = append(sides[side], r)
		}
	}
	c, err := compare.Compare(sides[0], sides[1], compare.Options{Normalize: compare.None})
	if err != nil {
		t.Fatal(err)
	}
	return html.FromComparison(diff.New(c, diff.Parts{Page: &diff.Page{}}), html.Options{Tool: "profdiff test"})
}

// TestBrowserTimesPhases looks at what is painted: what a program does in turns is seen as such, on both
// sides, in the light, in the dark and on a phone.
func TestBrowserTimesPhases(t *testing.T) {
	page := render(t, inTurns(t))
	for _, opt := range []browser.Options{{}, {Dark: true}, {Width: 360, Height: 800}} {
		p := showFile(t, page, "#view=times", opt)
		look(t, p, "#view=times")
		// Of each row of a map of functions: its name, and from where to where along the time most of its ink is.
		type row struct {
			Name     string
			From, To float64
		}
		maps := eval[[][]row](t, p, `[...document.querySelectorAll(".heat-map")].slice(2).map(m => {
			const c = m.querySelector("canvas"), g = c.getContext("2d"), r = devicePixelRatio || 1;
			return [...m.querySelectorAll("span[title]")].map((name, k) => {
				const line = g.getImageData(0, Math.round((k * 18 + 9) * r), c.width, 1).data;
				const bg = g.getImageData(0, 0, 1, 1).data, inked = [];
				for (let x = 0; x < c.width; x++) if (Math.abs(line[4 * x] - bg[0]) + Math.abs(line[4 * x + 1] - bg[1]) + Math.abs(line[4 * x + 2] - bg[2]) > 100) inked.push(x / c.width);
				return {Name: name.title, From: inked[0] ?? -1, To: inked[inked.length - 1] ?? -1};
			});
		})`)
		if len(maps) != 2 {
			t.Fatalf("%+v: %d maps of functions", opt, len(maps))
		}
		for side, list := range maps {
			var got, want []string
			for _, r := range list {
				got = append(got, fmt.Sprintf("%s %.1f to %.1f", r.Name, r.From, r.To))
			}
			switch side {
			case 0:
				want = []string{"read_all_step 0.0 to 0.2", "collect 0.0 to 0.9", "sort_all_step 0.2 to 0.8", "print_all_step 0.8 to 1.0"}
			case 1:
				want = []string{"read_all_step 0.0 to 0.2", "collect 0.0 to 0.6", "sort_all_step 0.2 to 0.5", "print_all_step 0.5 to 0.7"}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%+v, side %d: %s", opt, side, d)
			}
		}
	}
}

// TestBrowserNoTimes checks that a page of recordings without times has no such tab.
func TestBrowserNoTimes(t *testing.T) {
	p := show(t, sample(t, small()), "#view=times", browser.Options{})
	if tabs := eval[[]string](t, p, tabNames); strings.Contains(strings.Join(tabs, " "), "times") {
		t.Errorf("tabs are %q", tabs)
	}
}
