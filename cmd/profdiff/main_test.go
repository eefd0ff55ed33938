package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	update   = flag.Bool("update", false, "rewrite expected outputs")
	longMode = flag.Bool("long", false, "try thousands of damaged recordings")
)

func TestMain(m *testing.M) {
	hermetic()
	testscript.Main(m, map[string]func(){"profdiff": main, "measured": measured})
}

// noFiles has no object file of a recording, and no settings.
var noFiles = []string{"PROFDIFF_SYSROOT=" + filepath.Join(os.TempDir(), "no-files"), "DEBUGINFOD_URLS="}

// hermetic keeps files of this machine out of what tests print. It leaves alone what runs as
// profdiff in a script, which has its own environment.
func hermetic() {
	if base := filepath.Base(os.Args[0]); base == "profdiff" || base == "measured" {
		return
	}
	// The tools that tests run find their files by HOME.
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		if os.Getenv(name) == "" {
			if value, err := exec.Command("go", "env", name).Output(); err == nil {
				os.Setenv(name, strings.TrimSpace(string(value)))
			}
		}
	}
	for _, setting := range append(noFiles, "HOME="+filepath.Join(os.TempDir(), "no-home")) {
		name, value, _ := strings.Cut(setting, "=")
		os.Setenv(name, value)
	}
}

// TestScripts runs the command line as a user does. Scripts have these variables:
// HEAP is profiles/message-heap, CASES is mca-cases, FOREIGN is testdata/foreign.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HEAP", filepath.Join(root, "profiles/message-heap"))
			e.Vars = append(e.Vars, noFiles...)
			e.Setenv("STACKS", filepath.Join(root, "internal/userstack/testdata"))
			e.Setenv("INGEST", filepath.Join(root, "internal/ingest"))
			e.Setenv("TRACES", filepath.Join(root, "internal/ingest/traces/testdata"))
			e.Setenv("FREEZE", filepath.Join(root, "profiles/usb-freeze"))
			e.Setenv("CASES", filepath.Join(root, "mca-cases"))
			e.Setenv("FOREIGN", filepath.Join(root, "cmd/profdiff/testdata/foreign"))
			// For go tool pprof.
			for _, name := range []string{"HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "GOFLAGS", "GOPROXY"} {
				if value, ok := os.LookupEnv(name); ok && name != "HOME" {
					e.Setenv(name, value)
				}
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":         exits,
			"perfdata":      perfData,
			"head":          head,
			"filled":        filled,
			"inflated":      inflated,
			"perfruns":      perfRuns,
			"perfdataruns":  perfdataRuns,
			"recorded":      recorded,
			"edit":          edit,
			"perfettotrace": perfettoTrace,
			"fleetstore":    fleetStore,
		},
	})
}

// edit FILE OLD NEW replaces a text that the file has once.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, args[1]); n != 1 {
		ts.Fatalf("edit: %q is in %s %d times", args[1], args[0], n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o666))
}

// exits CODE PROGRAM ARGS runs a program that must end with the exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("exits: %v", err)
	}
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("exits: %v", err)
	}
	if code != want {
		ts.Fatalf("%v: exit code %d, want %d", args[1:], code, want)
	}
}

// inflated REPORT BLOCK FILE writes a block of a report to a file, as JSON.
func inflated(ts *testscript.TestScript, _ bool, args []string) {
	_, rest, ok := strings.Cut(ts.ReadFile(args[0]), `octet-stream" id="`+args[1]+`">`)
	if !ok {
		ts.Fatalf("inflated: %s has no block %s", args[0], args[1])
	}
	text, _, _ := strings.Cut(rest, "<")
	data, err := base64.StdEncoding.DecodeString(text)
	ts.Check(err)
	z, err := gzip.NewReader(bytes.NewReader(data))
	ts.Check(err)
	data, err = io.ReadAll(z)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data, 0o666))
}

// head N FROM TO writes the first N bytes of a file to another.
func head(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("head: %v", err)
	}
	data := []byte(ts.ReadFile(args[1]))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data[:min(n, len(data))], 0o666))
}

// filled DIR NAMES checks that a folder holds these files and no others.
func filled(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if fmt.Sprint(names) != fmt.Sprint(args[1:]) {
		ts.Fatalf("%s holds %q, want %q", args[0], names, args[1:])
	}
}
