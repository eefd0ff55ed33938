package html

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/compare"
	"profdiff/internal/compare/comparetest"
	"profdiff/internal/listing"
	"profdiff/internal/report/diff"
	"profdiff/internal/verdict"
)

var update = flag.Bool("update", false, "rewrite expected outputs")

func render(t testing.TB, d *Document) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func sample(t testing.TB, opt comparetest.Options) *Document {
	t.Helper()
	c, err := comparetest.Compare(opt)
	if err != nil {
		t.Fatal(err)
	}
	return FromComparison(document(c), Options{Tool: "profdiff test"})
}

// document is a comparison with all that a page has.
func document(c *compare.Comparison) *diff.Document {
	return diff.New(c, diff.Parts{Page: &diff.Page{}})
}

func small() comparetest.Options {
	return comparetest.Options{Frames: 400, Depth: 12, Runs: 8, Change: true}
}

// TestFirstScreen looks at a check with budgets.
func TestFirstScreen(t *testing.T) {
	d := sample(t, small())
	d.Budgets = []Budget{
		{Name: "total", Limit: "+1.0\u202f%", Measured: "+1.4\u202f%", Interval: "[+0.8, +2.0]", Outcome: verdict.Fail},
		{Name: "any function", Limit: "+5\u202f%", Measured: "+0.3\u202f%", Interval: "[−1, +2]", Outcome: verdict.Inconclusive, Reason: "12 runs a side would decide"},
	}
	firstScreen(t, "testdata/first.html", render(t, d))
}

// firstScreen compares what is read without scripts and styles with a file. It returns the page.
func firstScreen(t *testing.T, name string, page []byte) []byte {
	t.Helper()
	got := regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(string(page), "<style>…</style>")
	got = regexp.MustCompile(`'sha256-[^']*'`).ReplaceAllString(got, "'sha256-…'")
	got, _, _ = strings.Cut(got, `<script type="application/json"`)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("first screen (-want +got), -update rewrites it:\n%s", d)
	}
	return page
}

func TestDeterministic(t *testing.T) {
	a, b := render(t, sample(t, small())), render(t, sample(t, small()))
	if !bytes.Equal(a, b) {
		t.Error("equal documents give different pages")
	}
	d := sample(t, small())
	if first := render(t, d); !bytes.Equal(first, render(t, d)) {
		t.Error("written again, a document gives another page")
	}
}

// TestPolicy checks that the policy lets run what is in the page, and nothing else.
func TestPolicy(t *testing.T) {
	branches := &Document{Title: "Branches", Branches: &Branches{Base: &BranchSource{Tier: "S"}}}
	for _, d := range []*Document{sample(t, small()), branches} {
		page := string(render(t, d))
		allowed := map[string]bool{}
		for _, m := range regexp.MustCompile(`'sha256-([^']+)'`).FindAllStringSubmatch(page[:strings.Index(page, "<title>")], -1) {
			allowed[m[1]] = true
		}
		found := 0
		for _, m := range regexp.MustCompile(`(?s)<(?:script|style)>(.*?)</(?:script|style)>`).FindAllStringSubmatch(page, -1) {
			sum := sha256.Sum256([]byte(m[1]))
			if h := base64.StdEncoding.EncodeToString(sum[:]); !allowed[h] {
				t.Errorf("the policy does not allow a script or style of %d bytes", len(m[1]))
			}
			found++
		}
		if found != len(allowed) {
			t.Errorf("%d scripts and styles, %d are allowed", found, len(allowed))
		}
		if !strings.Contains(page, "require-trusted-types-for 'script'; trusted-types 'none'") || strings.Contains(page[:strings.Index(page, "<title>")], "unsafe") {
			t.Error("the policy is not strict")
		}
		static := regexp.MustCompile(`(?s)<(script|style)[^>]*>.*?</(script|style)>`).ReplaceAllString(page, "")
		if m := regexp.MustCompile(`(?i)\s(style|on[a-z]+)\s*=|(src|href)="[^#]|url\(|@import`).FindString(static); m != "" {
			t.Errorf("the page has %q", m)
		}
		for _, m := range regexp.MustCompile(`<script type="application/octet-stream" id="(\w+)">([^<]*)<`).FindAllStringSubmatch(page, -1) {
			data, err := base64.StdEncoding.DecodeString(m[2])
			if err != nil {
				t.Fatalf("%s: %v", m[1], err)
			}
			if text := uncompress(t, data); !json.Valid(text) {
				t.Errorf("%s is not JSON: %.100s", m[1], text)
			}
		}
	}
}

// TestForbidden looks in the sources for ways to turn text into code.
func TestForbidden(t *testing.T) {
	entries, err := os.ReadDir("ui/src")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile("ui/src/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function|setTimeout\(["']`).Find(text); m != nil {
			t.Errorf("%s uses %s", e.Name(), m)
		}
	}
}

