package compare

import (
	"cmp"
	"slices"

	"profdiff/internal/align"
	"profdiff/internal/run"
)

// A naming says what head calls otherwise than base: the program under test, whatever its file
// is called, and libraries of another version.
type naming struct {
	// same has base's names by head's.
	same map[run.GroupBy]map[string]string
	// labels are of files, by their paths.
	labels map[string]string
}

// newNaming compares the names of both sides, of files their labels.
func newNaming(base, head *side) naming {
	var commands [2][]string
	same := make(map[run.GroupBy]map[string]string)
	n := naming{same, make(map[string]string)}
	names := [2]map[run.GroupBy][]string{}
	for i, s := range []*side{base, head} {
		r := &s.runs[0].Recording
		commands[i] = align.CommandWords(cmp.Or(r.Command, r.CommandLine))
		names[i] = labelNames(s.runs)
		for _, r := range s.runs {
			for k := range r.Mappings {
				n.labels[r.Mappings[k].File] = r.Mappings[k].Label()
			}
		}
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
	same[run.ByDSO] = align.Files(base.facts, head.facts, align.Names(names[0][run.ByDSO], names[1][run.ByDSO], commands))
	same[run.ByFile] = align.Paths(names[0][run.ByFile], names[1][run.ByFile])
	// A process is called after its file, and its first thread after the process.
	for h, b := range same[run.ByDSO] {
		commands[0], commands[1] = append(commands[0], b), append(commands[1], h)
	}
	for _, by := range []run.GroupBy{run.ByProcess, run.ByEachThread} {
		same[by] = align.Names(names[0][by], names[1][by], commands)
	}
	same[run.ByThread] = make(map[string]string)
	for h, b := range same[run.ByEachThread] {
		if h, b = run.ThreadPool(h), run.ThreadPool(b); h != b {
			same[run.ByThread][h] = b
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

// of is the name by which a row of a group is found on both sides, of a file by its path or
// its label.
func (n naming) of(by run.GroupBy, head bool, name string) string {
	if label, ok := n.labels[name]; ok && by == run.ByDSO {
		name = label
	}
	if b, ok := n.same[by][name]; ok && head {
		return b
	}
	return name
}
