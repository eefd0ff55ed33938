package budget

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a budget file.
const (
	// MaxSize is the most bytes that a file may have.
	MaxSize = 1 << 20
	// maxDepth is how deeply its values may be nested.
	maxDepth = 64
	// maxBudgets is the most budgets that it may have.
	maxBudgets = 5000
	// maxLine is the most bytes of a line, and maxLines the most lines: the time that the
	// parser takes grows with their squares.
	maxLine  = 16 << 10
	maxLines = 20_000
)

// A FileError is an error of a budget file, with the place of it.
type FileError struct {
	Name     string
	Position Position // zero if it is of the whole file
	Err      error
}

func (e *FileError) Error() string {
	if e.Position.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", e.Name, e.Position.Line, e.Position.Column, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// Parse reads a budget file. name is its name, for messages. All errors are a *FileError.
func Parse(name string, data []byte) (*File, error) {
	f, err := parse(name, data)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		fe, ok := errors.AsType[*FileError](err)
		if !ok {
			fe = &FileError{Err: err}
		}
		fe.Name = name
		return nil, fe
	}
	return f, nil
}

func parse(name string, data []byte) (*File, error) {
	if len(data) > MaxSize {
		line := 1 + bytes.Count(data[:MaxSize], []byte("\n"))
		return nil, failAt(Position{line, 1}, "the file has %d bytes or more, of at most %d", len(data), MaxSize)
	}
	if err := checkText(data); err != nil {
		return nil, err
	}
	root, err := document(data)
	if err != nil {
		return nil, err
	}
	f := &File{name: name, at: make(map[string]Position)}
	if root == nil {
		return nil, failAt(Position{1, 1}, "no budgets: nothing was checked")
	}
	d := decoder{at: f.at}
	if err := d.value("", root, reflect.ValueOf(f).Elem()); err != nil {
		return nil, err
	}
	return f, nil
}

func failAt(at Position, format string, args ...any) error {
	return &FileError{Position: at, Err: fmt.Errorf(format, args...)}
}

// checkText refuses what YAML does not allow but its readers do, and what nests so deeply
// that they run out of stack.
func checkText(data []byte) error {
	line, start, flow := 1, 0, 0
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return failAt(place(line, data[start:i]), "byte %#x is not UTF-8: convert the file", data[i])
		case i-start > maxLine:
			return failAt(Position{line, 1}, "the line has more than %d bytes", maxLine)
		case r == '\n':
			if line, start = line+1, i+1; line > maxLines {
				return failAt(Position{line, 1}, "the file has more than %d lines", maxLines)
			}
			if err := checkIndentation(data[start:], Position{line, 1}); err != nil {
				return err
			}
		case r == '[' || r == '{':
			flow++
		case (r == ']' || r == '}') && flow > 0:
			flow--
		case r < ' ' && r != '\t' && r != '\r', r == 0x7f:
			return failAt(place(line, data[start:i]), "control character %#x", r)
		}
		if flow > 8*maxDepth {
			return failAt(place(line, data[start:i]), "nested too deeply")
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
			return failAt(Position{at.Line, i + 1}, "a tab cannot indent: use spaces")
		case '-', '?', '!', '&', '*', ':':
			// Each may open a value within a value.
			if entries++; entries > maxDepth {
				return failAt(Position{at.Line, i + 1}, "nested too deeply")
			}
		default:
			return nil
		}
		if i > 16*maxDepth {
			return failAt(Position{at.Line, i + 1}, "nested too deeply")
		}
	}
	return nil
}

// document reads the only document. It is nil if there is none.
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
			return nil, failAt(positionOf(se.Token), "is no YAML: %s", strings.ReplaceAll(se.Message, "\n", " "))
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
			return nil, failAt(nodePosition(doc.Body), "a second document starts here: one file has one")
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

// A decoder fills in Go values, whose form is that of the file, and keeps where each was.
type decoder struct {
	at    map[string]Position
	depth int
}

func (d *decoder) value(path string, n ast.Node, to reflect.Value) error {
	if d.depth++; d.depth > maxDepth {
		return failAt(positionOf(n.GetToken()), "nested too deeply")
	}
	defer func() { d.depth-- }()
	at := nodePosition(n)
	if _, ok := d.at[path]; !ok {
		d.at[path] = at
	}
	switch n := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return failAt(at, "%sanchors and aliases are not read: write it out", prefix(path))
	case *ast.TagNode:
		return failAt(at, "%stags are not read", prefix(path))
	case *ast.NullNode:
		return failAt(at, "%sis empty: give a value, or leave it out", prefix(path))
	case *ast.CommentNode:
		return failAt(at, "%sis a comment", prefix(path))
	case *ast.MappingValueNode:
		return d.mapping(path, at, []*ast.MappingValueNode{n}, to)
	case *ast.MappingNode:
		return d.mapping(path, at, n.Values, to)
	case *ast.SequenceNode:
		return d.list(path, at, n, to)
	}
	return d.word(path, at, n, to)
}

