package category

import (
	"fmt"
	"strings"
	"unicode"

	"profdiff/internal/run"
	"profdiff/internal/yaml"
)

// Limits of a file of categories.
const (
	// MaxSize is the most bytes that a file may have.
	MaxSize = 1 << 20
	// maxTotalSize limits all patterns together, in the unit of maxPatternSize.
	maxTotalSize = 1 << 20
	// mostUnder is the number of rules that may have "under": each has a bit.
	mostUnder = 64
)

// Parse reads a set from YAML. name is what messages call the file. Errors are one
// line and start with the file and the line in it.
//
//	categories:                 # the first that holds decides; the rest is "other"
//	  - name: read
//	    syscall: [read, pread64]
//	  - name: parsing
//	    match: ['^json::', '^parse_']
//	    under: ['^serve_request$']
//	  - name: garbage collection
//	    any:
//	      - match: ['^art::gc::']
//	      - thread: ['^HeapTaskDaemon$']
//	  - include: builtin
//
// A category has a name and a rule, or several rules as "any", of which one must
// hold. The parts of a rule that are given must all hold:
//
//   - match: some frame is of a function whose name matches one of these regular
//     expressions
//   - leaf: the innermost frame is
//   - syscall: some frame is one of these system calls, in the kernel of any
//     architecture or as the function of a C library
//   - dso, kind: that frame is in a file whose path matches one of these regular
//     expressions, or in code of one of these kinds (native, kernel, kernel module,
//     java, jit, vdso, unknown); without match, leaf and syscall, the innermost
//     frame is
//   - under: a frame further out is of a function whose name matches
//   - thread, process: the names of thread and process match
//
// A rule has at most one of match, leaf and syscall. The entry "include: builtin"
// stands for the categories of the built-in set; one whose name the file also has adds
// its rules to it, in this place.
func Parse(name string, data []byte) (*Set, error) { return parse(name, data, Builtin) }

// parse is Parse with the set that can be included.
func parse(name string, data []byte, included func() *Set) (*Set, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%s: has %d bytes, of at most %d: make several files of it", name, len(data), MaxSize)
	}
	p := parser{set: new(Set), included: included, lines: make(map[string]int), ids: make(map[string]int)}
	if err := yaml.Read(name, data, `has no categories: it needs a list "categories:"`, p.file); err != nil {
		return nil, err
	}
	p.set.names = append(p.set.names, Other)
	return p.set, nil
}

type parser struct {
	set      *Set
	included func() *Set
	lines    map[string]int // of the names of categories in the file
	ids      map[string]int // index in Set.names
	size     int
	unders   int
	isInside bool // the built-in set has been included
}

func (p *parser) file(root *yaml.Node) error {
	list := root
	err := root.Fields("the file", []string{"categories"}, func(_ string, value *yaml.Node) error {
		list = value
		return nil
	})
	if err != nil {
		return err
	}
	if list == root || list.Kind == yaml.Null {
		return list.Errorf(`has no categories: list them under "categories:"`)
	}
	if list.Kind != yaml.List {
		return list.Errorf("categories is %s: it must be a list", list.Describe())
	}
	if len(list.List) == 0 {
		return list.Errorf("has no categories: list at least one")
	}
	for _, n := range list.List {
		if err := p.entry(n); err != nil {
			return err
		}
	}
	return nil
}

// Keys of a rule, and of a category.
var ruleKeys = []string{"match", "leaf", "syscall", "dso", "kind", "under", "thread", "process"}

