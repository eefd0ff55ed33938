package retrace

import "strings"

// A signatureHash is FNV-1a of a method's types. The map holds the hash only: the
// text would be the largest part of it, and is needed for nothing but equality.
type signatureHash struct {
	sum     uint64
	started bool
}

func (h *signatureHash) byte(c byte) {
	if !h.started {
		h.sum, h.started = 14695981039346656037, true
	}
	h.sum = (h.sum ^ uint64(c)) * 1099511628211
}

func (h *signatureHash) bytes(b []byte) {
	for _, c := range b {
		h.byte(c)
	}
}

// types adds "result(params)", without spaces.
func (h *signatureHash) types(result, params []byte) {
	for _, part := range [...][]byte{result, []byte("("), params, []byte(")")} {
		for _, c := range part {
			if c != ' ' && c != '\t' {
				h.byte(c)
			}
		}
	}
}

// A signature is what a name of the obfuscated program says about its types.
type signature struct {
	original uint64 // with the original names of the classes, as the map has it
	residual uint64 // as a descriptor with the obfuscated ones, as residualsignature has it
}

func (sig *signature) fits(s *mappedSpan) bool {
	if s.residualSignature {
		return s.signature == sig.residual
	}
	return s.signature == sig.original
}

// signature takes types as ART prints them: "void" and "int, a.b[]".
func (t *Mapping) signature(result, params string) *signature {
	var types []string
	if params = strings.TrimSpace(params); params != "" {
		types = strings.Split(params, ",")
	}
	var source, descriptor strings.Builder
	descriptor.WriteByte('(')
	for i, p := range types {
		if i > 0 {
			source.WriteByte(',')
		}
		t.writeType(&source, &descriptor, p)
	}
	descriptor.WriteByte(')')
	var resultSource strings.Builder
	t.writeType(&resultSource, &descriptor, result)

	var original, residual signatureHash
	original.types([]byte(resultSource.String()), []byte(source.String()))
	residual.bytes([]byte(descriptor.String()))
	return &signature{original.sum, residual.sum}
}

// writeType writes an obfuscated type with its original name, and as a descriptor.
func (t *Mapping) writeType(source, descriptor *strings.Builder, typ string) {
	typ = strings.TrimSpace(typ)
	element := strings.TrimRight(typ, "[]")
	dims := (len(typ) - len(element)) / len("[]")
	name := element
	if c, _, ok := t.class(element); ok {
		name = t.names[c.original]
	}
	source.WriteString(name)
	for range dims {
		source.WriteString("[]")
		descriptor.WriteByte('[')
	}
	if code, ok := primitiveCode(element); ok {
		descriptor.WriteByte(code)
		return
	}
	descriptor.WriteByte('L')
	descriptor.WriteString(strings.ReplaceAll(element, ".", "/"))
	descriptor.WriteByte(';')
}

func primitiveCode(name string) (byte, bool) {
	switch name {
	case "void":
		return 'V', true
	case "boolean":
		return 'Z', true
	case "byte":
		return 'B', true
	case "char":
		return 'C', true
	case "short":
		return 'S', true
	case "int":
		return 'I', true
	case "long":
		return 'J', true
	case "float":
		return 'F', true
	case "double":
		return 'D', true
	}
	return 0, false
}
