package check

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// A codeQualityIssue is an entry of GitLab's code quality report.
type codeQualityIssue struct {
	Description string              `json:"description"`
	CheckName   string              `json:"check_name"`
	Fingerprint string              `json:"fingerprint"`
	Severity    string              `json:"severity"` // info, minor, major, critical, blocker
	Location    codeQualityLocation `json:"location"`
}

type codeQualityLocation struct {
	Path  string           `json:"path"`
	Lines codeQualityLines `json:"lines"`
}

type codeQualityLines struct {
	Begin int64 `json:"begin"`
}

// WriteCodeQuality writes the results that did not pass as a code quality report of
// GitLab, which compares it by fingerprint with the report of the target branch.
func WriteCodeQuality(w io.Writer, o *Document, opt Options) error {
	list := []codeQualityIssue{}
	for _, r := range worstFirst(o) {
		severity := map[verdict.Verdict]string{verdict.Fail: "critical", verdict.Inconclusive: "info", verdict.Warn: "minor"}[r.Verdict]
		if severity == "" {
			continue
		}
		file, line := place(r, o, opt)
		list = append(list, codeQualityIssue{
			Description: r.ID + ": " + message(r), CheckName: "profdiff-" + r.Rule, Fingerprint: fingerprint(r),
			Severity: severity, Location: codeQualityLocation{strings.ToValidUTF8(file, "\ufffd"), codeQualityLines{line}},
		})
	}
	return text.WriteJSON(w, list)
}

// verdictValue are verdicts as numbers.
var verdictValue = map[verdict.Verdict]float64{verdict.Pass: 0, verdict.Warn: 1, verdict.Inconclusive: 2, verdict.Fail: 3}

// WriteOpenMetrics writes an outcome as OpenMetrics text, for the metrics report of
// GitLab. GitLab compares values as text, so that measured ones have two digits: with more,
// every line would be a change.
func WriteOpenMetrics(w io.Writer, o *Document) error {
	var b strings.Builder
	family := func(name, help string, digits int, value func(r *Budget) float64) {
		fmt.Fprintf(&b, "# TYPE %s gauge\n# HELP %s %s\n", name, name, help)
		for i := range o.Budgets {
			r := &o.Budgets[i]
			if v := value(r); !math.IsNaN(v) && !math.IsInf(v, 0) {
				fmt.Fprintf(&b, "%s{budget=\"%s\"} %s\n", name, metricsLabel(r.ID), strconv.FormatFloat(v, 'g', digits, 64))
			}
		}
	}
	fmt.Fprintf(&b, "# TYPE profdiff_outcome gauge\n# HELP profdiff_outcome of all budgets: 0 pass, 1 warn, 2 inconclusive, 3 fail\nprofdiff_outcome %g\n", verdictValue[o.Outcome])
	family("profdiff_budget_verdict", "0 pass, 1 warn, 2 inconclusive, 3 fail", 2, func(r *Budget) float64 {
		return verdictValue[r.Verdict]
	})
	value := func(relative bool, of func(c *Numbers) float64) func(r *Budget) float64 {
		return func(r *Budget) float64 {
			if r.Deciding == nil || r.Deciding.Relative != relative {
				return math.NaN()
			}
			return of(r.Deciding)
		}
	}
	limit := func(c *Numbers) float64 {
		if c.Limit == nil {
			return math.NaN()
		}
		return *c.Limit
	}
	family("profdiff_budget_ratio", "cost of head over that of base", 2, value(true, func(c *Numbers) float64 { return float64(c.Estimate) }))
	family("profdiff_budget_ratio_limit", "ratio from which the budget fails", -1, value(true, limit))
	family("profdiff_budget_value", "cost of head, in the unit of the event, or as a part of 1", 2, value(false, func(c *Numbers) float64 { return float64(c.Estimate) }))
	family("profdiff_budget_value_limit", "cost from which the budget fails", -1, value(false, limit))
	b.WriteString("# EOF\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// metricsLabel escapes the value of a label.
func metricsLabel(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(text.Printable(s), "\ufffd"))
}
