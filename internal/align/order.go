package align

import (
	"math"
	"slices"
	"strconv"
)

// Compilers number the lambdas of a function, its anonymous classes and the like in the
// order of the source. Code inserted among them shifts the numbers of those that follow, but
// not their order.

const (
	// skipped is what it costs to leave a unit without counterpart, as much as a
	// pair whose weights differ by a factor of two costs more than its parts.
	skipped = 0.35
	// shiftMargin is by how much an alignment by order must be better than that by
	// numbers to be believed.
	shiftMargin = 0.7
)

// ordinalUnit is a unit with the numbers in its name.
type ordinalUnit struct {
	index  int // in cluster.base or head
	counts []int
	weight float64
}

// ordinals lists the units of a side that are heavy enough for their absence from the
// other to mean something, in the order of their numbers.
func (s *side) ordinals(units []unit, done []bool) (list []ordinalUnit) {
	for i := range units {
		if w := s.weight[units[i].members[0]]; w >= certain && (done == nil || !done[i]) {
			list = append(list, ordinalUnit{i, countsIn(units[i].entity), w})
		}
	}
	slices.SortStableFunc(list, func(a, b ordinalUnit) int { return slices.Compare(a.counts, b.counts) })
	return list
}

// countsIn are the numbers in a name; LLVM gives the first lambda none.
func countsIn(entity string) []int {
	list := []int{}
	for i := 0; i < len(entity); {
		n := digits(entity[i:])
		if n == 0 {
			i++
			continue
		}
		v, err := strconv.Atoi(entity[i : i+n])
		if err != nil {
			v = math.MaxInt
		}
		list = append(list, v)
		i += n
	}
	return list
}

// shifted reports whether the numbers of a cluster's units differ between the sides, and
// their order and weights fit much better than their numbers.
func (m *matcher) shifted(c *cluster) bool {
	const most = 64
	if len(c.base) < 2 || len(c.head) < 2 || len(c.base) > most || len(c.head) > most {
		return false
	}
	plain := withoutCounts(c.base[0].entity)
	for _, units := range [...][]unit{c.base, c.head} {
		for i := range units {
			if withoutCounts(units[i].entity) != plain {
				return false
			}
		}
	}
	base, head := m.base.ordinals(c.base, nil), m.head.ordinals(c.head, nil)
	byNumber := 0.0
	named := make(map[string]float64)
	for _, v := range head {
		named[c.head[v.index].entity] = v.weight
	}
	same := 0
	for _, u := range base {
		if w, ok := named[c.base[u.index].entity]; ok {
			byNumber += apart(u.weight, w)
			same++
		}
	}
	byNumber += skipped * float64(len(base)+len(head)-2*same)
	if same == len(base) && same == len(head) {
		return false
	}
	byOrder, _ := inOrder(base, head)
	return byNumber-byOrder >= shiftMargin
}

// apart is how far the weights of a pair are apart.
func apart(a, b float64) float64 { return math.Abs(math.Log(a / b)) }

// inOrder finds the cheapest pairs that keep the order of both sides.
func inOrder(base, head []ordinalUnit) (cost float64, pairs [][2]int) {
	at := make([][]float64, len(base)+1)
	for i := range at {
		at[i] = make([]float64, len(head)+1)
		for j := range at[i] {
			switch {
			case i == 0:
				at[i][j] = skipped * float64(j)
			case j == 0:
				at[i][j] = skipped * float64(i)
			default:
				at[i][j] = min(at[i-1][j]+skipped, at[i][j-1]+skipped, at[i-1][j-1]+apart(base[i-1].weight, head[j-1].weight))
			}
		}
	}
	for i, j := len(base), len(head); i > 0 && j > 0; {
		switch at[i][j] {
		case at[i-1][j-1] + apart(base[i-1].weight, head[j-1].weight):
			i--
			j--
			pairs = append(pairs, [2]int{base[i].index, head[j].index})
		case at[i-1][j] + skipped:
			i--
		default:
			j--
		}
	}
	slices.Reverse(pairs)
	return at[len(base)][len(head)], pairs
}

// matchInOrder matches what neighbours have not told apart of a cluster whose numbers
// shifted.
func (m *matcher) matchInOrder(c *cluster) {
	doneBase, doneHead := m.pairedUnits(c)
	base, head := m.base.ordinals(c.base, doneBase), m.head.ordinals(c.head, doneHead)
	_, pairs := inOrder(base, head)
	for _, p := range pairs {
		u, v := &c.base[p[0]], &c.head[p[1]]
		d := apart(m.base.weight[u.members[0]], m.head.weight[v.members[0]])
		m.matchMembers(u, v, 0.85-0.5*min(d, 0.7))
	}
}
