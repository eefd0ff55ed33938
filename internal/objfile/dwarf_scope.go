package objfile

import (
	"debug/dwarf"
	"math"
)

// unitScopes are the functions of a unit and what names are nested in.
type unitScopes struct {
	functions []function
	// ranges has the code of functions; ids are indexes of functions.
	ranges spans
	// containers are the namespaces, the classes and the functions with classes
	// in them as ranges of offsets in the unit; ids are their own offsets.
	containers spans
}

// A function is a subprogram with code, or a copy of one that was inlined.
type function struct {
	die                uint32 // offset of the entry in its unit
	parent             int32  // the function it is in, −1 if none
	callFile, callLine uint32
	callColumn         uint32
	callDiscriminator  uint32
	inlined            bool
}

// flatTypes reports whether types of a language cannot contain functions
// (DW_LANG codes, DWARF 5, 7.12).
func flatTypes(language uint64) bool {
	switch language {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e, // C89, C, C99, C11, C17, C23
		0x16,   // Go
		0x8001: // assembler
		return true
	}
	return false
}

// scopes walks all entries of a unit.
func (t *LineTable) scopes(u *unit) (*unitScopes, error) {
	if _, err := t.loadBody(u); err != nil {
		return nil, err
	}
	if u.walk == nil {
		s, err := t.walkUnit(u)
		if err != nil {
			u.err = err
			return nil, err
		}
		u.walk = s
	}
	return u.walk, nil
}

func (t *LineTable) walkUnit(u *unit) (*unitScopes, error) {
	s := &unitScopes{}
	c := t.entries(u)
	flat := flatTypes(u.root.language)
	// level is what the entries between a parent and its end are in.
	type level struct {
		function  int32
		container int32 // index in s.containers to close at the end, −1 if none
		// subprogram is the offset of the parent if that is a function.
		subprogram uint32
		// scope is the number of levels around the nearest parent that is a
		// container or a function, −1 if none.
		scope int32
	}
	var stack []level
	now := level{-1, -1, 0, -1}
	for c.err == nil && c.remaining() > 0 {
		off := uint64(c.off)
		code := c.uleb()
		if code == 0 {
			if now.container >= 0 {
				s.containers[now.container].hi = off
			}
			if len(stack) == 0 {
				break // padding
			}
			now = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			continue
		}
		a, ok := u.body.abbrevs.find(code)
		if !ok {
			c.fail("unknown abbreviation %d", code)
			break
		}
		child := level{now.function, -1, 0, now.scope}
		switch a.tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			child.subprogram, child.scope = uint32(off), int32(len(stack)+1)
			var sibling uint64
			var err error
			if child.function, sibling, err = t.readFunction(u, s, c, a, function{
				die: uint32(off), parent: now.function, inlined: a.tag == dwarf.TagInlinedSubroutine,
			}); err != nil {
				return nil, err
			}
			if sibling > uint64(c.off) && a.children {
				c.seek(sibling)
				continue
			}
		case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
			if !a.children || flat {
				if t.skipEntry(u, c, a) {
					continue
				}
				break
			}
			for _, spec := range a.specs {
				u.skip(c, spec)
			}
			// A class in a function makes a container of the function.
			if in := &now; now.scope >= 0 {
				if int(now.scope) < len(stack) {
					in = &stack[now.scope]
				}
				if in.container < 0 {
					in.container = s.open(in.subprogram)
				}
			}
			child.container, child.scope = s.open(uint32(off)), int32(len(stack)+1)
		case dwarf.TagEnumerationType, dwarf.TagArrayType, dwarf.TagSubroutineType:
			if t.skipEntry(u, c, a) {
				continue
			}
		default:
			u.skipValues(c, a)
		}
		if a.children {
			stack = append(stack, now)
			now = child
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	s.ranges.index()
	s.containers.index()
	return s, nil
}

// open adds a container that starts at off and returns its index.
func (s *unitScopes) open(off uint32) int32 {
	s.containers = append(s.containers, span{lo: uint64(off), hi: math.MaxUint32, id: off})
	return int32(len(s.containers) - 1)
}

// skipValues passes the values of an entry.
func (e encoding) skipValues(c *sectionReader, a *abbrev) {
	if a.size >= 0 {
		c.skip(uint64(a.size))
		return
	}
	for _, spec := range a.specs {
		e.skip(c, spec)
	}
}

// skipEntry passes the values of an entry and, if DW_AT_sibling says where they
// end, its children; it then returns true.
func (t *LineTable) skipEntry(u *unit, c *sectionReader, a *abbrev) bool {
	var sibling uint64
	for _, spec := range a.specs {
		if spec.attr == dwarf.AttrSibling {
			sibling = u.sibling(u.read(c, spec))
		} else {
			u.skip(c, spec)
		}
	}
	if a.children && sibling > uint64(c.off) {
		c.seek(sibling)
		return true
	}
	return false
}

// sibling returns the offset in the unit that DW_AT_sibling refers to, 0 if that is
// elsewhere.
func (u *unit) sibling(v value) uint64 {
	off, external := u.reference(v)
	if external || off < u.off || off >= u.end {
		return 0
	}
	return off - u.off
}

// reference returns the offset in .debug_info that a value refers to. External
// references are to the supplementary file.
func (u *unit) reference(v value) (off uint64, external bool) {
	switch v.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		return u.off + v.u, false
	case formRefAddr:
		return v.u, false
	case formGNURefAlt, formRefSup4, formRefSup8:
		return v.u, true
	}
	return 0, false
}

// readFunction reads the values of f, a subprogram or inlined subroutine, and adds
// it if it has code. It returns the function that its children are in, and where
// to go on if there is nothing in its children.
func (t *LineTable) readFunction(u *unit, s *unitScopes, c *sectionReader, a *abbrev, f function) (in int32, next uint64, err error) {
	var pc pcAttrs
	var sibling uint64
	declaration := false
	for _, spec := range a.specs {
		switch spec.attr {
		case dwarf.AttrLowpc, dwarf.AttrHighpc, dwarf.AttrRanges:
			pc.set(spec.attr, u.read(c, spec))
		case dwarf.AttrCallFile:
			f.callFile = u.read(c, spec).uint32()
		case dwarf.AttrCallLine:
			f.callLine = u.read(c, spec).uint32()
		case dwarf.AttrCallColumn:
			f.callColumn = u.read(c, spec).uint32()
		case attrGNUDiscriminator:
			f.callDiscriminator = u.read(c, spec).uint32()
		case dwarf.AttrDeclaration:
			declaration = u.read(c, spec).u != 0
		case dwarf.AttrSibling:
			sibling = u.sibling(u.read(c, spec))
		default:
			u.skip(c, spec)
		}
	}
	if declaration {
		return f.parent, sibling, nil
	}
	n := len(s.ranges)
	s.ranges, err = t.addSpans(s.ranges, u, u.root, &pc, uint32(len(s.functions)))
	if err != nil || len(s.ranges) == n {
		return f.parent, 0, err
	}
	s.functions = append(s.functions, f)
	return int32(len(s.functions) - 1), 0, nil
}
