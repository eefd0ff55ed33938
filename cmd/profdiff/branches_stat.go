package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/totals"
	"profdiff/internal/ingest"
	"profdiff/internal/input"
)

// errNoStat is for files that are not what perf stat or simpleperf stat prints.
var errNoStat = errors.New("is not of perf stat or simpleperf stat")

// maxStat is more than the totals of a run take, in bytes.
const maxStat = 8 << 20

// readStat reads a file of perf stat or simpleperf stat; "-" is standard input.
func (s *stdio) readStat(name string) (stat *branch.Stat, err error) {
	read := func(name string, r io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(r, maxStat+1))
		if err != nil {
			return err
		}
		if len(data) > maxStat {
			return errNoStat
		}
		stat, err = parseStat(name, data)
		return err
	}
	if name == "-" {
		if err := read("standard input", s.in); err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return stat, nil
	}
	return stat, withFile(name, func(r io.Reader) error { return read(name, r) })
}

// parseStat reads the output of perf stat or simpleperf stat, text or not.
func parseStat(name string, data []byte) (*branch.Stat, error) {
	if branch.IsStatText(data[:min(len(data), 4096)]) {
		return branch.ReadStatText(name, bytes.NewReader(data))
	}
	src, err := input.New(name, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	r, err := ingest.Read(src, &ingest.Options{})
	switch {
	case err != nil:
		return nil, err
	case !strings.HasPrefix(r.Recording.Format, "perf stat") && !strings.HasPrefix(r.Recording.Format, "simpleperf stat"):
		return nil, errNoStat
	}
	stat := &branch.Stat{Name: name, Format: r.Recording.Format, Tool: r.Recording.Tool, Warnings: r.Warnings}
	for _, c := range r.Counters {
		stat.Counters = append(stat.Counters, branch.Counter{Name: c.Name, Value: c.Value, Running: c.Running})
	}
	return stat, nil
}

// statTable reads an input as the output of perf stat -x, perf stat -j or simpleperf
// stat --csv. ok is false if it is none.
func statTable(name string, r io.ReaderAt, size int64, opt *branch.Options) (t *branch.Table, ok bool, err error) {
	if size > maxStat {
		return nil, false, nil
	}
	data, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, false, nil
	}
	stat, err := parseStat(name, data)
	if err != nil {
		return nil, false, nil
	}
	t, err = totals.Table(stat, opt)
	return t, true, err
}
