package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	branchdiff "profdiff/internal/branch/diff"
	"profdiff/internal/input"
	"profdiff/internal/listing"
	"profdiff/internal/objects"
	"profdiff/internal/privacy"
	"profdiff/internal/report/branches"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/run"
	"profdiff/internal/source"
)

// htmlFlags are the flags of commands that write a report as HTML beside their output.
type htmlFlags struct {
	file   string
	source sourceFlags
	read   input.Digests // of the inputs, if there is to be a report
	text   source.Sides  // which source says
	// What a report tells of who recorded, beside what it is about.
	commands, private bool
}

func (f *htmlFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.file, "html", "", "write a report as one HTML file, too: `FILE`")
	f.source.register(fs)
	fs.BoolVar(&f.commands, "show-command", false, "show the command lines that were recorded with their arguments, in the report and where diff says how to record again, and in JSON, CSV, Markdown and JUnit the directories of files outside of this one")
	fs.BoolVar(&f.private, "html-private", false, "name files in the report without any directory")
}

// check refuses what cannot be written.
func (f *htmlFlags) check(cmd *cobra.Command, output string) error {
	switch {
	case f.file == "" && f.source.named() != "":
		return usagef(cmd, "%s needs --html FILE", f.source.named())
	case f.file == "" && cmd.Flags().Changed("html"):
		return usagef(cmd, "--html needs the name of a file")
	case f.file == "" && f.private:
		return usagef(cmd, "--html-private needs --html FILE")
	case f.private && f.source.both != "":
		return usagef(cmd, "--html-private does not go with --html-source, which shows full paths")
	case f.file != "" && f.file == output:
		return usagef(cmd, "--html and -o both write to %s", output)
	}
	return f.source.check(cmd)
}

// watch digests what a loader reads, and has it keep when samples were taken, if there is to be a report.
func (f *htmlFlags) watch(l *loader) {
	if f.file != "" {
		l.opt.Timeline = true
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
	project, err := os.Getwd()
	if err != nil {
		project = ""
	}
	return html.Options{Tool: reportTool(), Paths: f.source.both != "", Commands: f.commands, Private: f.private, Project: project}
}

// reviewed writes what goes into reviews and to other programs without what tells of the machine and
// the arguments of whoever recorded, unless the user has it shown.
func (f *htmlFlags) reviewed(w io.Writer, inputs []string, write func(io.Writer) error) error {
	o := f.options()
	rule := &privacy.Rule{Paths: o.Paths || o.Commands, Private: o.Private, Project: o.Project}
	outside := slices.DeleteFunc(slices.Clone(inputs), func(name string) bool { return filepath.IsLocal(name) })
	return rule.Write(w, outside, write)
}

// findSource finds the source text of both sides, if there is to be a report. The recordings of
// both are nil where they name no commits.
func (f *htmlFlags) findSource(ctx context.Context, base, head []*run.Run) (err error) {
	if f.file != "" {
		f.text, err = f.source.sides(ctx, base, head)
	}
	return err
}

// parts are what a report has of a comparison, nil if there is to be none.
func (f *htmlFlags) parts(l *loader) *diff.Page {
	if f.file == "" {
		return nil
	}
	recordingsRead()
	return &diff.Page{Listing: listing.Options{Objects: l.opt.Objects, Source: f.text}, Digest: f.read.Of}
}

// branches is the document of a comparison of branches, with their code if there is to be a
// report.
func (f *htmlFlags) branches(c *branchdiff.Result, files *objects.Store) *branches.DiffDocument {
	if f.file == "" {
		return branches.NewDiff(c, nil)
	}
	return branches.NewDiff(c, &branches.Page{Listings: branches.DiffListingsOf(c, files), Source: f.text})
}

// write writes a document, if one was asked for.
func (f *htmlFlags) write(std *stdio, d *html.Document) error {
	return std.writeOutput(f.file, func(w io.Writer) error { return html.Write(w, d) })
}
