package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// A directory has the files below it, but for those in folders with a dot in front.
type directory struct{ fsys fs.FS }

// Directory is a directory as the files of a side. fsys must not lead out of it by links, as that
// of [os.Root] does not.
func Directory(fsys fs.FS) Files { return directory{fsys} }

func (d directory) List() (list []string, err error) {
	err = fs.WalkDir(d.fsys, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil // what cannot be read is not shown
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && name != ".":
			return fs.SkipDir
		case e.Type().IsRegular():
			list = append(list, name)
		case e.Type()&fs.ModeSymlink != 0:
			if info, err := fs.Stat(d.fsys, name); err == nil && info.Mode().IsRegular() {
				list = append(list, name)
			}
		}
		return nil
	})
	return list, err
}

func (d directory) Read(name string) ([]byte, error) {
	f, err := d.fsys.Open(name)
	if err != nil {
		return nil, reason(name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, reason(name, err)
	case len(data) > MaxFile:
		return nil, TooLarge(name)
	}
	return data, nil
}

// TooLarge is the error for a file with more than [MaxFile] bytes.
func TooLarge(name string) error {
	return fmt.Errorf("%s: has more than %d MB", name, MaxFile>>20)
}

// reason names a file as below the root.
func reason(name string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}
