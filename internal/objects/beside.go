package objects

import (
	"fmt"
	"os"
	"path/filepath"
)

// Names of what a set of recordings has besides them: its notes, object files, and the symbols
// of the kernel.
const (
	NotesName    = "recording.yaml"
	SymbolsName  = "symbols"
	KallsymsName = "kallsyms"
)

// maxBeside bounds how many entries of a folder beside a recording are looked at for build IDs:
// the user did not name it.
const maxBeside = 5000

// Beside returns the view of recordings in a directory, which looks at what lies beside them:
// symbols/ and binary_cache/ of simpleperf, and if the directory is before/ or after/ of a set,
// symbols/ and kallsyms of that. A set has notes, or its symbols/ has what only a set has.
func (s *Store) Beside(dir string) *Store {
	v := s.View()
	if dir == "" {
		return v
	}
	symbols := filepath.Join(dir, SymbolsName)
	v.addBeside(symbols)
	v.addBeside(filepath.Join(dir, "binary_cache"))
	v.addList(filepath.Join(symbols, KallsymsName))
	set := filepath.Join(dir, "..")
	if isSet(set) {
		symbols = filepath.Join(set, SymbolsName)
		v.addBeside(symbols)
		v.addList(filepath.Join(set, KallsymsName))
		v.addList(filepath.Join(symbols, KallsymsName))
	}
	return v
}

// isSet reports whether a directory is a set of recordings.
func isSet(dir string) bool {
	fsys := os.DirFS(dir)
	for _, name := range []string{NotesName, SymbolsName + "/" + KallsymsName, SymbolsName + "/build_id_list"} {
		if regular(fsys, name) {
			return true
		}
	}
	return isDirectory(filepath.Join(dir, SymbolsName, ".build-id"))
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// addBeside adds a directory beside a recording, if there is one.
func (s *Store) addBeside(name string) {
	if isDirectory(name) {
		s.add(s.directory(SearchPath{Name: name, FS: os.DirFS(name)}, beside))
	}
}

// addList adds a list of the kernel's symbols, if there is one.
func (s *Store) addList(name string) {
	if regular(os.DirFS(filepath.Dir(name)), filepath.Base(name)) {
		s.lists = append(s.lists, name)
	}
}

// kallsyms is what became of a list of the kernel's symbols.
type kallsyms struct {
	*Kallsyms
	err  error
	size int64 // of the file, which grows with a recording
}

// Kallsyms returns the symbols of the kernel that lie beside the recordings of the view, nil if
// there are none.
func (s *Store) Kallsyms() (*Kallsyms, error) {
	if s == nil || len(s.lists) == 0 {
		return nil, nil
	}
	name := s.lists[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	size := int64(-1)
	if info, err := os.Stat(name); err == nil {
		size = info.Size()
	}
	list, ok := s.kallsyms[name]
	if !ok || list.size != size {
		list.size = size
		list.Kallsyms, list.err = readKallsyms(os.DirFS(filepath.Dir(name)), filepath.Base(name))
		if list.err == nil {
			list.Name = name
		} else {
			list.err = fmt.Errorf("%s is not used: %w", name, list.err)
		}
		s.kallsyms[name] = list
	}
	return list.Kallsyms, list.err
}
