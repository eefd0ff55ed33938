package main

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// symbols knows which names are symbols of one address.
type symbols struct {
	files map[string]map[string][]uint64 // by path and name
	maps  map[string][]entry             // of /tmp/perf-PID.map, by path
}

// An entry of a perf map.
type entry struct {
	start, size uint64
	name        string
}

func newSymbols() *symbols {
	return &symbols{map[string]map[string][]uint64{}, map[string][]entry{}}
}

// of are the symbols of a file by name.
func (s *symbols) of(file string) map[string][]uint64 {
	if _, ok := s.files[file]; !ok && strings.HasPrefix(file, "/") {
		s.files[file] = readSymbols(file)
	}
	return s.files[file]
}

// aliases reports whether two names are of one address in a file or its debug file.
func (s *symbols) aliases(file, a, b string) bool {
	names := s.of(file)
	for _, x := range names[unversioned(a)] {
		if slices.Contains(names[unversioned(b)], x) {
			return true
		}
	}
	return false
}

// starts reports whether a frame is the first byte of its symbol, and no return address of it.
func (s *symbols) starts(f frame) bool {
	return slices.ContainsFunc(s.of(f.file)[unversioned(f.name)], func(start uint64) bool {
		return start&0xfff == f.addr&0xfff // the one is an address, the other an offset in the file
	})
}

// reused reports whether the perf map that names a frame has another name for its address, too.
func (s *symbols) reused(f frame, other string) bool {
	if !strings.HasPrefix(f.file, "/tmp/perf-") {
		return false
	}
	if _, ok := s.maps[f.file]; !ok {
		text, _ := os.ReadFile(f.file)
		for line := range strings.Lines(string(text)) {
			var e entry
			if _, err := fmt.Sscanf(line, "%x %x", &e.start, &e.size); err == nil {
				e.name = strings.TrimSpace(strings.SplitN(line, " ", 3)[2])
				s.maps[f.file] = append(s.maps[f.file], e)
			}
		}
	}
	return slices.ContainsFunc(s.maps[f.file], func(e entry) bool {
		return e.name == other && e.start <= f.addr && f.addr-e.start <= e.size
	})
}

func unversioned(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return name
}

// readSymbols reads the symbols of a file of this machine and of its debug file.
func readSymbols(file string) map[string][]uint64 {
	names := map[string][]uint64{}
	f, err := elf.Open(file)
	if err != nil {
		return names
	}
	defer f.Close()
	add := func(f *elf.File) {
		for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
			list, _ := read() // a file may have none
			for _, sym := range list {
				if sym.Value != 0 {
					name := unversioned(sym.Name)
					names[name] = append(names[name], sym.Value)
				}
			}
		}
	}
	add(f)
	if note := f.Section(".note.gnu.build-id"); note != nil {
		if data, err := note.Data(); err == nil && len(data) > 16 {
			id := hex.EncodeToString(data[16:])
			if d, err := elf.Open(filepath.Join("/usr/lib/debug/.build-id", id[:2], id[2:]+".debug")); err == nil {
				add(d)
				d.Close()
			}
		}
	}
	return names
}
