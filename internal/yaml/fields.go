package yaml

import (
	"fmt"
	"slices"
	"strings"
)

// Errorf is an error at the place of a node.
func (n *Node) Errorf(format string, args ...any) error { return Errorf(n.Position, format, args...) }

// Fields calls read for each key of a mapping, which must be one of keys. Messages call the
// mapping what.
func (n *Node) Fields(what string, keys []string, read func(key string, value *Node) error) error {
	if n.Kind != Mapping {
		return n.Errorf("%s is %s: it must be a mapping with the keys %s", what, n.Describe(), strings.Join(keys, ", "))
	}
	seen := make(map[string]int)
	for _, e := range n.Entries {
		switch line, twice := seen[e.Key]; {
		case !slices.Contains(keys, e.Key):
			return Errorf(e.Position, "unknown key %q in %s: known are %s", Clip(e.Key), what, strings.Join(keys, ", "))
		case twice:
			return Errorf(e.Position, "key %q was given in line %d already: join the two", e.Key, line)
		}
		seen[e.Key] = e.Position.Line
		if err := read(e.Key, e.Value); err != nil {
			return err
		}
	}
	return nil
}

// Texts reads the value of a key that is a list of texts that are not empty, or one.
func (n *Node) Texts(key string) ([]*Node, error) {
	items := []*Node{n}
	if n.Kind == List {
		items = n.List
	}
	if len(items) == 0 {
		return nil, n.Errorf("%s is an empty list: remove it, or list what it is for", key)
	}
	for _, item := range items {
		switch {
		case !item.IsText():
			return nil, item.Errorf("%s has an entry that is %s: it must be text", key, item.Describe())
		case item.Text == "":
			return nil, item.Errorf("%s has an empty entry, which would match everything: remove it", key)
		}
	}
	return items, nil
}

// Describe says in a message what a node is.
func (n *Node) Describe() string {
	switch n.Kind {
	case Mapping:
		return "a mapping"
	case List:
		return "a list"
	case Null:
		return "empty"
	}
	return fmt.Sprintf("%q", Clip(n.Text))
}

// Clip shortens text of a file for a message.
func Clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
