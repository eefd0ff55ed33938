package category

import (
	"slices"

	"profdiff/internal/run"
)

// Of returns the category of each of r.Samples as an index of Names. Each name of a
// function is looked at once, and so is each stack for all labels of which the rules
// say the same.
func (s *Set) Of(r *run.Run) []int { return s.of(r, make(knownNames)) }

// knownNames are the conditions that names of functions fulfil, those for people and for
// linkers.
type knownNames map[[2]string][]condition

func (s *Set) of(r *run.Run, names knownNames) []int {
	c := classifier{set: s, run: r, frames: make(map[frameKey]*frame), names: names, files: make([][]bool, len(r.Mappings))}
	c.split()
	c.locations = make([][]*frame, len(r.Locations))
	c.states = make([]state, r.Stacks.Len())
	categories := make([]int, len(r.Samples))
	// Samples in the order of their classes: a class overwrites the states of others.
	byClass := make([][]int, len(c.enabled))
	for i := range r.Samples {
		class := c.classes[r.Samples[i].Labels]
		byClass[class] = append(byClass[class], i)
	}
	for class, samples := range byClass {
		for _, i := range samples {
			categories[i] = c.category(int32(class), r.Samples[i].Stack)
		}
	}
	return categories
}

type classifier struct {
	set *Set
	run *run.Run
	// classes has the class of each of Run.Labels: those for which the same rules are
	// enabled.
	classes []int32
	enabled [][]bool // by class and rule
	bare    []int32  // by class: the first rule that holds without a frame

	frames    map[frameKey]*frame
	names     knownNames
	files     [][]bool   // by mapping: the rules that hold for its file; nil if not yet looked at
	locations [][]*frame // outermost function first; nil if not yet looked at
	states    []state    // by stack
	path      []run.StackID
}

// A frameKey is what rules see of a frame.
type frameKey struct{ function, mapping uint32 }

// A frame has the rules that hold for a frame, sorted, as far as it alone tells.
type frame struct {
	anywhere, leaf []int32
	under          uint64
}

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

// category classifies a stack.
func (c *classifier) category(class int32, stack run.StackID) int {
	st := c.state(class, stack)
	best := st.rule
	if stack != 0 {
		frames := c.location(c.run.Stacks.Location(stack))
		inner := frames[len(frames)-1]
		if len(inner.leaf) > 0 {
			under := c.states[c.run.Stacks.Parent(stack)].under
			for _, f := range frames[:len(frames)-1] {
				under |= f.under
			}
			best = c.first(class, best, inner.leaf, under)
		}
	}
	if int(best) == len(c.set.rules) {
		return len(c.set.names) - 1
	}
	return c.set.rules[best].category
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
func (c *classifier) state(class int32, stack run.StackID) state {
	c.path = c.path[:0]
	for id := stack; c.states[id].class != class+1; id = c.run.Stacks.Parent(id) {
		if id == 0 {
			c.states[0] = state{class: class + 1, rule: c.bare[class]}
			break
		}
		c.path = append(c.path, id)
	}
	for _, id := range slices.Backward(c.path) {
		st := c.states[c.run.Stacks.Parent(id)]
		for _, f := range c.location(c.run.Stacks.Location(id)) {
			st.rule = c.first(class, st.rule, f.anywhere, st.under)
			st.under |= f.under
		}
		c.states[id] = st
	}
	return c.states[stack]
}

// location returns the frames of a location, outermost function first.
func (c *classifier) location(i uint32) []*frame {
	if c.locations[i] == nil {
		l := &c.run.Locations[i]
		frames := make([]*frame, len(l.Lines))
		for j, line := range l.Lines {
			frames[len(frames)-1-j] = c.frame(frameKey{line.Function, l.Mapping})
		}
		c.locations[i] = frames
	}
	return c.locations[i]
}

func (c *classifier) frame(key frameKey) *frame {
	f, ok := c.frames[key]
	if !ok {
		f = c.newFrame(key)
		c.frames[key] = f
	}
	return f
}

func (c *classifier) newFrame(key frameKey) *frame {
	f := new(frame)
	files := c.file(key.mapping)
	found := c.conditions(key.function)
	for i := range c.set.rules {
		rule := &c.set.rules[i]
		if rule.underBit != 0 && slices.Contains(found, rule.under) {
			f.under |= rule.underBit
		}
		switch {
		case !rule.framed(),
			!files[i],
			rule.match != noCondition && !slices.Contains(found, rule.match):
		case rule.leaf:
			f.leaf = append(f.leaf, int32(i))
		default:
			f.anywhere = append(f.anywhere, int32(i))
		}
	}
	return f
}

// file returns which rules hold for the file of a mapping.
func (c *classifier) file(mapping uint32) []bool {
	if c.files[mapping] == nil {
		m := &c.run.Mappings[mapping]
		holds := make([]bool, len(c.set.rules))
		for i := range c.set.rules {
			rule := &c.set.rules[i]
			holds[i] = (rule.kinds == 0 || rule.kinds&(1<<m.Kind) != 0) && (len(rule.dso) == 0 || rule.dso.match(m.File)) && (!rule.syscalls || maySyscall(m))
		}
		c.files[mapping] = holds
	}
	return c.files[mapping]
}

// conditions returns which of Set.functions the names of a function fulfil.
func (c *classifier) conditions(function uint32) []condition {
	f := &c.run.Functions[function]
	key := [2]string{f.Name, f.SystemName}
	found, ok := c.names[key]
	if !ok {
		found = c.set.functions.match(nil, f.Name)
		if f.SystemName != "" && f.SystemName != f.Name {
			found = c.set.functions.match(found, f.SystemName)
		}
		c.names[key] = found
	}
	return found
}
