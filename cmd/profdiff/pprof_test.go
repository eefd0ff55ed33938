package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// pprofFlags are pprof's command line.
type pprofFlags struct {
	*flag.FlagSet
	args []string
}

func (f pprofFlags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}
func (f pprofFlags) ExtraUsage() string   { return "" }
func (f pprofFlags) AddExtraUsage(string) {}

func (f pprofFlags) Parse(usage func()) []string {
	if err := f.FlagSet.Parse(f.args); err != nil {
		usage()
	}
	return f.Args()
}

// pprofUI is pprof's terminal.
type pprofUI struct {
	errs *[]string
}

func (u pprofUI) ReadLine(string) (string, error)     { return "", errors.New("not interactive") }
func (u pprofUI) Print(...any)                        {}
func (u pprofUI) PrintErr(args ...any)                { *u.errs = append(*u.errs, fmt.Sprint(args...)) }
func (u pprofUI) IsTerminal() bool                    { return false }
func (u pprofUI) WantBrowser() bool                   { return false }
func (u pprofUI) SetAutoComplete(func(string) string) {}

// servePprof opens a profile with pprof's web interface and returns its pages.
func servePprof(t *testing.T, file string) (get func(page string, query ...string) string, errs *[]string) {
	t.Helper()
	var handlers map[string]http.Handler
	errs = new([]string)
	flags := flag.NewFlagSet("pprof", flag.ContinueOnError)
	if err := driver.PProf(&driver.Options{
		Flagset: pprofFlags{flags, []string{"-http=localhost:0", "-no_browser", "-symbolize=none", file}},
		UI:      pprofUI{errs},
		HTTPServer: func(args *driver.HTTPServerArgs) error {
			handlers = args.Handlers
			return nil
		},
	}); err != nil {
		t.Fatalf("pprof %s: %v", file, err)
	}
	return func(page string, query ...string) string {
		t.Helper()
		values := make(url.Values)
		for i := 0; i+1 < len(query); i += 2 {
			values.Set(query[i], query[i+1])
		}
		w := httptest.NewRecorder()
		handlers[page].ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+page+"?"+values.Encode(), nil))
		if w.Code != http.StatusOK {
			t.Errorf("pprof %s: %s?%s: status %d: %s", file, page, values.Encode(), w.Code, w.Body)
		}
		return w.Body.String()
	}, errs
}

// flameGraph is what pprof draws.
type flameGraph struct {
	Total  int64
	Stacks []struct {
		Value   int64
		Sources []int
	}
	Sources []struct {
		FullName string
	}
}

// pprofFlameGraph returns the flame graph in a page.
func pprofFlameGraph(t *testing.T, page string) (g flameGraph) {
	t.Helper()
	const call = "stackViewer("
	at := strings.LastIndex(page, call)
	if at < 0 {
		t.Fatal("page has no flame graph")
	}
	if err := json.NewDecoder(strings.NewReader(page[at+len(call):])).Decode(&g); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestPprofOpens lets pprof open, list and flame-graph what is made of every
// recording, and compares the flame graph with the profile: no frame may vanish.
func TestPprofOpens(t *testing.T) {
	if testing.Short() {
		t.Skip("pprof opens each recording")
	}
	t.Setenv("HOME", t.TempDir()) // pprof looks for settings
	for _, file := range sampled(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.pb.gz")
			profdiff(t, "convert", "-o", out, file)
			p := readProfile(t, out)
			if len(p.Sample) == 0 {
				t.Skip("recording without samples")
			}
			get, errs := servePprof(t, out)
			for i, st := range p.SampleType {
				checkFlameGraph(t, p, i, pprofFlameGraph(t, get("/flamegraph", "si", st.Type)))
			}
			hot := hottest(p)
			if top := get("/top"); !strings.Contains(top, jsonString(t, hot)) {
				t.Errorf("top does not have %s", hot)
			}
			get("/source", "f", "^"+regexp.QuoteMeta(hot)+"$")
			// Here names have the file and line behind them, where those are known.
			if peek := get("/peek", "f", "^"+regexp.QuoteMeta(hot)+"( |$)"); !strings.Contains(peek, "flat%") {
				t.Errorf("peek has no table: %s", peek)
			}
			for _, e := range *errs {
				// Source files and binaries are not here.
				if !regexp.MustCompile(`(?i)no such file|could not find file|no source|no matches found for regexp`).MatchString(e) {
					t.Errorf("pprof says: %s", e)
				}
			}
		})
	}
}

func jsonString(t *testing.T, s string) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// hottest is the function with the largest flat value of the default type.
func hottest(p *profile.Profile) (name string) {
	at := slices.IndexFunc(p.SampleType, func(st *profile.ValueType) bool { return st.Type == p.DefaultSampleType })
	flat := make(map[string]int64)
	for _, s := range p.Sample {
		leaf := s.Location[0].Line[0].Function.Name
		flat[leaf] += s.Value[at]
		if flat[leaf] > flat[name] || name == "" {
			name = leaf
		}
	}
	return name
}

// checkFlameGraph compares a flame graph with the samples it is made of.
func checkFlameGraph(t *testing.T, p *profile.Profile, at int, g flameGraph) {
	t.Helper()
	want := make(map[string]int64)
	var total int64
	for _, s := range p.Sample {
		stack := []string{"root"}
		for _, loc := range slices.Backward(s.Location) {
			for _, line := range slices.Backward(loc.Line) {
				stack = append(stack, line.Function.Name)
			}
		}
		want[strings.Join(stack, ";")] += s.Value[at]
		total += s.Value[at]
	}
	got := make(map[string]int64)
	for _, s := range g.Stacks {
		var stack []string
		for _, source := range s.Sources {
			stack = append(stack, g.Sources[source].FullName)
		}
		got[strings.Join(stack, ";")] += s.Value
	}
	if g.Total != total {
		t.Errorf("%s: total is %d, not %d", p.SampleType[at].Type, g.Total, total)
	}
	missing := 0
	for stack, value := range want {
		if got[stack] != value {
			if missing++; missing <= 3 {
				t.Errorf("%s: %d, not %d, for %s", p.SampleType[at].Type, got[stack], value, stack)
			}
		}
	}
}
