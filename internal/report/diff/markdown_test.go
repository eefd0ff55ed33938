package diff

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"profdiff/internal/align"
	"profdiff/internal/compare"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
)

func markdownOf(t *testing.T, c *compare.Comparison, opt Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMarkdown(&b, New(c, Parts{}), opt); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	if n := strings.Count(s, "\n"); n > 60 || !strings.HasSuffix(s, "\n") {
		t.Errorf("%d lines", n)
	}
	if n := utf8.RuneCountInString(s); n > 65536 {
		t.Errorf("%d characters", n)
	}
	return s
}

// A sideBuilder makes runs of a side that differ a little from each other.
type sideBuilder struct {
	stacks [][]string // EVENT, functions root first
	weight []int64
}

func (b *sideBuilder) add(weight int64, event string, stack ...string) {
	b.stacks = append(b.stacks, append([]string{event}, stack...))
	b.weight = append(b.weight, weight)
}

func (b *sideBuilder) runs(t testing.TB, name string, n int) (list []*run.Run) {
	t.Helper()
	for i := range n {
		rb := run.NewBuilder(fmt.Sprintf("%s/%d", name, i+1))
		mapping := rb.Mapping(run.Mapping{File: "/lib/" + name + "|app`<b>.so"})
		for j, s := range b.stacks {
			var id run.StackID
			for _, fn := range s[1:] {
				id = rb.Stack(id, rb.Location(mapping, 0, run.Line{Function: rb.Function(run.Function{Name: fn, SystemName: fn})}))
			}
			count := b.weight[j] + int64((3*i+j)%7) // runs differ
			rb.AddSum(rb.Event(run.Event{Name: s[0]}), id, 0, count, 1000*count, 1e6*float64(count))
		}
		r, err := rb.Finish()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// TestDiffMarkdown shows what there is: an improved, a regressed and a renamed
// function, one that is gone, and a helper that was inlined.
func TestDiffMarkdown(t *testing.T) {
	var base, head sideBuilder
	for i := range 10 {
		base.add(400, "cpu-cycles", "main", fmt.Sprintf("steady%d", i))
		head.add(400, "cpu-cycles", "main", fmt.Sprintf("steady%d", i))
	}
	base.add(1000, "cpu-cycles", "main", "fast")
	head.add(500, "cpu-cycles", "main", "fast")
	base.add(300, "cpu-cycles", "main", "other", "slow")
	head.add(420, "cpu-cycles", "main", "other", "slow")
	base.add(900, "cpu-cycles", "main", "before")
	head.add(700, "cpu-cycles", "main", "after")
	base.add(600, "cpu-cycles", "main", "sort")
	base.add(700, "cpu-cycles", "main", "sort", "less")
	head.add(1150, "cpu-cycles", "main", "sort")
	base.add(50, "branch-misses", "main", "fast")
	head.add(51, "branch-misses", "main", "fast")
	c := comparison(t, base.runs(t, "base", 5), head.runs(t, "base", 5), compare.Options{
		Ops: &[2]float64{1e6, 1e6}, Renames: []align.Rename{{Old: "before", New: "after"}},
	})
	reporttest.Golden(t, "testdata/diff.md", []byte(markdownOf(t, c, Options{})))
}

// TestDiffMarkdownSentences checks what is said where there is no verdict.
func TestDiffMarkdownSentences(t *testing.T) {
	side := func(n int, weight int64) []*run.Run {
		var b sideBuilder
		b.add(3000, "cpu-clock", "main")
		b.add(weight, "cpu-clock", "main", "f")
		return b.runs(t, fmt.Sprint(weight), n)
	}
	blocked := func(list []*run.Run, from uint64) []*run.Run {
		for i, r := range list {
			r.Recording.Host, r.Recording.FirstSample, r.Recording.LastSample = "host", from+uint64(i), from+uint64(i)
		}
		return list
	}
	for _, test := range []struct {
		name       string
		base, head []*run.Run
		want       []string
	}{
		{"the same", side(5, 1000), side(5, 1001), []string{
			"**Same: `cpu-clock`** within 2.0%: ", "**No change of a function was shown**. 2 of 2 functions were tested: 0 faster, 0 slower, 2 same within 2.0%, 0 can't tell yet.",
			"It rests on 5 runs a side, recorded in unknown order; intervals cover noise between runs (welch).",
			"The smallest change that could have been shown is ",
		}},
		{"one run", side(1, 1000), side(1, 2000), []string{
			"**No verdict on `cpu-clock`** from one run a side, though the difference is beyond sampling noise: ",
			"functions were tested: leads beyond sampling noise, after a correction for their number: 1.", "It rests on 1 run a side; ",
		}},
		{"one run and the same", side(1, 1000), side(1, 1001), []string{"**No verdict on `cpu-clock`**, the difference is within sampling noise: "}},
		{"blocked", blocked(side(5, 1000), 100), blocked(side(5, 2000), 200), []string{
			"**No verdict on `cpu-clock`**: ", "**No change of a function was shown**: verdicts are withheld, as the warning says. 2 of 2 functions were tested. ",
			"It rests on 5 runs a side, all of one side recorded before those of the other; ",
			"**1 warning:**\n- all runs of one side were recorded before",
		}},
		{"unequal", side(4, 1000), side(6, 2000), []string{"**Slower: `cpu-clock` +25.", "It rests on 4 runs of base and 6 runs of head, ", "| Slower | base |"}},
	} {
		got := markdownOf(t, comparison(t, test.base, test.head, compare.Options{Normalize: compare.None}), Options{})
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", test.name, want, got)
			}
		}
	}
}

