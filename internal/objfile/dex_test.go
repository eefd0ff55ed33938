package objfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dexClass describes a class of a DEX file to be built.
type dexClass struct {
	descriptor      string
	direct, virtual []dexMethodCode
}

type dexMethodCode struct {
	name  string
	units int // code units of 16 bits, −1 for a method without code
}

// dexKind is how a DEX file is laid out.
type dexKind struct {
	magic     string
	container uint32 // bytes of the container before the header, for version 041
}

const (
	dex035  = "dex\n035\x00"
	dex041  = "dex\n041\x00"
	cdex001 = "cdex001\x00"
)

// buildDex returns a DEX file and the symbols it should have if it is at offset 0
// (of the container).
func buildDex(kind dexKind, classes []dexClass) ([]byte, []Symbol) {
	le := binary.LittleEndian
	compact := kind.magic == cdex001
	headerSize := dexHeaderSize
	switch kind.magic {
	case cdex001:
		headerSize = compactDexHeader
	case dex041:
		headerSize = dexHeaderSizeV41
	}
	var stringsOf []string
	intern := func(s string) int {
		if i := slices.Index(stringsOf, s); i >= 0 {
			return i
		}
		stringsOf = append(stringsOf, s)
		return len(stringsOf) - 1
	}
	type method struct{ class, name int }
	var types []int
	var methods []method
	for i, c := range classes {
		types = append(types, intern(c.descriptor))
		for _, m := range append(slices.Clone(c.direct), c.virtual...) {
			methods = append(methods, method{i, intern(m.name)})
		}
	}
	stringIDs := headerSize
	typeIDs := stringIDs + 4*len(stringsOf)
	methodIDs := typeIDs + 4*len(types)
	classDefs := methodIDs + 8*len(methods)
	dataStart := classDefs + 32*len(classes)
	base := int(kind.container) // what offsets of ids count from
	dataBase := base + dataStart
	if compact {
		dataBase = 0
	}

	var data []byte
	here := func() uint32 { return uint32(dataBase + len(data)) }
	data = append(data, 0, 0, 0, 0) // offset 0 is nothing
	stringOff := make([]uint32, len(stringsOf))
	for i, s := range stringsOf {
		stringOff[i] = here()
		data = binary.AppendUvarint(data, uint64(len(s)))
		data = append(append(data, s...), 0)
	}
	var want []Symbol
	classData := make([]uint32, len(classes))
	next := 0
	for i, c := range classes {
		var list [2][]byte
		previous := 0
		for j, group := range [][]dexMethodCode{c.direct, c.virtual} {
			previous = 0
			for k, m := range group {
				diff := next
				if k > 0 {
					diff = next - previous
				}
				previous = next
				next++
				code := uint32(0)
				if m.units >= 0 {
					for len(data)%4 != 0 {
						data = append(data, 0)
					}
					if compact {
						packed := uint16(m.units&0x7ff) << 5
						if m.units > 0x7ff {
							// All of the size goes before the item.
							packed = 1 << 4
							data = le.AppendUint16(data, uint16(m.units>>16))
							data = le.AppendUint16(data, uint16(m.units))
						}
						code = here()
						data = le.AppendUint16(data, 0x1111)
						data = le.AppendUint16(data, packed)
					} else {
						code = here()
						data = append(data, make([]byte, 12)...)
						data = le.AppendUint32(data, uint32(m.units))
					}
					addr := uint64(here())
					if compact {
						addr += uint64(dataStart)
					}
					data = append(data, make([]byte, 2*m.units)...)
					class := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(c.descriptor, "L"), ";"), "/", ".")
					want = append(want, Symbol{addr, uint64(2 * m.units), class + "." + m.name})
				}
				list[j] = binary.AppendUvarint(list[j], uint64(diff))
				list[j] = binary.AppendUvarint(list[j], 1)
				list[j] = binary.AppendUvarint(list[j], uint64(code))
			}
		}
		if len(c.direct)+len(c.virtual) == 0 {
			continue
		}
		classData[i] = here()
		data = append(data, 1, 1, byte(len(c.direct)), byte(len(c.virtual)))
		data = append(data, 0, 2, 0, 2) // a static and an instance field
		data = append(append(data, list[0]...), list[1]...)
	}

	w := newWriter(false)
	w.Write(make([]byte, kind.container))
	w.WriteString(kind.magic)
	w.Write(make([]byte, 24))
	if compact {
		w.u32(uint32(dataStart))
	} else {
		w.u32(uint32(dataStart + len(data)))
	}
	w.u32(uint32(headerSize))
	w.u32(dexEndianTag)
	w.Write(make([]byte, 12))
	table := func(n, off int) {
		w.u32(uint32(n))
		w.u32(uint32(base + off))
	}
	table(len(stringsOf), stringIDs)
	table(len(types), typeIDs)
	table(0, 0)
	table(0, 0)
	table(len(methods), methodIDs)
	table(len(classes), classDefs)
	w.u32(uint32(len(data)))
	w.u32(uint32(dataStart))
	if kind.magic == dex041 {
		w.u32(uint32(base + dataStart + len(data)))
		w.u32(kind.container)
	}
	w.Write(make([]byte, base+headerSize-w.Len()))
	for _, off := range stringOff {
		w.u32(off)
	}
	for _, t := range types {
		w.u32(uint32(t))
	}
	for _, m := range methods {
		w.u16(uint16(m.class))
		w.u16(0)
		w.u32(uint32(m.name))
	}
	for i := range classes {
		w.u32(uint32(i))
		w.Write(make([]byte, 20))
		w.u32(classData[i])
		w.u32(0)
	}
	w.Write(data)
	slices.SortFunc(want, func(a, b Symbol) int { return int(a.Addr) - int(b.Addr) })
	return w.Bytes(), want
}

