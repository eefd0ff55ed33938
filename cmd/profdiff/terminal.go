package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"profdiff/internal/report/text"
)

// leastColumns is the width below which no terminal is taken to be.
const leastColumns = 40

// A display is what a stream of output is shown on.
type display struct {
	terminal bool
	width    int // in columns, 0 if lines may be of any length
	colour   bool
}

// colorFlag is the flag that says whether there are colours: auto, always or never.
type colorFlag string

func (f *colorFlag) Set(when string) error {
	if !slices.Contains([]string{"auto", "always", "never"}, when) {
		return errors.New("it is auto, always or never")
	}
	*f = colorFlag(when)
	return nil
}

func (f *colorFlag) String() string { return string(*f) }
func (f *colorFlag) Type() string   { return "WHEN" }

// display finds out what standard output is shown on. NO_COLOR, CLICOLOR_FORCE and TERM=dumb say
// whether it has colours, unless --color does; COLUMNS how wide it is, unless it is a terminal that
// says so itself and COLUMNS is not set.
func (s *stdio) display() display {
	d := display{terminal: isTerminal(s.out), width: columns(s.out)}
	switch {
	case s.color == "always" || s.color == "never":
		d.colour = s.color == "always"
	case os.Getenv("NO_COLOR") != "":
	case os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0":
		d.colour = true
	default:
		d.colour = d.terminal && os.Getenv("TERM") != "dumb"
	}
	return d
}

// columns is how wide a stream is shown, 0 if that is not known.
func columns(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, leastColumns)
	}
	if f, ok := w.(*os.File); ok && isTerminal(w) {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return max(n, leastColumns)
		}
	}
	return 0
}

// isTerminal reports whether a stream is one.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// noteAbsent says for which columns of tables there was no room.
func noteAbsent(w io.Writer, written error) error {
	screen := text.ScreenOf(w)
	if written != nil || len(screen.Absent()) == 0 {
		return written
	}
	_, err := fmt.Fprintf(w, "(in %d columns there is no room for: %s)\n", screen.Width(), strings.Join(screen.Absent(), ", "))
	return err
}

// writeTables is writeScreen if people read what is written, with a word on columns that are left out,
// else writeOutput.
func (s *stdio) writeTables(name string, people bool, write func(io.Writer) error) error {
	if !people {
		return s.writeOutput(name, write)
	}
	return s.writeScreen(name, func(w io.Writer) error { return noteAbsent(w, write(w)) })
}

// writeScreen is writeOutput for what people read: on standard output it is fitted to the terminal.
func (s *stdio) writeScreen(name string, write func(io.Writer) error) error {
	if name != "-" {
		return s.writeOutput(name, write)
	}
	d := s.display()
	out := bufio.NewWriter(s.out)
	screen := text.NewScreen(out, d.width, d.colour)
	if err := write(screen); err != nil {
		return standardOutput(err)
	}
	if err := screen.Flush(); err != nil {
		return standardOutput(err)
	}
	return standardOutput(out.Flush())
}
