package html

import (
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/run"
)

// A page goes to people who need not know where files lie on the machine of whoever recorded, nor with
// which arguments a program was called. All text of a page passes [Document.clean], which takes
// directories away; arguments are not taken over to begin with.

// text takes from a text the directories of absolute paths, which tell of the machine of whoever
// recorded.
func (o *Options) text(s string) string {
	if o.Paths {
		return s
	}
	return run.ReplaceDirectories(s, "…/")
}

// sideName is what a directory is called that tells a side or a build, and nothing else.
var sideName = regexp.MustCompile(`^(before|after|base|head|baseline|current|old|new|a|b|v?\d[\w.]*|[0-9a-f]{7,40})$`)

// name is the name of a file, with its directory if that is in the project or tells the side.
func (o *Options) name(s string) string {
	if o.Paths {
		return s
	}
	s = path.Clean(strings.ReplaceAll(s, `\`, "/"))
	if path.IsAbs(s) && o.Project != "" {
		if inside, err := filepath.Rel(o.Project, s); err == nil {
			s = filepath.ToSlash(inside)
		}
	}
	dir, file := path.Split(s)
	last := path.Base(dir)
	outside := path.IsAbs(s) || strings.HasPrefix(s, "../") || strings.Contains(s, ":")
	if dir == "" || last == "/" || last == "." || last == ".." || o.Private || outside && !sideName.MatchString(last) {
		return file
	}
	return last + "/" + file
}

// program is what was run, without its arguments unless they may be shown.
func (o *Options) program(rec *run.Recording) string {
	if o.Commands {
		return rec.CommandLine
	}
	return rec.ProgramName()
}

// clean is what text passes before it is written: what other texts say of inputs is said with the names
// that they have on the page.
func (d *Document) clean() func(string) string {
	o := &d.options
	if o.Paths {
		return text.Clean
	}
	var pairs []string
	names := slices.DeleteFunc(slices.Clone(d.files), func(name string) bool { return name == "" })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, name := range slices.Compact(names) {
		if short := o.name(name); short != name {
			pairs = append(pairs, name, short)
		}
		if dir := path.Dir(name); strings.Contains(dir, "/") && (o.Private || strings.HasPrefix(dir, "../")) {
			pairs = append(pairs, dir+"/", "…/", dir, path.Base(dir))
		}
	}
	inputs := strings.NewReplacer(pairs...)
	return func(s string) string { return text.Clean(o.text(inputs.Replace(s))) }
}
