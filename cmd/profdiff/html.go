package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	branchdiff "profdiff/internal/branch/diff"
	"profdiff/internal/input"
	"profdiff/internal/listing"
	"profdiff/internal/objects"
	"profdiff/internal/report/branches"
	"profdiff/internal/report/diff"
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

// options say how a report is written.
func (f *htmlFlags) options() html.Options {
	opt := html.Options{Tool: reportTool(), Paths: f.source != ""}
	if f.source != "" {
		opt.Source = listing.NewSource(os.DirFS(f.source))
	}
	return opt
}

// parts are what a report has of a comparison, nil if there is to be none.
func (f *htmlFlags) parts(l *loader) *diff.Page {
	if f.file == "" {
		return nil
	}
	recordingsRead()
	p := &diff.Page{Listing: listing.Options{Objects: l.opt.Objects}, Digest: f.read.Of}
	if f.source != "" {
		p.Listing.Source = listing.NewSource(os.DirFS(f.source))
	}
	return p
}

// branches is the document of a comparison of branches, with their code if there is to be a
// report.
func (f *htmlFlags) branches(c *branchdiff.Result, files *objects.Store) *branches.DiffDocument {
	if f.file == "" {
		return branches.NewDiff(c, nil)
	}
	return branches.NewDiff(c, &branches.Page{Listings: branches.DiffListingsOf(c, files), Source: f.options().Source})
}

// write writes a document, if one was asked for.
func (f *htmlFlags) write(std *stdio, d *html.Document) error {
	return std.writeOutput(f.file, func(w io.Writer) error { return html.Write(w, d) })
}
