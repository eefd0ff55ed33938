package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/report/text"
	"profdiff/internal/run"
)

// drawingFlags are the flags of diff that say how a comparison is shown, not what is compared.
var drawingFlags = append([]string{"color", "max-memory", "format", "focus"}, tableFlags...)

// inputWords are the words of a command line that say what is compared, and how.
func inputWords(cmd *cobra.Command, paths []string) []string {
	words := slices.Clone(paths)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(drawingFlags, f.Name) || slices.Contains(outputFlags, f.Name) || strings.HasPrefix(f.Name, "html") {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		switch f.Value.Type() {
		case "bool":
			words = append(words, "--"+f.Name)
			return
		case "float64Slice":
			values = []string{strings.Join(values, ",")}
		}
		for _, v := range values {
			words = append(words, "--"+f.Name, v)
		}
	})
	return words
}

// linesOf tells of which functions source lines are known in runs.
func linesOf(runs []*run.Run) func(string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(runs, func(r *run.Run) bool {
			return slices.ContainsFunc(r.Locations, func(l run.Location) bool {
				return slices.ContainsFunc(l.Lines, func(line run.Line) bool { return line.Line > 0 && r.Functions[line.Function].Name == name })
			})
		})
	}
}

// shellLines breaks a command at spaces that no quotes enclose into lines that are at most so many
// columns wide, unless a word is wider.
func shellLines(command string, width int) (lines []string) {
	line, word := "", ""
	var quote rune
	escaped := false
	add := func() {
		if line != "" && text.Width(line)+1+text.Width(word) > width {
			lines, line = append(lines, line), ""
		}
		line, word = strings.TrimPrefix(line+" "+word, " "), ""
	}
	for _, r := range command {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case r == ' ' && quote == 0:
			add()
			continue
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		}
		word += string(r)
	}
	add()
	return append(lines, line)
}

// writeNext writes the command that helps most, if there is one: the last line on a terminal. One
// that is too long goes on behind a backslash, as a shell reads it; a word is never broken.
func writeNext(w io.Writer, command string) error {
	if command == "" {
		return nil
	}
	screen := text.ScreenOf(w)
	const label = "next: "
	lines := []string{text.Printable(command)}
	if room := screen.Width() - len(label) - len(" \\"); screen.Width() > 0 && text.Width(lines[0])+len(label) > screen.Width() {
		lines = shellLines(lines[0], room)
	}
	return screen.Verbatim("\n" + screen.Paint(text.Bold, label) + strings.Join(lines, " \\\n"+strings.Repeat(" ", len(label))) + "\n")
}
