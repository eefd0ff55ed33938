package run

import (
	"strings"
)

// leastFile is the share of the samples of a run that a file must have to need a name of its
// own: what is less moves no row of another file that anybody would look at.
const leastFile = 0.01

// Label is the name by which the file of a mapping is compared: its base name, as directories
// differ between devices and installations, and more of its path where another file of that
// name matters; see [TellApart].
func (m *Mapping) Label() string { return lastParts(m.File, max(1, m.Parts)) }

// lastParts is the end of a path, of at most n parts.
func lastParts(path string, n int) string {
	i := len(path)
	for range n {
		if i = strings.LastIndexByte(path[:max(0, i)], '/'); i < 0 {
			return path
		}
	}
	return path[i+1:]
}

// tellFilesApart sets Parts of the mappings of runs.
//
//  1. Two files of one base name are different if one run has both, by paths and build IDs
//     that differ, and each has a share of its samples.
//  2. As many parts of their paths are looked at as it takes to tell them apart, and as many in
//     all runs: the directory of an installation, which is above, may differ.
func tellFilesApart(runs []*Run) {
	parts := make(map[string]int) // by base name
	for _, r := range runs {
		for base, files := range r.heavyFiles() {
			for i, a := range files {
				for _, b := range files[:i] {
					for n := 1; a.File != b.File && (a.BuildID == "" || a.BuildID != b.BuildID); n++ {
						if lastParts(a.File, n) != lastParts(b.File, n) {
							parts[base] = max(parts[base], n)
							break
						}
					}
				}
			}
		}
	}
	if len(parts) == 0 {
		return
	}
	for _, r := range runs {
		for i := range r.Mappings {
			m := &r.Mappings[i]
			if n := parts[lastParts(m.File, 1)]; n > 0 {
				m.Parts = max(m.Parts, n)
			}
		}
	}
}

// heavyFiles are the files of a run that have a share of its samples, by their base names, of
// which several files have each.
func (r *Run) heavyFiles() map[string][]*Mapping {
	first := make(map[string]string) // path of each base name
	shared := false
	for i := range r.Mappings {
		file := r.Mappings[i].File
		base := lastParts(file, 1)
		if known, ok := first[base]; !ok {
			first[base] = file
		} else if known != file {
			shared = true
		}
	}
	if !shared { // as in most runs
		return nil
	}
	counts := make(map[string]int64)
	var all int64
	for i := range r.Samples {
		s := &r.Samples[i]
		all += s.Count
		if s.Stack != 0 {
			counts[r.Mappings[r.Locations[r.Stacks.Location(s.Stack)].Mapping].File] += s.Count
		}
	}
	files := make(map[string][]*Mapping)
	for i := range r.Mappings {
		m := &r.Mappings[i]
		if n, ok := counts[m.File]; ok && strings.Contains(m.File, "/") && float64(n) >= leastFile*float64(all) {
			base := lastParts(m.File, 1)
			files[base] = append(files[base], m)
			delete(counts, m.File) // further mappings of it tell no more
		}
	}
	return files
}
