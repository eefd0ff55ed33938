// Package yaml reads what users write in YAML: one document of mappings, lists and words,
// with the place of each for messages. YAML 1.2, https://yaml.org/spec/1.2.2.
//
//  1. The text is checked: its size, UTF-8, control characters, tabs that indent, and what
//     would cost the parser stack or time out of proportion: depth, lines, their length.
//  2. A library parses it. What it says of an error is one line, with the place.
//  3. Of the result, one document is kept. Anchors, aliases, merge keys and tags are
//     refused: a file that states rules is read by people, as it stands.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a file.
const (
	// MaxSize is the most bytes that a file may have.
	MaxSize = 1 << 20
	// maxDepth is how deeply values may be nested.
	maxDepth = 64
	// maxLine is the most bytes of a line, and maxLines the most lines: the time that the
	// parser takes grows with their squares.
	maxLine  = 16 << 10
	maxLines = 20_000
)

// A Position is a place in a file. Line and column count from 1, columns in characters; the
// zero value is no place.
type Position struct{ Line, Column int }

func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// An Error is an error of a file, with the place of it.
type Error struct {
	Name     string   // of the file
	Position Position // zero if it is of the whole file
	Err      error
}

func (e *Error) Error() string {
	if e.Position.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s:%v: %v", e.Name, e.Position, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf is an error at a place in a file whose name is not known yet.
func Errorf(at Position, format string, args ...any) error {
	return &Error{Position: at, Err: fmt.Errorf(format, args...)}
}

// Name adds the name of the file to an error of it.
func Name(name string, err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Err: err}
	}
	e.Name = name
	return e
}

// Read parses a file called name and hands its document to read. Errors are one line and start with
// the file and the line in it; of a file without a document, what it needs is said.
func Read(name string, data []byte, needs string, read func(root *Node) error) error {
	root, err := Parse(data)
	switch {
	case err != nil:
	case root == nil:
		err = errors.New(needs)
	default:
		err = read(root)
	}
	if err == nil {
		return nil
	}
	if at := Name(name, err); at.Position.Line > 0 {
		return fmt.Errorf("%s:%d: %w", name, at.Position.Line, at.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// A Kind is the kind of a [Node].
type Kind int

// Kinds of nodes.
const (
	Null Kind = iota // nothing, or null
	Word             // a text or a number
	Bool             // true or false, not in quotes
	Mapping
	List
)

// A Node is a value in a file.
type Node struct {
	Kind Kind
	// Position is where the value starts: a mapping starts at its first key.
	Position Position
	Text     string   // of a Word or Bool
	Entries  []*Entry // of a Mapping, in the order of the file; keys may be there twice
	List     []*Node  // of a List
}

// IsText reports whether a node is a text, a number or a truth value.
func (n *Node) IsText() bool { return n.Kind == Word || n.Kind == Bool }

// An Entry is a key of a mapping with its value.
type Entry struct {
	Key      string
	Position Position // of the key
	Value    *Node
}

// Parse reads the only document of a file. It is nil if there is none. Errors are an [*Error].
func Parse(data []byte) (*Node, error) {
	if len(data) > MaxSize {
		line := 1 + bytes.Count(data[:MaxSize], []byte("\n"))
		return nil, Errorf(Position{line, 1}, "the file has %d bytes or more, of at most %d", len(data), MaxSize)
	}
	if err := checkText(data); err != nil {
		return nil, err
	}
	root, err := document(data)
	if root == nil || err != nil {
		return nil, err
	}
	return convert("", root, 1)
}

// checkText refuses what YAML does not allow but its readers do, and what nests so deeply
// that they run out of stack.
func checkText(data []byte) error {
	line, start, flow := 1, 0, 0
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return Errorf(place(line, data[start:i]), "byte %#x is not UTF-8: convert the file", data[i])
		case i-start > maxLine:
			return Errorf(Position{line, 1}, "the line has more than %d bytes", maxLine)
		case r == '\n':
			if line, start = line+1, i+1; line > maxLines {
				return Errorf(Position{line, 1}, "the file has more than %d lines", maxLines)
			}
			if err := checkIndentation(data[start:], Position{line, 1}); err != nil {
				return err
			}
		case r == '[' || r == '{':
			flow++
		case (r == ']' || r == '}') && flow > 0:
			flow--
		case r < ' ' && r != '\t' && r != '\r', r == 0x7f:
			return Errorf(place(line, data[start:i]), "control character %#x", r)
		}
		if flow > 8*maxDepth {
			return Errorf(place(line, data[start:i]), "nested too deeply")
		}
		i += n
	}
	return checkIndentation(data, Position{1, 1})
}

// place is where a line goes on after what is before.
func place(line int, before []byte) Position { return Position{line, 1 + utf8.RuneCount(before)} }

// checkIndentation checks how a line starts.
func checkIndentation(line []byte, at Position) error {
	entries := 0
	for i := range line {
		switch line[i] {
		case ' ':
		case '\t':
			return Errorf(Position{at.Line, i + 1}, "a tab cannot indent: use spaces")
		case '-', '?', '!', '&', '*', ':':
			// Each may open a value within a value.
			if entries++; entries > maxDepth {
				return Errorf(Position{at.Line, i + 1}, "nested too deeply")
			}
		default:
			return nil
		}
		if i > 16*maxDepth {
			return Errorf(Position{at.Line, i + 1}, "nested too deeply")
		}
	}
	return nil
}

// document parses the only document. It is nil if there is none.
func document(data []byte) (root ast.Node, err error) {
	// The parser is not made for hostile input.
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("is no YAML: %v", r)
		}
	}()
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		if se, ok := errors.AsType[*yaml.SyntaxError](err); ok {
			return nil, Errorf(positionOf(se.Token), "is no YAML: %s", strings.ReplaceAll(se.Message, "\n", " "))
		}
		text, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("is no YAML: %s", text)
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if _, comment := doc.Body.(*ast.CommentGroupNode); comment {
			continue
		}
		if root != nil {
			return nil, Errorf(start(doc.Body), "a second document starts here: one file has one")
		}
		root = doc.Body
	}
	return root, nil
}

