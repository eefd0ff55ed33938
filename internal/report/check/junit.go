package check

import (
	"cmp"
	"encoding/xml"
	"io"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// The elements of JUnit XML that GitLab, Jenkins, Azure, CircleCI and Bitbucket read.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Errors   int    `xml:"errors,attr"`
		// Properties come before cases (the schema of Jenkins).
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		Class     string        `xml:"classname,attr"`
		File      string        `xml:"file,attr"`
		Failure   *junitFailure `xml:"failure"`
		Skipped   *junitSkipped `xml:"skipped"`
		SystemOut string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
)

// WriteJUnit writes an outcome as JUnit XML: itself as a property, what fails as a failure, what
// is inconclusive as skipped, and a warning as a pass with output.
func WriteJUnit(w io.Writer, o *Document) error {
	suite := junitSuite{
		Name: "profdiff budgets", Tests: len(o.Budgets), Failures: o.Count(verdict.Fail), Skipped: o.Count(verdict.Inconclusive),
		Properties: []junitProperty{{"outcome", xmlText(o.Sentence())}},
	}
	for i := range o.Budgets {
		r := &o.Budgets[i]
		message := xmlText(message(r))
		c := junitCase{Name: xmlText(r.ID), Class: "profdiff.budgets", File: xmlText(cmp.Or(r.Location.File, o.File))}
		switch r.Verdict {
		case verdict.Fail:
			c.Failure = &junitFailure{Message: message, Type: "budget", Text: message}
		case verdict.Inconclusive:
			c.Skipped = &junitSkipped{message}
		case verdict.Warn:
			c.SystemOut = message
		}
		for _, note := range r.Notes {
			c.SystemOut += "\n" + xmlText(note)
		}
		c.SystemOut = strings.TrimPrefix(c.SystemOut, "\n")
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{Suite: suite}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// xmlText is a text of characters that XML 1.0 has.
func xmlText(s string) string { return strings.ToValidUTF8(text.Printable(s), "\ufffd") }
