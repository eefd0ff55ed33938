package html

import (
	"profdiff/internal/privacy"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
)

// A page goes to people who need not know where files lie on the machine of whoever recorded, nor with
// which arguments a program was called. All text of a page passes [Document.clean], which takes
// directories away; arguments are not taken over to begin with.

func (o *Options) rule() *privacy.Rule {
	return &privacy.Rule{Paths: o.Paths, Private: o.Private, Project: o.Project}
}

// text takes from a text the directories of absolute paths, which tell of the machine of whoever
// recorded.
func (o *Options) text(s string) string { return o.rule().Text(s) }

// name is the name of a file, with its directory if that is in the project or tells the side.
func (o *Options) name(s string) string { return o.rule().Name(s) }

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
	known := d.options.rule().Cleaner(d.files)
	return func(s string) string { return text.Clean(known(s)) }
}
