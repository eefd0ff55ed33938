package wait

import (
	"slices"

	"profdiff/internal/category"
	"profdiff/internal/run"
)

// A stackFact is what the rules say of a stack, with a bit for each rule.
type stackFact struct {
	// wants, inside and leaves are for rules by which the thread waits for a region, is in it,
	// or leaves it.
	wants, inside, leaves uint64
	// The rest is of use for stacks further in: from, that the innermost function that is
	// none of wants is one of from; held, that a function is one of holds; except.
	from, held, except uint64
}

// A nameFact has a bit for each rule whose pattern matches a function in a kind of code.
type nameFact struct{ wants, from, except, holds, blocked, leaves uint64 }

// classifier matches stacks with rules. Each function is looked at once for each kind of code.
type classifier struct {
	r     *run.Run
	rules []rule
	names map[functionKey]nameFact
	facts map[run.StackID]stackFact
	// Rules that have no from, no blocked.
	anyCaller, anyPlace uint64
}

type functionKey struct {
	function uint32
	kind     run.MappingKind
}

func newClassifier(r *run.Run, rules *Rules) *classifier {
	c := &classifier{r: r, rules: rules.list, names: make(map[functionKey]nameFact)}
	for i := range c.rules {
		if c.rules[i].from.None() {
			c.anyCaller |= 1 << i
		}
		if c.rules[i].blocked.None() {
			c.anyPlace |= 1 << i
		}
	}
	c.facts = map[run.StackID]stackFact{0: {}}
	return c
}

// of finds the facts of a stack, and of its callers on the way.
func (c *classifier) of(stack run.StackID) stackFact {
	f, ok := c.facts[stack]
	var path []run.StackID
	for id := stack; !ok; {
		path = append(path, id)
		id = c.r.Stacks.Parent(id)
		f, ok = c.facts[id]
	}
	for _, id := range slices.Backward(path) {
		l := &c.r.Locations[c.r.Stacks.Location(id)]
		kind := c.r.Mappings[l.Mapping].Kind
		for _, line := range slices.Backward(l.Lines) {
			c.enter(&f, c.name(functionKey{line.Function, kind}))
		}
		c.facts[id] = f
	}
	return f
}

// enter makes the facts of a stack those of the stack in which it calls a function.
func (c *classifier) enter(f *stackFact, n nameFact) {
	f.wants |= n.wants & (f.from | c.anyCaller)
	f.from = f.from&n.wants | n.from&^n.wants
	f.except |= n.except
	f.inside |= n.blocked&f.held | n.holds&c.anyPlace
	f.held |= n.holds
	f.leaves |= n.leaves
}

// waitsFor is the first rule by which a stack waits for a region.
func (f stackFact) waitsFor() (rule int, ok bool) { return first(f.wants &^ f.except) }

// inKernel reports whether the region of a rule is one of the kernel.
func (c *classifier) inKernel(rule int) bool {
	return c.rules[rule].kinds&(1<<run.NativeMapping) == 0 && c.rules[rule].kinds != 0
}

func (c *classifier) name(key functionKey) nameFact {
	n, ok := c.names[key]
	if ok {
		return n
	}
	f := &c.r.Functions[key.function]
	matches := func(p category.Patterns) bool {
		return !p.None() && (p.Match(f.Name) || f.SystemName != "" && f.SystemName != f.Name && p.Match(f.SystemName))
	}
	for i := range c.rules {
		rule := &c.rules[i]
		set := func(bits *uint64, p category.Patterns) {
			if matches(p) {
				*bits |= 1 << i
			}
		}
		set(&n.from, rule.from)
		set(&n.except, rule.except)
		set(&n.blocked, rule.blocked)
		if rule.kinds == 0 || rule.kinds&(1<<key.kind) != 0 {
			set(&n.wants, rule.wants)
			set(&n.holds, rule.holds)
			set(&n.leaves, rule.leaves)
		}
	}
	c.names[key] = n
	return n
}
