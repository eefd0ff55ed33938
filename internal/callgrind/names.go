package callgrind

import "strings"

// Expanded names, see nameTable.expand, are at most maxExpanded bytes long, and
// maxAllExpanded together, since they may be much longer than what names them.
const (
	maxExpanded    = 64 << 10
	maxAllExpanded = 64 << 20
)

// A namespace is a set of names that have numbers of their own.
type namespace uint8

const (
	objectNames namespace = iota
	fileNames
	functionNames
)

func (n namespace) String() string {
	return [...]string{"object", "file", "function"}[n]
}

// A name is an index in nameTable.list. 0 is the empty name.
type name uint32

// numberedNames are names by number: those that count from 1, as Valgrind does, and others.
type numberedNames struct {
	counted []name
	others  map[uint64]name
}

func (t *numberedNames) get(number uint64) (n name, ok bool) {
	if i := number - 1; i < uint64(len(t.counted)) {
		return t.counted[i], true
	}
	n, ok = t.others[number]
	return n, ok
}

func (t *numberedNames) set(number uint64, n name) {
	switch i := number - 1; {
	case i < uint64(len(t.counted)):
		t.counted[i] = n
	case i == uint64(len(t.counted)):
		t.counted = append(t.counted, n)
	default:
		t.others[number] = n
	}
}

// A nameTable holds the names of a file.
type nameTable struct {
	list     []string
	index    map[string]name
	numbered [3]numberedNames
	expanded int
	// functions holds the functions by object, file and name.
	functions map[[3]name]*Function
}

func newNameTable() nameTable {
	t := nameTable{list: []string{""}, index: map[string]name{"": 0}, functions: make(map[[3]name]*Function)}
	t.forget()
	return t
}

// forget forgets the numbers of names.
func (t *nameTable) forget() {
	for i := range t.numbered {
		t.numbered[i] = numberedNames{others: make(map[uint64]name)}
	}
}

func (t *nameTable) intern(s []byte) name {
	n, ok := t.index[string(s)]
	if !ok {
		n = name(len(t.list))
		t.list = append(t.list, string(s))
		t.index[t.list[n]] = n
	}
	return n
}

// read reads "name", "(number) name", or "(number)" for a name that had that number.
func (t *nameTable) read(c *lineScanner, in namespace) name {
	c.space()
	number, ok := numberOf(c)
	if !ok {
		return t.intern(c.rest())
	}
	s := c.rest()
	if len(s) == 0 {
		n, ok := t.numbered[in].get(number)
		if !ok {
			c.fail("there is no %v (%d) so far", in, number)
		}
		return n
	}
	n, ok := name(0), false
	if in == functionNames {
		n, ok = t.expand(c, s)
	}
	if !ok {
		n = t.intern(s)
	}
	t.numbered[in].set(number, n)
	return n
}

// numberOf reads "(number)". Names that begin with a parenthesis have no digit behind
// it.
func numberOf(c *lineScanner) (number uint64, ok bool) {
	at := c.off
	if !c.byte('(') || c.peek() < '0' || c.peek() > '9' {
		c.off = at
		return 0, false
	}
	number = c.uint()
	if !c.byte(')') {
		c.fail("the number of a name has no closing parenthesis")
	}
	return number, true
}

// expand makes a name of the parts that (1)'2'(3) stands for: Valgrind's
// --compress-mangled writes so the recursion level and the callers of a function. It
// returns false if s does not begin with a number.
func (t *nameTable) expand(c *lineScanner, s []byte) (n name, ok bool) {
	parts := lineScanner{line: s}
	var b strings.Builder
	for first, more := true, true; more; first = false {
		number, ok := numberOf(&parts)
		if first && !ok && parts.err == nil {
			return 0, false
		}
		if ok {
			n, ok := t.numbered[functionNames].get(number)
			if !ok {
				parts.fail("there is no %v (%d) so far", functionNames, number)
			}
			b.WriteString(t.list[n])
		}
		if parts.err != nil {
			c.err = parts.err
			return 0, true
		}
		var part []byte
		part, more = parts.cut('\'')
		b.Write(part)
		if more {
			b.WriteByte('\'')
		}
		if b.Len() > maxExpanded {
			c.fail("a name of several others is longer than %d bytes", maxExpanded)
			return 0, true
		}
	}
	if t.expanded += b.Len(); t.expanded > maxAllExpanded {
		c.fail("names of several others have more than %d bytes", maxAllExpanded)
		return 0, true
	}
	return t.intern([]byte(b.String())), true
}

// function returns the function called fn.
func (t *nameTable) function(object, file, fn name) *Function {
	key := [3]name{object, file, fn}
	f, ok := t.functions[key]
	if !ok {
		f = &Function{Object: t.list[object], File: t.list[file], Name: t.list[fn]}
		t.functions[key] = f
	}
	return f
}
