package jfr

import "strings"

// constants are what events refer to by number. Constants of other types are passed over.
type constants struct {
	strings      map[int64]string
	symbols      map[int64]string
	classSymbols map[int64]int64 // the names of classes
	methods      map[int64]method
	stacks       map[int64]stack
	threads      map[int64]thread
	states       map[int64]string // of threads
	frameKinds   map[int64]string
	// native is set if native frames are of C. The JDK has native methods of Java alone.
	native bool
}

type method struct {
	class, name int64 // of a class, and a symbol
	hidden      bool
}

type thread struct {
	name string
	tid  int64
}

// A stack is that of an event, its leaf first.
type stack struct {
	frames    []frame
	truncated bool
}

type frame struct {
	method     int64
	line, kind int32
}

// readConstants reads all constants of the chunk: some stand behind the events that refer to them.
func (k *chunk) readConstants() error {
	k.constants = constants{
		make(map[int64]string), make(map[int64]string), make(map[int64]int64), make(map[int64]method),
		make(map[int64]stack), make(map[int64]thread), make(map[int64]string), make(map[int64]string), false,
	}
	err := k.events(func(typ int64, c *cursor) {
		if typ != constantsEvent {
			return
		}
		c.number() // start
		c.number() // duration
		c.number() // the distance to the one before
		c.byte()   // what kind of constants
		for range c.count() {
			id := c.number()
			t := k.types[id]
			if t == nil {
				c.fail("constants are of type %d, which the metadata does not have", id)
			}
			if c.err != nil {
				return
			}
			k.pool(c, t)
		}
	})
	for _, kind := range k.frameKinds {
		k.native = k.native || kind == "Kernel"
	}
	return err
}

// pool reads the constants of one type.
func (k *chunk) pool(c *cursor, t *class) {
	keep := k.keeper(c, t)
	n := c.count()
	for range n {
		id := c.number()
		if keep != nil {
			keep(id)
		} else {
			for i := range t.fields {
				k.skip(c, &t.fields[i], 0)
			}
			if len(t.fields) == 0 {
				k.skipValue(c, t.id, 0)
			}
		}
		if c.err != nil {
			return
		}
	}
}

// keeper returns what reads a constant of a type and keeps it, nil for types that nothing here refers to.
func (k *chunk) keeper(c *cursor, t *class) func(id int64) {
	var v [4]value
	fields := func(names ...string) func() {
		wanted := make(map[string]int)
		for i, name := range names {
			wanted[name] = i
		}
		p := t.plan(wanted)
		return func() { k.read(c, t, p, v[:]) }
	}
	named := func(to map[int64]string, field string) func(int64) {
		read := fields(field)
		return func(id int64) {
			read()
			to[id] = v[0].text
		}
	}
	switch t.name {
	case stringType:
		return func(id int64) { k.strings[id] = c.str(nil) }
	case "jdk.types.Symbol":
		return named(k.symbols, "string")
	case "jdk.types.ThreadState":
		return named(k.states, "name")
	case "jdk.types.FrameType":
		return named(k.frameKinds, "description")
	case "java.lang.Class":
		read := fields("name")
		return func(id int64) {
			read()
			k.classSymbols[id] = v[0].number
		}
	case "jdk.types.Method":
		read := fields("type", "name", "hidden")
		return func(id int64) {
			read()
			k.methods[id] = method{class: v[0].number, name: v[1].number, hidden: v[2].number != 0}
		}
	case "java.lang.Thread":
		read := fields("javaName", "osName", "osThreadId")
		return func(id int64) {
			read()
			name := v[0].text
			if name == "" {
				name = v[1].text
			}
			if strings.HasPrefix(name, "[tid=") { // async-profiler knows no name
				name = ""
			}
			k.threads[id] = thread{name, v[2].number}
		}
	case "jdk.types.StackTrace":
		return k.stackKeeper(c, t)
	}
	return nil
}

// stackKeeper is [chunk.keeper] of stacks, whose frames are an array.
func (k *chunk) stackKeeper(c *cursor, t *class) func(id int64) {
	ft := k.names["jdk.types.StackFrame"]
	if ft == nil {
		return nil
	}
	p := ft.plan(map[string]int{"method": 0, "lineNumber": 1, "type": 2})
	var v [3]value
	return func(id int64) {
		var s stack
		for i := range t.fields {
			switch f := &t.fields[i]; {
			case f.name == "truncated":
				s.truncated = c.byte() != 0
			case f.name == "frames" && f.array && f.typ == ft.id:
				n := c.count()
				s.frames = make([]frame, 0, min(n, 1024))
				for range n {
					start := c.pos
					k.read(c, ft, p, v[:])
					if c.pos == start {
						c.fail("frames have no size")
					}
					if c.err != nil {
						return
					}
					s.frames = append(s.frames, frame{v[0].number, int32(v[1].number), int32(v[2].number)})
				}
			default:
				k.skip(c, f, 0)
			}
		}
		k.stacks[id] = s
	}
}
