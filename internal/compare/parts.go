package compare

import (
	"cmp"
	"slices"
	"strings"

	"profdiff/internal/align"
)

// A Part is a function that one of the other side was split into, or was merged from. What
// it costs is not tested: the verdict is on all parts together.
type Part struct {
	Name, DSO string
	// Head is set if the part is of head.
	Head bool
	// Self and Total are normalized weights, means over the runs of the side.
	Self, Total float64
	// SelfSamples and TotalSamples are sums over the runs.
	SelfSamples, TotalSamples int64
}

// symbols are all symbols of a row on one side.
func (r *row) symbols(head bool) []int32 {
	first, others := r.base, r.others[0]
	if head {
		first, others = r.head, r.others[1]
	}
	if first < 0 {
		return nil
	}
	return append([]int32{first}, others...)
}

// addParts fills in the parts of functions that are several on a side. What the compiler made
// of a function is no part of it that anybody named.
func (c *Comparison) addParts(e *Event, list []Function) {
	// One row for each part, and one for all else.
	parts := rowset{base: make([]int32, len(c.rows.base)), head: make([]int32, len(c.rows.head)), rows: make([]row, 1)}
	type place struct{ function, part int }
	var at []place
	for i := range list {
		f := &list[i]
		switch f.Match.Kind {
		case align.Split, align.Merged, align.Renamed:
		default:
			continue
		}
		for k, s := range [...]*side{c.base, c.head} {
			symbols := c.rows.rows[f.row].symbols(k == 1)
			if len(symbols) < 2 {
				continue
			}
			for _, sym := range symbols {
				[...][]int32{parts.base, parts.head}[k][sym] = int32(len(parts.rows))
				parts.rows = append(parts.rows, row{})
				at = append(at, place{i, len(f.Parts)})
				f.Parts = append(f.Parts, Part{Name: s.symbols[sym].name, DSO: s.symbols[sym].dso, Head: k == 1})
			}
		}
	}
	if len(at) == 0 {
		return
	}
	costs := rowCosts(c.base, c.head, &parts, &e.pair, newRooms(c.base, c.head))
	sum := func(c *cost, p *Part, n *Normalization) (weight float64, samples int64) {
		base, head := n.means(c)
		nBase, nHead := c.samples()
		if p.Head {
			return head, nHead
		}
		return base, nBase
	}
	for k, x := range at {
		p := &list[x.function].Parts[x.part]
		p.Self, p.SelfSamples = sum(&costs.self[k+1], p, e.Normalization)
		p.Total, p.TotalSamples = sum(&costs.total[k+1], p, e.Normalization)
	}
	for i := range list {
		slices.SortStableFunc(list[i].Parts, func(a, b Part) int {
			order := func(head bool) int {
				if head {
					return 1
				}
				return 0
			}
			return cmp.Or(order(a.Head)-order(b.Head), -cmp.Compare(a.Total, b.Total), strings.Compare(a.Name, b.Name))
		})
	}
}
