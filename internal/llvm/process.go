package llvm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	defaultTimeout = 2 * time.Minute
	// What a tool says on standard error beyond this is dropped.
	stderrLimit = 1 << 20
	// How long the pipes of a killed tool may stay open.
	waitDelay = 2 * time.Second
)

// process is one run of a tool.
type process struct {
	path    string
	args    []string
	stdin   []byte
	stdout  int // the most bytes it may print
	timeout time.Duration
}

// output is what a tool printed.
type output struct {
	stdout, stderr []byte
	code           int // exit status
}

var errTooMuch = errors.New("prints more than expected")

// capture keeps the first bytes written to it. Past its limit it fails the writer, or
// drops what comes if it is lenient.
type capture struct {
	buf      bytes.Buffer
	limit    int
	lenient  bool
	overflow func()
}

func (c *capture) Write(p []byte) (int, error) {
	room := c.limit - c.buf.Len()
	if len(p) <= room {
		return c.buf.Write(p)
	}
	c.buf.Write(p[:room])
	if c.lenient {
		return len(p), nil
	}
	c.overflow()
	return room, errTooMuch
}

// run runs a tool to its end, without a shell. A tool that exits with a status other
// than 0 is not an error here: llvm-mca's status says less than what it prints. A tool
// that cannot be started, takes too long, prints too much or dies of a signal is.
func run(ctx context.Context, p process) (output, error) {
	name := filepath.Base(p.path)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if p.timeout == 0 {
		p.timeout = defaultTimeout
	}
	tooLong := fmt.Errorf("%s: timeout: no result after %v", name, p.timeout)
	ctx, stop := context.WithTimeoutCause(ctx, p.timeout, tooLong)
	defer stop()

	cmd := exec.CommandContext(ctx, p.path, p.args...)
	// llvm-objdump must not ask servers for debug files.
	cmd.Env = append(cmd.Environ(), "DEBUGINFOD_URLS=")
	cmd.Stdin = bytes.NewReader(p.stdin)
	stdout := &capture{limit: p.stdout, overflow: func() {
		cancel(fmt.Errorf("%s: %w: over %d bytes", name, errTooMuch, p.stdout))
	}}
	stderr := &capture{limit: stderrLimit, lenient: true}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = waitDelay
	killGroup(cmd)

	err := cmd.Run()
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return output{}, cause
	}
	out := output{stdout: stdout.buf.Bytes(), stderr: stderr.buf.Bytes()}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		out.code = exit.ExitCode()
		if out.code < 0 {
			return output{}, fmt.Errorf("%s: %v%s", name, exit, excerpt(out.stderr))
		}
		return out, nil
	}
	if err != nil {
		return output{}, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// excerpt is the first line of what a tool said, to be put behind a message.
func excerpt(stderr []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(stderr), []byte("\n"))
	if len(line) == 0 {
		return ""
	}
	if len(line) > 200 {
		line = line[:200]
	}
	return fmt.Sprintf(": %s", bytes.ToValidUTF8(line, []byte("?")))
}
