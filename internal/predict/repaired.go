package predict

import (
	"cmp"
	"slices"

	"profdiff/internal/llvm"
	"profdiff/internal/predict/flow"
)

// A Repaired is how many instructions of a class were simulated as others, as the model is wrong
// about them: [llvm.Model.Repairs] says why.
type Repaired struct {
	Class        string
	Instructions int
}

// repairedOf counts the instructions, each once, that were rewritten in a region, whose lines
// are of the sites that at returns.
func repairedOf(s *llvm.Simulation, at func(line int) flow.Site) (list []Repaired) {
	for _, r := range s.Repaired {
		sites := make(map[flow.Site]bool)
		for _, line := range r.Lines {
			sites[at(line)] = true
		}
		list = append(list, Repaired{Class: r.Class, Instructions: len(sites)})
	}
	return list
}

// Repairs are the repairs that were made for the results, the most frequent first.
func (p *Prediction) Repairs() []Repaired {
	count := make(map[string]int)
	for _, r := range p.Results {
		for _, list := range [][]Repaired{r.Base.Repaired, r.Head.Repaired} {
			for _, more := range list {
				count[more.Class] += more.Instructions
			}
		}
	}
	var list []Repaired
	for class, n := range count {
		list = append(list, Repaired{Class: class, Instructions: n})
	}
	slices.SortFunc(list, func(a, b Repaired) int {
		return cmp.Or(b.Instructions-a.Instructions, cmp.Compare(a.Class, b.Class))
	})
	return list
}
