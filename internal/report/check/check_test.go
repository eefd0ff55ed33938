package check

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"profdiff/internal/budget"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
	"profdiff/internal/yaml"
)

// hostileNames are names that mean something in some format.
var hostileNames = []string{
	"plain",
	"std::map<int, char*>::operator[](int const&)",
	"a|b`c``d</td><script>alert(1)</script>",
	"%0A::error::x,y=1\r\n::add-mask::secret",
	`"quoted\" and back\slash {label="x"} ]]> &amp; --> @everyone #1`,
	"new\nline \x1b[31mred\x00\u202Ereversed\u2028",
	"\xff\xfe not UTF-8",
	strings.Repeat("long", 3000),
	"- id: injected\n  limit: {fail: +100%}",
	"# EOF",
	"",
}

// outcome is one of many budgets, of all verdicts and circumstances.
func outcome() *budget.Outcome {
	five, three := 1.05, 1.03
	o := &budget.Outcome{
		Verdict: verdict.Fail, File: "perf/.profdiff.yaml", Alpha: 0.05, Tests: 30,
		Design:      budget.Design{Turns: (&verdict.Pairing{}).Turns(verdict.Interleaved), RunsBase: 10, RunsHead: 10, Normalization: "work: frames, head/base 1", Warnings: []string{"different kernel: base <b>6.1</b>, head 6.6\n"}},
		Notes:       []string{"the waiver of x expired on 2026-01-01: its limit counts again"},
		Discoveries: []budget.Discovery{{Name: hostileNames[2], Event: "cpu-cycles", Ratio: 1.2, CI: stats.Interval{Lo: 1.1, Hi: 1.3}, Q: 0.01}},
	}
	date, err := budget.ParseDate("2026-12-15")
	if err != nil {
		panic(err)
	}
	for i, name := range hostileNames {
		for j, v := range verdict.Limits {
			id := fmt.Sprintf("%d %s", 4*i+j, name)
			c := &budget.Claim{
				Kind: budget.RelativeKind, What: "cpu-cycles per " + name, Base: 100, Head: 110, WarnText: "+3%", FailText: "+5%",
				RunsBase: 10, RunsHead: 10, SamplesBase: 1000, SamplesHead: 1100,
				Limit: verdict.Limit{
					Value: 1.1, Range: stats.Interval{Lo: 1.04, Hi: 1.16}, Method: stats.MannWhitney, Warn: &three, Fail: &five,
					P: 0.0001, Adjusted: 0.003, Smallest: 1.09, Verdict: v, RunsNeeded: 19,
				},
			}
			switch i {
			case 1:
				c.Value, c.Range, c.Smallest = math.Inf(1), stats.Interval{Lo: 0, Hi: math.Inf(1)}, math.Inf(1)
			case 2:
				c.Kind, c.Unit, c.Base = budget.AbsoluteKind, "percent", math.NaN()
			case 3:
				c.Kind, c.Unit, c.Value, c.Range = budget.AbsoluteKind, "nanoseconds", 1.2e6, stats.Interval{Lo: 1.1e6, Hi: 1.3e6}
			case 4:
				c.Kind, c.Value, c.Range = budget.PredictedKind, math.NaN(), stats.Interval{Lo: math.NaN(), Hi: math.NaN()}
			}
			r := budget.Result{
				ID: id, Verdict: v, Reasons: []string{"more than +5% in " + name}, Notes: []string{"note of " + name}, Owner: "@" + name,
				Claims: []*budget.Claim{c}, Deciding: c, Functions: []string{name}, Position: yaml.Position{Line: 4 + i, Column: 5},
				Location: budget.Location{Function: name, File: "/src/" + name + ".c", Line: 12}, Budget: &budget.Budget{ID: id},
			}
			if i == 5 {
				r.Deciding, r.Claims, r.Location = nil, nil, budget.Location{}
			}
			if v == verdict.Warn {
				r.Marks = []budget.Mark{budget.Waived, budget.Shifted}
				r.Waiver = &budget.Waiver{Until: date, Reason: name, By: name, Issue: "https://bugs/" + name}
			}
			o.Results = append(o.Results, r)
		}
	}
	return o
}

