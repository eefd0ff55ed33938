package record

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
)

// Names of what a folder has to name addresses: object files by build ID, laid out as
// the cache of perf is, and the symbols of the kernel.
const (
	SymbolsName  = "symbols"
	KallsymsName = "kallsyms"
)

// maxObject is the largest object file that is copied.
const maxObject = 1 << 30

// keepSymbols copies the object files of a recording that are not there yet, so that
// it can be read when they have been built anew, or elsewhere.
func keepSymbols(dir, recording string) error {
	f, err := os.Open(recording)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := perffile.New(f, info.Size(), perffile.Options{})
	if err != nil {
		return err
	}
	keep := func(path string, id []byte) error {
		name := hex.EncodeToString(id)
		if !strings.HasPrefix(path, "/") || len(name) < 4 {
			return nil
		}
		to := filepath.Join(dir, SymbolsName, ".build-id", name[:2], name[2:], "elf")
		if _, err := os.Stat(to); err == nil {
			return nil
		}
		return copyObject(to, path, name)
	}
	for _, b := range file.Info.BuildIDs {
		if b.Kernel {
			continue
		}
		if err := keep(b.Path, b.ID); err != nil {
			return err
		}
	}
	// perf record --buildid-mmap, its default from 6.17 on, has them in the records.
	for r, err := range file.Records() {
		if err != nil {
			return err
		}
		if r.Type != perffile.RecordMmap2 || r.Misc&perffile.MiscMmapBuildID == 0 || r.Misc.Kernel() {
			continue
		}
		m, err := r.Mmap()
		if err != nil {
			return err
		}
		if err := keep(string(m.File), m.BuildID); err != nil {
			return err
		}
	}
	return keepKallsyms(filepath.Join(dir, KallsymsName))
}

// copyObject copies a file that has a build ID. One that is not there, or of another
// build, is no error: the recording says that it was there.
func copyObject(to, from, id string) error {
	f, err := os.Open(from)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxObject {
		return nil
	}
	o, err := objfile.New(f, info.Size())
	if err != nil || !sameID(o.BuildID(), id) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return write(to, io.NewSectionReader(f, 0, info.Size()))
}

// sameID compares build IDs, of which recorders fill up short ones with zeros.
func sameID(a, b string) bool {
	return strings.TrimRight(a, "0") == strings.TrimRight(b, "0")
}

// keepKallsyms copies the symbols of the running kernel, if it shows their addresses.
func keepKallsyms(to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	text, err := os.ReadFile("/proc/kallsyms")
	if err != nil || !bytes.Contains(text, []byte("\nffff")) {
		return nil // without rights, all addresses are 0
	}
	return write(to, bytes.NewReader(text))
}

// write writes a file that appears whole or not at all.
func write(to string, from io.Reader) (err error) {
	temporary := filepath.Join(filepath.Dir(to), ".partial")
	f, err := os.Create(temporary)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if removed := os.Remove(temporary); !errors.Is(removed, fs.ErrNotExist) {
				err = errors.Join(err, removed)
			}
		}
	}()
	if _, err := io.Copy(f, from); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(temporary, to)
}
