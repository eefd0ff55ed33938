package budget

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// A Code is a file with code that runs of a side loaded.
type Code struct {
	Path string
	// Named is set if the runs have names of functions in it.
	Named bool
	// Functions reads the file and yields all its functions, once or more often. It is nil
	// where there is no file to read.
	Functions func() (iter.Seq[Function], error)
}

var errNoCode = errors.New("there is no file to read")

func (c *Code) read() (iter.Seq[Function], error) {
	if c.Functions == nil {
		return nil, errNoCode
	}
	return c.Functions()
}

// A Function is a function of a file, whether or not a sample hit it.
type Function struct{ Name, System, File string }

// A place says whether the files of both sides have a function that no sample hit.
type place struct {
	has [2]bool
	// read says whether any file was read that might have it, and unread are those that
	// might have it and could not be.
	read   bool
	unread []string
}

// wanted are functions that are looked for in files.
type wanted struct {
	*matcher
	functions []*pattern // instead of those of the matcher
	*place
}

// inDSO reports whether a file may have the functions.
func (w *wanted) inDSO(c *Code) bool { return w.dso == "" || dsoMatch(w.dso, c.Path) }

func (w *wanted) match(f *Function, names []string) bool {
	byName := len(w.functions) == 0 || slices.ContainsFunc(w.functions, func(p *pattern) bool { return p.match(names...) })
	return byName && (w.file == "" || fileMatch(w.file, f.File))
}

// lookUp looks in the files of a side that has no samples of functions whether they are
// there. Files are read only if anything is looked for.
func (k *check) lookUp() {
	k.places, k.callerPlaces = make(map[*target]*place), make(map[*target]*place)
	var list [2][]*wanted
	for _, x := range k.targets {
		if x == nil {
			continue
		}
		if x.framed() {
			w := &wanted{x.matcher, x.functions, &place{}}
			k.places[x] = w.place
			for side := range list {
				if w.has[side] = len(x.matched[side]) > 0; !w.has[side] {
					list[side] = append(list[side], w)
				}
			}
		}
		if x.matcher.under != nil && !x.callers {
			w := &wanted{&matcher{}, []*pattern{x.matcher.under}, &place{}}
			k.callerPlaces[x] = w.place
			list[0], list[1] = append(list[0], w), append(list[1], w)
		}
	}
	for side := range list {
		if len(list[side]) > 0 && k.in.Code != nil {
			k.lookUpIn(side, k.in.Code(side), list[side])
		}
	}
}

func (k *check) lookUpIn(side int, files []Code, list []*wanted) {
	for _, w := range list {
		// No file of that name was loaded.
		w.read = w.read || len(files) > 0 && !slices.ContainsFunc(files, func(c Code) bool { return w.inDSO(&c) })
	}
	for i := range files {
		c := &files[i]
		var here []*wanted
		for _, w := range list {
			switch {
			case w.has[side] || !w.inDSO(c):
			case len(w.functions) == 0 && w.file == "":
				w.has[side] = true // all functions of the file
			default:
				here = append(here, w)
			}
		}
		if len(here) == 0 {
			continue
		}
		functions, err := c.read()
		for _, w := range here {
			switch {
			case err == nil:
				w.read = true
			case (c.Named || w.dso != "") && !slices.Contains(w.unread, c.Path):
				w.unread = append(w.unread, c.Path)
			}
		}
		if err != nil {
			continue
		}
		for f := range functions {
			if len(k.codeNames) < maxCodeNames {
				k.codeNames[f.Name] = true
			}
			names := spellings(f.Name, f.System)
			here = slices.DeleteFunc(here, func(w *wanted) bool {
				w.has[side] = w.match(&f, names)
				return w.has[side]
			})
			if len(here) == 0 {
				break
			}
		}
	}
}

// maxCodeNames is how many functions of files are compared with a name that none has.
const maxCodeNames = 50_000

// there reports whether a side has it.
func (p *place) there() bool { return p.has[0] || p.has[1] }

// unknown says why it is not known whether there is what a place was looked up for, "" if it
// is known.
func (p *place) unknown() string {
	const most = 3
	switch {
	case p.there() || p.read && len(p.unread) == 0:
		return ""
	case len(p.unread) > most:
		return fmt.Sprintf("%s and %d other files could not be read, which may have it; --symfs says where they are", strings.Join(p.unread[:most], ", "), len(p.unread)-most)
	case len(p.unread) > 0:
		return fmt.Sprintf("%s could not be read, which may have it; --symfs says where it is", strings.Join(p.unread, ", "))
	}
	return "no binary of the recordings could be read, which may have it; --symfs says where they are"
}
