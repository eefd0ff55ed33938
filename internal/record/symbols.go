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

// MaxObject is the largest object file that is copied.
const MaxObject = 1 << 30

// kept is where the folder of a recording has an object file.
func (o Object) kept(dir string) string {
	return filepath.Join(dir, SymbolsName, ".build-id", o.ID[:2], o.ID[2:], "elf")
}

// IsKept reports whether the folder of a recording has an object file.
func (o Object) IsKept(dir string) bool {
	_, err := os.Stat(o.kept(dir))
	return err == nil
}

// A PassError says why an object file cannot be had, which does not end a recording: it
// says that the file was there.
type PassError string

func (e PassError) Error() string { return string(e) }

// Keep copies an object file that is here as a file, or as an entry of that archive, to the
// folder of a recording, so that this can be read when it has been built anew, or elsewhere.
func (o Object) Keep(dir, from, entry string) error {
	f, err := os.Open(from)
	if err != nil {
		return PassError(err.Error())
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxObject {
		return PassError(fmt.Sprintf("no file of up to %d MB", MaxObject>>20))
	}
	section := io.NewSectionReader(f, 0, info.Size())
	if entry != "" {
		if section, err = objfile.OpenZipEntry(f, info.Size(), entry); err != nil {
			return PassError(err.Error())
		}
	}
	file, err := objfile.New(section, section.Size())
	if err != nil {
		return PassError(err.Error())
	}
	if !sameID(file.BuildID(), o.ID) {
		return PassError(fmt.Sprintf("the device has it with the build ID %s, recorded was %s", cmp.Or(file.BuildID(), "unknown"), o.ID))
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
