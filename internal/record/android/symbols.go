package android

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"profdiff/internal/record"
	"profdiff/internal/record/command"
)

// keepObjects pulls the object files that the samples of a recording hit and that are
// not there yet. Those that cannot be had are noted, once.
func (b *Backend) keepObjects(ctx context.Context, dir string, objects []record.Object) (notes []string, err error) {
	temporary := filepath.Join(dir, ".pulled")
	defer func() { err = errors.Join(err, removeIfThere(temporary)) }()
	pulled := ""    // the file of the device that temporary is
	var wrong error // why pulled is none
	for _, o := range objects {
		if o.IsKept(dir) || b.passed[o.ID] {
			continue
		}
		file, entry, _ := strings.Cut(o.Path, "!/")
		if pulled != file {
			if wrong = b.pullObject(ctx, file, temporary); ctx.Err() != nil {
				return notes, context.Cause(ctx)
			}
			pulled = file
		}
		err := wrong
		if err == nil {
			err = o.Keep(dir, temporary, entry)
		}
		if _, passed := errors.AsType[record.PassError](err); passed {
			b.passed[o.ID] = true
			notes = append(notes, fmt.Sprintf("%s is not kept: %v", o.Path, err))
		} else if err != nil {
			return notes, err
		}
	}
	return notes, b.keepKallsyms(ctx, filepath.Join(dir, record.KallsymsName))
}

// pullObject copies a file of the device. Files of apps can often not be pulled, but
// copied by the shell.
func (b *Backend) pullObject(ctx context.Context, from, to string) error {
	reply, err := b.adb.ask(ctx, "stat -L -c %s "+command.Quote(from), "")
	if err != nil {
		return err
	}
	size := record.Number(strings.TrimSpace(string(reply.output)))
	switch {
	case reply.status != 0:
		return record.PassError("the shell of the device cannot read it")
	case size > record.MaxObject:
		return record.PassError(fmt.Sprintf("%.0f MB are more than %d", size/(1<<20), record.MaxObject>>20))
	}
	if err := record.CheckSpace(filepath.Dir(to), int64(size), record.FreeBytes); err != nil {
		return err
	}
	if err := b.adb.pull(ctx, from, to); err == nil {
		return nil
	}
	copied := deviceDir + "/object"
	reply, err = b.adb.shell(ctx, "mkdir -p "+deviceDir+" && cp "+command.Quote(from)+" "+copied, "")
	if err != nil {
		return err
	}
	if reply.status != 0 {
		return record.PassError("the shell of the device cannot read it")
	}
	if err := b.adb.pull(ctx, copied, to); err != nil {
		return err
	}
	_, err = b.adb.ask(ctx, "rm -rf "+deviceDir, "")
	return err
}

// keepKallsyms pulls the symbols of the kernel, if it shows their addresses, which it
// does to root at most.
func (b *Backend) keepKallsyms(ctx context.Context, to string) error {
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
