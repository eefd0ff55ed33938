package jfr

import "strconv"

// A class says what values of a type consist of: events, constants, parts of them.
type class struct {
	id     int64
	name   string
	fields []field
}

// A field is a part of a value.
type field struct {
	name   string
	typ    int64 // id of its class
	pooled bool  // stands in a constant pool, here is its number there
	array  bool
}

// maxNesting is how deep elements of metadata, and values in values, may nest: the JDK's nest four deep.
const maxNesting = 32

// classes reads the event of metadata, which has a tree of elements: root, metadata, classes, their fields.
func (k *chunk) classes(at int64) error {
	c := k.at(at)
	c.number() // size
	if kind := c.number(); kind != metadataEvent {
		c.fail("the metadata is an event of type %d", kind)
	}
	c.number() // start
	c.number() // duration
	c.number() // id
	strings := make([]string, c.count())
	for i := range strings {
		strings[i] = c.str(nil)
	}
	k.types = make(map[int64]*class)
	k.names = make(map[string]*class)
	m := metadata{c: c, strings: strings}
	m.element(k, nil, 0)
	return c.err
}

// metadata is what reads the tree of elements.
type metadata struct {
	c       *cursor
	strings []string
}

func (m *metadata) str() string {
	i := m.c.number()
	if i < 0 || i >= int64(len(m.strings)) {
		m.c.fail("metadata refers to string %d of %d", i, len(m.strings))
		return ""
	}
	return m.strings[i]
}

// element reads an element and those in it; in is the class that it stands in, nil for none.
func (m *metadata) element(k *chunk, in *class, depth int) {
	if depth > maxNesting {
		m.c.fail("elements of metadata nest deeper than %d", maxNesting)
		return
	}
	kind := m.str()
	attributes := make(map[string]string)
	for range m.c.count() {
		key := m.str()
		attributes[key] = m.str()
		if m.c.err != nil {
			return
		}
	}
	number := func(key string) int64 {
		n, err := strconv.ParseInt(attributes[key], 10, 64)
		if err != nil {
			m.c.fail("a %s of metadata has the %s %q, which is no number", kind, key, attributes[key])
		}
		return n
	}
	switch {
	case kind == "class":
		in = &class{id: number("id"), name: attributes["name"]}
		k.types[in.id], k.names[in.name] = in, in
	case kind == "field" && in != nil:
		in.fields = append(in.fields, field{
			name: attributes["name"], typ: number("class"),
			pooled: attributes["constantPool"] == "true", array: attributes["dimension"] == "1",
		})
		in = nil // annotations of the field
	case kind == "annotation":
		in = nil
	}
	for range m.c.count() {
		if m.c.err != nil {
			return
		}
		m.element(k, in, depth+1)
	}
}

// skip passes over a value of a field.
func (k *chunk) skip(c *cursor, f *field, depth int) {
	n := 1
	if f.array {
		n = c.count()
	}
	for range n {
		start := c.pos
		if f.pooled {
			c.number()
		} else {
			k.skipValue(c, f.typ, depth)
		}
		if c.err != nil {
			return
		}
		if f.array && c.pos == start {
			c.fail("an array holds values of no size")
		}
	}
}

func (k *chunk) skipValue(c *cursor, typ int64, depth int) {
	t := k.types[typ]
	switch {
	case t == nil:
		c.fail("a value is of type %d, which the metadata does not have", typ)
	case depth > maxNesting:
		c.fail("values nest deeper than %d", maxNesting)
	default:
		switch t.name {
		case "boolean", "byte":
			c.byte()
		case "char", "short", "int", "long":
			c.number()
		case "float":
			c.take(4)
		case "double":
			c.take(8)
		case "java.lang.String":
			c.str(nil)
		default:
			for i := range t.fields {
				k.skip(c, &t.fields[i], depth+1)
			}
		}
	}
}

// A value is one of a field that was asked for: a number, which may be that of a constant, or text.
type value struct {
	number int64
	text   string
}

// A plan says where the values of a class go: into which of the values that are wanted, -1 for those that are
// passed over.
type plan []int

// plan finds the fields that are called as the keys of wanted, whose values are where they go.
func (t *class) plan(wanted map[string]int) plan {
	p := make(plan, len(t.fields))
	for i := range t.fields {
		p[i] = -1
		if to, ok := wanted[t.fields[i].name]; ok {
			p[i] = to
		}
	}
	return p
}

// read reads a value of class t into values. What is no number and no text is passed over.
func (k *chunk) read(c *cursor, t *class, p plan, values []value) {
	clear(values)
	for i := range t.fields {
		f := &t.fields[i]
		if p[i] < 0 || f.array {
			k.skip(c, f, 0)
			continue
		}
		v := &values[p[i]]
		if f.pooled {
			v.number = c.number()
			if ft := k.types[f.typ]; ft != nil && ft.name == stringType {
				v.text = k.strings[v.number]
			}
			continue
		}
		ft := k.types[f.typ]
		switch {
		case ft == nil:
			c.fail("field %s of %s is of type %d, which the metadata does not have", f.name, t.name, f.typ)
		case ft.name == stringType:
			v.text = c.str(k.strings)
		case ft.name == "boolean" || ft.name == "byte":
			v.number = int64(c.byte())
		case ft.name == "char" || ft.name == "short" || ft.name == "int" || ft.name == "long":
			v.number = c.number()
		default:
			k.skip(c, f, 0)
		}
	}
}

const stringType = "java.lang.String"
