package compare

import (
	"cmp"
	"math"
	"slices"
)

// Where many functions below one changed a little, or were replaced by others, no row by self
// cost says what happened: the caller does, with what it calls. The smallest set of such
// functions is found from the root of the call tree down:
//
//  1. A function is asked if its change with what it calls was decided, as one of the family
//     of all functions by total cost, and if both sides have it; not where programs and threads
//     begin, as all that they do is in there.
//  2. If the nearest such functions below it are few, and their changes sum up to its own, they
//     say more than it does, and take its place.
//  3. Else it stays: its change is in its callees together, or in itself.
//  4. A set that leaves much of the change of everything, or that says no more than the total or
//     than rows by self cost do, is none.

const (
	// mostExplained is the number of functions in the set, mostBelow how many may take the
	// place of one.
	mostExplained = 4
	mostBelow     = 3
	// unexplained is the part of a change that those who take its place may leave, and
	// unexplainedAll the part of the change of everything that the set may leave.
	unexplained    = 0.25
	unexplainedAll = 0.5
	// nearlyAll is the share of everything from which a function says no more than the total.
	nearlyAll = 0.8
)

// entries are functions in which programs and threads begin: of the C library, Go and Rust.
var entries = map[string]bool{
	"_start": true, "__libc_start_main": true, "__libc_start_main_impl": true, "__libc_start_main_alias_2": true, "__libc_start_call_main": true,
	"main": true, "_dl_start": true, "_dl_start_user": true, "start_thread": true, "clone": true, "__clone": true, "clone3": true, "__clone3": true,
	"__libc_init": true, "__start_thread": true, "__pthread_start(void*)": true, // of Bionic
	"runtime.main": true, "runtime.goexit": true, "runtime.goexit.abi0": true, "runtime.rt0_go": true, "runtime.rt0_go.abi0": true, "main.main": true,
	"std::rt::lang_start": true, "std::rt::lang_start_internal": true,
}

// An explainer descends the call tree of an event.
type explainer struct {
	*Tree
	e *Event
	// least is the cost below which nodes are not visited.
	least float64
	on    []bool // functions on the path
}

// explain finds the functions that explain the change of an event by what they and their
// callees cost: indices in Functions, the largest change first. There are none where rows by
// self cost say as much.
func (c *Comparison) explain(event int) []int {
	e := &c.Events[event]
	decided := slices.ContainsFunc(e.Functions, func(f Function) bool {
		return f.Total.Verdict.Changed() && !f.oneSided() && f.byCallees()
	})
	if e.Withheld != "" || !decided {
		return nil
	}
	tree := c.Tree(event)
	base, head := tree.Base[TreeRoot], tree.Head[TreeRoot]
	x := &explainer{Tree: tree, e: e, least: c.Options.MinShare * max(base, head), on: make([]bool, len(e.Functions))}
	set := x.explained(TreeRoot)
	slices.SortFunc(set, func(a, b int) int {
		return cmp.Or(-cmp.Compare(math.Abs(e.Functions[a].Total.Delta()), math.Abs(e.Functions[b].Total.Delta())), a-b)
	})
	set = slices.Compact(set)
	set = slices.DeleteFunc(set, func(i int) bool {
		f := &e.Functions[i].Total
		return f.Base >= nearlyAll*base && f.Head >= nearlyAll*head
	})
	set = set[:min(len(set), mostExplained)]
	var sum, all float64
	for _, i := range set {
		d := e.Functions[i].Total.Delta()
		sum += d
		all += math.Abs(d)
	}
	if math.Abs(head-base-sum) > unexplainedAll*max(all, math.Abs(head-base)) {
		return nil
	}
	if !slices.ContainsFunc(set, func(i int) bool { return e.Functions[i].byCallees() }) {
		return nil
	}
	return set
}

// byCallees reports whether most of the change of a function is in what it calls.
func (f *Function) byCallees() bool {
	return math.Abs(f.Self.Delta()) < 0.5*math.Abs(f.Total.Delta())
}

// explained is the set for the change of a node, which was decided or is the root's.
func (x *explainer) explained(n TreeNode) (set []int) {
	if f := x.Function[n]; f >= 0 {
		x.on[f] = true
		defer func() { x.on[f] = false }()
	}
	below := x.decidedBelow(n, nil)
	var sum, all float64
	for _, m := range below {
		sum += x.delta(m)
		all += math.Abs(x.delta(m))
	}
	rest := math.Abs(x.delta(n) - sum)
	if n != TreeRoot && (len(below) == 0 || len(below) > mostBelow || rest > unexplained*max(all, math.Abs(x.delta(n)))) {
		return []int{int(x.Function[n])}
	}
	for _, m := range below {
		set = append(set, x.explained(m)...)
	}
	return set
}

func (x *explainer) delta(n TreeNode) float64 { return x.Head[n] - x.Base[n] }

// decidedBelow adds the nearest nodes below one whose functions changed decidably, and mostly
// there. Of recursive functions the outermost call counts.
func (x *explainer) decidedBelow(n TreeNode, list []TreeNode) []TreeNode {
	for _, m := range x.Children(n) {
		i := x.Function[m]
		if max(x.Base[m], x.Head[m]) < x.least || x.on[i] {
			continue
		}
		f := &x.e.Functions[i]
		total := f.Total.Delta()
		if !entries[f.Name] && f.Total.Verdict.Changed() && !f.oneSided() && !x.c.unknown(f.row) && math.Abs(x.delta(m)-total) <= unexplained*math.Abs(total) {
			list = append(list, m)
			continue
		}
		x.on[i] = true
		list = x.decidedBelow(m, list)
		x.on[i] = false
	}
	return list
}
