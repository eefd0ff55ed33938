package run

import (
	"cmp"
	"slices"
	"strings"
)

// A Node is a function as it is called along one path.
type Node struct {
	Name     string
	DSO      string
	Self     int64 // weight
	Total    int64
	Samples  int64   // of Total
	Children []*Node // by Total, largest first
}

// Tree sums the samples of one event by their paths of functions, from the root
// down. The root node stands for all samples and has no name; samples without a stack
// are in a node of their own below it.
func (r *Run) Tree(event int) *Node {
	type edge struct {
		parent *Node
		key    rowKey
	}
	root := &Node{}
	children := make(map[edge]*Node)
	child := func(parent *Node, key rowKey) *Node {
		n, ok := children[edge{parent, key}]
		if !ok {
			n = &Node{Name: key.name, DSO: key.dso}
			children[edge{parent, key}] = n
			parent.Children = append(parent.Children, n)
		}
		return n
	}
	var stack []uint32
	for i := range r.Samples {
		s := &r.Samples[i]
		if int(s.Event) != event {
			continue
		}
		n := root
		n.Total += s.Weight
		n.Samples += s.Count
		if s.Stack == 0 {
			n = child(n, rowKey{name: noStack})
			n.Total += s.Weight
			n.Samples += s.Count
		}
		stack = r.Stacks.Append(stack[:0], s.Stack)
		for j := len(stack) - 1; j >= 0; j-- {
			l := &r.Locations[stack[j]]
			for k := len(l.Lines) - 1; k >= 0; k-- {
				f := &r.Functions[l.Lines[k].Function]
				n = child(n, rowKey{f.Name, r.Mappings[l.Mapping].File})
				n.Total += s.Weight
				n.Samples += s.Count
			}
		}
		n.Self += s.Weight
	}
	root.sort()
	return root
}

func (n *Node) sort() {
	slices.SortFunc(n.Children, func(a, b *Node) int {
		return cmp.Or(-cmp.Compare(a.Total, b.Total), strings.Compare(a.Name, b.Name), strings.Compare(a.DSO, b.DSO))
	})
	for _, c := range n.Children {
		c.sort()
	}
}