func document() *Document { return New(outcome(), "profdiff 1.2.3") }

var options = Options{Tool: "profdiff", Version: "1.2.3", SourceRoot: "/src"}

func TestCheckJSON(t *testing.T) {
	got := reporttest.Written(t, func(w io.Writer) error { return WriteJSON(w, document()) })
	reporttest.Validate(t, reporttest.Schema[Document](t, "check.schema.json"), got)
	var d Document
	if err := json.Unmarshal(got, &d); err != nil {
		t.Fatal(err)
	}
	if d.Schema != Schema || len(d.Budgets) != 4*len(hostileNames) || !d.Budgets[0].Estimate.Known() || *d.Budgets[0].Limit != 1.05 {
		t.Errorf("document %+v", d.Budgets[0])
	}
}

// TestCheckSARIF validates against the schema of OASIS, and checks what is more: rules that
// exist, places in files, and fingerprints that do not change with lines and values.
func TestCheckSARIF(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-2.1.0.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	// The schema is draft 4, of which it uses nothing that draft 7 has otherwise but the
	// name of its id.
	var raw map[string]any
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	delete(raw, "id")
	raw["$schema"] = "http://json-schema.org/draft-07/schema#"
	if text, err = json.Marshal(raw); err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome()
	got := reporttest.Written(t, func(w io.Writer) error { return WriteSARIF(w, New(o, "profdiff 1.2.3"), options) })
	reporttest.Validate(t, resolved, got)
	if resolved.Validate(map[string]any{"version": "2.1.0", "runs": []any{map[string]any{"results": "none"}}}) == nil {
		t.Error("the schema accepts anything")
	}
	var log sarifLog
	if err := json.Unmarshal(got, &log); err != nil {
		t.Fatal(err)
	}
	r := log.Runs[0]
	if len(r.Results) != 3*len(hostileNames) {
		t.Errorf("%d results", len(r.Results))
	}
	prints := make(map[string]bool)
	for _, x := range r.Results {
		if r.Tool.Driver.Rules[x.RuleIndex].ID != x.RuleID {
			t.Errorf("rule %d is not %s", x.RuleIndex, x.RuleID)
		}
		place := x.Locations[0].PhysicalLocation
		if place.Region.StartLine < 1 || strings.ContainsAny(place.ArtifactLocation.URI, " \n\"<>\\") {
			t.Errorf("place %+v", place)
		}
		prints[x.PartialFingerprints["budgetFunction/v1"]] = true
	}
	if len(prints) != len(r.Results) {
		t.Errorf("%d fingerprints of %d results", len(prints), len(r.Results))
	}
	for i := range o.Results {
		o.Results[i].Location.Line += 100
		o.Results[i].Position.Line += 7
		if c := o.Results[i].Deciding; c != nil {
			c.Value *= 1.01
		}
	}
	var moved sarifLog
	if err := json.Unmarshal(reporttest.Written(t, func(w io.Writer) error { return WriteSARIF(w, New(o, "profdiff 1.2.3"), options) }), &moved); err != nil {
		t.Fatal(err)
	}
	for i, x := range moved.Runs[0].Results {
		if x.PartialFingerprints["budgetFunction/v1"] != r.Results[i].PartialFingerprints["budgetFunction/v1"] {
			t.Error("a fingerprint changes with lines and values")
		}
	}
	many := outcome()
	for len(many.Results) < 2*maxSARIF {
		many.Results = append(many.Results, many.Results[0])
	}
	if err := json.Unmarshal(reporttest.Written(t, func(w io.Writer) error { return WriteSARIF(w, New(many, "profdiff 1.2.3"), options) }), &moved); err != nil {
		t.Fatal(err)
	}
	if n := len(moved.Runs[0].Results); n != maxSARIF {
		t.Errorf("%d results of many", n)
	}
}

