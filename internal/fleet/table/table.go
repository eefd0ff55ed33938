// Package table reads and writes the rows of package fleet as files of Parquet.
//
//  1. A [Writer] takes rows in the order of their table and writes them in groups of [groupRows] rows, so that
//     memory is bounded by a group. Pages are compressed by zstd at a fixed level, and the footer has the version of
//     the tables and of what read the profiles. Nothing is written that depends on the time, the host or the number
//     of workers: the same rows are the same bytes.
//  2. A file gets its name when it is complete and on disk. Whoever writes it again replaces it by the same bytes.
//  3. [Read] hands on rows in slices that it uses again. A file that is damaged is an error that names it, whatever the
//     damage.
//
// The format is that of https://github.com/apache/parquet-format.
package table

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"profdiff/internal/fleet"
	"profdiff/internal/input"
)

// Row is a row of any table.
type Row interface {
	fleet.Profile | fleet.Function | fleet.Stack | fleet.Sample | fleet.ProfileFunction | fleet.ProfileCategory |
		fleet.Rename | fleet.Unit | fleet.FunctionUnit
}

// Decoder is the version of what makes rows of profiles: readers, names, sums. Who changes what becomes of a profile
// adds one, and profiles that are read again replace the rows of before.
const Decoder = 1

// groupRows is the number of rows of a row group, and pageBytes the size of a page before it is compressed.
const (
	groupRows = 1 << 19
	pageBytes = 256 << 10
	readRows  = 4096
)

// compression is the codec of all pages.
var compression = zstd.Codec{Level: zstd.SpeedDefault, Concurrency: 1}

// A Writer writes a file of rows.
type Writer[T Row] struct {
	name string
	file *os.File
	rows *parquet.GenericWriter[T]
}

// Create starts to write a file, in a directory that it makes if need be. The file has its name once [Writer.Close] has
// returned.
func Create[T Row](name string) (*Writer[T], error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, input.PathError(err)
	}
	// Engines skip files whose names start with a dot.
	file, err := os.CreateTemp(dir, ".unfinished-*")
	if err != nil {
		return nil, input.PathError(err)
	}
	return &Writer[T]{name, file, encoder[T](file)}, nil
}

func encoder[T Row](w io.Writer) *parquet.GenericWriter[T] {
	return parquet.NewGenericWriter[T](w,
		parquet.Compression(&compression),
		parquet.CreatedBy("profdiff", "", ""),
		parquet.KeyValueMetadata("profdiff.schema", strconv.Itoa(fleet.Schema)),
		parquet.KeyValueMetadata("profdiff.decoder", strconv.Itoa(Decoder)),
		parquet.MaxRowsPerRowGroup(groupRows),
		parquet.PageBufferSize(pageBytes),
	)
}

// Write adds rows.
func (w *Writer[T]) Write(rows []T) error {
	if _, err := w.rows.Write(rows); err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	return nil
}

// Close ends the file and gives it its name.
func (w *Writer[T]) Close() error {
	err := w.rows.Close()
	if err == nil {
		err = w.file.Sync()
	}
	if err == nil {
		err = w.file.Chmod(0o644)
	}
	if err = errors.Join(err, w.file.Close()); err == nil {
		err = os.Rename(w.file.Name(), w.name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.name, errors.Join(err, os.Remove(w.file.Name())))
	}
	return nil
}

// Discard gives up: there is no file.
func (w *Writer[T]) Discard() error {
	return errors.Join(w.file.Close(), os.Remove(w.file.Name()))
}

// Write writes a file of rows, see [Create].
func Write[T Row](name string, rows []T) error {
	w, err := Create[T](name)
	if err != nil {
		return err
	}
	if err := w.Write(rows); err != nil {
		return errors.Join(err, w.Discard())
	}
	return w.Close()
}

// Read hands on the rows of a file, in its order. The slice is used again, what strings and slices in rows refer to is
// not. Errors of each are returned as they are, all others name the file.
func Read[T Row](name string, each func([]T) error) error {
	file, err := os.Open(name)
	if err != nil {
		return input.PathError(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return input.PathError(err)
	}
	rows, err := decoder[T](file, info.Size())
	if err != nil {
		return fmt.Errorf("%s: is no table of profdiff: %w", name, err)
	}
	defer rows.Close()
	buffer := make([]T, min(readRows, rows.NumRows()))
	for len(buffer) > 0 {
		n, err := next(rows, buffer)
		if n > 0 {
			if err := each(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: is damaged: %w", name, err)
		}
	}
	return nil
}

// decoder opens a table. The library panics on some damage.
func decoder[T Row](r io.ReaderAt, size int64) (rows *parquet.GenericReader[T], err error) {
	defer caught(&err)
	file, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, err
	}
	return parquet.NewGenericReader[T](file), nil
}

func next[T Row](rows *parquet.GenericReader[T], buffer []T) (n int, err error) {
	defer caught(&err)
	clear(buffer) // or lists would be read into those of earlier rows
	return rows.Read(buffer)
}

// caught makes an error of a panic.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%v", r)
	}
}
