package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// recorded is how long a run takes that is recorded, in seconds: the version before, and the other makes as many passes.
const recorded = "1"

// record records both sides of all pairs, and has Callgrind count their branches.
func (s *settings) record(ctx context.Context) error {
	for i := range s.pairs {
		p := &s.pairs[i]
		if err := s.recordPair(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, side := range sides {
			if err := s.count(ctx, p, side); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}

func (s *settings) recordPair(ctx context.Context, p *pair) error {
	dir := s.path(p, "recorded")
	if exists(dir) {
		return nil
	}
	words := s.command(p, sides[0], "seconds", recorded)
	passes, err := output(exec.CommandContext(ctx, words[0], words[1:]...))
	if err != nil {
		return err
	}
	args := []string{"record", "-q", "-o", dir + ".part"}
	for _, side := range sides {
		args = append(args, "--"+side, strings.Join(s.command(p, side, "passes", strings.TrimSpace(passes)), " "))
	}
	if _, err := output(exec.CommandContext(ctx, s.profdiff, args...)); err != nil {
		return err
	}
	return os.Rename(dir+".part", dir)
}

// counts is the file of Callgrind of a side.
func (s *settings) counts(p *pair, side string) string { return s.path(p, "callgrind.out."+side) }

// count has Callgrind count two passes. The runtime of Go does not survive it with threads that interrupt each other.
func (s *settings) count(ctx context.Context, p *pair, side string) error {
	file := s.counts(p, side)
	if exists(file) {
		return nil
	}
	args := append([]string{
		"--tool=callgrind", "--branch-sim=yes", "--dump-instr=yes", "--collect-jumps=yes", "--callgrind-out-file=" + file + ".part",
	}, s.command(p, side, "passes", "2")...)
	cmd := exec.CommandContext(ctx, "valgrind", args...)
	if p.language == "Go" {
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", "GOGC=off")
	}
	if _, err := output(cmd); err != nil {
		return err
	}
	return os.Rename(file+".part", file)
}