// codeSpans takes a line apart as CommonMark does: a run of backticks opens a code span
// that ends at the next run of as many.
func codeSpans(t *testing.T, line string) (rest string, spans []string) {
	t.Helper()
	ticks := regexp.MustCompile("`+")
	for {
		open := ticks.FindString(line)
		if open == "" {
			return rest + line, spans
		}
		at := strings.Index(line, open)
		rest, line = rest+line[:at], line[at+len(open):]
		end := -1
		for _, m := range ticks.FindAllStringIndex(line, -1) {
			if m[1]-m[0] == len(open) {
				end = m[0]
				break
			}
		}
		if end < 0 {
			t.Fatalf("code span does not end: %q", line)
		}
		span := line[:end]
		if strings.HasPrefix(span, " ") && strings.HasSuffix(span, " ") && strings.Trim(span, " ") != "" {
			span = span[1 : len(span)-1]
		}
		spans = append(spans, span)
		line = line[end+len(open):]
	}
}

// cells splits a row of a table at pipes without a backslash, as GitHub does before it
// looks for anything else.
func cells(row string) (list []string) {
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	var cell strings.Builder
	for i := 0; i < len(row); i++ {
		switch {
		case strings.HasPrefix(row[i:], `\|`):
			cell.WriteByte('|')
			i++
		case row[i] == '|':
			list = append(list, cell.String())
			cell.Reset()
		default:
			cell.WriteByte(row[i])
		}
	}
	return append(list, cell.String())
}

// checkMarkdown checks that what is outside of code spans is of profdiff only, and
// returns what is inside.
func checkMarkdown(t *testing.T, s string) (spans []string) {
	t.Helper()
	// What profdiff says itself: words, numbers, brackets of intervals, bold.
	own := regexp.MustCompile(`^[A-Za-z0-9 ,.;:'%()\[\]+\-→…∞±>*<"/µ]*$`)
	linked := regexp.MustCompile(`[@#]|https?:|www\.|\]\(|GH-`)
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		parts := []string{line}
		if strings.HasPrefix(line, "|") {
			if parts = cells(line); len(parts) != 8 {
				t.Errorf("%d cells: %q", len(parts), line)
			}
		}
		for _, part := range parts {
			rest, found := codeSpans(t, part)
			spans = append(spans, found...)
			tag := rest == "<details><summary>How to read this</summary>" || rest == "</details>"
			if !own.MatchString(rest) || linked.MatchString(rest) || !tag && regexp.MustCompile(`<[^0]|^>`).MatchString(rest) {
				t.Errorf("%q in %q", rest, line)
			}
		}
	}
	for _, span := range spans {
		if n := utf8.RuneCountInString(span); n > maxMarkdownWarning {
			t.Errorf("name of %d characters", n)
		}
		if strings.ContainsAny(span, "\r\n\x1b\u2028\u202e\u200b\u3000") {
			t.Errorf("name %q hides something", span)
		}
	}
	return spans
}

