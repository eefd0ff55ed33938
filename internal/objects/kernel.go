package objects

import (
	"io"

	"profdiff/internal/objfile"
)

// Kallsyms is a list of the kernel's symbols, a copy of /proc/kallsyms.
type Kallsyms struct {
	*objfile.Kallsyms
	Name string // for messages
}

// ParseKallsyms reads a copy of /proc/kallsyms. name is for messages.
func ParseKallsyms(name string, r io.Reader) (*Kallsyms, error) {
	list, err := objfile.ParseKallsyms(r)
	if err != nil {
		return nil, err
	}
	return &Kallsyms{list, name}, nil
}
