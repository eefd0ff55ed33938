package main

import (
	"context"
	"fmt"
	"os"
	"path"

	"profdiff/internal/debuginfod"
	"profdiff/internal/objects"
)

// debuginfod is the client of the servers that the environment names, nil if it names none.
func (s *stdio) debuginfod(ctx context.Context) objects.Fetcher {
	opt := debuginfod.Options{
		Getenv: os.Getenv, Warn: func(text string) { s.warn("%s", text) }, Log: s.err, UserAgent: "profdiff/" + version(),
	}
	if s.terminal() || os.Getenv("DEBUGINFOD_PROGRESS") != "" {
		opt.Progress = s.downloading
	}
	if c := debuginfod.New(ctx, opt); c != nil {
		return c
	}
	return nil
}

// downloading shows how far a download is, in a line that is rewritten.
func (s *stdio) downloading(p debuginfod.Progress) {
	const mb = 1e6
	switch {
	case p.Server == "":
		fmt.Fprint(s.err, "\r\x1b[K")
	case p.Total > 0:
		fmt.Fprintf(s.err, "\r\x1b[K%s: %.1f of %.1f MB from %s", path.Base(p.Name), float64(p.Done)/mb, float64(p.Total)/mb, p.Server)
	default:
		fmt.Fprintf(s.err, "\r\x1b[K%s: %.1f MB from %s", path.Base(p.Name), float64(p.Done)/mb, p.Server)
	}
}
