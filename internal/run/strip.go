package run

import (
	"fmt"
	"regexp"
	"strings"
)

// A Private names facts of a recording that not everybody needs to see.
type Private string

// What can be stripped.
const (
	// PrivateCommands are command lines, of the recorder and of what it recorded, with all their
	// arguments, the commit, and the name of the host.
	PrivateCommands Private = "commands"
	// PrivatePaths are directories: files keep their base names, wherever they are named.
	PrivatePaths Private = "paths"
	// PrivateKernel are addresses in the kernel, which tell where it was loaded, its version and
	// build. The names of its functions, which are public, stay.
	PrivateKernel Private = "kernel"
)

// Privates are all of them.
var Privates = []Private{PrivatePaths, PrivateCommands, PrivateKernel}

// directories are those of paths in a text: of Unix, of Windows, and of URLs of files. What is before
// tells them from slashes within a word, as those of Java's signatures.
var directories = regexp.MustCompile(`(^|[^\w.)\]/\\])((?:file://)?/(?:[^/\s:;,'"()<>{}|\[\]]+/)+|[A-Za-z]:[\\/](?:[^\\/\s:;,'"()<>{}|]+[\\/])+)`)

// address is one in the upper half, which is the kernel's.
var address = regexp.MustCompile(`0x[89a-f][0-9a-f]{15}\b`)

func withoutDirectories(s string) string { return ReplaceDirectories(s, "") }

// ReplaceDirectories puts a text in the place of the directories of paths in another, absolute ones.
func ReplaceDirectories(s, by string) string {
	if !strings.ContainsAny(s, `/\`) {
		return s
	}
	return directories.ReplaceAllString(s, "${1}"+by)
}

// Strip removes private facts, and says of each kind what was removed. Samples, stacks and names
// of functions stay. The directories of a mapping stay as far as they tell it from others.
func (r *Run) Strip(what Private) string {
	switch what {
	case PrivateCommands:
		return r.stripCommands()
	case PrivatePaths:
		return r.stripPaths()
	}
	return r.stripKernel()
}

func (r *Run) stripCommands() string {
	rec := &r.Recording
	n := 0
	for _, field := range []*string{&rec.CommandLine, &rec.Command, &rec.Commit, &rec.Host} {
		if *field != "" {
			*field = ""
			n++
		}
	}
	return fmt.Sprintf("commands: %d of command line, command, commit and host", n)
}

func (r *Run) stripPaths() string {
	n := 0
	strip := func(s *string) {
		if short := withoutDirectories(*s); short != *s {
			*s = short
			n++
		}
	}
	for i := range r.Mappings {
		m := &r.Mappings[i]
		if m.Parts > 1 {
			parts := strings.Split(m.File, "/")
			if keep := min(m.Parts, len(parts)); keep < len(parts) {
				m.File = strings.Join(parts[len(parts)-keep:], "/")
				n++
			}
			continue
		}
		strip(&m.File)
	}
	for i := range r.Idle {
		strip(&r.Idle[i].File)
	}
	for i := range r.Functions {
		f := &r.Functions[i]
		mark := f.Mark()
		for _, s := range []*string{&f.Name, &f.SystemName, &f.File, &f.Origin, &mark} {
			strip(s)
		}
		f.marked(mark)
		f.File = f.File[strings.LastIndexAny(f.File, `/\`)+1:]
	}
	for i := range r.Labels {
		for _, s := range []*string{&r.Labels[i].Process, &r.Labels[i].Thread, &r.Labels[i].Other} {
			strip(s)
		}
	}
	for i := range r.Warnings {
		strip(&r.Warnings[i])
	}
	for _, s := range []*string{&r.Name, &r.Recording.CommandLine, &r.Recording.Command, &r.Recording.Tool, &r.Recording.Bound} {
		strip(s)
	}
	return fmt.Sprintf("paths: directories in %d names", n)
}

// marked sets Apart of a function that has a new name, by what is new of its mark.
func (f *Function) marked(mark string) {
	if f.Apart = 0; mark != "" && strings.HasSuffix(f.Name, "@"+mark) {
		f.Apart = uint32(len(mark))
	}
}

func (r *Run) stripKernel() string {
	inKernel := func(m uint32) bool {
		kind := r.Mappings[m].Kind
		return kind == KernelMapping || kind == ModuleMapping
	}
	n := 0
	for i := range r.Locations {
		l := &r.Locations[i]
		if !inKernel(l.Mapping) {
			continue
		}
		if l.Address != 0 {
			l.Address = 0
			n++
		}
		for _, line := range l.Lines {
			f := &r.Functions[line.Function]
			mark := f.Mark()
			for _, s := range []*string{&f.Name, &f.Origin, &mark} { // static functions are told apart by addresses
				*s = address.ReplaceAllString(*s, "0x…")
			}
			if f.Unknown { // it may be called by its address
				f.Name, f.SystemName, mark = UnknownFunctionName(r.Mappings[l.Mapping].File), "", ""
			}
			f.marked(mark)
		}
	}
	for i := range r.Mappings {
		if m := &r.Mappings[i]; inKernel(uint32(i)) {
			m.Start, m.Limit, m.Offset, m.BuildID = 0, 0, 0, ""
		}
	}
	for i := range r.Warnings {
		r.Warnings[i] = address.ReplaceAllString(r.Warnings[i], "0x…")
	}
	r.Recording.Kernel, r.Recording.Build = "", ""
	return fmt.Sprintf("kernel: %d addresses, version and build", n)
}