// hostile are names that would do something in a comment on GitHub.
var hostile = []string{
	"@octocat", "fixes #1", "octo/cat#12", "GH-7", "https://github.com/octo/cat/issues/1", "www.example.org", "deadbeefdeadbeef",
	"a|b", `a\|b`, `\`, "operator||", "`", "``", "a`b``c", "` x `", "```", "<script>alert(1)</script>", "<!--", "</details>", "[x](http://y)", "![x](y)",
	"**bold**", "_under_", "~~gone~~", "a\nb", "\r\n\r\n# head", "- [ ] task", "| a | b |", ":smile:", "&lt;", "&#64;octocat", "\u202egnp.exe", "\u2028line", "x\u200by",
	"\x1b[31m", "\xff\xfe", "$$x^2$$", "   ", "std::vector<int, std::allocator<int>>::operator[]", "(gone)", "\u3000",
}

// TestDiffMarkdownHostile puts hostile names wherever a recording can put one.
func TestDiffMarkdownHostile(t *testing.T) {
	var options compare.Options
	for i, name := range hostile {
		var base, head sideBuilder
		for j := range 8 {
			base.add(500, name, "main", fmt.Sprintf("steady%d", j))
			head.add(500, name, "main", fmt.Sprintf("steady%d", j))
		}
		base.add(1000, name, "main", name)
		head.add(400, name, "main", name)
		base.add(800, name, "main", name+"old")
		head.add(900, name, "main", name+"new")
		base.add(600, name, name+"caller", name+"helper")
		head.add(650, name, name+"caller")
		options.Renames = []align.Rename{{Old: name + "old", New: name + "new"}}
		options.Normalize = compare.Work
		options.Work = "work" + name
		b, h := base.runs(t, name+"base", 5), head.runs(t, name+"head", 5)
		for _, side := range [][]*run.Run{b, h} {
			for _, r := range side {
				r.Counters = append(r.Counters, run.Counter{Name: options.Work, Value: 1000})
				r.Warnings = append(r.Warnings, "look at "+name)
				r.Recording.Tool = name + r.Name[:len(r.Name)-2]
			}
		}
		c := comparison(t, b, h, options)
		spans := checkMarkdown(t, markdownOf(t, c, Options{}))
		found := false
		for _, span := range spans {
			found = found || span == name
		}
		plain := regexp.MustCompile("^[!-~ ]*[!-~]$").MatchString(name) && !strings.Contains(name, `\|`)
		if plain && !found {
			t.Errorf("name %d, %q, is not shown: %q", i, name, spans)
		}
	}
}

// TestDiffMarkdownLimits compares 10,000 functions with names of 5,000 characters, and
// more events than lines.
func TestDiffMarkdownLimits(t *testing.T) {
	for i, filler := range []string{"x", "\U0001F525", "`", "|", `\`, "<"} {
		functions := 100
		if i == 0 {
			functions = 10000
		}
		var base, head sideBuilder
		long := strings.Repeat(filler, 2490)
		for i := range functions {
			name := fmt.Sprintf("%s%020d%s", long, i, long)
			weight := int64(100)
			if i >= 400 {
				weight = 1 // not tested, which takes its time
			}
			base.add((2+int64(i%2)*2)*weight, "cpu-cycles", name)
			head.add((4-int64(i%2)*2)*weight, "cpu-cycles", name)
		}
		if n := utf8.RuneCountInString(base.stacks[0][1]); n != 5000 {
			t.Fatal(n)
		}
		tested := min(functions, 400)
		b, h := base.runs(t, long, 5), head.runs(t, long, 5)
		for i := range 12 {
			b[0].Warnings = append(b[0].Warnings, long+string(rune('a'+i)))
		}
		s := markdownOf(t, comparison(t, b, h, compare.Options{Normalize: compare.None, MinShare: 5e-4}), Options{})
		if len(s) > 65536 {
			t.Errorf("%q: %d bytes", filler, len(s))
		}
		checkMarkdown(t, s)
		longest := 0
		for line := range strings.Lines(s) {
			if !strings.HasPrefix(line, "| ") {
				continue
			}
			for _, cell := range cells(line) {
				_, spans := codeSpans(t, cell)
				for _, span := range spans {
					longest = max(longest, utf8.RuneCountInString(span))
				}
			}
		}
		if longest != 120 {
			t.Errorf("%q: the longest name has %d characters", filler, longest)
		}
		for _, want := range []string{
			"| Faster |", "| Slower |",
			fmt.Sprintf("| %d more | | | ", tested/2-8), "\n\n**12 warnings, the first 5:**\n",
			fmt.Sprintf("%d of %d functions were tested: %d faster, %d slower", tested, functions, tested/2, tested/2),
		} {
			if !strings.Contains(s, want) {
				t.Errorf("%q: no %q in\n%s", filler, want, s)
			}
		}
	}
}

func TestDiffMarkdownEvents(t *testing.T) {
	for _, test := range []struct {
		events int
		// What is shown: verdicts, tables, functions, and how many events are not.
		verdicts, tables, rows int
		more                   string
	}{
		{1, 1, 2, 16, ""},
		{2, 2, 4, 24, ""},
		{3, 3, 6, 12, ""},
		{6, 6, 4, 12, ""},
		{100, 15, 0, 0, "\n- 85 more events are not shown.\n"},
	} {
		var base, head sideBuilder
		for e := range test.events {
			for i := range 20 {
				base.add(200+int64(i%2)*200, fmt.Sprintf("event%d", e), fmt.Sprintf("f%d", i))
				head.add(400-int64(i%2)*200, fmt.Sprintf("event%d", e), fmt.Sprintf("f%d", i))
			}
		}
		s := markdownOf(t, comparison(t, base.runs(t, "b", 4), head.runs(t, "h", 4), compare.Options{Normalize: compare.None}), Options{})
		checkMarkdown(t, s)
		verdicts, tables, rows := strings.Count(s, " samples.\n"), strings.Count(s, "\n| --- |"), strings.Count(s, "\n| `f")
		if verdicts != test.verdicts || tables != test.tables || rows != test.rows || !strings.Contains(s, test.more) {
			t.Errorf("%d events: %d verdicts, %d tables, %d functions in\n%s", test.events, verdicts, tables, rows, s)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct{ s, want string }{
		{"", ""},
		{"abcdefg", "abcdefg"},
		{"abcdefgh", "abc…fgh"},
		{"äöüßéèñ", "äöüßéèñ"},
		{"äöüßéèñx", "äöü…èñx"},
		{"a\xff\xffbcdefgh", "a\xff\xff…fgh"},
	} {
		if got := text.Shorten(test.s, 7); got != test.want {
			t.Errorf("shorten(%q) = %q, want %q", test.s, got, test.want)
		}
	}
	if got := text.Shorten("abcdefgh", 6); got != "abc…gh" {
		t.Errorf("shorten to 6: %q", got)
	}
}

func TestMarkdownProse(t *testing.T) {
	for _, test := range []struct{ s, want string }{
		{"duration differs: base 2.438s a run, head 1.311s", "duration differs: base 2.438s a run, head 1.311s"},
		{"see www.example.org", "`see www.example.org`"},
		{"commit deadbee", "`commit deadbee`"},
		{"closes GH-12", "`closes GH-12`"},
		{"ask @octocat", "`ask @octocat`"},
		{"1. item", "`1. item`"},
		{"- item", "`- item`"},
		{"a:smile:", "`a:smile:`"},
		{"a\nb", "`a\ufffdb`"},
		{"", "(no name)"},
	} {
		if got := text.MarkdownProse(test.s, 100); got != test.want {
			t.Errorf("markdownProse(%q) = %q, want %q", test.s, got, test.want)
		}
	}
}