func testClasses() []dexClass {
	return []dexClass{
		{"Lcom/example/Main;", []dexMethodCode{{"<init>", 4}, {"main", 30}, {"nativeCall", -1}}, []dexMethodCode{{"run", 7}}},
		{"Lcom/example/Empty;", nil, nil},
		{"Lcom/example/Main$Inner;", nil, []dexMethodCode{{"big", 3000}, {"huge", 70000}, {"abstract", -1}, {"last", 1}}},
		{"LDefault;", []dexMethodCode{{"<clinit>", 2}}, nil},
	}
}

func TestDexSymbols(t *testing.T) {
	for _, kind := range []dexKind{
		{magic: dex035},
		{magic: "dex\n037\x00"},
		{magic: "dex\n039\x00"},
		{magic: "dex\n040\x00"},
		{magic: dex041},
		{magic: dex041, container: 0x200},
		{magic: cdex001},
	} {
		data, want := buildDex(kind, testClasses())
		for _, before := range []int{0, 0x28} {
			file := append(make([]byte, before), data...)
			table, err := DexSymbols(bytes.NewReader(file), int64(len(file)), uint64(before)+uint64(kind.container))
			if err != nil {
				t.Errorf("%q at %#x: %v", kind.magic, before, err)
				continue
			}
			moved := slices.Clone(want)
			for i := range moved {
				moved[i].Addr += uint64(before)
			}
			if diff := cmp.Diff(moved, slices.Collect(table.All())); diff != "" {
				t.Errorf("%q at %#x: symbols (-want +got):\n%s", kind.magic, before, diff)
			}
		}
	}
}

func TestDexErrors(t *testing.T) {
	good, _ := buildDex(dexKind{magic: dex035}, testClasses())
	edit := func(off int, b ...byte) []byte {
		data := slices.Clone(good)
		copy(data[off:], b)
		return data
	}
	u32 := func(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
	tests := []struct {
		name        string
		data        []byte
		off         uint64
		want        string
		unsupported bool
	}{
		{"empty", nil, 0, "dex: needs 4 bytes, has 0 at 0x0", false},
		{"beyond the end", good, 1 << 40, "dex: offset is beyond the end", false},
		{"magic", edit(0, 'o', 'd', 'e', 'x'), 0, "dex: not a DEX file at 0x0", false},
		{"version", edit(0, []byte("dex\n042\x00")...), 0, "dex: dex version 042: not supported", true},
		{"compact version", edit(0, []byte("cdex002\x00")...), 0, "dex: cdex version 002: not supported", true},
		{"no number", edit(0, []byte("dex\n0x5\x00")...), 0, `dex: version "0x5\x00" at 0x0`, false},
		{"byte order", edit(40, 0x12, 0x34, 0x56, 0x78), 0, "endian tag 0x78563412", false},
		{"cut short", good[:len(good)-1], 0, "bytes exceed the file", false},
		{"file size", edit(32, u32(1<<31)...), 0, "bytes exceed the file", false},
		{"classes outside", edit(100, u32(1<<30)...), 0, "dex: offset 0x40000000 is beyond the end", false},
		{"too many classes", edit(96, u32(1<<30)...), 0, "is beyond the end", false},
		{"methods outside", edit(92, u32(1<<30)...), 0, "dex: offset 0x40000000 is beyond the end", false},
		{"too few methods", edit(88, u32(2)...), 0, "dex: index 3 of a table of 2", false},
		{"too few strings", edit(56, u32(1)...), 0, "dex: index 1 of a table of 1", false},
	}
	for _, test := range tests {
		_, err := DexSymbols(bytes.NewReader(test.data), int64(len(test.data)), test.off)
		if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrUnsupported) != test.unsupported {
			t.Errorf("%s: got error %v, want %s", test.name, err, test.want)
		}
	}
}

func TestMUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                    "plain",
		"sm\xc3\xb6rg\xc3\xa5s":    "smörgås",
		"a\xc0\x80b":               "a\x00b",
		"\xe2\x82\xac":             "€",
		"\xed\xa0\xbd\xed\xb8\x80": "😀",
		"\xed\xa0\xbd":             "\ufffd", // half a pair
		"\xe2\x82":                 "\u2080", // cut short: what is missing counts as 0
	} {
		if got := string(utf8FromMUTF8([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
