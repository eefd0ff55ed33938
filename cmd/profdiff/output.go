package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"profdiff/internal/input"
	"profdiff/internal/record"
)

// writeOutput calls write for the file called name, or for standard output if it
// is "-". The files of a command appear together, when it has ended well, or none does.
func (s *stdio) writeOutput(name string, write func(io.Writer) error) (err error) {
	if name == "-" {
		out := bufio.NewWriter(s.out)
		if err := write(out); err != nil {
			return standardOutput(err)
		}
		return standardOutput(out.Flush())
	}
	return s.outputs.Write(name, write)
}

// A helpWriter writes help and the version, for which nobody asks whether it went well: it keeps
// the first error.
type helpWriter struct {
	io.Writer
	err error
}

func (w *helpWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, nil
}

// standardOutput says that it is standard output which takes no more, if it is.
func standardOutput(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok && pe.Path == os.Stdout.Name() {
		return fmt.Errorf("standard output: %w", pe.Err)
	}
	return err
}

// outputFlags are the flags whose values are files that a command writes. All else that a
// command line names is read.
var outputFlags = []string{"output", "html", "out", "look-file", "history"}

// inputsOf are the files that a command line names to be read, and those in its folders of
// recordings.
func inputsOf(cmd *cobra.Command, args []string) (list []string) {
	names := slices.Clone(args)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(outputFlags, f.Name) {
			return
		}
		values := []string{f.Value.String()} // a default is a file as well
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			_, path, _ := strings.Cut(v, "=")
			names = append(names, v, path)
		}
	})
	for _, name := range names {
		list = append(list, name)
		for _, side := range []string{"", string(record.Before), string(record.After)} {
			files, _, err := input.Files([]string{filepath.Join(name, side)})
			if err == nil { // else it is no folder of recordings
				list = append(list, files...)
			}
			for _, file := range files {
				if input.IsRecording(file) {
					parts, _ := filepath.Glob(filepath.Join(file, "*")) // the pattern is right
					list = append(list, parts...)
				}
			}
		}
	}
	return list
}

// formatLacks refuses flags for which the format has no place.
func formatLacks(cmd *cobra.Command, format string, flags ...string) error {
	for _, flag := range flags {
		if cmd.Flags().Changed(flag) {
			return usagef(cmd, "--%s does not go with --format %s", flag, format)
		}
	}
	return nil
}
