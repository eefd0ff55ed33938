package category

import (
	"slices"

	"profdiff/internal/run"
)

// Of returns the category of each of r.Samples as an index of Names. Each name of a
// function is looked at once, and so are stacks that differ only in frames about which there is no
// rule, for all labels of which the rules say the same.
func (s *Set) Of(r *run.Run) []int { return s.of(r, newKnown()) }

func (s *Set) of(r *run.Run, k *known) []int {
	k.frames = emptied(k.frames, len(r.Functions))
	k.fileOf = emptied(k.fileOf, len(r.Mappings))
	k.listOf = emptied(k.listOf, len(r.Locations))
	k.lists = k.lists[:noFrames+1]
	c := classifier{known: k, set: s, run: r}
	c.split()
	nodeOf := c.nodes()
	k.states = emptied(k.states, k.stacks.Len())
	categories := make([]int, len(r.Samples))
	for class, samples := range c.byClass() {
		for _, i := range samples {
			stack := r.Samples[i].Stack
			leaf := stack != 0 && c.location(r.Stacks.Location(stack)).leaf
			categories[i] = c.category(int32(class), nodeOf[stack], leaf)
		}
	}
	return categories
}

// emptied is a slice of n zeros, in the memory of s if that is enough.
func emptied[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// byClass are the samples of each class: one class overwrites the states of others.
func (c *classifier) byClass() [][]int32 {
	end := make([]int32, len(c.enabled)+1)
	for i := range c.run.Samples {
		end[c.classes[c.run.Samples[i].Labels]+1]++
	}
	for class := range c.enabled {
		end[class+1] += end[class]
	}
	order := make([]int32, len(c.run.Samples))
	for i := range c.run.Samples {
		at := &end[c.classes[c.run.Samples[i].Labels]]
		order[*at] = int32(i)
		*at++
	}
	list, start := make([][]int32, len(c.enabled)), int32(0)
	for class := range list {
		list[class], start = order[start:end[class]], end[class]
	}
	return list
}

type classifier struct {
	*known
	set *Set
	run *run.Run
	// classes has the class of each of Run.Labels: those for which the same rules are
	// enabled.
	classes []int32
	enabled [][]bool // by class and rule
	bare    []int32  // by class: the first rule that holds without a frame
	path    []int32
}

// known is what was found out about names, for one run after the other.
type known struct {
	// names is by the names of a function, for people and for linkers.
	names map[[2]string]*name
	// framed are all frames that were made.
	framed []*frame
	// none is of all names that fulfil no condition, which are most.
	none *name
	// files are by number the rules that hold for files, as far as these tell, and numbers
	// finds them.
	files   [][]bool
	numbers map[string]int32

	// The rest belongs to the run that is looked at. frames are by function. fileOf has
	// for each mapping its number in files, +1, and listOf for each location its number
	// in lists; both are 0 for what was not looked at yet.
	frames []functionFrame
	fileOf []int32
	listOf []int32
	// stacks are those of frames about which there is a rule, by their numbers in framed.
	stacks *run.Prefixes
	states []state // by number in stacks

	// lists are for locations with a frame about which there is a rule; lists[noFrames] is of
	// all others.
	lists []frames
}

// A frames has those of a location about which there is a rule, outermost first. leaf says that the
// innermost frame is among them.
type frames struct {
	list []*frame
	leaf bool
}

const noFrames = 1

func newKnown() *known {
	return &known{
		names: make(map[[2]string]*name), none: new(name), numbers: make(map[string]int32),
		lists: make([]frames, noFrames+1),
	}
}

// A name has the conditions that a function fulfils, and by number of the file it is in
// its frames.
type name struct {
	conditions []condition
	frames     []*frame
}

// A functionFrame is the frame of a function that was looked at last: most functions are
// in one mapping.
type functionFrame struct {
	name    *name
	frame   *frame
	mapping uint32
}

// A frame has the rules that hold for a frame, sorted, as far as it alone tells.
type frame struct {
	number         int32 // in known.framed
	anywhere, leaf []int32
	under          uint64
}

// plain reports whether no rule is about the frame.
func (f *frame) plain() bool { return len(f.anywhere) == 0 && len(f.leaf) == 0 && f.under == 0 }

// A state is what is known of a stack.
type state struct {
	class int32 // for which the state was made, +1
	// rule is the first that holds by frames that need not be innermost.
	rule  int32
	under uint64 // bits of the conditions that frames fulfil
}

// split sorts the labels into classes.
func (c *classifier) split() {
	c.classes = make([]int32, len(c.run.Labels))
	ids := make(map[string]int32)
	threads, processes := make(map[string][]byte), make(map[string][]byte)
	var labelled []int
	for i := range c.set.rules {
		if c.set.rules[i].labelled() {
			labelled = append(labelled, i)
		}
	}
	holds := func(known map[string][]byte, name string, of func(*rule) patterns) []byte {
		bits, ok := known[name]
		if !ok {
			bits = make([]byte, len(labelled))
			for j, i := range labelled {
				if ps := of(&c.set.rules[i]); len(ps) == 0 || ps.match(name) {
					bits[j] = 1
				}
			}
			known[name] = bits
		}
		return bits
	}
	key := make([]byte, len(labelled))
	for i := range c.run.Labels {
		l := &c.run.Labels[i]
		thread := holds(threads, l.Thread, func(r *rule) patterns { return r.thread })
		process := holds(processes, l.Process, func(r *rule) patterns { return r.process })
		for j := range key {
			key[j] = thread[j] & process[j]
		}
		id, ok := ids[string(key)]
		if !ok {
			id = int32(len(c.enabled))
			ids[string(key)] = id
			enabled := make([]bool, len(c.set.rules))
			for j := range enabled {
				enabled[j] = true
			}
			for j, rule := range labelled {
				enabled[rule] = key[j] == 1
			}
			bare := int32(len(c.set.rules))
			for j := range c.set.rules {
				if enabled[j] && !c.set.rules[j].framed() {
					bare = int32(j)
					break
				}
			}
			c.enabled = append(c.enabled, enabled)
			c.bare = append(c.bare, bare)
		}
		c.classes[i] = id
	}
}

// nodes fills in c.stacks. It returns the number in them of each stack of the run.
func (c *classifier) nodes() (nodeOf []int32) {
	c.stacks = run.NewPrefixes()
	nodeOf = make([]int32, c.run.Stacks.Len())
	for id := 1; id < len(nodeOf); id++ {
		n := nodeOf[c.run.Stacks.Parent(run.StackID(id))]
		for _, f := range c.location(c.run.Stacks.Location(run.StackID(id))).list {
			n = c.stacks.Of(n, f.number)
		}
		nodeOf[id] = n
	}
	return nodeOf
}

// category classifies a stack by its number in c.stacks; leaf says that the innermost frame
// of the stack is there, and not one about which there is no rule.
func (c *classifier) category(class, stack int32, leaf bool) int {
	best := c.state(class, stack).rule
	if leaf {
		if f := c.framed[c.stacks.Last(stack)]; len(f.leaf) > 0 {
			best = c.first(class, best, f.leaf, c.states[c.stacks.Parent(stack)].under)
		}
	}
	return c.categoryOf(best)
}

// categoryOf is the category of a rule, Other if none holds.
func (c *classifier) categoryOf(rule int32) int {
	if int(rule) == len(c.set.rules) {
		return len(c.set.names) - 1
	}
	return c.set.rules[rule].category
}

// first returns the first of rules that is enabled, if it is before best.
func (c *classifier) first(class, best int32, rules []int32, under uint64) int32 {
	for _, i := range rules {
		if i >= best {
			break
		}
		if bit := c.set.rules[i].underBit; c.enabled[class][i] && (bit == 0 || under&bit != 0) {
			return i
		}
	}
	return best
}

// state finds the state of a stack, and of all its callers on the way.
func (c *classifier) state(class, stack int32) state {
	c.path = c.path[:0]
	for at := stack; c.states[at].class != class+1; at = c.stacks.Parent(at) {
		if at == 0 {
			c.states[0] = state{class: class + 1, rule: c.bare[class]}
			break
		}
		c.path = append(c.path, at)
	}
	for _, at := range slices.Backward(c.path) {
		f, st := c.framed[c.stacks.Last(at)], c.states[c.stacks.Parent(at)]
		st.rule = c.first(class, st.rule, f.anywhere, st.under)
		st.under |= f.under
		c.states[at] = st
	}
	return c.states[stack]
}

// location returns the frames of a location about which there is a rule.
func (c *classifier) location(i uint32) *frames {
	if c.listOf[i] == 0 {
		c.listOf[i] = noFrames
		l := &c.run.Locations[i]
		var of frames
		for k, line := range slices.Backward(l.Lines) {
			if f := c.frame(line.Function, l.Mapping); !f.plain() {
				of.list, of.leaf = append(of.list, f), k == 0
			}
		}
		if len(of.list) > 0 {
			c.listOf[i] = int32(len(c.lists))
			c.lists = append(c.lists, of)
		}
	}
	return &c.lists[c.listOf[i]]
}

func (c *classifier) frame(function, mapping uint32) *frame {
	last := &c.frames[function]
	if last.frame != nil && last.mapping == mapping {
		return last.frame
	}
	if last.name == nil {
		last.name = c.name(function)
	}
	file := c.file(mapping)
	for int(file) >= len(last.name.frames) {
		last.name.frames = append(last.name.frames, nil)
	}
	f := last.name.frames[file]
	if f == nil {
		f = c.newFrame(last.name.conditions, c.files[file])
		last.name.frames[file] = f
	}
	last.frame, last.mapping = f, mapping
	return f
}

// newFrame makes the frame of a function that fulfils conditions, in a file for which
// rules hold.
func (c *classifier) newFrame(conditions []condition, file []bool) *frame {
	f := &frame{number: int32(len(c.framed))}
	c.framed = append(c.framed, f)
	for i := range c.set.rules {
		rule := &c.set.rules[i]
		if rule.underBit != 0 && slices.Contains(conditions, rule.under) {
			f.under |= rule.underBit
		}
		switch {
		case !rule.framed(),
			!file[i],
			rule.match != noCondition && !slices.Contains(conditions, rule.match):
		case rule.leaf:
			f.leaf = append(f.leaf, int32(i))
		default:
			f.anywhere = append(f.anywhere, int32(i))
		}
	}
	return f
}

// file is the number of the rules that hold for the file of a mapping.
func (c *classifier) file(mapping uint32) int32 {
	if c.fileOf[mapping] == 0 {
		m := &c.run.Mappings[mapping]
		holds, key := make([]bool, len(c.set.rules)), make([]byte, len(c.set.rules))
		for i := range c.set.rules {
			rule := &c.set.rules[i]
			holds[i] = (rule.kinds == 0 || rule.kinds&(1<<m.Kind) != 0) && (len(rule.dso) == 0 || rule.dso.match(m.File)) && (!rule.syscalls || maySyscall(m))
			if holds[i] {
				key[i] = 1
			}
		}
		n, ok := c.numbers[string(key)]
		if !ok {
			n = int32(len(c.files))
			c.numbers[string(key)] = n
			c.files = append(c.files, holds)
		}
		c.fileOf[mapping] = n + 1
	}
	return c.fileOf[mapping] - 1
}

// name has the conditions of Set.functions that the names of a function fulfil.
func (c *classifier) name(function uint32) *name {
	f := &c.run.Functions[function]
	key := [2]string{f.Name, f.SystemName}
	n, ok := c.names[key]
	if !ok {
		found := c.set.functions.match(nil, f.Name)
		if f.SystemName != "" && f.SystemName != f.Name {
			found = c.set.functions.match(found, f.SystemName)
		}
		n = c.none
		if len(found) > 0 {
			n = &name{conditions: found}
		}
		c.names[key] = n
	}
	return n
}
