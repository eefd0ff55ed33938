package objects

import (
	"errors"
	"os"

	"profdiff/internal/disasm"
	"profdiff/internal/objfile"
	"profdiff/internal/unwind"
)

// An Object is a file that names the addresses of a DSO: symbols, and functions and
// lines where it has debug information.
type Object struct {
	warner
	file    *source
	store   *Store  // the view that found it first
	known   bool    // what it has: load was called before
	loaded  bool    // what it has is here
	debug   *source // separate debug file, nil if there is none
	symbols *objfile.SymbolTable
	lines   *objfile.LineTable
	lined   bool                       // it has lines
	frames  map[uint64][]objfile.Frame // that were asked for
	unsplit bool                       // a file with what the compiler split off was missing

	unwindable bool // module has been asked for
	module     *unwind.Module

	decodable bool // code has been asked for
	code      *disasm.Code
	codeErr   error
}

// File is the file that has the code.
func (o *Object) File() *objfile.File { return o.file.File }

// Name is the search path and the name in it, for messages.
func (o *Object) Name() string { return o.file.from.Name }

// Entry is the name of the file in the archive that the DSO is, "" if the DSO is none.
func (o *Object) Entry() string { return o.file.entry }

// Given reports whether the file is under a directory that the user named.
func (o *Object) Given() bool { return o.file.from.in.kind == given }

// Path is where the file is on this machine; ok is false if it is not a file of its own.
func (o *Object) Path() (name string, ok bool) {
	file, ok := o.file.from.File.(*os.File)
	if !ok || o.file.zipped != "" {
		return "", false
	}
	return file.Name(), true
}

// Symbols come from the separate debug file if there is one, else from the file; nil if
// there are none.
func (o *Object) Symbols() *objfile.SymbolTable {
	o.load()
	return o.symbols
}

// Lines is the line table, likewise.
func (o *Object) Lines() *objfile.LineTable {
	o.load()
	return o.lines
}

// Forget drops symbols and lines, which are the most that is kept of a file. They are read again if they are
// asked for.
func (o *Object) Forget() { o.loaded, o.symbols, o.lines, o.frames = false, nil, nil, nil }

// Unwind has the tables by which the stacks of the file's code are unwound, nil if it is for a
// machine of which that is not known.
func (o *Object) Unwind() *unwind.Module {
	if !o.unwindable {
		o.unwindable = true
		o.module, _ = unwind.NewModule(unwind.Source{File: o.File(), Debug: o.Debug, Function: o.function})
	}
	return o.module
}

// Code are the instructions of the file. Its functions are bounded by [Object.Symbols].
func (o *Object) Code() (*disasm.Code, error) {
	if !o.decodable {
		o.decodable = true
		o.code, o.codeErr = disasm.NewWith(o.File(), disasm.Options{Symbols: o.Symbols()})
	}
	return o.code, o.codeErr
}

// function names the function at an address of the file, "" if it is not known.
func (o *Object) function(vaddr uint64) string {
	if t := o.Symbols(); t != nil {
		s, _ := t.Lookup(vaddr)
		return s.Name
	}
	return ""
}

// Frames are the functions at an address by the line table, innermost first. Runs of a
// program share most of their addresses: what was found is kept.
func (o *Object) Frames(vaddr uint64) []objfile.Frame {
	lines := o.Lines()
	if lines == nil {
		return nil
	}
	frames, ok := o.frames[vaddr]
	if !ok {
		if o.frames == nil {
			o.frames = make(map[uint64][]objfile.Frame)
		}
		frames = lines.Frames(vaddr)
		o.frames[vaddr] = frames
	}
	return frames
}

// Debug is the separate debug file, nil if there is none.
func (o *Object) Debug() *objfile.File {
	o.learn()
	if o.debug == nil {
		return nil
	}
	return o.debug.File
}

// learn finds out what the object file and its separate debug file have.
func (o *Object) learn() {
	if !o.known {
		o.load()
	}
}

// load reads what the object file and its separate debug file have, once unless that is forgotten.
func (o *Object) load() {
	if o.loaded {
		return
	}
	o.loaded = true
	if !o.known {
		o.known, o.debug = true, o.store.debugFile(o.file)
	}
	for _, source := range []*source{o.debug, o.file} {
		if source == nil {
			continue
		}
		name := source.from.Name
		if o.symbols == nil {
			if t, err := source.SymbolsBeside(o.file.File); err == nil {
				o.symbols = t
				if err := t.Skipped(); err != nil {
					o.warn("%s: %v", name, err)
				}
			} else if !errors.Is(err, objfile.ErrNotFound) {
				o.warn("%s: symbols: %v", name, err)
			}
		}
		if o.lines == nil {
			if t, err := source.Lines(); err == nil {
				o.lines, o.lined = t, true
				o.addSupplementary(source)
				o.addSplit(source)
			} else if !errors.Is(err, objfile.ErrNotFound) && !errors.Is(err, objfile.ErrUnsupported) {
				o.warn("%s: debug information: %v", name, err)
			}
		}
	}
}

// addSupplementary completes the line table by the file that a distribution's debug
// files share, if there is one.
func (o *Object) addSupplementary(of *source) {
	name, id, ok := of.AltDebugLink()
	if !ok {
		return
	}
	if sup := o.store.supplementary(of, name, id); sup != nil {
		if lines, err := sup.Lines(); err == nil {
			o.lines.SetSupplementary(lines)
			return
		}
	}
	o.warn("%s: names of functions are missing: the file %s that it refers to is not here", of.from.Name, name)
}
