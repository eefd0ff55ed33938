// Package command runs programs and says what became of them.
//
//  1. A command line is split into words, or given to a shell if only that can read it.
//  2. The program runs in a process group of its own, which ends when the context does, and on
//     Linux when this process does (prctl(2), PR_SET_PDEATHSIG).
//  3. The end of what it prints is kept; a failure names the program, its status and the
//     last line of its standard error.
package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Words splits a command line. One that needs a shell is given to one, so that the
// recording of another has no shell in it.
func Words(command string) []string {
	if words := unquote(command); words != nil {
		return words
	}
	if strings.ContainsAny(command, "|&;<>()$`\\\"'*?[]#~{}!\n") || strings.Contains(FirstWord(command), "=") {
		return []string{"/bin/sh", "-c", command}
	}
	return strings.Fields(command)
}

// unquote takes apart what [Quote] made, nil if it did not.
func unquote(command string) (words []string) {
	if !strings.Contains(command, "'") {
		return nil
	}
	for rest := command; rest != ""; {
		word, quoted, end := "", false, false
		for rest != "" && !end {
			switch {
			case rest[0] == ' ':
				end = true
			case strings.HasPrefix(rest, `\'`):
				word, rest = word+"'", rest[1:]
			case rest[0] == '\'':
				inside, after, closed := strings.Cut(rest[1:], "'")
				if !closed {
					return nil
				}
				word, rest, quoted = word+inside, after, true
				continue
			case strings.IndexByte(safe, rest[0]) < 0 || rest[0] == '=' && len(words) == 0:
				return nil
			default:
				word += rest[:1]
			}
			rest = rest[1:]
		}
		if word != "" || quoted {
			words = append(words, word)
		}
	}
	return words
}

// safe are characters that mean nothing to a shell.
const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%"

// quote makes one word for a shell.
func quote(word string) string {
	if word != "" && strings.Trim(word, safe) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Quote makes one command line of words, for a shell or for [Words].
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// FirstWord is the program that a command line runs.
func FirstWord(command string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return word
}

// File is where the program is that a command line runs in a folder, "" if it is not to be
// found.
func File(dir, command string) string {
	name := FirstWord(command)
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	name, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return name
}

// MaxOutput is how much is kept of what a command prints.
const MaxOutput = 1 << 20

// ErrNotFound says that a program is not installed.
var ErrNotFound = exec.ErrNotFound

// A Tail keeps the last Max bytes that are written to it, and more for a while.
type Tail struct {
	Max int
	buf bytes.Buffer
}

// Write implements [io.Writer].
func (t *Tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - 2*t.Max; over > 0 {
		t.buf.Next(t.buf.Len() - t.Max)
	}
	return len(p), nil
}

// Bytes are the last Max bytes.
func (t *Tail) Bytes() []byte {
	if over := t.buf.Len() - t.Max; over > 0 {
		t.buf.Next(over)
	}
	return t.buf.Bytes()
}

// An ExitError is a command that ran and failed.
type ExitError struct {
	Name   string
	State  string // "exit status 3", "signal: aborted"
	Stderr string // last line
	Killed bool   // by a signal
}

func (e *ExitError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("%s: %s", e.Name, e.State)
	}
	return fmt.Sprintf("%s: %s: %s", e.Name, e.State, e.Stderr)
}

// A Process is a program that ran to its end.
type Process struct {
	Start    time.Time
	Duration time.Duration
	// User and System are its CPU time, with that of its children; 0 if it is not known.
	User, System time.Duration
	Output       []byte // standard output, its end: see [Program]
}

// A Program is what to run, and where.
type Program struct {
	Argv []string
	Dir  string   // "" is the working directory
	Env  []string // as of [os.Environ]; nil is the environment of this process
	// Input is what the program reads; nil is nothing.
	Input io.Reader
	// Stderr receives what the program writes there. It may be nil.
	Stderr *Tail
	// MaxOutput is how many bytes are kept of the end of what the program prints, 0 for
	// [MaxOutput].
	MaxOutput int
	// Attended programs have the standard files and the process group of this process: nothing
	// of their output is kept, but for Stderr, and ^C reaches them.
	Attended bool
}

// patience is how long a program may take to end when it is told to, before it is killed: less
// than profdiff itself has, for else the program would be left behind.
const patience = 500 * time.Millisecond

// Run runs a program in the working directory; stderr may be nil.
func Run(ctx context.Context, argv []string, stderr *Tail) (*Process, error) {
	return Program{Argv: argv, Stderr: stderr}.Run(ctx)
}

// Run runs the program to its end. If ctx ends first, the program and what it started
// end too; if this process is killed, the program is told to end.
func (r Program) Run(ctx context.Context) (*Process, error) {
	argv, stderr := r.Argv, r.Stderr
	if len(argv) == 0 {
		return nil, errors.New("an empty command")
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env, r.Input
	stdout := &Tail{Max: cmp.Or(r.MaxOutput, MaxOutput)}
	if stderr == nil {
		stderr = &Tail{Max: 64 << 10}
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	end := group(cmd, !r.Attended)
	kill := time.AfterFunc(time.Hour, func() { _ = end(os.Kill) }) // it may have ended just now
	kill.Stop()
	defer kill.Stop()
	cmd.Cancel = func() error {
		if !r.Attended { // a recorder that is attended writes what it has
			kill.Reset(patience)
		}
		return end(syscall.SIGTERM)
	}
	if r.Attended {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if r.Stderr != nil {
			cmd.Stderr = io.MultiWriter(os.Stderr, r.Stderr)
		}
	}
	cmd.WaitDelay = 5 * time.Second
	// The signal is sent when the thread ends that started the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := &Process{Start: time.Now()}
	err := cmd.Run()
	p.Duration = time.Since(p.Start)
	p.Output = stdout.Bytes()
	if cmd.ProcessState != nil {
		p.User, p.System = cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()
	}
	switch exit, failed := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		return p, context.Cause(ctx)
	case failed:
		status, ok := exit.Sys().(syscall.WaitStatus)
		return p, &ExitError{argv[0], exit.Error(), LastLine(stderr.Bytes()), ok && status.Signaled()}
	case errors.Is(err, ErrNotFound):
		return nil, fmt.Errorf("%s: is not installed: %w", argv[0], ErrNotFound)
	case errors.Is(err, syscall.EMFILE):
		return nil, fmt.Errorf("%s: %w: raise ulimit -n", argv[0], syscall.EMFILE)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok { // fork/exec
		return nil, fmt.Errorf("%s: %w", argv[0], pe.Err)
	}
	return p, err
}

// LastLine is the last line of what a program wrote that is not empty.
func LastLine(text []byte) string {
	for _, line := range slices.Backward(bytes.Split(text, []byte("\n"))) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(line[:min(len(line), 300)])
		}
	}
	return ""
}

// After is the rest of the line after a marker in what a program wrote, "" without it.
func After(text, marker string) string {
	_, rest, _ := strings.Cut(text, marker)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
