package branches

import (
	"path"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/branch/diff"
	"profdiff/internal/symbolizer"
)

// maxBranchListings is the number of functions whose branches a report shows in the code.
const maxBranchListings = 20

// Code is the code of a function on both sides, nil where there is none.
type Code struct{ Base, Head *annotate.Listing }

// CodeOf is the code of the functions with the branches that cost most.
func CodeOf(t *branch.Table, symfs []symbolizer.SearchPath) []*annotate.Listing {
	var wanted []string
	for i := range t.Branches {
		if b := &t.Branches[i]; b.Enough && len(wanted) < maxBranchListings {
			wanted = addFunction(wanted, functionOf(b))
		}
	}
	return slices.DeleteFunc(listingsOf(t, wanted, symfs), func(l *annotate.Listing) bool { return l == nil })
}

// DiffCodeOf is the code of the functions with the branches whose misses changed most.
func DiffCodeOf(c *diff.Result, symfs []symbolizer.SearchPath) (list []Code) {
	type pair struct{ base, head string }
	var pairs []pair
	var wanted [2][]string
	for i := range c.Branches {
		var p pair
		if b := c.Branches[i].Base; b != nil {
			p.base = functionOf(b.Branch)
		}
		if b := c.Branches[i].Head; b != nil {
			p.head = functionOf(b.Branch)
		}
		// Other branches of a function that lost or got one are on both sides.
		if p.base == "" {
			p.base = p.head
		} else if p.head == "" {
			p.head = p.base
		}
		if p.base == "" || slices.Contains(pairs, p) {
			continue
		}
		if len(pairs) == maxBranchListings {
			break
		}
		pairs = append(pairs, p)
		wanted[0], wanted[1] = append(wanted[0], p.base), append(wanted[1], p.head)
	}
	before, after := listingsOf(c.Base[0], wanted[0], symfs), listingsOf(c.Head[0], wanted[1], symfs)
	for i, p := range pairs {
		l := Code{Base: before[i], Head: after[i]}
		// Code of one side alone would look as if it were new or gone.
		if l.Base == nil && names(c.Base[0], p.base) || l.Head == nil && names(c.Head[0], p.head) || l.Base == nil && l.Head == nil {
			continue
		}
		list = append(list, l)
	}
	return list
}

// functionOf names the function of a branch as listings want it, "" if it has no name.
func functionOf(b *branch.Branch) string {
	if b.Function == "" {
		return ""
	}
	return path.Base(b.DSO) + ":" + b.Function
}

func addFunction(list []string, name string) []string {
	if name == "" || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// names reports whether a table has branches of a function.
func names(t *branch.Table, function string) bool {
	return slices.ContainsFunc(t.Branches, func(b branch.Branch) bool { return functionOf(&b) == function })
}

// listingsOf lists the code of functions, nil for a function without.
func listingsOf(t *branch.Table, wanted []string, symfs []symbolizer.SearchPath) []*annotate.Listing {
	if len(symfs) == 0 {
		return make([]*annotate.Listing, len(wanted))
	}
	return annotate.Functions(t, wanted, symfs)
}
