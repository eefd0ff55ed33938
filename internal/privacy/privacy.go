// Package privacy takes from what goes to others what tells of the machine and the project of whoever
// recorded: directories of files. Arguments of programs are not taken over to begin with.
package privacy

import (
	"bytes"
	"cmp"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"profdiff/internal/run"
)

// A Rule says what may be told.
type Rule struct {
	// Paths is set if all paths may be, Private if no directory may be, not even one that tells a side.
	Paths, Private bool
	// Project is the directory in which files are named as they are there, "" for none.
	Project string
}

// Text takes from a text the directories of absolute paths.
func (r *Rule) Text(s string) string {
	if r.Paths {
		return s
	}
	return run.ReplaceDirectories(s, "…/")
}

// sideName is what a directory is called that tells a side or a build, and nothing else.
var sideName = regexp.MustCompile(`^(before|after|base|head|baseline|current|old|new|a|b|v?\d[\w.]*|[0-9a-f]{7,40})$`)

// Name is the name of a file, with its directory if that is in the project or tells the side.
func (r *Rule) Name(s string) string {
	if r.Paths {
		return s
	}
	s = path.Clean(strings.ReplaceAll(s, `\`, "/"))
	if path.IsAbs(s) && r.Project != "" {
		if inside, err := filepath.Rel(r.Project, s); err == nil {
			s = filepath.ToSlash(inside)
		}
	}
	dir, file := path.Split(s)
	last := path.Base(dir)
	outside := path.IsAbs(s) || strings.HasPrefix(s, "../") || strings.Contains(s, ":")
	if dir == "" || last == "/" || last == "." || last == ".." || r.Private || outside && !sideName.MatchString(last) {
		return file
	}
	return last + "/" + file
}

// Cleaner is what texts pass that name files in many ways: inputs get their names, other absolute
// paths lose their directories.
func (r *Rule) Cleaner(inputs []string) func(string) string {
	if r.Paths {
		return func(s string) string { return s }
	}
	var pairs []string
	names := slices.DeleteFunc(slices.Clone(inputs), func(name string) bool { return name == "" })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, name := range slices.Compact(names) {
		if short := r.Name(name); short != name {
			pairs = append(pairs, name, short)
		}
		if dir := path.Dir(name); strings.Contains(dir, "/") && (r.Private || strings.HasPrefix(dir, "../")) {
			pairs = append(pairs, dir+"/", "…/", dir, path.Base(dir))
		}
	}
	replace := strings.NewReplacer(pairs...)
	return func(s string) string { return r.Text(replace.Replace(s)) }
}

// Write cleans what write writes, line by line. It keeps JSON, CSV and XML what they are: nothing in place of
// a directory needs quoting.
func (r *Rule) Write(w io.Writer, inputs []string, write func(io.Writer) error) error {
	if r.Paths {
		return write(w)
	}
	l := &lines{w: w, clean: r.Cleaner(inputs)}
	if err := write(l); err != nil {
		return err
	}
	return l.flush()
}

// lines cleans whole lines.
type lines struct {
	w     io.Writer
	clean func(string) string
	begun []byte // of a line that has not ended
}

func (l *lines) Write(p []byte) (int, error) {
	end := bytes.LastIndexByte(p, '\n') + 1
	if end == 0 {
		l.begun = append(l.begun, p...)
		return len(p), nil
	}
	l.begun = append(l.begun, p[:end]...)
	if err := l.flush(); err != nil {
		return 0, err
	}
	l.begun = append(l.begun, p[end:]...)
	return len(p), nil
}

func (l *lines) flush() error {
	for line := range bytes.Lines(l.begun) {
		if bytes.ContainsAny(line, `/\`) {
			line = []byte(l.clean(string(line)))
		}
		if _, err := l.w.Write(line); err != nil {
			return err
		}
	}
	l.begun = l.begun[:0]
	return nil
}
