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
	"profdiff/internal/objects"
	"profdiff/internal/report/branches"
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

// document makes the document that the output needs.
func (c *branchesCommand) document(t *branch.Table, files *objects.Store) (*branches.Document, error) {
	parts := branches.Parts{All: c.all || c.format == "pprof" || c.format == "llvm-profile" || c.out.annotate != ""}
	if c.format == "llvm-profile" {
		parts.Frames = annotate.Frames(t, files)
	}
	if c.out.annotate != "" {
		l, err := annotate.Function(t, c.out.annotate, files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		parts.Listing, parts.Source = l, sourceLines(c.out.sources)
	}
	return branches.New(t, parts), nil
}

// write writes a document as the flags say.
func (c *branchesCommand) write(std *stdio, d *branches.Document) error {
	if c.format == "llvm-profile" {
		return std.writeLLVMProfiles(d, c.output)
	}
	return std.writeTables(c.output, d.Listing != nil || c.format != "json" && c.format != "pprof", func(w io.Writer) error {
		switch {
		case d.Listing != nil:
			return branches.WriteListing(w, d)
		case c.format == "json":
			return branches.WriteJSON(w, d)
		case c.format == "pprof":
			if err := branches.WritePprof(w, d); err != nil {
				return fmt.Errorf("%s: %w", d.Input.Path, err)
			}
			return nil
		}
		return branches.WriteText(w, d, c.limit)
	})
}

// writeLLVMProfiles writes PREFIX.freq.prof and PREFIX.misp.prof.
func (s *stdio) writeLLVMProfiles(d *branches.Document, prefix string) error {
	p, err := branches.NewLLVMProfiles(d)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Input.Path, err)
	}
	if err := s.writeOutput(prefix+".freq.prof", p.WriteFrequencies); err != nil {
		return err
	}
	if err := s.writeOutput(prefix+".misp.prof", p.WriteMisses); err != nil {
		return err
	}
	s.say("%s: %s", d.Input.Path, p.Accounting())
	return nil
}

// largestSource bounds a source file, in bytes.
const largestSource = 32 << 20

// sourceLines looks for source files under directories, nil if there are none. For a file
// a/b/c.h it takes a/b/c.h, else b/c.h, else c.h.
func sourceLines(dirs []string) func(file string) []string {
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
