package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// A flagGroup is flags that stand together in the help of commands.
type flagGroup struct {
	title string
	// flags are their names, what is used most first; "event:record" is the one of record, where
	// other commands mean something else by the name.
	flags string
}

// flagGroups are the groups in their order.
var flagGroups = []flagGroup{
	{"Inputs", `from base head stored-baseline benchmark base-values head-values stat stat-base stat-head
		binary binary-before binary-after branches branches-before:predict branches-after:predict
		function loop unit straight allow-bad-runs allow-truncated max-memory`},
	{"What to record", `before after git build process:record process:selftest app system-wide duration event:record event:selftest
		frequency count:record count:selftest call-graph call-chains off-cpu prepare prepare-before prepare-after
		with simpleperf recorder-arg device adb all-cores cpu-index`},
	{"Profiles of a fleet", `manifest stored release sample-type device:delete device-id salt-file batch jobs`},
	{"How often", `runs warmup until budget:record focus:record max-runs max-time rounds limit:calibrate seed`},
	{"Budgets", `budget proposed-budget prove strict strict-warn report-only history noise today look look-file
		bisect limit:check`},
	{"What to compare", `before:compare after:compare before:sql after:sql before:rename after:rename similar per sums engine rows ops work normalize reference rename margin unpaired allow-blocked-order cycles
		metric better deadline stall`},
	{"Which samples", `event process thread dso focus ignore during label show-art-frames`},
	{"What to show", `by total lines tree bottom-up callers top all annotate limit min-share full
		categories regions each-thread exact memory count timeline width paths`},
	{"What code costs", `cpu calibration miss-cost rates taken miss miss-rate p llvm timeout`},
	{"Names and sources", `symfs no-debuginfod kallsyms base-kallsyms head-kallsyms
		proguard-mapping base-proguard-mapping head-proguard-mapping unknown source source-root`},
	{"Report", `html html-source html-source-before html-source-after html-source-git html-source-repo html-private show-command
		branches-before branches-after predict`},
	{"Output", `output format out at to names strip color quiet version`},
}

// wordsTable are the words for verdicts beside their identifiers.
func wordsTable() string {
	var b strings.Builder
	row := func(cells ...any) { fmt.Fprintf(&b, "    %-14s  %-14s  %-14s  %s\n", cells...) }
	row("identifier", "of time", "of an amount", "of a value")
	list := verdict.TwoSided
	for _, v := range verdict.Limits {
		if !slices.Contains(list, v) {
			list = append(slices.Clip(list), v)
		}
	}
	for _, v := range list {
		row(v, v.Word(verdict.Time), v.Word(verdict.Amount), v.Word(verdict.Quality))
	}
	return b.String()
}

// groupOf is the title of the group of a flag of a command, and its place there; "" if none has it.
func groupOf(cmd *cobra.Command, flag string) (title string, place int) {
	for _, name := range []string{flag + ":" + cmd.Name(), flag} {
		for _, g := range flagGroups {
			if i := slices.Index(strings.Fields(g.flags), name); i >= 0 {
				return g.title, i
			}
		}
	}
	return "", 0
}

// Columns of help.
const (
	helpWidth  = 80
	flagColumn = 25 // where texts of flags begin
)

// helpCommand prints the help of a command with all that is to be known of it, where --help is
// short.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command in full",
		Long: `Print the help of a command with all that is to be known of it. Without COMMAND, what
holds for all commands: how functions are named, outputs, exit codes, the environment.`,
		Example: "  profdiff help\n  profdiff help diff",
		RunE: func(cmd *cobra.Command, words []string) error {
			of, rest, err := cmd.Root().Find(words)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd, strings.Join(words, " "))
			}
			writeHelp(of, true)
			return nil
		},
	}
}

// writeHelp prints what a command is for, how it is called, examples, and its flags in groups; and
// if all is wanted, what is to be known of it.
func writeHelp(cmd *cobra.Command, all bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n", cmd.Short)
	if all && cmd.Long != "" {
		fmt.Fprintf(&b, "\n%s", reflow(cmd.Long))
	}
	usage := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		usage = cmd.CommandPath() + " COMMAND [flags]"
	}
	fmt.Fprintf(&b, "\nUsage:\n  %s\n", strings.Join(text.Wrap(usage, helpWidth-2, helpWidth-4), "\n    "))
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				writeItem(&b, sub.Name(), sub.Short, 14)
			}
		}
	}
	writeFlags(&b, cmd)
	switch {
	case !all && !cmd.HasParent():
		b.WriteString("\nprofdiff COMMAND --help tells the flags of a command, profdiff help COMMAND\nexplains it, and profdiff help what holds for all.\n")
	case !all && cmd.Long != "":
		fmt.Fprintf(&b, "\n%s explains it in full.\n", strings.Replace(cmd.CommandPath(), "profdiff", "profdiff help", 1))
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, "All commands have %s: see profdiff --help.\n", flagsOfAll(cmd))
	}
	fmt.Fprint(cmd.OutOrStdout(), b.String())
}

// flagsOfAll are the flags that all commands have.
func flagsOfAll(cmd *cobra.Command) string {
	var list []string
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		name, _ := flagText(f)
		list = append(list, name)
	})
	return strings.Join(list, " and ")
}

// writeFlags writes the flags of a command by group.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	type placed struct {
		*pflag.Flag
		place int
	}
	groups := make(map[string][]placed)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden {
			title, place := groupOf(cmd, f.Name)
			groups[title] = append(groups[title], placed{f, place})
		}
	})
	for _, g := range append(slices.Clone(flagGroups), flagGroup{}) {
		list := groups[g.title]
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b placed) int { return a.place - b.place })
		title := g.title
		if title == "" {
			title = "Other flags"
		}
		fmt.Fprintf(b, "\n%s:\n", title)
		for _, f := range list {
			name, usage := flagText(f.Flag)
			if f.Shorthand == "" {
				name = "    " + name
			}
			writeItem(b, name, usage, flagColumn)
		}
	}
}

// flagText is a flag with what it takes, and what it does with its default.
func flagText(f *pflag.Flag) (name, usage string) {
	takes, usage := pflag.UnquoteUsage(f)
	name = "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if takes != "" {
		name += " " + takes
	}
	if d := f.DefValue; d != "" && d != "[]" && d != "false" {
		usage += " (default " + d + ")"
	}
	return name, usage
}

// writeItem writes a name, and beside it a text from a column on; below it if the name is wider.
func writeItem(b *strings.Builder, name, usage string, column int) {
	line := "  " + name
	if text.Width(line)+2 > column {
		fmt.Fprintf(b, "%s\n", line)
		line = ""
	}
	for _, s := range text.Wrap(usage, helpWidth-column, helpWidth-column) {
		fmt.Fprintf(b, "%-*s%s\n", column, line, s)
		line = ""
	}
}

// reflow wraps the paragraphs of a text at the width of help. Indented lines stay as they are.
func reflow(s string) string {
	var b strings.Builder
	var paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			fmt.Fprintf(&b, "%s\n", strings.Join(text.Wrap(strings.Join(paragraph, " "), helpWidth, helpWidth), "\n"))
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line != "" && line[0] != ' ' {
			paragraph = append(paragraph, line)
			continue
		}
		end()
		fmt.Fprintf(&b, "%s\n", line)
	}
	end()
	return b.String()
}
