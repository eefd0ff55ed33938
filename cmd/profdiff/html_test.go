package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/report/diff"
	"profdiff/internal/verdict"
)

// htmlMeta is what other programs may read of a report.
type htmlMeta struct {
	Verdict struct{ Outcome, Sentence string }
	Main    int // an index in Events
	Events  []struct {
		Grew, Shrank []htmlMover
	}
}

type htmlMover struct {
	Name, Verdict string
	Base, Head    float64
	Ratio, Lo, Hi *float64
	BaseSamples   int64   `json:"base_samples"`
	HeadSamples   int64   `json:"head_samples"`
	AdjustedP     float64 `json:"adjusted_p"`
}

var (
	metaBlock = regexp.MustCompile(`<script type="application/json" id="meta">(.*)</script>`)
	titleText = regexp.MustCompile(`<title>(.*)</title>`)
	cardText  = regexp.MustCompile(`<div class="card[^>]*><dt><bdi>([^<]*)</bdi></dt><dd class="value">([^<]*)(?: <span class="arrow">→</span> ([^<]*))?</dd>`)
	moverText = regexp.MustCompile(`<tr><th scope="row"><a [^>]* title="([^"]*)">.*?</th><td class="n b">([^<]*)</td><td class="n a">([^<]*)</td><td class="n d \w+"><span[^>]*>[^<]*</span>([^<]*)</td>`)
)

// TestHTMLAgrees compares the report with the JSON and the text of the same comparison.
func TestHTMLAgrees(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
	}{
		{"message-heap", []string{"--ops", "12000000", "--symfs", "../../profiles/message-heap/symbols"}},
		{"message-heap", []string{"--normalize", "total", "--symfs", "../../profiles/message-heap/symbols"}}, // verdicts on shares are withheld
		{"message-heap/nearly-sorted", []string{"--normalize", "total"}},
		{"snapshot-merge", nil},
	} {
		t.Run(strings.Join(append([]string{test.name}, test.args[:min(len(test.args), 2)]...), " "), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			page, document := filepath.Join(dir, "report.html"), filepath.Join(dir, "diff.json")
			args := append([]string{"diff", "../../profiles/" + test.name}, test.args...)
			profdiff := func(more ...string) string {
				var out, errs bytes.Buffer
				if code := execute(context.Background(), slices.Concat(args, more), strings.NewReader(""), &out, &errs); code != 0 {
					t.Fatalf("exit code %d: %s", code, errs.String())
				}
				return out.String()
			}
			profdiff("--html", page, "--format", "json", "-o", document)
			text := profdiff("--limit", "0")
			html := typewritten(readText(t, page))
			var meta htmlMeta
			if err := json.Unmarshal([]byte(metaBlock.FindStringSubmatch(readText(t, page))[1]), &meta); err != nil {
				t.Fatal(err)
			}
			var compared diff.Document
			if err := json.Unmarshal([]byte(readText(t, document)), &compared); err != nil {
				t.Fatal(err)
			}
			e, told := &compared.Events[0], compared.Story
			if meta.Verdict.Outcome != string(told.Outcome) {
				t.Errorf("the verdict is %s, want %s", meta.Verdict.Outcome, told.Outcome)
			}
			sentence := typewritten(meta.Verdict.Sentence)
			if sentence+"." != told.Sentences[0].Text {
				t.Errorf("the verdict is %q, want %q", sentence, told.Sentences[0].Text)
			}
			if title := titleText.FindStringSubmatch(html)[1]; !strings.Contains(strings.ReplaceAll(title, "&#43;", "+"), sentence) {
				t.Errorf("the title is %q, the verdict %q", title, sentence)
			}
			// The card of the total, and the line of the text.
			card := cardText.FindStringSubmatch(html)
			if from := card[2] + " → " + card[3]; !strings.Contains(text, from) {
				t.Errorf("the first card has %s, and the text has not", from)
			}
			checkMovers(t, &meta, &compared)
			rows := moverText.FindAllStringSubmatch(html, -1)
			if changed := slices.ContainsFunc(compared.Functions, func(f diff.Function) bool {
				return f.Event == e.Name && (f.Self.Verdict == verdict.Improved || f.Self.Verdict == verdict.Regressed)
			}); changed != (len(rows) > 0) {
				t.Errorf("functions changed: %t, but the first screen has %d", changed, len(rows))
			}
			lines := strings.Split(typewritten(text), "\n")
			for _, row := range rows {
				// The text calls points of percent by their name.
				delta := strings.TrimSuffix(strings.ReplaceAll(row[4], "&#43;", "+"), " pp")
				name := regexp.MustCompile(`&#\d+;|&\w+;`).ReplaceAllString(row[1], ".")
				if !slices.ContainsFunc(lines, func(line string) bool {
					at := 0
					for _, want := range []string{row[2], row[3], delta, name} {
						i := strings.Index(line[at:], want)
						if i < 0 {
							return false
						}
						at += i + len(want)
					}
					return true
				}) {
					t.Errorf("no line of the text has %q", row[1:])
				}
			}
		})
	}
}

// checkMovers compares the functions of the first screen with those that the JSON says
// changed, by how much.
func checkMovers(t *testing.T, meta *htmlMeta, document *diff.Document) {
	t.Helper()
	for _, side := range []struct {
		verdict string
		got     []htmlMover
	}{{"regressed", meta.Events[0].Grew}, {"improved", meta.Events[0].Shrank}} {
		var want []*diff.Function
		for i := range document.Functions {
			if f := &document.Functions[i]; f.Event == document.Events[0].Name && string(f.Self.Verdict) == side.verdict && f.InShift == nil {
				want = append(want, f)
			}
		}
		slices.SortStableFunc(want, func(a, b *diff.Function) int {
			return -cmp.Compare(math.Abs(a.Self.Delta), math.Abs(b.Self.Delta))
		})
		got := slices.DeleteFunc(slices.Clone(side.got), func(m htmlMover) bool { return strings.HasPrefix(m.Name, "moved under ") })
		if len(got) < min(len(want), 8)-len(document.Shifts) {
			t.Errorf("%d functions %s, want %d", len(got), side.verdict, len(want))
		}
		for i, m := range got {
			f := want[i]
			if m.Name != f.Name || !near(m.Base, f.Self.Base) || !near(m.Head, f.Self.Head) || m.Ratio != nil && !near(*m.Ratio, float64(f.Self.Ratio)) {
				t.Errorf("%s %d is %+v, want %s %+v", side.verdict, i, m, f.Name, f.Self)
			}
			if m.BaseSamples != f.Self.BaseSamples || m.HeadSamples != f.Self.HeadSamples || m.Verdict != string(f.Self.Verdict) {
				t.Errorf("%s has %d and %d samples, want %d and %d", m.Name, m.BaseSamples, m.HeadSamples, f.Self.BaseSamples, f.Self.HeadSamples)
			}
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// typewritten replaces the signs of typography.
func typewritten(s string) string {
	return strings.NewReplacer("\u202f%", "%", "\u202f", " ", "−", "-").Replace(s)
}

func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
