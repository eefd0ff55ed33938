package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/report/diff"
)

// A diffOutput is a format of a comparison.
type diffOutput struct {
	name, purpose string
	lacks         []string // flags for which it has no place
	warns         bool     // it has a place for warnings
	groups        bool     // it has threads, files and categories
	stacks        bool     // it is made of whole stacks
	one           string   // what holds one event only, "" if it holds all
	// write is nil for text, where flags choose what is shown.
	write func(io.Writer, *diff.Document, diff.Options) error
}

// Flags that choose what a text shows, those for which only Markdown has a place besides,
// and what chooses functions.
var (
	viewFlags  = []string{"tree", "bottom-up", "min-share", "callers", "lines", "by", "full", "quiet"}
	tableFlags = append(slices.Clip(viewFlags), "total", "limit")
	stackFlags = append(slices.Clip(tableFlags), "focus")
)

// diffOutputs are the values of --format.
var diffOutputs = []diffOutput{
	{name: "text", warns: true},
	{name: "json", lacks: tableFlags, warns: true, groups: true, write: func(w io.Writer, d *diff.Document, _ diff.Options) error {
		return diff.WriteJSON(w, d)
	}},
	{name: "csv", lacks: tableFlags, write: func(w io.Writer, d *diff.Document, _ diff.Options) error {
		return diff.WriteCSV(w, d)
	}},
	{name: "markdown", purpose: " for a pull request", lacks: viewFlags, warns: true, write: diff.WriteMarkdown},
	{name: "folded", purpose: " for flamegraph.pl", lacks: stackFlags, stacks: true, one: "folded stacks hold", write: func(w io.Writer, d *diff.Document, _ diff.Options) error {
		return diff.WriteFolded(w, d, 0)
	}},
	{name: "pprof", purpose: ", the default if -o ends in .pb.gz", lacks: stackFlags, stacks: true, write: func(w io.Writer, d *diff.Document, _ diff.Options) error {
		return diff.WritePprof(w, d)
	}},
}

// diffFormats lists the formats, or what they are for.
func diffFormats(purpose bool) string {
	var list []string
	for i := range diffOutputs {
		o := &diffOutputs[i]
		if purpose {
			list = append(list, o.name+o.purpose)
		} else {
			list = append(list, o.name)
		}
	}
	last := len(list) - 1
	if purpose {
		return strings.Join(list[:last], ", ") + ", or " + list[last]
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// diffFormat checks --format and what goes with it. Without the flag the name of the
// output chooses.
func diffFormat(cmd *cobra.Command, std *stdio, format, output string) (*diffOutput, error) {
	if !cmd.Flags().Changed("format") && strings.HasSuffix(output, ".pb.gz") {
		format = "pprof"
	}
	i := slices.IndexFunc(diffOutputs, func(o diffOutput) bool { return o.name == format })
	if i < 0 {
		return nil, usagef(cmd, "--format is %s, not %q", diffFormats(false), format)
	}
	o := &diffOutputs[i]
	if err := formatLacks(cmd, format, o.lacks...); err != nil {
		return nil, err
	}
	if format == "pprof" && output == "-" && isTerminal(std.out) {
		return nil, usagef(cmd, "a pprof profile is binary: not written to a terminal")
	}
	return o, nil
}

// checkDiffView refuses flags that a view of a comparison would ignore.
func checkDiffView(cmd *cobra.Command, tree, view bool) error {
	for _, flag := range []string{"bottom-up", "min-share"} {
		if cmd.Flags().Changed(flag) && !tree {
			return usagef(cmd, "--%s needs --tree", flag)
		}
	}
	for _, flag := range []string{"by", "total"} {
		if cmd.Flags().Changed(flag) && view {
			return usagef(cmd, "--%s does not go with --tree, --lines and --callers", flag)
		}
	}
	return nil
}

// check refuses a comparison that the format cannot hold. Warnings that it has no place for
// go to standard error.
func (o *diffOutput) check(cmd *cobra.Command, std *stdio, d *diff.Document) error {
	if o.one != "" && len(d.Events) > 1 {
		names := make([]string, len(d.Events))
		for i := range names {
			names[i] = d.Events[i].Name
		}
		return usagef(cmd, "%s one event: choose by --event: it has %s", o.one, strings.Join(names, ", "))
	}
	if !o.warns {
		std.warnOf(d)
	}
	return nil
}

// warnOf prints the warnings of a comparison whose output has no place for them.
func (s *stdio) warnOf(d *diff.Document) { s.warnAll(d.Design.Warnings) }