func TestMeta(t *testing.T) {
	page := string(render(t, sample(t, small())))
	m := regexp.MustCompile(`(?s)<script type="application/json" id="meta">(.*?)</script>`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no meta")
	}
	var got struct {
		Schema, ID string
		Verdict    struct{ Outcome, Sentence string }
		Events     []struct {
			Name         string
			Grew, Shrank []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(m[1]), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != Schema || len(got.ID) != 8 || got.Verdict.Sentence == "" || len(got.Events) != 1 || len(got.Events[0].Grew) == 0 {
		t.Errorf("meta is %+v", got)
	}
	if title := regexp.MustCompile(`<title>(.*?)</title>`).FindStringSubmatch(page)[1]; !strings.Contains(title, strings.ReplaceAll(got.Verdict.Sentence, "+", "&#43;")) {
		t.Errorf("the title is %q, the verdict %q", title, got.Verdict.Sentence)
	}
}

// TestSizes checks the limits of a page.
func TestSizes(t *testing.T) {
	if len(script) > 80_000 {
		t.Errorf("the script has %d bytes", len(script))
	}
	d := sample(t, comparetest.Options{Frames: 50_000, Depth: 100, Runs: 5, Change: true, Times: true})
	if n := len(render(t, d)); n > 400_000 {
		t.Errorf("50,000 frames make %d bytes", n)
	}
	// With the code of 40 functions.
	for i := range 40 {
		var code []listing.Instruction
		for k := range 1000 {
			code = append(code, listing.Instruction{
				Offset: int64(5 * k), Text: fmt.Sprintf("mov 0x%x(%%rsi,%%r%d,8),%%r%d", (k*7919+i*13)%512, k%8, (k+i)%16), Key: fmt.Sprint(k * 31 % 977),
				Samples: int64(k % 50), Place: listing.Place{File: "program.cc", Line: int64(k / 3)},
			})
		}
		d.Listings = append(d.Listings, listing.New(d.Events[0].Functions[i].Name, "program", "cpu-clock", code, code[:900]))
	}
	if n := len(render(t, d)); n > MaxBytes {
		t.Errorf("50,000 frames and 40 listings make %d bytes", n)
	}
	if testing.Short() {
		return
	}
	d = sample(t, comparetest.Options{Frames: 50_000, Depth: 100, Runs: 5, Change: true, Times: true, Varied: true})
	if n := len(render(t, d)); n > 400_000 {
		t.Errorf("50,000 frames of samples whose weights differ make %d bytes", n)
	}
	d = sample(t, comparetest.Options{Frames: 200_000, Depth: 120, Runs: 2, Change: true, Times: true})
	if n := len(render(t, d)); n > 1_200_000 {
		t.Errorf("200,000 frames make %d bytes", n)
	}
}

// TestPrunedPage checks that more frames than the limit are pruned, that the page says
// so, and that it does not become too large.
func TestPrunedPage(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	d := sample(t, comparetest.Options{Frames: 330_000, Depth: 60, Runs: 1})
	page := render(t, d)
	if len(page) > MaxBytes*11/10 {
		t.Errorf("%d bytes", len(page))
	}
	f := &d.Events[0].Frames
	if f.All < 330_000 || len(f.Level) >= f.All || f.Least <= 0 {
		t.Errorf("%d of %d frames, those below %v are left out", len(f.Level), f.All, f.Least)
	}
	if !bytes.Contains(page, fmt.Appendf(nil, `"all_frames":%d`, f.All)) {
		t.Error("the page does not say how many frames there were")
	}
}

// TestVendored checks that what others wrote is what they published.
func TestVendored(t *testing.T) {
	for name, want := range map[string]string{
		"ui/vendor/preact/preact.mjs": "c30e721ebfdc6e2ad4c18c14d2dfb82667829c8aec27de1207774e3fc16858a8",
		"ui/vendor/preact/hooks.mjs":  "a6ee626f2d01570592dd569a792e3f050154aa02890eead8c223fa3ed5aa3d5a",
		"ui/vendor/preact/LICENSE":    "1fe6958409c8c257a70c587a18b6f7f412b179b456630790d30b2ec9a8e4b7d4",
	} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: SHA-256 %s, want %s", name, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{weight(118.3321, "nanoseconds"), "118.3\u202fns"},
		{weight(-1234567, "nanoseconds"), "−1.235\u202fms"},
		{weight(0, "nanoseconds"), "0\u202fns"},
		{weight(999.99, "count"), "1000"},
		{weight(12, "count"), "12"},
		{weight(12_345_678, "cpu-cycles"), "12.35\u202fM"},
		{percent(0.823), "−17.7"},
		{percent(1.0004), "0.0"},
		{percent(2.5), "+150"},
		{percent(49_712), "×49700"},
		{percent(0), "−100"},
		{percent(math.Inf(1)), "∞"},
		{percent(math.NaN()), "–"},
		{count(-1234567), "−1,234,567"},
		{plural(1, "run"), "1 run"},
		{plural(1200, "run"), "1,200 runs"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, frames := range []int{1000, 50_000} {
		c, err := comparetest.Compare(comparetest.Options{Frames: frames, Depth: 100, Runs: 5, Change: true})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(frames), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d := FromComparison(document(c), Options{})
				var n counter
				if err := Write(&n, d); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(n))
			}
		})
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
