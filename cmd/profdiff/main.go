// Profdiff reads recordings of Android's simpleperf and Linux perf, converts them
// to pprof, and says what a change made faster or slower.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/limit"
	"profdiff/internal/output"
	"profdiff/internal/perffile"
	"profdiff/internal/report/text"
	"profdiff/internal/spelling"
)

func main() { os.Exit(program(os.Args[1:])) }

// program is what main does, up to the exit code.
func program(args []string) int {
	// Tables of a recording are large and hold few pointers: collecting whenever the
	// heap has grown by a quarter is cheap and keeps the peak near what is in use.
	// While the heap is small that would be all the time; the ballast makes it count
	// as 32 MB more, of which the system never gets to see a page.
	debug.SetGCPercent(25)
	ballast := make([]byte, limit.Ballast)
	ctx, interrupted := watchSignals(failure(args))
	code := execute(ctx, args, os.Stdin, os.Stdout, os.Stderr)
	runtime.KeepAlive(ballast)
	return interrupted(code)
}

// recordingsRead is called when all is read and a report is to be made of it. A report is
// small beside what was compared: to look for garbage in all that as often as while it grew
// would cost more than there is to gain.
func recordingsRead() { debug.SetGCPercent(100) }

// Exit codes.
const (
	exitOK           = 0
	exitBudget       = 1 // a budget failed
	exitUsage        = 2
	exitInput        = 3 // an input could not be read or an output not be written
	exitInconclusive = 4
)

// stdio are the standard streams.
type stdio struct {
	in       io.Reader
	out, err io.Writer
	// outputs are the files that the command writes.
	outputs output.Set
	memory  memoryFlag
	color   colorFlag
}

// execute is main without the process.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	io := &stdio{in: stdin, out: stdout, err: stderr, color: "auto"}
	root := newRoot(io)
	root.SetArgs(args)
	help := &helpWriter{Writer: stdout}
	root.SetOut(help)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = standardOutput(help.err)
	}
	outcome, ended := errors.AsType[*outcomeError](err)
	if err == nil || ended {
		if failed := io.outputs.Commit(); failed != nil {
			err, ended = failed, false
		}
	} else {
		err = errors.Join(err, io.outputs.Discard())
	}
	switch {
	case err == nil:
		return exitOK
	case ended:
		return outcome.code
	}
	io.report(err)
	if usage, ok := errors.AsType[*usageError](err); ok && !bisects(args) {
		if usage.command != nil {
			fmt.Fprintf(stderr, "usage: %s\n", usage.command.UseLine())
		}
		return exitUsage
	}
	return failure(args)
}

// failure is the exit code when an input cannot be read.
func failure(args []string) int {
	if bisects(args) {
		return exitAbort
	}
	return exitInput
}

