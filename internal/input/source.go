// Package input is the one door for what a user names: recordings, and the files that
// go with them. Nothing else opens or inflates them.
//
//  1. [Open] opens a file, or standard input for "-", or asks a server for what an address names
//     (package exchange). Directories are refused, but for those
//     that are one recording ([IsRecording]); [Files] lists the files in those that stand
//     for several recordings.
//  2. What is compressed with gzip, zstd or xz, or by atrace -z, is inflated while it is read, to no more
//     than the bounds below allow.
//  3. The start of the input, its [Head], tells its format: [Table.Detect] asks each
//     line of a table of formats how much of it is its own.
//  4. The reader of the format takes the input in order ([Source.Reader], [Lines],
//     [FieldStream]) or at random ([Source.Random], which copies a stream to a file that
//     vanishes with the process).
package input

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"profdiff/internal/exchange"
	"profdiff/internal/limit"
)

// A Source is an input: a file or a stream, inflated if it is compressed.
type Source struct {
	// Name is the input as the user named it.
	Name string
	// Dir is the directory that the file is in, "" if the input is no file. Modified is when it
	// was, or when reading a stream began, Created when the file was; both are zero if that is
	// not known.
	Dir               string
	Modified, Created time.Time
	// Head is the start of the input.
	Head Head
	// Reader reads the input from its start.
	Reader *bufio.Reader

	// Merged says who made this one profile of many, "" if it is one recording.
	Merged string

	// Tree is the directory of an input that is the many files of one program, as criterion
	// writes them, nil for all others. Head and Reader are of one of them.
	Tree fs.FS

	// Parts are the further files of a directory that is one recording, see
	// [IsRecording], and Kallsyms is the copy of /proc/kallsyms there.
	Parts    []*io.SectionReader
	Kallsyms []byte

	at   io.ReaderAt // nil for what cannot be read at random
	size int64       // of at

	inflater *inflater // nil unless compressed
	closers  []io.Closer
}

// standardInput is the name of standard input in messages.
const standardInput = "standard input"

// Read opens an input, see [Open], and has it read. Errors start with its name.
func Read(name string, stdin io.Reader, read func(*Source) error) error {
	return Digests(nil).Read(name, stdin, read)
}

// Open opens the file called name, or stdin if the name is "-" and stdin is not nil.
// Errors start with the name.
func Open(name string, stdin io.Reader) (*Source, error) { return open(name, stdin, nil) }

func open(name string, stdin io.Reader, digests Digests) (*Source, error) {
	if name == "-" && stdin != nil {
		src, err := New(standardInput, stdin)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", standardInput, err)
		}
		src.Modified = time.Now()
		return src, nil
	}
	if exchange.Is(name) {
		return openAddress(name)
	}
	if IsRecording(name) {
		return openDirectory(name, digests)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, PathError(err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(errIsDirectory(name), f.Close())
	}
	src, err := New(name, digests.watch(name, f))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, PathError(err)), f.Close())
	}
	src.closers = append(src.closers, f)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		src.Dir, src.Modified, src.Created = filepath.Dir(name), info.ModTime(), created(name)
	} else {
		src.Modified = time.Now()
	}
	return src, nil
}

// openAddress asks a server for what an address names.
func openAddress(name string) (*Source, error) {
	shown := exchange.Shown(name)
	p, err := exchange.Get(context.Background(), name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	src, err := New(shown, bytes.NewReader(p.Data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	src.Modified, src.Merged = time.Now(), p.Merged
	return src, nil
}

// New starts to read an input called name. If r can be read at random (a regular file,
// a bytes.Reader) and is not compressed, so can the source.
func New(name string, r io.Reader) (*Source, error) {
	at, size, err := randomAccess(r)
	if err != nil {
		return nil, err
	}
	limit.Expect(size)
	s := &Source{Name: name, at: at, size: size}
	if at != nil {
		r = io.NewSectionReader(at, 0, size)
	}
	in := &countingReader{r: r}
	s.Reader = bufio.NewReaderSize(in, HeadSize)
	if s.Head, err = peek(s.Reader); err != nil {
		return nil, err
	}
	if s.inflater, err = newInflater(s.Head, s.Reader, in, size); s.inflater == nil {
		return s, err
	}
	s.at = nil
	s.closers = append(s.closers, s.inflater)
	s.Reader = bufio.NewReaderSize(s.inflater, HeadSize)
	if s.Head, err = peek(s.Reader); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func peek(r *bufio.Reader) (Head, error) {
	head, err := r.Peek(HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return append(Head(nil), head...), nil
}

// randomAccess returns what of r has not been read, if it can be read at random.
// Files of size 0 may be pipes in disguise, as in /proc.
func randomAccess(r io.Reader) (io.ReaderAt, int64, error) {
	switch r := r.(type) {
	case *os.File:
		info, err := r.Stat()
		if err != nil {
			return nil, 0, err
		}
		if info.IsDir() {
			return nil, 0, errors.New("is a directory")
		}
		if !info.Mode().IsRegular() || info.Size() == 0 {
			return nil, 0, nil
		}
		off, err := r.Seek(0, io.SeekCurrent)
		if err != nil || off > info.Size() {
			return nil, 0, nil
		}
		if off > 0 {
			return io.NewSectionReader(r, off, info.Size()-off), info.Size() - off, nil
		}
		return r, info.Size(), nil
	case interface {
		io.ReaderAt
		Size() int64
	}:
		return r, r.Size(), nil
	}
	return nil, 0, nil
}

// Close closes the input. What [Source.Random] returned is no longer there.
func (s *Source) Close() error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// IsStream reports whether the input can only be read in order, unless it is spooled.
func (s *Source) IsStream() bool { return s.at == nil }

// Random returns the input for reading at random, and its size in bytes. A stream, of
// which nothing must have been read yet, is copied to a temporary file.
func (s *Source) Random() (io.ReaderAt, int64, error) {
	if s.at == nil {
		f, size, err := spool(s.Reader)
		if err != nil {
			return nil, 0, err
		}
		s.closers = append(s.closers, f)
		s.at, s.size = f, size
	}
	return s.at, s.size, nil
}

// spool copies a stream to a temporary file that vanishes with the process.
func spool(r io.Reader) (f *os.File, size int64, err error) {
	if f, err = os.CreateTemp("", "profdiff-"); err != nil {
		return nil, 0, err
	}
	if err = os.Remove(f.Name()); err == nil {
		size, err = io.Copy(f, r)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

// ReadAll reads an input of at most limit bytes.
func (s *Source) ReadAll(limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(s.Reader, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("is larger than %d bytes", limit)
	}
	if err != nil {
		return nil, PathError(err)
	}
	return data, nil
}

// Lines returns the lines of the input.
func (s *Source) Lines() *Lines { return &Lines{r: s.Reader} }

// Fields returns the fields of the input, which is a protobuf message of at most limit
// bytes.
func (s *Source) Fields(limit int64) *FieldStream { return &FieldStream{r: s.Reader, limit: limit} }

// PathError says "FILE: reason", without the system call.
func PathError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
