package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"profdiff/internal/objfile"
)

// Names of what a folder has to name addresses: object files by build ID, laid out as
// the cache of perf is, and the symbols of the kernel.
const (
	SymbolsName  = "symbols"
	KallsymsName = "kallsyms"
)

// maxObject is the largest object file that is copied.
const maxObject = 1 << 30

// kept is where the folder of a recording has an object file.
func (o object) kept(dir string) string {
	return filepath.Join(dir, SymbolsName, ".build-id", o.id[:2], o.id[2:], "elf")
}

// isKept reports whether the folder of a recording has an object file.
func (o object) isKept(dir string) bool {
	_, err := os.Stat(o.kept(dir))
	return err == nil
}

// A passError says why an object file cannot be had, which does not end a recording: it
// says that the file was there.
type passError struct{ why string }

func (e *passError) Error() string { return e.why }

// keep copies an object file that is here as a file, or as an entry of that archive, to the
// folder of a recording, so that this can be read when it has been built anew, or elsewhere.
func (o object) keep(dir, from, entry string) error {
	f, err := os.Open(from)
	if err != nil {
		return &passError{err.Error()}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxObject {
		return &passError{fmt.Sprintf("no file of up to %d MB", maxObject>>20)}
	}
	section := io.NewSectionReader(f, 0, info.Size())
	if entry != "" {
		if section, err = objfile.OpenZipEntry(f, info.Size(), entry); err != nil {
			return &passError{err.Error()}
		}
	}
	file, err := objfile.New(section, section.Size())
	if err != nil {
		return &passError{err.Error()}
	}
	if !sameID(file.BuildID(), o.id) {
		return &passError{fmt.Sprintf("the device has it with the build ID %s, recorded was %s", cmp.Or(file.BuildID(), "unknown"), o.id)}
	}
	to := o.kept(dir)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return write(to, io.NewSectionReader(section, 0, section.Size()))
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
