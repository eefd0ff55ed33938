package budget

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"profdiff/internal/spelling"
	"profdiff/internal/yaml"
)

const (
	// MaxSize is the most bytes that a budget file may have.
	MaxSize = yaml.MaxSize
	// maxBudgets is the most entries of a list.
	maxBudgets = 5000
)

// A FileError is an error of a budget file, with the place of it.
type FileError = yaml.Error

// Parse reads a budget file. name is its name, for messages. All errors are a [*FileError].
func Parse(name string, data []byte) (*File, error) {
	f, err := parse(name, data)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, yaml.Name(name, err)
	}
	return f, nil
}

func parse(name string, data []byte) (*File, error) {
	root, err := yaml.Parse(data)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, yaml.Errorf(yaml.Position{Line: 1, Column: 1}, "no budgets: nothing was checked")
	}
	f := &File{name: name, at: make(map[string]yaml.Position)}
	d := decoder{at: f.at}
	if err := d.value("", root, reflect.ValueOf(f).Elem()); err != nil {
		return nil, err
	}
	if d.signless != nil {
		return nil, d.signless()
	}
	return f, nil
}

// A decoder fills in Go values, which have the form of the file, and keeps where in the
// file each was.
type decoder struct {
	at     map[string]yaml.Position
	budget *Budget // that is being read
	// signless is what to say of the first change of a budget without a sign, when all of it is known.
	signless func() error
}

func (d *decoder) value(path string, n *yaml.Node, to reflect.Value) error {
	if _, ok := d.at[path]; !ok {
		d.at[path] = n.Position
	}
	switch n.Kind {
	case yaml.Null:
		return yaml.Errorf(n.Position, "%sis empty: give a value, or leave it out", yaml.Prefix(path))
	case yaml.Mapping:
		return d.mapping(path, n, to)
	case yaml.List:
		return d.list(path, n, to)
	}
	return d.word(path, n, to)
}

func (d *decoder) mapping(path string, n *yaml.Node, to reflect.Value) error {
	to = allocated(to)
	if to.Kind() != reflect.Struct || isScalar(to) {
		return yaml.Errorf(n.Position, "%sis a mapping: want %s", yaml.Prefix(path), form(to.Type()))
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
		p.Set(reflect.ValueOf(n.Position))
	}
	if b, ok := to.Addr().Interface().(*Budget); ok {
		d.budget = b
		defer func() { d.budget = nil }()
	}
	seen := make(map[string]yaml.Position)
	for _, entry := range n.Entries {
		key := entry.Key
		if first, twice := seen[key]; twice {
			return yaml.Errorf(entry.Position, "key %q was given at %v already", clip(key), first)
		}
		seen[key] = entry.Position
		i, known := fields[key]
		if !known {
			hint := ""
			if near := spelling.Closest(key, names); near != "" {
				hint = fmt.Sprintf(" (did you mean %q?)", near)
			} else {
				hint = fmt.Sprintf(": known are %s", strings.Join(names, ", "))
			}
			return yaml.Errorf(entry.Position, "unknown key %q%s", clip(key), hint)
		}
		if err := d.value(yaml.Join(path, key), entry.Value, to.Field(i)); err != nil {
			return err
		}
	}
	return nil
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

func (d *decoder) list(path string, n *yaml.Node, to reflect.Value) error {
	to = allocated(to)
	if to.Kind() != reflect.Slice {
		return yaml.Errorf(n.Position, "%sis a list: want %s", yaml.Prefix(path), form(to.Type()))
	}
	if len(n.List) > maxBudgets {
		return yaml.Errorf(n.Position, "%shas %d entries, of at most %d", yaml.Prefix(path), len(n.List), maxBudgets)
	}
	list := reflect.MakeSlice(to.Type(), len(n.List), len(n.List))
	for i, v := range n.List {
		if err := d.value(fmt.Sprintf("%s[%d]", path, i), v, list.Index(i)); err != nil {
			return err
		}
	}
	to.Set(list)
	return nil
}

func (d *decoder) word(path string, n *yaml.Node, to reflect.Value) error {
	to = allocated(to)
	text := n.Text
	fail := func(err error) error { return yaml.Errorf(n.Position, "%s%w", yaml.Prefix(path), err) }
	if s, ok := to.Addr().Interface().(scalar); ok {
		err := s.parse(text)
		if e, ok := errors.AsType[*signlessError](err); ok && d.budget != nil {
			// Keys that follow say which sign was meant.
			if e.of = d.budget; d.signless == nil {
				d.signless = func() error { return fail(e) }
			}
			return nil
		}
		if err != nil {
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
		if n.Kind != yaml.Bool {
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
