package retrace

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
)

// The map holds hashes of the types of methods only: the text would be the largest part
// of it, and is needed for nothing but equality.
var seed = maphash.MakeSeed()

// hashTypes is the hash of "result(params)", without spaces.
func hashTypes(result, params []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, part := range [...][]byte{result, []byte("("), params, []byte(")")} {
		for len(part) > 0 {
			n := bytes.IndexAny(part, " \t")
			if n < 0 {
				n = len(part)
			}
			h.Write(part[:n])
			part = part[min(n+1, len(part)):]
		}
	}
	return h.Sum64()
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

	return &signature{
		original: maphash.String(seed, resultSource.String()+"("+source.String()+")"),
		residual: maphash.String(seed, descriptor.String()),
	}
}

// writeType writes an obfuscated type with its original name, and as a descriptor.
func (t *Mapping) writeType(source, descriptor *strings.Builder, typ string) {
	typ = strings.TrimSpace(typ)
	element := strings.TrimRight(typ, "[]")
	dims := (len(typ) - len(element)) / len("[]")
	primitive := slices.Index(primitives[:], element)
	name := element
	if primitive < 0 {
		if c, _, ok := t.class(element); ok {
			name = t.names[c.original]
		}
	}
	source.WriteString(name)
	for range dims {
		source.WriteString("[]")
		descriptor.WriteByte('[')
	}
	if primitive >= 0 {
		descriptor.WriteByte(letters[primitive])
		return
	}
	descriptor.WriteByte('L')
	descriptor.WriteString(strings.ReplaceAll(element, ".", "/"))
	descriptor.WriteByte(';')
}

// primitives are the types that have letters in descriptors (JVM specification, 4.3.2).
var primitives = [...]string{"void", "boolean", "byte", "char", "short", "int", "long", "float", "double"}

const letters = "VZBCSIJFD"