func positionOf(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{}
	}
	return Position{t.Position.Line, t.Position.Column}
}

// start is where a value starts.
func start(n ast.Node) Position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return positionOf(n.Values[0].Key.GetToken())
		}
	case *ast.MappingValueNode:
		return positionOf(n.Key.GetToken())
	}
	return positionOf(n.GetToken())
}

// convert makes a Node of what the parser found at a path.
func convert(path string, n ast.Node, depth int) (*Node, error) {
	out := &Node{Position: start(n)}
	if depth > maxDepth {
		return nil, Errorf(positionOf(n.GetToken()), "nested too deeply")
	}
	fail := func(what string) (*Node, error) { return nil, Errorf(out.Position, "%s%s", Prefix(path), what) }
	switch n := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return fail(aliases)
	case *ast.TagNode:
		return fail("tags are not read")
	case *ast.CommentNode:
		return fail("is a comment")
	case *ast.NullNode:
		return out, nil
	case *ast.MappingValueNode:
		return mapping(out, path, []*ast.MappingValueNode{n}, depth)
	case *ast.MappingNode:
		return mapping(out, path, n.Values, depth)
	case *ast.SequenceNode:
		out.Kind = List
		for i, v := range n.Values {
			item := &Node{Position: out.Position}
			if v != nil {
				var err error
				if item, err = convert(fmt.Sprintf("%s[%d]", path, i), v, depth+1); err != nil {
					return nil, err
				}
			}
			out.List = append(out.List, item)
		}
		return out, nil
	case *ast.BoolNode:
		out.Kind = Bool
	default:
		out.Kind = Word
	}
	text, ok := word(n)
	if !ok {
		return fail("want a word")
	}
	out.Text = text
	return out, nil
}

const aliases = "anchors and aliases are not read: write it out"

// mapping fills in a mapping.
func mapping(out *Node, path string, entries []*ast.MappingValueNode, depth int) (*Node, error) {
	out.Kind = Mapping
	for _, entry := range entries {
		at := positionOf(entry.Key.GetToken())
		if entry.Key.IsMergeKey() {
			return nil, Errorf(at, "%s%s", Prefix(path), aliases)
		}
		var name ast.Node = entry.Key
		if long, ok := name.(*ast.MappingKeyNode); ok { // after a question mark
			name, at = long.Value, start(long.Value)
		}
		key, ok := word(name)
		if !ok {
			return nil, Errorf(at, "%sa key must be a word", Prefix(path))
		}
		value := &Node{Position: at}
		if entry.Value != nil {
			var err error
			if value, err = convert(Join(path, key), entry.Value, depth+1); err != nil {
				return nil, err
			}
		}
		out.Entries = append(out.Entries, &Entry{key, at, value})
	}
	return out, nil
}

// Join is the path of a key below a path, as messages have it: "defaults.reference".
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Prefix starts a message about what is at a path.
func Prefix(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

// word is the text of a scalar.
func word(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimRight(n.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}
