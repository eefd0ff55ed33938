package compare

import (
	"cmp"
	"slices"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/run"
)

// A naming says what head calls otherwise than base: the program under test, whatever its file
// is called, and libraries of another version. It has base's names by head's.
type naming map[run.GroupBy]map[string]string

// newNaming compares the names of both sides. Those of files are of base and head without
// directories, which differ between devices and installations.
func newNaming(base, head *side) naming {
	var commands [2][]string
	n := make(naming)
	names := [2]map[run.GroupBy][]string{}
	for i, s := range []*side{base, head} {
		r := &s.runs[0].Recording
		commands[i] = align.CommandWords(cmp.Or(r.Command, r.CommandLine))
		names[i] = labelNames(s.runs)
		for j := range s.facts {
			f := &s.facts[j]
			names[i][run.ByDSO] = append(names[i][run.ByDSO], f.DSO)
			names[i][run.ByFile] = append(names[i][run.ByFile], f.File)
		}
		for by, list := range names[i] {
			slices.Sort(list)
			names[i][by] = slices.DeleteFunc(slices.Compact(list), func(name string) bool { return name == "" })
		}
	}
	n[run.ByDSO] = align.Files(base.facts, head.facts, align.Names(names[0][run.ByDSO], names[1][run.ByDSO], commands))
	n[run.ByFile] = align.Paths(names[0][run.ByFile], names[1][run.ByFile])
	// A process is called after its file, and its first thread after the process.
	for h, b := range n[run.ByDSO] {
		commands[0], commands[1] = append(commands[0], b), append(commands[1], h)
	}
	for _, by := range []run.GroupBy{run.ByProcess, run.ByEachThread} {
		n[by] = align.Names(names[0][by], names[1][by], commands)
	}
	n[run.ByThread] = make(map[string]string)
	for h, b := range n[run.ByEachThread] {
		if h, b = run.ThreadPool(h), run.ThreadPool(b); h != b {
			n[run.ByThread][h] = b
		}
	}
	return n
}

// labelNames are the names of threads and processes.
func labelNames(runs []*run.Run) map[run.GroupBy][]string {
	names := make(map[run.GroupBy][]string)
	for _, r := range runs {
		for i := range r.Labels {
			l := &r.Labels[i]
			names[run.ByProcess] = append(names[run.ByProcess], l.Process)
			names[run.ByEachThread] = append(names[run.ByEachThread], l.Thread)
		}
	}
	return names
}

// of is the name by which a row of a group is found on both sides.
func (n naming) of(by run.GroupBy, head bool, name string) string {
	if by == run.ByDSO {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	if b, ok := n[by][name]; ok && head {
		return b
	}
	return name
}
