package wait

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"profdiff/internal/category"
	"profdiff/internal/yaml"
)

// Rules name regions: code in which a thread holds what others wait for. They are safe for
// concurrent use.
type Rules struct{ list []rule }

// mostRules is the number of rules that a set may have: each has a bit.
const mostRules = 64

// A rule names a region. All patterns are on names of functions.
type rule struct {
	name, region string
	// wants is on stacks of threads that wait for the region, from on what called the
	// function that wants matches, and except on no function of the stack.
	wants, from, except category.Patterns
	// holds is on stacks of threads that are in the region, and blocked on a function further in.
	holds, blocked category.Patterns
	// leaves is on stacks of threads that wake one that waits.
	leaves category.Patterns
	// kinds has a bit for each kind of mapping in which functions of wants, holds and leaves
	// are, 0 is any.
	kinds uint
	scope scope
}

// A scope says which threads can wait for each other by a rule.
type scope uint8

const (
	process scope = iota // those of one process
	program              // and of other processes that run the same program
	machine              // all
)

var scopes = []string{"process", "program", "machine"}

//go:embed regions.yaml
var builtin []byte

// Builtin are the rules for runtimes of Java, interpreters, C libraries, databases and the kernel of Linux.
var Builtin = sync.OnceValue(func() *Rules {
	rules, err := parseRules("regions.yaml", builtin, nil)
	if err != nil {
		panic(err) // a test reads them
	}
	return rules
})

// ParseRules reads rules from YAML. name is what messages call the file. Errors are one line and start with the file and
// the line in it.
//
//	regions:                      # the first that fits a wait decides
//	  - name: cache
//	    region: the table of the cache     # what is held, for readers
//	    wants: ['^Cache::lock$']
//	    leaves: ['^Cache::unlock$']
//	  - name: upload under a lock
//	    holds: ['^synchronize']
//	    blocked: ['^send', '^recv']
//	  - include: builtin
//
// A rule has a name and at least one of wants and holds. Patterns are regular expressions on names
// of functions, of which one must match:
//
//   - wants: who is blocked below such a function waits for the region
//   - from: and the function that called it matches
//   - except: and no function of the stack does
//   - holds: who is below such a function has the region
//   - blocked: and waits in such a function further in
//   - leaves: who ends a wait for the region from below such a function had it
//   - kind: functions of wants, holds and leaves are in code of one of these kinds (native,
//     kernel, kernel module, java, jit, vdso, unknown)
//   - scope: which threads wait for each other there: those of one process, which is so
//     without it, those of processes of one program, or all of the machine
//
// The entry "include: builtin" stands for the rules that are built in.
func ParseRules(name string, data []byte) (*Rules, error) { return parseRules(name, data, Builtin) }

func parseRules(name string, data []byte, included func() *Rules) (*Rules, error) {
	p := ruleParser{rules: new(Rules), included: included, lines: make(map[string]int)}
	if err := yaml.Read(name, data, `has no regions: it needs a list "regions:"`, p.file); err != nil {
		return nil, err
	}
	return p.rules, nil
}

type ruleParser struct {
	rules    *Rules
	included func() *Rules
	lines    map[string]int // of names
	size     int            // of patterns
	isInside bool           // the built-in rules have been included
}

func (p *ruleParser) file(root *yaml.Node) error {
	list := root
	err := root.Fields("the file", []string{"regions"}, func(_ string, value *yaml.Node) error {
		list = value
		return nil
	})
	switch {
	case err != nil:
		return err
	case list == root || list.Kind == yaml.Null || list.Kind == yaml.List && len(list.List) == 0:
		return list.Errorf(`has no regions: list them under "regions:"`)
	case list.Kind != yaml.List:
		return list.Errorf("regions is %s: it must be a list", list.Describe())
	}
	for _, n := range list.List {
		if err := p.entry(n); err != nil {
			return err
		}
	}
	return nil
}

var ruleKeys = []string{"name", "region", "wants", "from", "except", "holds", "blocked", "leaves", "kind", "scope", "include"}

func (p *ruleParser) entry(n *yaml.Node) error {
	var r rule
	var include *yaml.Node
	keys := 0
	err := n.Fields("a region", ruleKeys, func(key string, value *yaml.Node) error {
		keys++
		if key == "include" {
			include = value
			return nil
		}
		return p.part(&r, key, value)
	})
	switch {
	case err != nil:
		return err
	case include != nil && keys > 1:
		return include.Errorf("include stands alone: give the region in an entry of its own")
	case include != nil && include.Text != "builtin":
		return include.Errorf("include is %s: only builtin can be included", include.Describe())
	case include != nil && (p.isInside || p.included == nil):
		return include.Errorf("builtin is included twice: remove one")
	case include != nil:
		p.isInside = true
		return p.add(n, p.included().list...)
	case r.name == "":
		return n.Errorf(`region has no name: add "name:"`)
	case r.wants.None() && r.holds.None():
		return n.Errorf("region %q has neither wants nor holds: say below which functions threads wait for it, or have it", yaml.Clip(r.name))
	}
	for _, part := range []struct {
		key, of  string
		has, can bool
	}{
		{"from", "wants", !r.from.None(), !r.wants.None()},
		{"except", "wants", !r.except.None(), !r.wants.None()},
		{"leaves", "wants", !r.leaves.None(), !r.wants.None()},
		{"blocked", "holds", !r.blocked.None(), !r.holds.None()},
	} {
		if part.has && !part.can {
			return n.Errorf("region %q has %s without %s, which it belongs to", yaml.Clip(r.name), part.key, part.of)
		}
	}
	return p.add(n, r)
}

// add adds rules that are complete.
func (p *ruleParser) add(n *yaml.Node, rules ...rule) error {
	if p.rules.list = append(p.rules.list, rules...); len(p.rules.list) > mostRules {
		return n.Errorf("more than %d regions, those included counted: join some", mostRules)
	}
	return nil
}

// part reads one key of a rule.
func (p *ruleParser) part(r *rule, key string, value *yaml.Node) error {
	switch key {
	case "name", "region", "scope":
		return p.word(r, key, value)
	}
	items, err := value.Texts(key)
	if err != nil {
		return err
	}
	if key == "kind" {
		r.kinds, err = category.ReadKinds(items)
		return err
	}
	patterns := map[string]*category.Patterns{
		"wants": &r.wants, "from": &r.from, "except": &r.except, "holds": &r.holds, "blocked": &r.blocked, "leaves": &r.leaves,
	}[key]
	*patterns, err = category.ReadPatterns(key, items, &p.size)
	return err
}

// word reads a key of a rule that is text for readers, or a word.
func (p *ruleParser) word(r *rule, key string, n *yaml.Node) error {
	text := n.Text
	switch {
	case !n.IsText():
		return n.Errorf("%s is %s: it must be text", key, n.Describe())
	case strings.TrimSpace(text) != text || text == "" || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return n.Errorf("%s %q is empty, or has spaces around it or characters that cannot be printed", key, yaml.Clip(text))
	}
	switch key {
	case "region":
		r.region = text
	case "scope":
		i := slices.Index(scopes, text)
		if i < 0 {
			return n.Errorf("scope is %s: known are %s", n.Describe(), strings.Join(scopes, ", "))
		}
		r.scope = scope(i)
	case "name":
		if line, twice := p.lines[text]; twice {
			return n.Errorf("name %q was given in line %d already: join the two", yaml.Clip(text), line)
		}
		p.lines[text] = n.Position.Line
		r.name = text
	}
	return nil
}