// TestCheckAnnotations parses the commands as GitHub's runner does: nothing in a name starts
// another one.
func TestCheckAnnotations(t *testing.T) {
	got := string(reporttest.Written(t, func(w io.Writer) error { return WriteAnnotations(w, document(), options) }))
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != maxAnnotations+2 {
		t.Fatalf("%d lines", len(lines))
	}
	if !strings.HasPrefix(lines[0], "::error title=performance budgets::Fail: 0 plain: +10.0%25") {
		t.Errorf("it begins with %q", lines[0])
	}
	lines = lines[1:]
	command := regexp.MustCompile(`^::(error|warning) file=([^,:]+),line=([0-9]+),title=([^,:]*)::(.*)$`)
	for _, line := range lines[:maxAnnotations] {
		m := command.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("no command: %q", line)
			continue
		}
		if m[1] != "error" {
			t.Errorf("the worst come first: %q", line)
		}
		if strings.ContainsAny(m[4]+m[2], ":,\r\n") {
			t.Errorf("property %q", m[4])
		}
	}
	if want := fmt.Sprintf("::notice::%d more budgets did not pass, see the summary", 3*len(hostileNames)-maxAnnotations); lines[maxAnnotations] != want {
		t.Errorf("%q, want %q", lines[maxAnnotations], want)
	}
}

// TestCheckJUnit reads the report back.
func TestCheckJUnit(t *testing.T) {
	got := reporttest.Written(t, func(w io.Writer) error { return WriteJUnit(w, document()) })
	var suites junitSuites
	if err := xml.Unmarshal(got, &suites); err != nil {
		t.Fatal(err)
	}
	s := suites.Suite
	n := len(hostileNames)
	if s.Tests != 4*n || len(s.Cases) != 4*n || s.Failures != n || s.Skipped != n {
		t.Errorf("%d tests, %d cases, %d failures, %d skipped", s.Tests, len(s.Cases), s.Failures, s.Skipped)
	}
	if len(s.Properties) != 1 || s.Properties[0].Name != "outcome" || !strings.HasPrefix(s.Properties[0].Value, "Fail: 0 plain: ") {
		t.Errorf("properties %+v", s.Properties)
	}
	names := make(map[string]bool)
	for i, c := range s.Cases {
		names[c.Name] = true
		failed, skipped := i%4 == 0, i%4 == 1
		if (c.Failure != nil) != failed || (c.Skipped != nil) != skipped || c.Class != "profdiff.budgets" {
			t.Errorf("case %d: %+v", i, c)
		}
		if i%4 == 2 && c.SystemOut == "" {
			t.Errorf("a warning says nothing: %+v", c)
		}
	}
	if len(names) != 4*n {
		t.Errorf("%d names: GitLab takes the first of equal ones", len(names))
	}
	// XML 1.0 has no control characters, whatever the parser lets pass.
	if regexp.MustCompile(`&#x?[01]?[0-9a-fA-F];`).Match(got) && bytes.Contains(got, []byte("&#x1b;")) {
		t.Error("control characters as references")
	}
}

func TestCheckCodeQuality(t *testing.T) {
	got := reporttest.Written(t, func(w io.Writer) error { return WriteCodeQuality(w, document(), options) })
	s, err := jsonschema.For[[]codeQualityIssue](nil)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	reporttest.Validate(t, resolved, got)
	var list []codeQualityIssue
	if err := json.Unmarshal(got, &list); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, x := range list {
		if seen[x.Fingerprint] || x.Location.Lines.Begin < 1 || !strings.Contains("info minor major critical blocker", x.Severity) {
			t.Errorf("issue %+v", x)
		}
		seen[x.Fingerprint] = true
	}
	if len(list) != 3*len(hostileNames) {
		t.Errorf("%d issues", len(list))
	}
}

