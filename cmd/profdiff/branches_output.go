package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/report/branches"
	"profdiff/internal/symbolizer"
)

// branchesOutputFlags choose what branches writes of one recording.
type branchesOutputFlags struct {
	annotate string
	sources  []string
}

func (f *branchesOutputFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.annotate, "annotate", "", "disassemble `FUNCTION`, a name or an address in it, with what is known of its branches; FILE:FUNCTION if files share the name")
	fs.StringArrayVar(&f.sources, "source", nil, "with --annotate, look for source files in `DIR`, by ever shorter ends of their paths (repeatable)")
}

// check checks the flags together with others. two is set if there are two sides.
func (f *branchesOutputFlags) check(cmd *cobra.Command, std *stdio, format, output string, two bool) error {
	switch {
	case f.annotate != "" && two:
		return usagef(cmd, "--annotate is for one recording")
	case f.annotate != "" && format != "text":
		return usagef(cmd, "--annotate prints text, not %s", format)
	case len(f.sources) > 0 && f.annotate == "":
		return usagef(cmd, "--source goes with --annotate")
	case two && (format == "pprof" || format == "llvm-profile"):
		return usagef(cmd, "--format %s is for one recording", format)
	case format == "pprof" && output == "-" && isTerminal(std.out):
		return usagef(cmd, "a pprof profile is binary: not written to a terminal")
	case format == "llvm-profile" && output == "-":
		return usagef(cmd, "--format llvm-profile writes two files, -o names what they start with")
	}
	for _, dir := range f.sources {
		if !isDir(dir) {
			return usagef(cmd, "--source: %s is not a directory", dir)
		}
	}
	return nil
}

// write writes a table as the flags say.
func (f *branchesOutputFlags) write(std *stdio, t *branch.Table, symfs []symbolizer.SearchPath, format, output string, opt branches.Options) error {
	switch {
	case format == "llvm-profile":
		return std.writeLLVMProfiles(t, symfs, output)
	case f.annotate != "":
		l, err := annotate.Function(t, f.annotate, symfs)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		return std.writeOutput(output, func(w io.Writer) error {
			return branches.WriteListing(w, t, l, sourceLines(f.sources))
		})
	}
	return std.writeOutput(output, func(w io.Writer) error {
		switch format {
		case "json":
			return branches.WriteJSON(w, t, opt)
		case "pprof":
			if err := branches.WritePprof(w, t); err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
			return nil
		}
		return branches.WriteText(w, t, opt)
	})
}

// writeLLVMProfiles writes PREFIX.freq.prof and PREFIX.misp.prof.
func (s *stdio) writeLLVMProfiles(t *branch.Table, symfs []symbolizer.SearchPath, prefix string) error {
	p, err := branches.NewLLVMProfiles(t, annotate.Frames(t, symfs))
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	if err := s.writeOutput(prefix+".freq.prof", p.WriteFrequencies); err != nil {
		return err
	}
	if err := s.writeOutput(prefix+".misp.prof", p.WriteMisses); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "profdiff: %s: %s\n", t.Name, p.Accounting())
	return nil
}

// largestSource bounds a source file, in bytes.
const largestSource = 32 << 20

// sourceLines looks for source files under directories, nil if there are none. For a file
// a/b/c.h it takes a/b/c.h, else b/c.h, else c.h.
func sourceLines(dirs []string) branches.SourceLines {
	if len(dirs) == 0 {
		return nil
	}
	return func(file string) []string {
		name := strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(file, `\`, "/")), "/")
		for name != "" {
			for _, dir := range dirs {
				root := os.DirFS(dir)
				info, err := fs.Stat(root, name)
				if err != nil || !info.Mode().IsRegular() || info.Size() > largestSource {
					continue
				}
				if text, err := fs.ReadFile(root, name); err == nil {
					return strings.Split(string(text), "\n")
				}
			}
			_, name, _ = strings.Cut(name, "/")
		}
		return nil
	}
}