// nodePosition is where a value starts; that of a mapping is its first key.
func nodePosition(n ast.Node) Position {
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

func prefix(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

func (d *decoder) mapping(path string, at Position, entries []*ast.MappingValueNode, to reflect.Value) error {
	to = allocated(to)
	if to.Kind() != reflect.Struct || isScalar(to) {
		return failAt(at, "%sis a mapping: want %s", prefix(path), form(to.Type()))
	}
	fields := make(map[string]int)
	var names []string
	for i := range to.NumField() {
		name, _, _ := strings.Cut(to.Type().Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = i
			names = append(names, name)
		}
	}
	if p := to.FieldByName("Position"); p.IsValid() {
		p.Set(reflect.ValueOf(at))
	}
	seen := make(map[string]Position)
	for _, entry := range entries {
		keyAt := positionOf(entry.Key.GetToken())
		if entry.Key.IsMergeKey() {
			return failAt(keyAt, "%sanchors and aliases are not read: write it out", prefix(path))
		}
		key, ok := wordOf(entry.Key)
		if !ok {
			return failAt(keyAt, "%sa key must be a word", prefix(path))
		}
		if first, twice := seen[key]; twice {
			return failAt(keyAt, "key %q was given at %d:%d already", clip(key), first.Line, first.Column)
		}
		seen[key] = keyAt
		i, known := fields[key]
		if !known {
			hint := ""
			if near := closest(key, names); near != "" {
				hint = fmt.Sprintf(" (did you mean %q?)", near)
			} else {
				hint = fmt.Sprintf(": known are %s", strings.Join(names, ", "))
			}
			return failAt(keyAt, "unknown key %q%s", clip(key), hint)
		}
		if entry.Value == nil {
			return failAt(keyAt, "%sis empty: give a value, or leave it out", prefix(join(path, key)))
		}
		if err := d.value(join(path, key), entry.Value, to.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// allocated makes the value that a pointer is to.
func allocated(to reflect.Value) reflect.Value {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	return to
}

func isScalar(v reflect.Value) bool {
	_, ok := v.Addr().Interface().(scalar)
	return ok
}

func (d *decoder) list(path string, at Position, n *ast.SequenceNode, to reflect.Value) error {
	to = allocated(to)
	if to.Kind() != reflect.Slice {
		return failAt(at, "%sis a list: want %s", prefix(path), form(to.Type()))
	}
	if len(n.Values) > maxBudgets {
		return failAt(at, "%shas %d entries, of at most %d", prefix(path), len(n.Values), maxBudgets)
	}
	list := reflect.MakeSlice(to.Type(), len(n.Values), len(n.Values))
	for i, v := range n.Values {
		if v == nil {
			return failAt(at, "%sentry %d is empty", prefix(path), i)
		}
		if err := d.value(fmt.Sprintf("%s[%d]", path, i), v, list.Index(i)); err != nil {
			return err
		}
	}
	to.Set(list)
	return nil
}

func (d *decoder) word(path string, at Position, n ast.Node, to reflect.Value) error {
	text, ok := wordOf(n)
	to = allocated(to)
	if !ok {
		return failAt(at, "%swant %s", prefix(path), form(to.Type()))
	}
	fail := func(err error) error { return failAt(at, "%s%w", prefix(path), err) }
	if s, ok := to.Addr().Interface().(scalar); ok {
		if err := s.parse(text); err != nil {
			return fail(err)
		}
		return nil
	}
	switch to.Kind() {
	case reflect.String:
		if strings.TrimSpace(text) == "" {
			return fail(errors.New("is empty"))
		}
		to.SetString(text)
	case reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			return fail(fmt.Errorf("want true or false, not %s", clip(text)))
		}
		to.SetBool(text == "true" || text == "True" || text == "TRUE")
	case reflect.Int:
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 || v > 1e6 {
			return fail(fmt.Errorf("want a whole number, not %s", clip(text)))
		}
		to.SetInt(int64(v))
	default:
		return fail(fmt.Errorf("is %s: want %s", clip(text), form(to.Type())))
	}
	return nil
}

// wordOf is the text of a scalar.
func wordOf(n ast.Node) (string, bool) {
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

// form says what a value of a type looks like in the file.
func form(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Relative]():
		return "a change such as +5%"
	case t == reflect.TypeFor[Amount]():
		return "an amount such as 8% or 1.2ms"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Struct && t.PkgPath() != "" && !reflect.PointerTo(t).Implements(reflect.TypeFor[scalar]()):
		return "a mapping"
	}
	return "a word"
}

// closest is the word of a list that a misspelt one stands for, "" if none does.
func closest(word string, list []string) string {
	best, least := "", 3
	if len(word) < 4 {
		least = 2
	}
	if len(word) > 40 {
		return ""
	}
	for _, w := range list {
		if d := distance(word, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance is the number of edits between two words (Levenshtein, 1966), with an exchange
// of neighbours as one.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := [3][]int{make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(y)]
}

// nearest are the n names most like one, for a hint.
func nearest(name string, names []string, n int) []string {
	type entry struct {
		name string
		d    int
	}
	short := func(s string) string {
		if r := []rune(s); len(r) > 80 {
			return string(r[:80])
		}
		return s
	}
	var list []entry
	name = short(strings.Trim(name, "*^$"))
	for _, s := range names {
		d := distance(strings.ToLower(name), strings.ToLower(short(s)))
		if strings.Contains(strings.ToLower(s), strings.ToLower(name)) {
			d = min(d, 1)
		}
		if s != "" {
			list = append(list, entry{s, d})
		}
	}
	slices.SortFunc(list, func(a, b entry) int {
		if a.d != b.d {
			return a.d - b.d
		}
		return strings.Compare(a.name, b.name)
	})
	list = slices.Compact(list)
	var found []string
	for _, e := range list[:min(n, len(list))] {
		found = append(found, e.name)
	}
	return found
}
