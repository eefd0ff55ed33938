package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/compare"
	"profdiff/internal/input"
	"profdiff/internal/report/html"
	"profdiff/internal/run"
)

// htmlFlags are the flags of commands that write a report as HTML beside their output.
type htmlFlags struct {
	file   string
	source string
	read   input.Digests // of the inputs, if there is to be a report
}

func (f *htmlFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.file, "html", "", "write a report as one HTML file, too: `FILE`")
	fs.StringVar(&f.source, "html-source", "", "show source text from `DIR` and full paths in the report")
}

// check refuses what cannot be written.
func (f *htmlFlags) check(cmd *cobra.Command, output string) error {
	switch {
	case f.file == "" && f.source != "":
		return usagef(cmd, "--html-source needs --html FILE")
	case f.file == "" && cmd.Flags().Changed("html"):
		return usagef(cmd, "--html needs the name of a file")
	case f.file != "" && f.file == output:
		return usagef(cmd, "--html and -o both write to %s", output)
	case f.source != "" && !isDir(f.source):
		return fmt.Errorf("--html-source: %s is not a directory", f.source)
	}
	return nil
}

// watch digests what a loader reads, if there is to be a report.
func (f *htmlFlags) watch(l *loader) {
	if f.file != "" {
		f.read = make(input.Digests)
		l.digests = f.read
	}
}

// htmlGroups are by what a report compares beside functions, and what was asked for.
func htmlGroups(asked []run.GroupBy) []run.GroupBy {
	groups := []run.GroupBy{run.ByThread, run.ByCategory, run.ByDSO, run.ByProcess}
	for _, by := range asked {
		if !slices.Contains(groups, by) {
			groups = append(groups, by)
		}
	}
	return groups
}

// reportTool is what a report says it is of.
func reportTool() string { return "profdiff " + version() }

// options are those of a report.
func (f *htmlFlags) options() html.Options {
	opt := html.Options{Tool: reportTool(), Digest: f.read.Of}
	if f.source != "" {
		opt.Paths = true
		opt.Source = newSourceText(f.source).line
	}
	return opt
}

// write writes a document, if one was asked for.
func (f *htmlFlags) write(std *stdio, d *html.Document) error {
	return std.writeOutput(f.file, func(w io.Writer) error { return html.Write(w, d) })
}

// reportGC is by how many percent the heap may grow while a report is written.
const reportGC = 100

// comparison is the document of a comparison.
func (f *htmlFlags) comparison(c *compare.Comparison, l *loader) *html.Document {
	// A report is small beside what was compared: to look for garbage in all that as often
	// as while it grew would cost more than there is to gain.
	debug.SetGCPercent(reportGC)
	opt := f.options()
	d := html.FromComparison(c, opt)
	d.Listings = l.listings(c, opt)
	return d
}

// maxSource is the size of a source file that is read.
const maxSource = 8 << 20

// A sourceText has the lines of source files below a directory, by the base names that
// debug information gives. A name that several files have is not resolved: the wrong
// text would be worse than none.
type sourceText struct {
	files map[string][]string // paths by base name
	lines map[string][]string
}

func newSourceText(dir string) *sourceText {
	s := &sourceText{files: make(map[string][]string), lines: make(map[string][]string)}
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read is not shown
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && name != dir:
			return filepath.SkipDir
		case e.Type().IsRegular():
			s.files[e.Name()] = append(s.files[e.Name()], name)
		}
		return nil
	})
	return s
}

// line is the text of a line, "" if it is not known.
func (s *sourceText) line(file string, line int64) string {
	base := path.Base(file)
	lines, ok := s.lines[base]
	if !ok {
		if found := s.files[base]; len(found) == 1 {
			lines = readLines(found[0])
		}
		s.lines[base] = lines
	}
	if line < 1 || line > int64(len(lines)) {
		return ""
	}
	return lines[line-1]
}

func readLines(name string) (lines []string) {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	in := bufio.NewScanner(io.LimitReader(f, maxSource))
	in.Buffer(nil, maxSource)
	for in.Scan() {
		lines = append(lines, strings.TrimRight(in.Text(), " \t\r"))
	}
	return slices.Clip(lines)
}