func newRoot(io *stdio) *cobra.Command {
	root := &cobra.Command{
		Use:   "profdiff",
		Short: "Say what a change made faster or slower, by recordings of perf and simpleperf",
		Example: `  profdiff record --before ./old --after ./new -o runs
  profdiff diff runs --html report.html`,
		Long: `Profdiff reads recordings of Android's simpleperf and Linux perf and the profiles
made from them, converts them to pprof, and says what a change made faster or
slower.

Functions are named by what the recording has of them, then by object files, each of
which is used only if it is the one that was recorded: those in --symfs DIR; those in
symbols and binary_cache beside the recording, and in symbols beside before and after,
as profdiff record lays them out; the recorded paths on this machine and the debug files
of its packages (/usr/lib/debug, .gnu_debuglink, .gnu_debugaltlink); perf's cache
(~/.debug, or buildid.dir of its configuration); the debuginfod servers in
DEBUGINFOD_URLS, if that is set. What a compiler split off (.dwo, .dwp) is looked for
beside the program and where the compiler ran. Of the kernel, kallsyms is looked for in
symbols and beside before and after, too. A build ID tells which file it is. Without
one, size, inode and time of change may not contradict the recording, and a warning says
which files were taken: of those with the recorded inode, which have samples. What is no
regular file is never opened.

A static function is told apart from others of its name by its file, parse@lexer.c, where
a binary has several, or by its address, parse@0x1240, if its file is not known. The name
is the plain one where there is but one. --focus, other patterns and budgets take either:
parse is all of them. Stubs that call a shared library are named by what they call,
malloc@plt.

Outputs appear when a command has ended well, all of them, or none does. A file that is
read is never replaced; one that is there keeps its mode, and a link to one stays a link.
The exit code is 0, or 1 if a budget failed, 2 after a wrong command line, 3 if an input
cannot be read or an output not be written, 4 if it cannot be told whether budgets hold, and 128 + N
after signal N, which a command obeys within a second and a second one ends at once.

PROFDIFF_SYSROOT=DIR in the environment says where the files of this machine are
looked for: / if it is not set, nowhere if the directory is empty. DEBUGINFOD_URLS,
DEBUGINFOD_CACHE_PATH, DEBUGINFOD_TIMEOUT and so on are those of debuginfod-find, with
whose cache files are shared. A command waits for servers for two minutes at most, or
for DEBUGINFOD_MAXTIME seconds if that is more.

Where an input is expected, pyroscope://HOST[:PORT]/SERVICE and parca://HOST[:PORT]/JOB ask a
server for what it has of the last hour. Parameters behind a question mark ask for more: from=
and until= for another time (now-2h, now-7d, 2026-01-31, 2026-01-31T12:00:00Z), type= for
another type of profiles than the CPU's, LABEL=VALUE for those with a label. It is +https
behind the protocol, pyroscope+https://, that asks for TLS. Credentials are never part of an
address: PROFDIFF_TOKEN, or PROFDIFF_USER and PROFDIFF_PASSWORD, sign in, PROFDIFF_TENANT
names a tenant. A server merges its profiles, so that nothing tells how much they vary: what
it answers is one run, compared by shares, and there are leads and no verdicts.

Verdicts are words for people, by what is measured: time (cycles, CPU time, time off the
CPU, latencies), an amount (misses, faults, bytes, instructions), or a value of which it is known
what is better. JSON, CSV and what is written for other programs have identifiers:

` + wordsTable() + `
Fell and rose are the identifiers of metrics of which it is not known what is better: less and more.
One run a side has leads, no verdicts: ▽ less and △ more. Leads of few samples, fewer than 100 on both
sides together, stand behind the others; of what several events tell, that event counts where it is
strongest.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       versionText(),
		Args:          noCommand,
		PersistentPreRun: func(cmd *cobra.Command, args []string) {
			limit.Set(io.memory.bytes())
			if less := cmd.Annotations[needsLess]; less != "" {
				limit.Advise(less)
			}
			io.outputs.Inputs = func() []string { return inputsOf(cmd, args) }
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.PersistentFlags().Var(&io.memory, "max-memory", "end with exit code 3 rather than use more memory than `SIZE`, such as 800M or 2G, or none; "+
		"by default half of what the machine has left, or three quarters of what the control group allows if that is less")
	root.PersistentFlags().Var(&io.color, "color", "colour words on a terminal: `WHEN` is auto, always or never")
	root.SetIn(io.in)
	root.SetErr(io.err)
	root.SetFlagErrorFunc(unknownFlag)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(cmd, false) })
	root.SetHelpCommand(helpCommand())
	root.AddCommand(newConvertCmd(io), newShowCmd(io), newDumpCmd(io), newDiffCmd(io), newBranchesCmd(io), newCalibrateCmd(io), newPredictCmd(io), newLoopsCmd(io), newRecordCmd(io), newSelfTestCmd(io), newCheckCmd(io), newBudgetCmd(io), newFleetCmd(io), newReportCmd(io))
	return root
}

// noCommand is reached by profdiff WORD where WORD is no command.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return nil
}

// unknownCommand says which one is spelt alike.
func unknownCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Root().Commands() {
		names = append(names, c.Name())
	}
	if name := spelling.Closest(word, names); name != "" {
		return usagef(cmd, "unknown command %q: did you mean %s?", word, name)
	}
	return usagef(cmd, "unknown command %q, see profdiff --help", word)
}

// unknownFlag is the error of flags that cannot be read, with the flag that is spelt alike where
// there is no such one.
func unknownFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if name := spelling.Closest(unknown.GetSpecifiedName(), names); name != "" {
			err = fmt.Errorf("%w: did you mean --%s?", err, name)
		}
	}
	return &usageError{cmd, err}
}

// A usageError is a wrong way to call a command.
type usageError struct {
	command *cobra.Command
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// args makes a check of the number of arguments that gives a usageError. It says which argument of the
// usage line is missing, or which one is too many.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		if counted := strings.Contains(err.Error(), " arg(s)"); counted && len(args) < len(operands(cmd)) {
			err = fmt.Errorf("%s is missing", operands(cmd)[len(args)])
		} else if counted {
			err = fmt.Errorf("%q is one argument too many", args[len(args)-1])
		}
		return &usageError{cmd, err}
	}
}

// operands are the arguments that a command needs, as its usage line names them.
func operands(cmd *cobra.Command) (names []string) {
	for _, word := range strings.Fields(cmd.Use)[1:] {
		name := strings.TrimRight(word, ".…")
		if strings.ToUpper(name) != name || strings.ContainsAny(name, "[-<") {
			break
		}
		names = append(names, name)
	}
	return names
}

func usagef(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{cmd, fmt.Errorf(format, args...)}
}

// say prints a line on standard error, or several if an error has several. What comes from files
// and their names cannot command a terminal, and no line of it begins one that the log of a
// build takes for a command.
func (s *stdio) say(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		line = "profdiff: " + text.Printable(strings.TrimSuffix(line, "\n"))
		if width := columns(s.err); width > 0 && isTerminal(s.err) {
			line = strings.Join(text.Wrap(line, width, width-2), "\n  ")
		}
		fmt.Fprintln(s.err, line)
	}
}

// report prints an error, and what may help on the next line. An error has one line, whatever names are in it, but
// for those that show how a command is used.
func (s *stdio) report(err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range several.Unwrap() {
			s.report(err)
		}
		return
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		s.say("%v", err)
		return
	}
	s.say("%s", text.Printable(err.Error()))
	if fe, ok := errors.AsType[*perffile.FormatError](err); ok && fe.Truncated {
		s.say("hint: --allow-truncated reads what there is")
	}
}

// warn prints a condition that does not stop the command, in one line.
func (s *stdio) warn(format string, args ...any) {
	s.say("warning: %s", text.Printable(fmt.Sprintf(format, args...)))
}

func (s *stdio) warnAll(list []string) {
	for _, w := range list {
		s.warn("%s", w)
	}
}

// note prints what is good to know, if there is anything.
func (s *stdio) note(note string) {
	if note != "" {
		s.say("%s", note)
	}
}
