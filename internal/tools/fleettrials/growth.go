package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
)

// growthCommand measures what fleets of some sizes cost, with commands that a user would run.
func growthCommand(args []string) error {
	flags := flag.NewFlagSet("growth", flag.ExitOnError)
	program := flags.String("profdiff", "profdiff", "the `PROGRAM` to measure")
	dir := flags.String("store", "", "ingest into `DIR`, which must not exist")
	manifest := flags.String("manifest", "", "the profiles of `FILE`, manifest.csv of fleetprofiles")
	engines := flags.String("engines", "profdiff,duckdb", "compare by `ENGINES`")
	header := flags.Bool("header", false, "print the header of the table, too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *header {
		fmt.Println("| profiles | files | ingested: CPU s | profiles a CPU s | memory | store | facts | bytes a fact | compared by | CPU s | s | memory |")
		fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	}
	if _, err := os.Stat(*dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: is there already", *dir)
	}
	in, err := measure(*program, "fleet", "ingest", "--manifest", *manifest, "--out", *dir)
	if err != nil {
		return err
	}
	profiles, err := countProfiles(*dir)
	if err != nil {
		return err
	}
	files, err := size(filepath.Join(filepath.Dir(*manifest), "profiles"))
	if err != nil {
		return err
	}
	all, err := size(*dir)
	if err != nil {
		return err
	}
	factBytes, err := size(filepath.Join(*dir, fleet.TableProfileFunctions))
	if err != nil {
		return err
	}
	facts, err := countFacts(*dir)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("| %d | %.0f MB | %.1f | %.0f | %.0f MB | %.1f MB | %.1f M | %.2f |",
		profiles, mega(files), in.cpu.Seconds(), float64(profiles)/in.cpu.Seconds(), mega(in.memory), mega(all), float64(facts)/1e6, float64(factBytes)/float64(facts))
	for e := range strings.SplitSeq(*engines, ",") {
		c, err := measure(*program, "fleet", "compare", *dir, "--before", "a", "--after", "b", "--engine", e, "--format", "json")
		if err != nil {
			return err
		}
		fmt.Printf("%s %s | %.1f | %.1f | %.0f MB |\n", line, e, c.cpu.Seconds(), c.wall.Seconds(), mega(c.memory))
		line = "| | | | | | | | |"
	}
	return nil
}

func mega(n int64) float64 { return float64(n) / 1e6 }

// A cost is that of a command with all that it started.
type cost struct {
	cpu, wall time.Duration
	memory    int64 // bytes, at most
}

// measure runs a command.
func measure(args ...string) (c cost, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	err = cmd.Run()
	c.wall = time.Since(start)
	// A comparison that finds something ends with 0, as does one that finds nothing.
	if err != nil {
		return c, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.memory = usage.Maxrss << 10
	}
	return c, nil
}

// size is the size of all files below a directory.
func size(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

func countProfiles(dir string) (n int64, err error) {
	s, err := store.Open(dir)
	if err != nil {
		return 0, err
	}
	releases, _, err := query.Contents(s)
	for _, r := range releases {
		n += r.Profiles
	}
	return n, err
}

func countFacts(dir string) (n int64, err error) {
	s, err := store.Open(dir)
	if err != nil {
		return 0, err
	}
	err = s.ProfileFunctions(store.Selection{}, func(rows []fleet.ProfileFunction) error {
		n += int64(len(rows))
		return nil
	})
	return n, err
}
