package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/budget"
	"profdiff/internal/input"
	"profdiff/internal/report/check"
	"profdiff/internal/report/text"
)

// outFormats are the formats of check.
var outFormats = []string{"text", "json", "markdown", "github", "github-summary", "sarif", "junit", "codequality", "openmetrics"}

// outWarns are those that have a place for warnings.
var outWarns = []string{"text", "json", "markdown", "github-summary", "sarif"}

const outFormatsHelp = `
  text            a table
  json            everything; profdiff.check/v1
  markdown        for a pull request
  github          annotations: commands of GitHub Actions
  github-summary  Markdown, appended to FILE: $GITHUB_STEP_SUMMARY
  sarif           SARIF 2.1.0
  junit           JUnit XML
  codequality     code quality report of GitLab
  openmetrics     metrics report of GitLab`

// An outTarget is one output.
type outTarget struct{ format, file string }

// parseOuts reads --format and --out.
func parseOuts(cmd *cobra.Command, format string, outs []string) (list []outTarget, err error) {
	known := func(s string) bool {
		return slices.Contains(outFormats, s)
	}
	if format != "none" {
		if !known(format) {
			return nil, usagef(cmd, "--format is %s or none, not %q", strings.Join(outFormats, ", "), format)
		}
		list = append(list, outTarget{format, "-"})
	}
	files := make(map[string]bool)
	for _, text := range outs {
		format, file, ok := strings.Cut(text, "=")
		switch {
		case !ok || file == "":
			return nil, usagef(cmd, "--out wants FORMAT=FILE, not %q", text)
		case !known(format):
			return nil, usagef(cmd, "--out: the format is %s, not %q", strings.Join(outFormats, ", "), format)
		case file != "-" && files[file]:
			return nil, usagef(cmd, "--out writes to %s twice", file)
		}
		files[file] = true
		list = append(list, outTarget{format, file})
	}
	return list, nil
}

// writeCheck writes one output. What names files in no way of its own passes reviewed.
func (s *stdio) writeCheck(t outTarget, d *check.Document, sourceRoot string, reviewed func(w io.Writer, write func(io.Writer) error) error) error {
	opt := check.Options{Tool: "profdiff", Version: version(), SourceRoot: checkRoot(sourceRoot)}
	write := func(w io.Writer) error {
		switch t.format {
		case "json":
			return reviewed(w, func(w io.Writer) error { return check.WriteJSON(w, d) })
		case "markdown":
			return check.WriteMarkdown(w, d, check.MaxComment)
		case "github":
			return check.WriteAnnotations(w, d, opt)
		case "github-summary":
			return check.WriteMarkdown(w, d, check.MaxStepSummary)
		case "sarif":
			return check.WriteSARIF(w, d, opt)
		case "junit":
			return reviewed(w, func(w io.Writer) error { return check.WriteJUnit(w, d) })
		case "codequality":
			return check.WriteCodeQuality(w, d, opt)
		case "openmetrics":
			return check.WriteOpenMetrics(w, d)
		}
		return check.WriteText(w, d)
	}
	if t.format == "github-summary" && t.file != "-" {
		return s.outputs.Append(t.file, write) // steps of a job share one summary
	}
	return s.writeTables(t.file, t.format == "text", write)
}

// maxHistory is the most bytes that are read of a file of checks.
const maxHistory = 16 << 20

// updateHistory notes in the outcome what follows from a file of checks, and adds the outcome
// to it.
func (s *stdio) updateHistory(name string, o *budget.Outcome) error {
	past, err := readHistory(name)
	if err != nil {
		return err
	}
	open, err := endsOpen(name)
	if err != nil {
		return err
	}
	line := o.Remember(past)
	return s.outputs.Append(name, func(w io.Writer) error {
		if open {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		return text.WriteJSONLine(w, line)
	})
}

// endsOpen reports whether the last line of a file has no end.
func endsOpen(name string) (bool, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, input.PathError(err)
	}
	defer f.Close()
	last := make([]byte, 1)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false, err
	} else if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return false, input.PathError(err)
	}
	return last[0] != '\n', nil
}

// readHistory reads the lines of a file of checks; a file that does not exist has none.
func readHistory(name string) (list []budget.HistoryLine, err error) {
	data, err := readStart(name, maxHistory+1)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case len(data) > maxHistory:
		return nil, fmt.Errorf("%s: has more than %d bytes: remove the first lines, which are the oldest", name, maxHistory)
	}
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, maxHistory)
	for line := 1; s.Scan(); line++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var l budget.HistoryLine
		if err := json.Unmarshal(s.Bytes(), &l); err != nil || l.Schema != budget.HistorySchema {
			return nil, fmt.Errorf("%s:%d: is no line of %s", name, line, budget.HistorySchema)
		}
		list = append(list, l)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}