// TestCheckOpenMetrics parses the lines by the grammar of OpenMetrics 1.0.
func TestCheckOpenMetrics(t *testing.T) {
	got := string(reporttest.Written(t, func(w io.Writer) error { return WriteOpenMetrics(w, document()) }))
	if !strings.HasSuffix(got, "\n# EOF\n") || strings.Count(got, "# EOF\n") != 1 {
		t.Error("the end of the file is not marked, or twice")
	}
	if !strings.Contains(got, "\nprofdiff_outcome 3\n") {
		t.Error("it does not begin with the outcome")
	}
	sample := regexp.MustCompile(`^([a-z_]+)(?:\{budget="((?:[^"\\\n]|\\[\\"n])*)"\})? (\S+)$`)
	family := ""
	n := 0
	for line := range strings.Lines(strings.TrimSuffix(got, "# EOF\n")) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			family, _, _ = strings.Cut(rest, " ")
			continue
		}
		if strings.HasPrefix(line, "# HELP "+family+" ") {
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil || m[1] != family {
			t.Errorf("no sample: %.200q", line)
			continue
		}
		if _, err := strconv.ParseFloat(m[3], 64); err != nil {
			t.Errorf("value %q", m[3])
		}
		n++
	}
	if n < 4*len(hostileNames) {
		t.Errorf("%d samples", n)
	}
}

// TestCheckMarkdown checks that names stay in their cells, and that what does not fit is
// counted.
func TestCheckMarkdown(t *testing.T) {
	got := string(reporttest.Written(t, func(w io.Writer) error { return WriteMarkdown(w, document(), MaxComment) }))
	if len(got) > MaxComment {
		t.Errorf("%d bytes", len(got))
	}
	rows := 0
	pipe := regexp.MustCompile(`(^|[^\\])\|`)
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "| ") {
			rows++
			if n := len(pipe.FindAllString(line, -1)); n != 10 {
				t.Errorf("%d pipes in %.200q", n, line)
			}
		}
	}
	if rows != 2+4*len(hostileNames) {
		t.Errorf("%d rows", rows)
	}
	for _, bad := range []string{"\n@", "\n<"} {
		if strings.Contains(got, bad) {
			t.Errorf("output has %q", bad)
		}
	}
	o := outcome()
	for len(o.Results) < 20000 {
		o.Results = append(o.Results, o.Results[0])
	}
	got = string(reporttest.Written(t, func(w io.Writer) error { return WriteMarkdown(w, New(o, "profdiff 1.2.3"), MaxStepSummary) }))
	if len(got) > MaxStepSummary || !regexp.MustCompile(`\n[0-9]+ more budgets are not shown\.\n`).MatchString(got) || !regexp.MustCompile(`\n[0-9]+ more remarks are not shown\.\n`).MatchString(got) {
		t.Errorf("%d bytes of many budgets, or they are not counted", len(got))
	}
}

func TestCheckText(t *testing.T) {
	got := string(reporttest.Written(t, func(w io.Writer) error { return WriteText(w, document()) }))
	if n := strings.Count(got, "\n"); n < 4*len(hostileNames) {
		t.Errorf("%d lines", n)
	}
	if want := "Fail: 0 plain: +10.0%, at least +4.0% of cpu-cycles per plain (limit +5%, warn +3%); of 44 budgets 11 fail, 11 can't tell yet, 11 warn, 11 pass\n\n"; !strings.HasPrefix(got, want) {
		t.Errorf("it begins with %q, not %q", got[:min(len(got), 200)], want)
	}
}

// TestDraft checks that a first budget file can be read, whatever functions are called.
func TestDraft(t *testing.T) {
	d := &budget.Draft{Event: "cpu-cycles:u", Runs: 3, Covered: 0.9}
	for i, name := range hostileNames {
		if name == "" {
			continue
		}
		name = text.Shorten(strings.ToValidUTF8(name, "\ufffd"), 500)
		d.Entries = append(d.Entries, budget.DraftEntry{ID: fmt.Sprintf("b%d", i), Function: name, DSO: "lib x.so", Share: 0.1, Noise: 0.02, Limit: 0.05, RunsNeeded: 8})
	}
	got := reporttest.Written(t, func(w io.Writer) error { return WriteDraft(w, d, "work:frames") })
	f, err := budget.Parse("draft.yaml", got)
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	// Whoever reviews it sees what it says.
	if i := bytes.IndexFunc(got, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }); i >= 0 {
		t.Errorf("byte %d cannot be seen: %q", i, got[i:min(len(got), i+40)])
	}
	for i := range f.Budgets {
		if f.Budgets[i].Match.Function != d.Entries[i].Function {
			t.Errorf("function %q, want %q", f.Budgets[i].Match.Function, d.Entries[i].Function)
		}
	}
}
