package listing

import (
	"bufio"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxSource is the size of a source file that is read.
const maxSource = 8 << 20

// A Source has the lines of source files below a directory, by the base names that
// debug information gives. A name that several files have is not resolved: the wrong
// text would be worse than none.
type Source struct {
	fsys  fs.FS
	files map[string][]string // paths by base name
	lines map[string][]string
}

// NewSource looks for files in a directory and those below it that have no dot in front.
func NewSource(fsys fs.FS) *Source {
	s := &Source{fsys: fsys, files: make(map[string][]string), lines: make(map[string][]string)}
	_ = fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read is not shown
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && name != ".":
			return fs.SkipDir
		case e.Type().IsRegular():
			s.files[e.Name()] = append(s.files[e.Name()], name)
		}
		return nil
	})
	return s
}

// Line is the text of a line, "" if it is not known or s is nil.
func (s *Source) Line(file string, line int64) string {
	if s == nil {
		return ""
	}
	base := path.Base(file)
	lines, ok := s.lines[base]
	if !ok {
		if found := s.files[base]; len(found) == 1 {
			lines = s.read(found[0])
		}
		s.lines[base] = lines
	}
	if line < 1 || line > int64(len(lines)) {
		return ""
	}
	return lines[line-1]
}

func (s *Source) read(name string) (lines []string) {
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	in := bufio.NewScanner(io.LimitReader(f, maxSource))
	in.Buffer(nil, maxSource)
	for in.Scan() {
		lines = append(lines, strings.TrimRight(in.Text(), " \t\r"))
	}
	return slices.Clip(lines)
}
