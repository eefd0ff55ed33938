package walk

import (
	"regexp"
	"slices"
	"testing"

	"profdiff/internal/tools/browser"
)

// screens are reports whose first screens are looked at: a wait that is gone, a function that is
// faster with what is known of its branches, one run a side, and shares.
var screens = []reportCommand{
	{name: "usb-freeze", args: []string{"diff", "profiles/usb-freeze", "--categories", "profiles/usb-freeze/categories.yaml"}},
	{name: "message-heap"},
	{name: "known-slowdown one run"},
	{name: "known-slowdown shares"},
}

// TestScreens looks at first screens without scripts, in windows from a phone's to a desktop's: nothing
// is wider than the window, names have one line where there is room for one, and each mover shows its
// change. On paper it is one page.
func TestScreens(t *testing.T) {
	t.Chdir("../../..")
	r := new(reader)
	defer func() {
		if r.Page != nil {
			r.Close()
		}
	}()
	commands := reportCommands()
	for _, c := range screens {
		if i := slices.IndexFunc(commands, func(x reportCommand) bool { return x.name == c.name }); i >= 0 && c.args == nil {
			c = commands[i]
		}
		t.Run(c.name, func(t *testing.T) {
			file, _ := c.write(t)
			for _, width := range []int64{360, 1280, 1440} {
				r.open(t, file, "", browser.Options{NoScript: true, Width: width, Height: 900, Dark: width == 1280})
				if wide := read[float64](r, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("at %d pixels the page is %v too wide", width, wide)
				}
				const rows = `[...document.querySelectorAll(".mover tbody tr:not(.kind, .more)")]`
				if n := read[float64](r, rows+`.length`); n == 0 {
					t.Error("nothing moved")
				}
				hidden := read[[]string](r, rows+`.filter(r => ["th", ".d", ".iv b"].some(q => {
					const b = r.querySelector(q).getBoundingClientRect();
					return b.width === 0 || b.left < 0 || b.right > innerWidth;
				})).map(r => r.textContent)`)
				if len(hidden) > 0 {
					t.Errorf("at %d pixels one does not see all of %q", width, hidden)
				}
				tall := read[[]string](r, rows+`.filter(r => r.querySelector("th a").getClientRects().length > 1).map(r => r.textContent)`)
				if len(tall) > 0 {
					t.Errorf("at %d pixels names take several lines: %q", width, tall)
				}
				// Names are beside numbers, and beside reasons that all are seen.
				cut := read[[]string](r, `[...document.querySelectorAll(".mover th[scope=row] a")].filter(a => a.getBoundingClientRect().right > a.parentElement.getBoundingClientRect().right + 1).map(a => a.textContent)`)
				if len(cut) > 0 {
					t.Errorf("at %d pixels %q are cut", width, cut)
				}
				blank := read[[]string](r, `[...document.querySelectorAll(".pictures > figure > svg")].filter(s => s.getBoundingClientRect().height < 30 || !s.getAttribute("aria-label")).map(s => s.outerHTML.slice(0, 80))`)
				if len(blank) > 0 || read[float64](r, `document.querySelectorAll(".small-flame rect").length`) < 5 {
					t.Errorf("at %d pixels pictures are blank: %q", width, blank)
				}
			}
			data, err := r.PDF()
			do(t, err)
			if n := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(data, -1)); n != 1 {
				t.Errorf("%d pages are printed", n)
			}
		})
	}
}
