package walk

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"profdiff/internal/tools/browser"
)

// script is the text of a file of the page's script, whose exports are in a variable.
func script(t *testing.T, file, variable string) string {
	t.Helper()
	built := api.Build(api.BuildOptions{EntryPoints: []string{"../../report/html/ui/src/" + file}, Bundle: true, Format: api.FormatIIFE, GlobalName: variable, Charset: api.CharsetUTF8})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	return string(built.OutputFiles[0].Contents)
}

// TestBrowserNames runs the cases of report/text for names in little room in the script of the page.
func TestBrowserNames(t *testing.T) {
	data, err := os.ReadFile("../../report/text/testdata/elide.tsv")
	do(t, err)
	type test struct {
		Name string
		Room int
		Want string
	}
	var tests []test
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		cells := strings.Split(line, "\t")
		room, err := strconv.Atoi(cells[1])
		do(t, err)
		tests = append(tests, test{cells[0], room, cells[2]})
	}
	text, err := json.Marshal(tests)
	do(t, err)
	p := show(t, sample(t, small()), "", browser.Options{})
	got := eval[[]string](t, p, `(() => { `+script(t, "names.ts", "names")+`; return `+string(text)+`.map(t => names.elide(t.Name, t.Room)) })()`)
	for i, test := range tests {
		if got[i] != test.Want {
			t.Errorf("elide(%q, %d) is %q, want %q", test.Name, test.Room, got[i], test.Want)
		}
	}
}
