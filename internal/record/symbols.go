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

	"profdiff/internal/objects"
	"profdiff/internal/objfile"
	"profdiff/internal/scratch"
)

// Names of what a folder has to name addresses: object files by build ID, laid out as
// the cache of perf is, and the symbols of the kernel.
const (
	SymbolsName  = objects.SymbolsName
	KallsymsName = objects.KallsymsName
)

// MaxObject is the largest object file that is copied.
const MaxObject = 1 << 30

// kept is where the folder of a recording has an object file.
func (o Object) kept(dir string) string {
	return filepath.Join(dir, SymbolsName, ".build-id", o.ID[:2], o.ID[2:], "elf")
}

// IsKept reports whether the folder of a recording has an object file.
func (o Object) IsKept(dir string) bool {
	return exists(o.kept(dir))
}

// A PassError says why an object file cannot be had, which does not end a recording: it
// says that the file was there.
type PassError string

func (e PassError) Error() string { return string(e) }

// Keep copies an object file that is here as a file, or as an entry of that archive, to the
// folder of a recording, so that this can be read when it has been built anew, or elsewhere.
func (o Object) Keep(dir, from, entry string) error {
	f, err := openObject(from, entry, MaxObject)
	if err != nil {
		return err
	}
	defer f.close()
	if !sameID(f.BuildID(), o.ID) {
		return PassError(fmt.Sprintf("its build ID is %s, recorded was %s", cmp.Or(f.BuildID(), "unknown"), o.ID))
	}
	return f.copy(o.kept(dir))
}

// vdsoPath is what recordings call the code that the kernel maps into each process.
const vdsoPath = "[vdso]"

// keepVDSO writes what this process has of it. That of 32-bit programs is another one.
func (o Object) keepVDSO(dir string) error {
	data := objects.VDSO()
	file, err := objfile.New(bytes.NewReader(data), int64(len(data)))
	if err != nil || !sameID(file.BuildID(), o.ID) {
		return nil
	}
	to := o.kept(dir)
	if err := os.MkdirAll(filepath.Dir(to), dirMode); err != nil {
		return err
	}
	return write(to, bytes.NewReader(data))
}

// MaxDebug is the largest file with debug information that is copied. Those of browsers have
// gigabytes.
const MaxDebug = 256 << 20

// debugDir is where packages put what they split off.
const debugDir = "/usr/lib/debug"

// keepDebug copies what was split off a kept file, if that has no symbols of its own and
// what has them is where debuggers look for it (GDB's manual, "Debugging Information in Separate
// Files"). Without it, functions that the file does not export have no names elsewhere.
func (o Object) keepDebug(dir string) error {
	kept, err := openObject(o.kept(dir), "", MaxObject)
	if err != nil {
		return err
	}
	defer kept.close()
	if _, ok := kept.Section(".symtab"); ok {
		return nil
	}
	at := filepath.Dir(o.Path)
	names := []string{filepath.Join(debugDir, ".build-id", o.ID[:2], o.ID[2:]+".debug")}
	if link, _, ok := kept.DebugLink(); ok && filepath.Base(link) == link {
		names = append(names, filepath.Join(at, link), filepath.Join(at, ".debug", link), filepath.Join(debugDir, at, link))
	}
	debug, err := o.keepSplit(dir, names)
	if debug == nil || err != nil {
		return err
	}
	defer debug.close()
	// What several files of a package have in common was split off once more.
	link, id, ok := debug.AltDebugLink()
	if !ok || len(id) < 4 {
		return nil
	}
	if !filepath.IsAbs(link) {
		link = filepath.Join(filepath.Dir(debug.name), link)
	}
	shared, err := Object{Path: o.Path, ID: id}.keepSplit(dir, []string{link, filepath.Join(debugDir, ".build-id", id[:2], id[2:]+".debug")})
	if shared != nil {
		shared.close()
	}
	return err
}

// keepSplit copies the first file that has the build ID, nil if none is here.
func (o Object) keepSplit(dir string, names []string) (*objectFile, error) {
	for _, name := range names {
		f, err := openObject(name, "", MaxDebug)
		if err != nil {
			if err == tooLarge(MaxDebug) {
				return nil, PassError(fmt.Sprintf("%s is not kept: %v; elsewhere, functions that the file does not export will have no names", name, err))
			}
			continue
		}
		if !sameID(f.BuildID(), o.ID) {
			f.close()
			continue
		}
		if to := strings.TrimSuffix(o.kept(dir), "/elf") + ".debug"; !exists(to) {
			if err := f.copy(to); err != nil {
				f.close()
				return nil, err
			}
		}
		return f, nil
	}
	return nil, nil
}

// An objectFile is an open object file.
type objectFile struct {
	*objfile.File
	name    string
	content *io.SectionReader
	opened  *os.File
}

// tooLarge is the error of a file that is larger than what is copied.
func tooLarge(limit int64) PassError {
	return PassError(fmt.Sprintf("it is larger than %d MB", limit>>20))
}

// openObject opens an object file of up to limit bytes that is a file, or an entry of that
// archive. The error is a [PassError] if it cannot be had.
func openObject(name, entry string, limit int64) (*objectFile, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, PassError(err.Error())
	case !info.Mode().IsRegular():
		return nil, PassError("it is no regular file")
	case info.Size() > limit:
		return nil, tooLarge(limit)
	}
	opened, err := os.Open(name)
	if err != nil {
		return nil, PassError(err.Error())
	}
	f := &objectFile{name: name, content: io.NewSectionReader(opened, 0, info.Size()), opened: opened}
	if entry != "" {
		f.content, err = objfile.OpenZipEntry(opened, info.Size(), entry)
	}
	if err == nil {
		f.File, err = objfile.New(f.content, f.content.Size())
	}
	if err != nil {
		f.close()
		return nil, PassError(err.Error())
	}
	return f, nil
}

func (f *objectFile) close() { f.opened.Close() }

// copy writes the file to where the folder of a recording has it.
func (f *objectFile) copy(to string) error {
	if err := os.MkdirAll(filepath.Dir(to), dirMode); err != nil {
		return err
	}
	return write(to, io.NewSectionReader(f.content, 0, f.content.Size()))
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// sameID compares build IDs, of which recorders fill up short ones with zeros.
func sameID(a, b string) bool {
	return strings.TrimRight(a, "0") == strings.TrimRight(b, "0")
}

// keepKallsyms copies the symbols of the running kernel, if it shows their addresses.
func keepKallsyms(to string) error {
	if exists(to) {
		return nil
	}
	text, err := os.ReadFile("/proc/kallsyms")
	if err != nil || !bytes.Contains(text, []byte("\nffff")) {
		return nil // without rights, all addresses are 0
	}
	return write(to, bytes.NewReader(text))
}

// What is recorded is for its owner alone: recordings hold command lines and paths, kallsyms where the
// kernel is, which it hides from users without rights. perf makes its files so, too.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// write writes a file that appears whole or not at all.
func write(to string, from io.Reader) (err error) {
	temporary := filepath.Join(filepath.Dir(to), ".partial")
	defer scratch.Add(temporary)()
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
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
