package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"profdiff/internal/input"
)

// writeOutput calls write for the file called name, or for standard output if it
// is "-". The file appears whole or not at all.
func (s *stdio) writeOutput(name string, write func(io.Writer) error) (err error) {
	if name == "-" {
		out := bufio.NewWriter(s.out)
		return errors.Join(write(out), out.Flush())
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return writeSpecial(name, write)
	}
	temporary := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d", filepath.Base(name), os.Getpid()))
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", name, pe.Err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary))
		}
	}()
	out := bufio.NewWriter(f)
	if err := write(out); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, name)
}

// writeSpecial writes to a device or a pipe, which must not be replaced.
func writeSpecial(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return input.PathError(err)
	}
	out := bufio.NewWriter(f)
	return errors.Join(write(out), out.Flush(), f.Close())
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
