package record

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
)

// keepObjects pulls the object files that the samples of a recording hit and that are
// not there yet. Those that cannot be had are noted, once.
func (b *Android) keepObjects(ctx context.Context, recording string) (notes []string, err error) {
	dir := filepath.Dir(recording)
	ids, err := buildIDs(recording)
	if err != nil {
		return nil, err
	}
	temporary := filepath.Join(dir, ".pulled")
	defer func() { err = errors.Join(err, removeIfThere(temporary)) }()
	pulled := ""    // the file of the device that temporary is
	var wrong error // why pulled is none
	for _, id := range ids {
		to := filepath.Join(dir, SymbolsName, ".build-id", id.id[:2], id.id[2:], "elf")
		if _, err := os.Stat(to); err == nil || b.passed[id.id] {
			continue
		}
		file, entry, _ := strings.Cut(id.path, "!/")
		if pulled != file {
			if wrong = b.pullObject(ctx, file, temporary); ctx.Err() != nil {
				return notes, context.Cause(ctx)
			}
			pulled = file
		}
		err := wrong
		if err == nil {
			err = copyFrom(to, temporary, entry, id.id)
		}
		if lost := (*passError)(nil); errors.As(err, &lost) {
			b.passed[id.id] = true
			notes = append(notes, fmt.Sprintf("%s is not kept: %v", id.path, err))
		} else if err != nil {
			return notes, err
		}
	}
	return notes, b.keepKallsyms(ctx, filepath.Join(dir, KallsymsName))
}

// A passError says why an object file cannot be had, which does not end a recording.
type passError struct{ why string }

func (e *passError) Error() string { return e.why }

type deviceObject struct{ id, path string }

// buildIDs lists the object files of a recording in the order of their paths, so that
// the libraries of an APK are together.
func buildIDs(recording string) (list []deviceObject, err error) {
	f, err := os.Open(recording)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := perffile.New(f, info.Size(), perffile.Options{})
	if err != nil {
		return nil, err
	}
	for _, b := range file.Info.BuildIDs {
		id := hex.EncodeToString(b.ID)
		if b.Kernel || !strings.HasPrefix(b.Path, "/") || strings.HasPrefix(b.Path, "//") || strings.HasPrefix(b.Path, "/dev/") || len(id) < 4 || strings.Trim(id, "0") == "" {
			continue
		}
		list = append(list, deviceObject{id, b.Path})
	}
	slices.SortStableFunc(list, func(a, b deviceObject) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// pullObject copies a file of the device. Files of apps can often not be pulled, but
// copied by the shell.
func (b *Android) pullObject(ctx context.Context, from, to string) error {
	reply, err := b.adb.ask(ctx, "stat -L -c %s "+quote(from), "")
	if err != nil {
		return err
	}
	size := number(strings.TrimSpace(string(reply.output)))
	switch {
	case reply.status != 0:
		return &passError{"the shell of the device cannot read it"}
	case size > maxObject:
		return &passError{fmt.Sprintf("%.0f MB are more than %d", size/(1<<20), maxObject>>20)}
	}
	if err := checkSpace(filepath.Dir(to), int64(size), freeBytes); err != nil {
		return err
	}
	if err := b.adb.pull(ctx, from, to); err == nil {
		return nil
	}
	copied := deviceDir + "/object"
	reply, err = b.adb.shell(ctx, "mkdir -p "+deviceDir+" && cp "+quote(from)+" "+copied, "")
	if err != nil {
		return err
	}
	if reply.status != 0 {
		return &passError{"the shell of the device cannot read it"}
	}
	if err := b.adb.pull(ctx, copied, to); err != nil {
		return err
	}
	_, err = b.adb.ask(ctx, "rm -rf "+deviceDir, "")
	return err
}

// copyFrom copies an object file, or that in an APK, if it has the build ID.
func copyFrom(to, from, entry, id string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	section := io.NewSectionReader(f, 0, info.Size())
	if entry != "" {
		if section, err = objfile.OpenZipEntry(f, info.Size(), entry); err != nil {
			return &passError{err.Error()}
		}
	}
	o, err := objfile.New(section, section.Size())
	if err != nil {
		return &passError{err.Error()}
	}
	if !sameID(o.BuildID(), id) {
		return &passError{fmt.Sprintf("the device has it with the build ID %s, recorded was %s", unknownText(o.BuildID()), id)}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return write(to, io.NewSectionReader(section, 0, section.Size()))
}

// keepKallsyms pulls the symbols of the kernel, if it shows their addresses, which it
// does to root at most.
func (b *Android) keepKallsyms(ctx context.Context, to string) error {
	if _, err := os.Stat(to); err == nil || !b.root {
		return nil
	}
	reply, err := b.adb.ask(ctx, "grep -m 1 '^ffff' /proc/kallsyms", "")
	if err != nil || reply.status != 0 {
		return err
	}
	temporary := filepath.Join(filepath.Dir(to), ".kallsyms")
	if err := b.adb.pull(ctx, "/proc/kallsyms", temporary); err != nil {
		return err
	}
	return os.Rename(temporary, to)
}
