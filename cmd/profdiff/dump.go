package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"profdiff/internal/input"
	"profdiff/internal/perffile"
)

func newDumpCmd(std *stdio) *cobra.Command {
	var (
		opt    perffile.TextOptions
		output string
	)
	cmd := &cobra.Command{
		Use:   "dump FILE [flags]",
		Short: "Print the records of a perf.data file",
		Example: `  profdiff dump perf.data
  profdiff dump perf.data -o records.txt`,
		Long: `Print everything in a perf.data file as text: the header, events, one line for
each record with all its fields and its offset, and the header's features. FILE may
be - for standard input. Registers and stacks (perf record --call-graph dwarf) are
memory of the program, which may hold secrets: of them only the size is printed, as ?N.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, files []string) error {
			return std.writeOutput(output, func(w io.Writer) error {
				return std.dump(w, files[0], opt)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opt.AllowTruncated, "allow-truncated", false, "print what there is of a recording that ends too early")
	f.BoolVar(&opt.Memory, "memory", false, "print registers and stacks, too: they may hold secrets of the program")
	f.StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

func (s *stdio) dump(w io.Writer, name string, opt perffile.TextOptions) error {
	return input.Read(name, s.in, func(src *input.Source) error {
		if src.Parts != nil {
			return fmt.Errorf("is a directory with a recording: name %s to have its first file printed", filepath.Join(name, "data"))
		}
		if src.IsStream() && perffile.IsPipe(src.Head) {
			return perffile.WriteTextPipe(w, src.Reader, opt)
		}
		at, size, err := src.Random()
		if err != nil {
			return err
		}
		return perffile.WriteText(w, at, size, opt)
	})
}
