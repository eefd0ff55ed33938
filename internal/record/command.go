package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// words splits a command line. One that needs a shell is given to one, so that the
// recording of another has no shell in it.
func words(command string) []string {
	if strings.ContainsAny(command, "|&;<>()$`\\\"'*?[]#~{}!\n") || strings.Contains(firstWord(command), "=") {
		return []string{"/bin/sh", "-c", command}
	}
	return strings.Fields(command)
}

// quote makes one word for a shell.
func quote(word string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%"
	if word != "" && strings.Trim(word, safe) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Quote makes one command line of words, for a shell or for a [Command].
func Quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

func firstWord(command string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return word
}

// A tail keeps the last bytes that are written to it.
type tail struct {
	buf bytes.Buffer
	max int
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - 2*t.max; over > 0 {
		t.buf.Next(t.buf.Len() - t.max)
	}
	return len(p), nil
}

func (t *tail) Bytes() []byte {
	if over := t.buf.Len() - t.max; over > 0 {
		t.buf.Next(over)
	}
	return t.buf.Bytes()
}

// An exitError is a command that ran and failed.
type exitError struct {
	name   string
	state  string
	stderr string // last line
	killed bool   // by a signal
}

func (e *exitError) Error() string {
	if e.stderr == "" {
		return fmt.Sprintf("%s: %s", e.name, e.state)
	}
	return fmt.Sprintf("%s: %s: %s", e.name, e.state, e.stderr)
}

// run runs a program to its end. If ctx ends first, the program and what it started
// end too; if this process is killed, the program is told to end. stderr receives what the program writes there, it may be nil.
func run(ctx context.Context, argv []string, stderr *tail) (*Result, error) {
	if len(argv) == 0 {
		return nil, errors.New("an empty command")
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	stdout := &tail{max: MaxOutput}
	if stderr == nil {
		stderr = &tail{max: 64 << 10}
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	// The signal is sent when the thread ends that started the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &Result{Start: time.Now()}
	err := cmd.Run()
	r.Duration = time.Since(r.Start)
	r.Output = stdout.Bytes()
	if cmd.ProcessState != nil {
		r.User, r.System = cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()
	}
	switch exit, failed := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case failed:
		status, ok := exit.Sys().(syscall.WaitStatus)
		return r, &exitError{argv[0], exit.Error(), lastLine(stderr.Bytes()), ok && status.Signaled()}
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%s: is not installed: %w", argv[0], exec.ErrNotFound)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok { // fork/exec
		return nil, fmt.Errorf("%s: %w", argv[0], pe.Err)
	}
	return r, err
}
