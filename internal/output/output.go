// Package output writes the files of a command: all of them appear, or none.
//
//  1. [Set.Inputs] names what the command reads. An output that is one of these files, whatever
//     its name, is refused before anything is written.
//  2. [Set.Write] writes to a file beside the output, or where the directory takes none, to the
//     directory for temporary files. [Set.Append] keeps what is to be added.
//  3. [Set.Commit] gives all files their names. A symbolic link stays one, a file keeps its mode,
//     and what is no regular file (a pipe, a device) is written to then.
//  4. [Set.Discard] removes what was written.
package output

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"profdiff/internal/scratch"
)

// A Set is the files that a command writes. The zero value is empty.
type Set struct {
	// Inputs gives the names of the files that are read, nil for none. What is not there, and
	// what is no regular file, does no harm. It is called if an output exists.
	Inputs func() []string

	staged []*staged
}

// A staged output is written, but has not its name yet.
type staged struct {
	name   string // as the user gave it
	target string // where symbolic links lead
	// old is the file that is there, nil for none.
	old os.FileInfo
	// temporary is what was written; inPlace is set if it has to be copied to the target, open
	// if that is what this process has open as a file, at the place where it is.
	temporary string
	inPlace   bool
	open      bool
	// added goes to the end of the file, if it is not nil.
	added  *bytes.Buffer
	forget func()
}

// Write calls write for the output called name. Errors start with the name.
func (s *Set) Write(name string, write func(io.Writer) error) error {
	f, err := s.stage(name)
	if err != nil {
		return err
	}
	if err := f.fill(write); err != nil {
		return errors.Join(err, f.discard())
	}
	s.staged = append(s.staged, f)
	return nil
}

// Append calls write for what is added to the file called name, which may not be there yet.
func (s *Set) Append(name string, write func(io.Writer) error) error {
	// It may be a device, and who reads what it adds to does no harm to it.
	f := &staged{name: name, target: name, added: new(bytes.Buffer)}
	if err := write(f.added); err != nil {
		return err
	}
	s.staged = append(s.staged, f)
	return nil
}

// stage finds out what an output is, and makes the file that is written to instead.
func (s *Set) stage(name string) (*staged, error) {
	f := &staged{name: name, target: name}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		f.target = target
	} else if link, err := os.Readlink(name); err == nil { // to what is not there
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(name), link)
		}
		f.target = link
	}
	info, err := os.Stat(f.target)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s: is a directory", name)
	case err == nil:
		f.old = info
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	if in := s.input(f.old); in == name {
		return nil, fmt.Errorf("%s: is an input and would be overwritten: write to another file", name)
	} else if in != "" {
		return nil, fmt.Errorf("%s: is the input %s and would be overwritten: write to another file", name, in)
	}
	for _, other := range s.staged {
		if other.added == nil && other.target == f.target {
			return nil, fmt.Errorf("%s: is written twice", name)
		}
	}
	return f, f.create()
}

// input is the name of the input that a file is, "" if it is none.
func (s *Set) input(file os.FileInfo) string {
	if s.Inputs == nil || file == nil || !file.Mode().IsRegular() {
		return ""
	}
	for _, name := range s.Inputs() {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, file) {
			return name
		}
	}
	return ""
}

// isOpen reports whether a name is of what a process has open: the file behind it may be a regular one, which others go on
// to write to. Other files below /dev, such as those in /dev/shm, are files as any.
func isOpen(name string) bool {
	return name == "/dev/stdout" || name == "/dev/stderr" || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/")
}

// create makes the temporary file.
func (f *staged) create() error {
	dir := filepath.Dir(f.target)
	f.open = isOpen(f.name)
	if f.open || f.old != nil && !f.old.Mode().IsRegular() {
		f.inPlace, f.target, dir = true, f.name, ""
	}
	// The name is short: that of the output may be as long as names can be.
	t, forget, err := scratch.File(dir, ".profdiff-*")
	if err != nil && f.old != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		if w, opened := os.OpenFile(f.target, os.O_WRONLY, 0); opened == nil {
			w.Close()
			f.inPlace = true
			t, forget, err = scratch.File("", "profdiff-*")
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, cause(err))
	}
	f.temporary = t.Name()
	f.forget = forget
	return t.Close()
}

// fill writes the temporary file.
func (f *staged) fill(write func(io.Writer) error) error {
	w, err := os.OpenFile(f.temporary, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, cause(err))
	}
	out := bufio.NewWriter(w)
	if err := write(out); err != nil {
		return errors.Join(f.named(err), w.Close())
	}
	if err := errors.Join(out.Flush(), w.Close()); err != nil {
		return f.named(err)
	}
	return nil
}

// named has the name of the output where an error has that of the temporary file.
func (f *staged) named(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok && pe.Path == f.temporary {
		return fmt.Errorf("%s: %w", f.name, pe.Err)
	}
	return err
}

// Commit gives all outputs their names. What can fail for reasons that were not seen before,
// because it is written in place, comes last.
func (s *Set) Commit() error {
	defer s.Discard()
	if err := scratch.Whole(func() error { return s.commit(false) }); err != nil {
		return err
	}
	return s.commit(true)
}

// commit gives names to what is renamed, or writes what is written in place.
func (s *Set) commit(inPlace bool) error {
	for _, f := range s.staged {
		if (f.inPlace || f.added != nil) != inPlace {
			continue
		}
		if err := f.commit(); err != nil {
			return fmt.Errorf("%s: %w", f.name, cause(err))
		}
	}
	return nil
}

func (f *staged) commit() error {
	switch {
	case f.added != nil:
		w, err := os.OpenFile(f.target, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return err
		}
		_, err = w.Write(f.added.Bytes())
		return errors.Join(err, w.Close())
	case f.inPlace:
		return f.copy()
	}
	mode := os.FileMode(0o666) &^ umask
	if f.old != nil {
		mode = f.old.Mode().Perm()
		keepOwner(f.temporary, f.old)
	}
	if err := os.Chmod(f.temporary, mode); err != nil {
		return err
	}
	if err := os.Rename(f.temporary, f.target); err != nil {
		return err
	}
	f.temporary = ""
	return nil
}

// copy writes what was written to the output where it is.
func (f *staged) copy() error {
	from, err := os.Open(f.temporary)
	if err != nil {
		return err
	}
	defer from.Close()
	flags := os.O_WRONLY
	switch {
	case f.open:
		flags |= os.O_APPEND
	case f.old.Mode().IsRegular():
		flags |= os.O_TRUNC
	}
	to, err := os.OpenFile(f.target, flags, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// Discard removes what has no name yet.
func (s *Set) Discard() error {
	var errs []error
	for _, f := range s.staged {
		errs = append(errs, f.discard())
	}
	s.staged = nil
	return errors.Join(errs...)
}

func (f *staged) discard() error {
	if f.forget != nil {
		defer f.forget()
	}
	if f.temporary == "" {
		return nil
	}
	return os.Remove(f.temporary)
}

// cause is an error without the name of a file that the user did not give.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
