package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/report/diff"
)

// diffFormat checks --format and what goes with it. Without the flag the name of the
// output chooses.
func diffFormat(cmd *cobra.Command, std *stdio, format, output string) (string, error) {
	if !cmd.Flags().Changed("format") && strings.HasSuffix(output, ".pb.gz") {
		format = "pprof"
	}
	var lacks []string
	switch format {
	case "text":
	case "json", "csv":
		lacks = []string{"tree", "bottom-up", "min-share", "callers", "lines", "by", "total", "limit"}
	case "markdown":
		lacks = []string{"tree", "bottom-up", "min-share", "callers", "lines", "by"}
	case "folded", "pprof":
		lacks = []string{"tree", "bottom-up", "min-share", "callers", "lines", "by", "total", "limit", "focus"}
	default:
		return "", usagef(cmd, "--format is text, json, csv, markdown, folded or pprof, not %q", format)
	}
	if err := formatLacks(cmd, format, lacks...); err != nil {
		return "", err
	}
	if format == "pprof" && output == "-" && isTerminal(std.out) {
		return "", usagef(cmd, "a pprof profile is binary: not written to a terminal")
	}
	return format, nil
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

// diffWriter returns what writes a comparison in a format that other programs read, or
// nil if the format is none of these. Warnings that the output has no place for go to
// standard error.
func diffWriter(cmd *cobra.Command, std *stdio, format string, d *diff.Document, opt diff.Options) (func(io.Writer) error, error) {
	switch format {
	case "json":
		return func(w io.Writer) error { return diff.WriteJSON(w, d) }, nil
	case "markdown":
		return func(w io.Writer) error { return diff.WriteMarkdown(w, d, opt) }, nil
	case "folded":
		if len(d.Events) > 1 {
			names := make([]string, len(d.Events))
			for i := range names {
				names[i] = d.Events[i].Name
			}
			return nil, usagef(cmd, "folded stacks hold one event: choose by --event: it has %s", strings.Join(names, ", "))
		}
	case "csv", "pprof":
	default:
		return nil, nil
	}
	std.warnOf(d)
	switch format {
	case "csv":
		return func(w io.Writer) error { return diff.WriteCSV(w, d) }, nil
	case "folded":
		return func(w io.Writer) error { return diff.WriteFolded(w, d, 0) }, nil
	}
	return func(w io.Writer) error { return diff.WritePprof(w, d) }, nil
}

// warnOf prints the warnings of a comparison whose output has no place for them, but for
// those about a run alone, which are printed with the accounting of its samples.
func (s *stdio) warnOf(d *diff.Document) {
	for _, warning := range d.OwnWarnings() {
		s.warn("%s", warning)
	}
}