// entry reads a category or an include.
func (p *parser) entry(n *yaml.Node) error {
	keys := append([]string{"name", "any", "include"}, ruleKeys...)
	var name, include, alternatives *yaml.Node
	r := newRule()
	parts := 0
	err := n.Fields("a category", keys, func(key string, value *yaml.Node) error {
		switch key {
		case "name":
			name = value
		case "include":
			include = value
		case "any":
			alternatives = value
		default:
			parts++
			return p.part(&r, key, value)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case include != nil:
		if name != nil || alternatives != nil || parts > 0 {
			return include.Errorf("include stands alone: give the category in an entry of its own")
		}
		return p.include(include)
	case name == nil:
		return n.Errorf(`category has no name: add "name:"`)
	case alternatives != nil && parts > 0:
		return alternatives.Errorf("category has any and a rule beside it: move the rule into any")
	case alternatives == nil && parts == 0:
		return n.Errorf("category %q has no rule: give one of %s, or any", yaml.Clip(name.Text), strings.Join(ruleKeys, ", "))
	}
	id, err := p.name(name)
	if err != nil {
		return err
	}
	if alternatives == nil {
		return p.add(n, id, r)
	}
	if alternatives.Kind != yaml.List || len(alternatives.List) == 0 {
		return alternatives.Errorf("any is %s: it must be a list of rules", alternatives.Describe())
	}
	for _, a := range alternatives.List {
		r := newRule()
		if err := a.Fields("a rule", ruleKeys, func(key string, value *yaml.Node) error { return p.part(&r, key, value) }); err != nil {
			return err
		}
		if err := p.add(a, id, r); err != nil {
			return err
		}
	}
	return nil
}

// name adds a category.
func (p *parser) name(n *yaml.Node) (int, error) {
	name := n.Text
	switch line, twice := p.lines[name]; {
	case !n.IsText():
		return 0, n.Errorf("name is %s: it must be text", n.Describe())
	case strings.TrimSpace(name) != name || name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return 0, n.Errorf("name %q is empty, or has spaces around it or characters that cannot be printed", yaml.Clip(name))
	case name == Other:
		return 0, n.Errorf("name %q is that of the samples in no category: leave it out, or choose another name", name)
	case twice:
		return 0, n.Errorf("name %q was given in line %d already: join the two with any", yaml.Clip(name), line)
	}
	p.lines[name] = n.Position.Line
	return p.id(name), nil
}

func (p *parser) id(name string) int {
	id, ok := p.ids[name]
	if !ok {
		id = len(p.set.names)
		p.ids[name] = id
		p.set.names = append(p.set.names, name)
	}
	return id
}

// include adds the rules of the built-in set.
func (p *parser) include(n *yaml.Node) error {
	switch {
	case n.Text != "builtin":
		return n.Errorf("include is %s: only builtin can be included", n.Describe())
	case p.included == nil || p.isInside:
		return n.Errorf("builtin is included twice: remove one")
	}
	p.isInside = true
	set := p.included()
	base := p.set.functions.n
	shift := func(c condition) condition {
		if c == noCondition {
			return c
		}
		return c + base
	}
	p.set.functions.join(&set.functions)
	for _, r := range set.rules {
		r.category = p.id(set.names[r.category])
		r.match, r.under = shift(r.match), shift(r.under)
		if err := p.underBit(n, &r); err != nil {
			return err
		}
		p.set.rules = append(p.set.rules, r)
	}
	return nil
}

func (p *parser) underBit(n *yaml.Node, r *rule) error {
	if r.under == noCondition {
		return nil
	}
	if p.unders == mostUnder {
		return n.Errorf("more than %d rules have under: join some", mostUnder)
	}
	r.underBit = 1 << p.unders
	p.unders++
	return nil
}

// add adds a rule that is complete, which n is.
func (p *parser) add(n *yaml.Node, category int, r rule) error {
	r.category = category
	if r.match == noCondition {
		r.leaf = true
	}
	switch {
	case !r.framed() && r.under != noCondition:
		return n.Errorf("rule has under, but nothing that is under it: add match, leaf, syscall, dso or kind")
	case !r.framed() && !r.labelled():
		return n.Errorf("rule is empty: give one of %s", strings.Join(ruleKeys, ", "))
	}
	if err := p.underBit(n, &r); err != nil {
		return err
	}
	p.set.rules = append(p.set.rules, r)
	return nil
}

func newRule() rule { return rule{match: noCondition, under: noCondition} }

// part reads one key of a rule.
func (p *parser) part(r *rule, key string, value *yaml.Node) error {
	items, err := value.Texts(key)
	if err != nil {
		return err
	}
	switch key {
	case "kind":
		r.kinds, err = ReadKinds(items)
		return err
	case "match", "leaf", "syscall":
		if r.match != noCondition {
			return value.Errorf("rule has more than one of match, leaf and syscall: make several of it with any")
		}
	}
	if key == "syscall" {
		r.syscalls = true
		names, err := syscalls(items)
		r.match = p.set.functions.addSyscalls(names)
		return err
	}
	ps, err := readPatterns(key, items, &p.size)
	if err != nil {
		return err
	}
	switch key {
	case "dso":
		r.dso = ps
	case "thread":
		r.thread = ps
	case "process":
		r.process = ps
	case "under":
		r.under = p.set.functions.add(ps)
	default:
		r.leaf = key == "leaf"
		r.match = p.set.functions.add(ps)
	}
	return nil
}

// ReadKinds reads a list of kinds of mappings, as a set with a bit for each.
func ReadKinds(items []*yaml.Node) (kinds uint, err error) {
	var known []string
	for _, item := range items {
		known = known[:0]
		bit := uint(0)
		for k := run.UnknownMapping; k <= run.VDSOMapping; k++ {
			known = append(known, k.String())
			if k.String() == item.Text {
				bit = 1 << k
			}
		}
		if bit == 0 {
			return 0, item.Errorf("unknown kind %q: known are %s", yaml.Clip(item.Text), strings.Join(known, ", "))
		}
		kinds |= bit
	}
	return kinds, nil
}

func syscalls(items []*yaml.Node) ([]string, error) {
	var names []string
	for _, item := range items {
		if !syscallName.MatchString(item.Text) {
			return nil, item.Errorf("%q is no name of a system call: those have small letters, digits and _ only", yaml.Clip(item.Text))
		}
		names = append(names, item.Text)
	}
	return names, nil
}
