package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"profdiff/internal/report/branches"
	"profdiff/internal/report/check"
	"profdiff/internal/report/diff"
	"profdiff/internal/verdict"
)

// twoSides are recordings before and after a change.
type twoSides struct{ name, base, head string }

// casePairs are the two sides of all case studies, and of recordings that others made.
func casePairs(t *testing.T) (sampled, counted []twoSides) {
	t.Helper()
	const root = "../../profiles"
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, pair := range [][2]string{{"before", "after"}, {"before.out", "after.out"}, {"same", "slow10"}, {"same", "slow30"}, {"same", "half"}, {"same.out", "slow10.out"}, {"same.out", "half.out"}} {
			p := twoSides{name + " " + pair[1], filepath.Join(path, pair[0]), filepath.Join(path, pair[1])}
			file, err := os.Stat(p.base)
			if err != nil {
				continue
			}
			if _, err := os.Stat(p.head); err != nil {
				continue
			}
			switch {
			case !file.IsDir():
				counted = append(counted, p)
			case len(recordingsIn(t, p.base)) > 0:
				sampled = append(sampled, p)
				// The same with one run a side.
				p.name += ", one run a side"
				p.base, p.head = recordingsIn(t, p.base)[0], recordingsIn(t, p.head)[0]
				sampled = append(sampled, p)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const shared = "../../../shared/perfdata/simpleperf/"
	for _, pair := range [][2]string{
		{"perf_with_tracepoint_event.data", "perf_with_trace_offcpu.data"},
		{"perf_g_fp.data", "generated_by_linux_perf.data"},
	} {
		if _, err := os.Stat(shared + pair[0]); err == nil {
			sampled = append(sampled, twoSides{pair[1], shared + pair[0], shared + pair[1]})
		}
	}
	return sampled, counted
}

// recordingsIn lists the recordings in a directory.
func recordingsIn(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.data*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestVerdictsAgree compares two sides with every command and format: the words are the
// same.
func TestVerdictsAgree(t *testing.T) {
	sampled, counted := casePairs(t)
	if len(sampled) < 10 || len(counted) < 5 {
		t.Fatalf("only %d and %d pairs", len(sampled), len(counted))
	}
	simulated := slices.DeleteFunc(slices.Clone(counted), func(p twoSides) bool { return !strings.Contains(readText(t, p.base), "Bcm") })
	if len(simulated) == 0 {
		t.Error("no recording counts branches")
	}
	if testing.Short() {
		sampled, counted = sampled[:4], counted[:2]
	}
	for _, p := range slices.Concat(sampled, counted) {
		t.Run("diff "+p.name, func(t *testing.T) {
			t.Parallel()
			d := agreedDiff(t, p)
			agreedCheck(t, p, d)
		})
	}
	for _, p := range simulated {
		t.Run("branches "+p.name, func(t *testing.T) {
			t.Parallel()
			n := agreedBranches(t, p)
			if n[verdict.Inconclusive]+n[verdict.NotComparable] > 0 || len(n) < 2 {
				t.Errorf("counts of a simulator are %v", n)
			}
			agreedFunctions(t, p)
		})
	}
	for _, test := range []struct {
		order      verdict.Order
		base, head []int
		allow      bool
		improved   int
	}{
		{verdict.Interleaved, []int{10, 40, 50}, []int{20, 30, 60}, false, 1},
		{verdict.Blocked, []int{10, 20, 30}, []int{40, 50, 60}, false, 0},
		{verdict.Blocked, []int{40, 50, 60}, []int{10, 20, 30}, true, 1},
	} {
		t.Run(fmt.Sprintf("order %s, allowed %t", test.order, test.allow), func(t *testing.T) {
			t.Parallel()
			p := recordedAt(t, test.base, test.head)
			var allow []string
			if test.allow {
				allow = []string{"--allow-blocked-order"}
			}
			agreedOrder(t, p, test.order, allow)
			n := agreedBranches(t, p, allow...)
			if n[verdict.Improved] != test.improved || n[verdict.Inconclusive] != 2-test.improved {
				t.Errorf("branches are %v, want %d improved of two", n, test.improved)
			}
			d := agreedDiff(t, p, allow...)
			at := slices.IndexFunc(d.Events, func(e diff.Event) bool { return e.Name == "instructions:u" })
			if at < 0 || (d.Events[at].Verdict == verdict.Regressed) != (test.improved == 1) {
				t.Errorf("event %d of diff: %+v", at, d.Events)
			}
			if !test.allow {
				agreedCheck(t, p, d)
			}
			agreedBranchBudget(t, p, test.allow, n)
		})
	}
	for _, test := range []struct {
		twoSides
		improved int
	}{
		{twoSides{"three runs a side", "before", "after"}, 1},
		{twoSides{"one run a side", "before/1.script", "after/1.script"}, 0},
	} {
		t.Run("branch stacks, "+test.name, func(t *testing.T) {
			t.Parallel()
			dir := scriptFiles(t, "branches_diff")
			n := agreedBranches(t, twoSides{base: filepath.Join(dir, test.base), head: filepath.Join(dir, test.head)})
			if n[verdict.Improved] != test.improved || n[verdict.Inconclusive] != 2-test.improved {
				t.Errorf("%v, want %d improved of two", n, test.improved)
			}
		})
	}
}

// recordedAt gives runs of branch stacks the times of their recording, in seconds, and the
// frames that make them samples too. Base has a fifth of the instructions.
func recordedAt(t *testing.T, base, head []int) twoSides {
	t.Helper()
	dir := scriptFiles(t, "branches_diff")
	sample := regexp.MustCompile(`(?m)^(app 7/7) (\d)(\.\d+: \d+ \S+:) ?`)
	p := twoSides{base: filepath.Join(dir, "before"), head: filepath.Join(dir, "after")}
	for _, side := range []struct {
		dir   string
		times []int
	}{{p.base, base}, {p.head, head}} {
		for i, at := range side.times {
			name := filepath.Join(side.dir, fmt.Sprintf("%d.script", i+1))
			text := sample.ReplaceAllString(readText(t, name), fmt.Sprintf("$1 %d${2}$3           400100 main+0x10 (/bin/app) ", at))
			if side.dir == p.base {
				text = regexp.MustCompile(`(?m)^.*[1-46-9]: \d+ instructions:u:.*\n`).ReplaceAllString(text, "")
			}
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return p
}

// scriptFiles writes the files of a script to a directory.
func scriptFiles(t *testing.T, script string) (dir string) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/script/" + script + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, f := range archive.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runCommand runs a command that may exit with one of some codes.
func runCommand(t *testing.T, codes []int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := execute(context.Background(), args, strings.NewReader(""), &out, &errs); !slices.Contains(codes, code) {
		t.Fatalf("profdiff %q: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

// readJSON reads a document from a file.
func readJSON(t *testing.T, file string, to any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// pageMeta is what the first screen of a page says.
func pageMeta(t *testing.T, page string) (meta htmlMeta) {
	t.Helper()
	found := metaBlock.FindStringSubmatch(readText(t, page))
	if found == nil {
		t.Fatalf("%s has no meta block", page)
	}
	if err := json.Unmarshal([]byte(found[1]), &meta); err != nil {
		t.Fatal(err)
	}
	return meta
}

var (
	totalWord   = regexp.MustCompile(`(?m)^(?:.*, )?(?:ratio|the total, ratio) .* \[[^\]]*\]: (.*)$`)
	countedWord = regexp.MustCompile(`(?m)^(\d+) of \d+ functions? tested: (\d+) (?:faster|less), (\d+) (?:slower|more), (\d+) same within .*, (\d+) can't tell yet \(\?\)$`)
)

// agreedDiff compares what diff says as text, JSON, Markdown and HTML.
func agreedDiff(t *testing.T, p twoSides, flags ...string) *diff.Document {
	t.Helper()
	dir := t.TempDir()
	page, document := filepath.Join(dir, "page.html"), filepath.Join(dir, "diff.json")
	args := append([]string{"diff", p.base, p.head, "--normalize", "none"}, flags...)
	runCommand(t, []int{0}, append(args, "--html", page, "--format", "json", "-o", document)...)
	var d diff.Document
	readJSON(t, document, &d)
	text, markdown := runCommand(t, []int{0}, append(args, "--limit", "0")...), runCommand(t, []int{0}, append(args, "--format", "markdown")...)
	totals, counts := totalWord.FindAllStringSubmatch(text, -1), countedWord.FindAllStringSubmatch(text, -1)
	if len(totals) != len(d.Events) {
		t.Fatalf("%d of %d totals in the text:\n%s", len(totals), len(d.Events), text)
	}
	var summaries []string
	for i := range d.Events {
		e := &d.Events[i]
		word := totals[i][1]
		single := strings.HasPrefix(string(e.Method), "sampling")
		if single && e.Verdict != verdict.Inconclusive {
			t.Errorf("%s: one run a side is %s", e.Name, e.Verdict)
		}
		if lead := e.Lead.Sign(); lead != "" && word != fmt.Sprintf("%s %.1fσ", lead, float64(e.Distance)) || lead == "" && !inTable(e.Verdict, word, e.Measure(), single) {
			t.Errorf("%s: the total is %s %s in JSON, %q in the text", e.Name, e.Verdict, e.Lead, word)
		}
		n := make(map[verdict.Verdict]int)
		for _, f := range d.Functions {
			// What is part of a shift is counted once, as that.
			if f.Event == e.Name && tested(&f.Self) && f.InShift == nil {
				n[f.Self.Verdict]++
			}
		}
		for _, s := range d.Shifts {
			if s.Event == e.Name && tested(&s.Net) {
				n[s.Net.Verdict]++
			}
		}
		summaries = append(summaries, fmt.Sprintf("%d %d %d %d", n[verdict.Improved], n[verdict.Regressed], n[verdict.Unchanged], n[verdict.Inconclusive]))
		line := regexp.MustCompile(`(?m)^(?:- )?\*\*(?:[^*:]+: |No verdict on )` + regexp.QuoteMeta("`"+e.Name+"`") + `.*$`).FindString(markdown)
		if !strings.Contains(line, "**"+e.Verdict.Title(e.Measure())+": ") && !(e.Verdict == verdict.Inconclusive && strings.Contains(line, "**No verdict on ")) {
			t.Errorf("%s: the total is %s in JSON, but in Markdown: %q", e.Name, e.Verdict, line)
		}
	}
	for i, got := range counts {
		if found := strings.Join(got[2:], " "); !slices.Contains(summaries, found) {
			t.Errorf("event %d: the text counts %s of improved, regressed, unchanged and inconclusive, JSON %q", i, found, summaries)
		}
	}
	meta := pageMeta(t, page)
	if meta.Verdict.Outcome != string(d.Story.Outcome) {
		t.Errorf("the page says %s, the story %s", meta.Verdict.Outcome, d.Story.Outcome)
	}
	return &d
}

// tested reports whether a change of a document that was read was part of a family.
func tested(c *diff.Change) bool {
	return !math.IsNaN(float64(c.Q)) || !math.IsNaN(float64(c.PHolm))
}

// inTable reports whether a table has the word of a verdict.
func inTable(v verdict.Verdict, word string, of verdict.Measure, single bool) bool {
	if v == verdict.Inconclusive {
		return strings.HasPrefix(word, "?") || word == "withheld" || single && word == "~"
	}
	return word == v.Word(of)
}

// agreedCheck compares what check says in all formats, of a limit that is the margin of
// diff, and that with what diff says.
func agreedCheck(t *testing.T, p twoSides, d *diff.Document) {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	budget := "version: 1\ndefaults: {normalize: none}\ndiscover: {level: off}\nbudgets:\n  - {id: total, limit: {fail: +2%}}\n"
	if err := os.WriteFile(file("budget.yaml"), []byte(budget), 0o666); err != nil {
		t.Fatal(err)
	}
	text := runCommand(t, []int{0, 1, 4}, "check", p.base, p.head, "--budget", file("budget.yaml"), "--html", file("page.html"), "--out", "json="+file("check.json"), "--out", "markdown="+file("check.md"))
	var c check.Document
	readJSON(t, file("check.json"), &c)
	v := c.Budgets[0].Verdict
	said := map[string]bool{
		"JSON":     string(c.Outcome) == string(v),
		"text":     regexp.MustCompile(`(?m)^`+v.Word(verdict.Amount)+`( \(.*\))? +total `).MatchString(text) && strings.HasPrefix(text, v.Title(verdict.Amount)+": "),
		"Markdown": strings.Contains(readText(t, file("check.md")), "### Performance budgets: "+v.Word(verdict.Amount)+"\n\n"+v.ColorSign()+" **"+v.Title(verdict.Amount)+":** "),
		"HTML":     pageMeta(t, file("page.html")).Verdict.Outcome == string(v),
	}
	for format, ok := range said {
		if !ok {
			t.Errorf("%s does not say %s of the budget", format, v)
		}
	}
	// The event that budgets are of without a name is the first.
	of := d.Events[0].Verdict
	forbidden := map[verdict.Verdict][]verdict.Verdict{
		verdict.Improved:  {verdict.Fail},
		verdict.Unchanged: {verdict.Fail},
		verdict.Regressed: {verdict.Pass},
	}[of]
	if strings.HasPrefix(string(d.Events[0].Method), "sampling") {
		forbidden = []verdict.Verdict{verdict.Pass, verdict.Fail}
	}
	if slices.Contains(forbidden, verdict.Verdict(v)) {
		t.Errorf("diff says %s, check says %s of +2%%", of, v)
	}
}

// agreedBranches compares what branches says as text, JSON and HTML, and returns how many
// branches have each verdict.
func agreedBranches(t *testing.T, p twoSides, flags ...string) (n map[verdict.Verdict]int) {
	t.Helper()
	dir := t.TempDir()
	page, document := filepath.Join(dir, "page.html"), filepath.Join(dir, "branches.json")
	args := append([]string{"branches", p.base, p.head, "--normalize", "none"}, flags...)
	runCommand(t, []int{0}, append(args, "--html", page, "--format", "json", "-o", document)...)
	var b branches.DiffDocument
	readJSON(t, document, &b)
	n = make(map[verdict.Verdict]int)
	for _, row := range b.Branches {
		n[verdict.Verdict(row.Verdict)]++
	}
	var list []string
	for _, v := range verdict.TwoSided {
		if n[v] > 0 {
			list = append(list, fmt.Sprintf("%d %s", n[v], v.Word(verdict.Amount)))
		}
	}
	summary := strings.Join(list, ", ")
	if text := runCommand(t, []int{0}, args...); !regexp.MustCompile(`(?m)^branches +` + regexp.QuoteMeta(summary) + `$`).MatchString(text) {
		t.Errorf("the text does not have %q:\n%s", summary, text)
	}
	if !strings.Contains(readText(t, page), "Misses of branches: "+html.EscapeString(summary)) {
		t.Errorf("the page does not have %q", summary)
	}
	return n
}

// agreedBranchBudget compares what check says of a limit on misses, as text and on its page,
// with how many branches have each verdict.
func agreedBranchBudget(t *testing.T, p twoSides, anyOrder bool, n map[verdict.Verdict]int) {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	require := ""
	if anyOrder {
		require = ", require: {order: any}"
	}
	budget := "version: 1\ndefaults: {normalize: none" + require + "}\ndiscover: {level: off}\nbudgets:\n  - {id: misses, match: {function: \"*\"}, branch_cost: misses, limit: {fail: +5%}}\n"
	if err := os.WriteFile(file("budget.yaml"), []byte(budget), 0o666); err != nil {
		t.Fatal(err)
	}
	runCommand(t, []int{0, 1, 4}, "check", p.base, p.head, "--budget", file("budget.yaml"), "--html", file("page.html"), "--out", "json="+file("check.json"))
	var c check.Document
	readJSON(t, file("check.json"), &c)
	if v := verdict.Verdict(c.Budgets[0].Verdict); (v == verdict.Inconclusive) != (n[verdict.Improved] == 0) || v == verdict.Fail {
		t.Errorf("check says %s of misses, branches %v", v, n)
	}
	improved := regexp.MustCompile(`Misses of branches: \d less`).MatchString(readText(t, file("page.html")))
	if improved != (n[verdict.Improved] > 0) {
		t.Errorf("a branch is improved on the page of check: %t, by branches: %v", improved, n)
	}
}

// agreedOrder compares the order of recording that commands and formats name.
func agreedOrder(t *testing.T, p twoSides, want verdict.Order, flags []string) {
	t.Helper()
	for _, command := range []string{"diff", "branches"} {
		args := append([]string{command, p.base, p.head}, flags...)
		var d struct {
			Design struct {
				Order verdict.Order `json:"order"`
			} `json:"design"`
		}
		if err := json.Unmarshal([]byte(runCommand(t, []int{0}, append(args, "--format", "json")...)), &d); err != nil {
			t.Fatal(err)
		}
		text := runCommand(t, []int{0}, args...)
		if d.Design.Order != want || !regexp.MustCompile(`(?m)^order +`+string(want)+`(, .*)?$`).MatchString(text) {
			t.Errorf("%s: the order is %s in JSON, want %s:\n%s", command, d.Design.Order, want, text)
		}
		if warned := strings.Contains(text, verdict.BlockedWarning); warned != (want == verdict.Blocked) {
			t.Errorf("%s warns of the order: %t", command, warned)
		}
	}
}

// agreedFunctions compares what branches says of the only branch of a function with what
// diff says of the function.
func agreedFunctions(t *testing.T, p twoSides) {
	t.Helper()
	args := []string{p.base, p.head, "--normalize", "none", "--format", "json"}
	var b branches.DiffDocument
	var d diff.Document
	if err := json.Unmarshal([]byte(runCommand(t, []int{0}, append([]string{"branches"}, args...)...)), &b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(runCommand(t, []int{0}, append([]string{"diff"}, args...)...)), &d); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, row := range b.Branches {
		side := row.Base
		if side == nil {
			side = row.Head
		}
		for _, f := range d.Functions {
			if f.Event != "Bcm" || !tested(&f.Self) || f.Name != side.Function || f.Self.Base != row.Misses.Base || f.Self.Head != row.Misses.Head {
				continue
			}
			compared++
			got, want := verdict.Verdict(row.Verdict), f.Self.Verdict
			if got.Better() != want.Better() || got.Worse() != want.Worse() || !got.Changed() && got != want {
				t.Errorf("%s: %s as a function, %s as its only branch", f.Name, want, got)
			}
		}
	}
	if compared == 0 {
		t.Error("no function has one branch")
	}
}
