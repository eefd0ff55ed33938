package objects

import "strings"

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
// machine, "" if it is not known.
func (m *Machine) debugPackage(file string) string {
	if m.Root == nil {
		return ""
	}
	if m.packages == nil {
		m.packages = readPackages(m.Root)
	}
	return m.packages.debug(file)
}
