package objects

import (
	"bytes"
	"io/fs"
	"path"
	"strings"
)

// Missing says why a file has no names for addresses in it, as far as the search for it tells,
// which package of this machine has them, if that is known, and what would help else.
func (s *Store) Missing(file Recorded) (why, install, help string) {
	if s.Empty() {
		return "", "", ""
	}
	const elsewhere = "--symfs DIR names a folder with the recorded files"
	o, err := s.Names(file)
	if err != nil {
		why = s.NotFound(file)
		if packaged := strings.HasPrefix(file.Path, "/usr/") || strings.HasPrefix(file.Path, "/lib"); packaged && file.BuildID != "" && s.fetcher == nil {
			return why, "", elsewhere + ", or " + askDebuginfod
		}
		return why, "", elsewhere
	}
	if o.hasSymbols() {
		return "it has none at these addresses", "", ""
	}
	if strings.HasPrefix(file.Path, "[") {
		return "it has few symbols", "", ""
	}
	switch name := s.machine.debugPackage(file.Path); {
	case s.fetcher != nil:
		return "stripped, and neither is its debug file here nor has debuginfod it", "", elsewhere
	case name != "" && o.file.from.in.kind == local:
		return "stripped, without a debug file under /usr/lib/debug", name, askDebuginfod
	}
	return "stripped, without a debug file", "", elsewhere + ", or " + askDebuginfod
}

// askDebuginfod is how files are asked for. That server asks those of distributions.
const askDebuginfod = "set DEBUGINFOD_URLS=https://debuginfod.elfutils.org"

// NotFound says where a file was looked for in vain.
func (s *Store) NotFound(file Recorded) string { return notFound(s.Tried(file.Path, file.BuildID)) }

// notFound says where a file was looked for.
func notFound(tries []Try) string {
	var places []string
	for _, t := range tries {
		switch {
		case strings.HasPrefix(t.Why, "its build ID"):
			return t.Place + " is of another build"
		case t.Why != "" && t.Place != "debuginfod":
			return t.Place + ": " + t.Why
		case t.Place != "":
			places = append(places, t.Place)
		}
	}
	if len(places) == 0 {
		return "not here"
	}
	return "not at " + strings.Join(places, ", ")
}

// hasSymbols reports whether the object has more than the symbols that it exports.
func (o *Object) hasSymbols() bool {
	o.learn()
	for _, f := range []*source{o.file, o.debug} {
		if f == nil {
			continue
		}
		for _, name := range []string{".symtab", ".gnu_debugdata"} {
			if _, ok := f.Section(name); ok {
				return true
			}
		}
	}
	return o.lined
}

// debugPackage is the package of Debian's that has the debug information of a file of this
// machine, "" if it is not known: dpkg has a list of the files of each package that is installed. Recordings
// have the same files, and the lists are long: what was found is kept.
func (m *Machine) debugPackage(file string) string {
	if m.Root == nil {
		return ""
	}
	name, ok := m.packages[file]
	if !ok {
		if m.packages == nil {
			m.packages = make(map[string]string)
		}
		name = m.findDebugPackage(file)
		m.packages[file] = name
	}
	return name
}

func (m *Machine) findDebugPackage(file string) string {
	lists, err := fs.Glob(m.Root, "var/lib/dpkg/info/*.list")
	if err != nil {
		return ""
	}
	var text bytes.Buffer
	for _, list := range lists {
		if !m.lists(list, file, &text) {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(path.Base(list), ".list"), ":") // from its architecture
		if name == "libc6" {
			return "libc6-dbg"
		}
		return name + "-dbgsym"
	}
	return ""
}

// lists reports whether a list has a file, which may be without /usr there: directories of
// that name were merged.
func (m *Machine) lists(list, file string, text *bytes.Buffer) bool {
	f, err := m.Root.Open(list)
	if err != nil {
		return false
	}
	defer f.Close()
	text.Reset()
	text.WriteByte('\n')
	if _, err := text.ReadFrom(f); err != nil {
		return false
	}
	text.WriteByte('\n')
	for _, name := range []string{file, strings.TrimPrefix(file, "/usr")} {
		if bytes.Contains(text.Bytes(), []byte("\n"+name+"\n")) {
			return true
		}
	}
	return false
}
