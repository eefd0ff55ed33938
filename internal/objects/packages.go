package objects

import (
	"bufio"
	"hash/maphash"
	"io"
	"io/fs"
	"path"
	"strings"
)

// packages are those of Debian's that are installed. dpkg has a list of the files of each, and many
// files of a recording may be asked for: all lists are read once, and hashes of paths are kept.
type packages struct {
	names []string
	of    map[uint64]uint32 // index in names by the hash of a path
	seed  maphash.Seed
}

// readPackages reads the lists of a machine.
func readPackages(root fs.FS) *packages {
	p := &packages{of: make(map[uint64]uint32), seed: maphash.MakeSeed()}
	lists, err := fs.Glob(root, "var/lib/dpkg/info/*.list")
	if err != nil {
		return p
	}
	room := make([]byte, 1<<16)
	for _, list := range lists {
		name, _, _ := strings.Cut(strings.TrimSuffix(path.Base(list), ".list"), ":") // from its architecture
		p.names = append(p.names, name)
		if f, err := root.Open(list); err == nil {
			p.read(f, room)
			f.Close()
		}
	}
	return p
}

// read adds the files of the last package, in room for a line. Of two packages with a file, the first counts.
func (p *packages) read(list io.Reader, room []byte) {
	lines := bufio.NewScanner(list)
	lines.Buffer(room, 0)
	for lines.Scan() {
		hash := p.hash(lines.Text())
		if _, other := p.of[hash]; !other {
			p.of[hash] = uint32(len(p.names) - 1)
		}
	}
}

// hash is that of a path, which may be without /usr: directories of that name were merged.
func (p *packages) hash(file string) uint64 {
	return maphash.String(p.seed, strings.TrimPrefix(file, "/usr"))
}

// debug is the package with the debug information of a file.
func (p *packages) debug(file string) string {
	i, ok := p.of[p.hash(file)]
	switch {
	case !ok:
		return ""
	case p.names[i] == "libc6":
		return "libc6-dbg"
	}
	return p.names[i] + "-dbgsym"
}
