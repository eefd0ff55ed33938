package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sources are those of the programs.
//
//go:embed testdata
var sources embed.FS

// A program is what both recorders record.
type program struct {
	name, what string
	build      [][]string // commands that make it, in a folder that has the sources
	run        string
}

var programs = []program{
	{"threads", "four threads with names of their own", gcc("-pthread"), "./program threads"},
	{"forks", "four children at the same time", gcc(), "./program forks"},
	{"exec", "a process that executes itself nine times", gcc(), "./program exec 9"},
	{"dlopen", "a library that is loaded and unloaded sixteen times", append(gcc(), []string{"gcc", "-O2", "-fno-omit-frame-pointer", "-shared", "-fPIC", "-DLIBRARY", "-o", "plugin.so", "program.c"}), "./program dlopen"},
	{"static-pie", "a static program that moves", gcc("-static-pie"), "./program alone"},
	{"children", "500 processes, one after the other", gcc(), "./program children"},
	{"short", "some 0.05 s", gcc(), "./program short"},
	{"node map", "Node.js, which names its code in a perf map", [][]string{{"node", "--version"}}, "node --perf-basic-prof work.js"},
	{"node dump", "Node.js, which dumps its code (jitdump)", [][]string{{"node", "--version"}}, "node --perf-prof work.js"},
	{"python", "Python from 3.12 on, which names its code in a perf map", [][]string{{"python3", "-X", "perf", "--version"}, {"python3", "-c", "import sys; assert sys.version_info >= (3, 12)"}}, "python3 -X perf work.py"},
	{"go", "four goroutines and a garbage collector", [][]string{{"cp", "work.go.txt", "work.go"}, {"go", "build", "-o", "work-go", "work.go"}}, "./work-go"},
	{"java", "Java, compiled while it runs, with its threads", [][]string{{"javac", "Work.java"}}, "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit Work"},
}

// gcc builds program.c.
func gcc(flags ...string) [][]string {
	return [][]string{append([]string{"gcc", "-O2", "-fno-omit-frame-pointer", "-o", "program", "program.c"}, flags...)}
}

// make builds the program in a folder.
func (p *program) make(dir string) error {
	files, err := sources.ReadDir("testdata")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := sources.ReadFile("testdata/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), text, 0o666); err != nil {
			return err
		}
	}
	for _, argv := range p.build {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GO111MODULE=off", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, out)
		}
	}
	return nil
}
