package perffile

import "google.golang.org/protobuf/encoding/protowire"

// A textEntry is a keyword of lines that a feature consists of.
type textEntry struct {
	feature Feature
	spec    textSpec
	// A message is a field of FileFeature with this number. 0 is none.
	message protowire.Number
}

// textEntries are the features that have a line for each of their parts.
var textEntries = map[string]textEntry{
	"build_id": {feature: FeatureBuildID, spec: buildIDEntry},
	"meta":     {feature: FeatureMetaInfo, spec: textSpec{cstr("key"), cstr("value")}},
	// struct file_struct, see decodeFile1.
	"file": {feature: FeatureFile, spec: textSpec{
		dec32("size"), cstr("path"), num("type", 4, dsoTypeNames), addr("min_vaddr"), dec32("symbol_count"),
	}},
	"symbol": {feature: FeatureFile, spec: textSpec{addr("vaddr"), dec32("len"), cstr("name")}},
	"dex_file": {feature: FeatureFile, spec: textSpec{func(x *textCodec) {
		x.numbers("dex_file_offsets", x.count("dex_file_offset_count", 4, "dex_file_offsets"), 8, hexadecimal)
	}}},
	"elf_file":      {feature: FeatureFile, spec: textSpec{addr("file_offset_of_min_vaddr")}},
	"kernel_module": {feature: FeatureFile, spec: textSpec{addr("memory_offset_of_min_vaddr")}},
	// A size and a message FileFeature, see decodeFile2.
	"file2": {feature: FeatureFile2, spec: textSpec{
		dec32("size"), protoString("path", fileFieldPath),
		protoUint("type", fileFieldType, dsoTypeNames), protoUint("min_vaddr", fileFieldMinVaddr, hexadecimal),
	}},
	"symbol2": {feature: FeatureFile2, message: fileFieldSymbol, spec: textSpec{
		protoUint("vaddr", symbolFieldVaddr, hexadecimal), protoUint("len", symbolFieldLen, decimal),
		protoString("name", symbolFieldName),
	}},
	"dex_file2": {feature: FeatureFile2, message: fileFieldDexFile, spec: textSpec{
		(*textCodec).protoDexFileOffsets,
	}},
	"elf_file2": {feature: FeatureFile2, message: fileFieldELFFile, spec: textSpec{
		protoUint("file_offset_of_min_vaddr", fileFieldInner, hexadecimal),
	}},
	"kernel_module2": {feature: FeatureFile2, message: fileFieldKernelModule, spec: textSpec{
		protoUint("memory_offset_of_min_vaddr", fileFieldInner, hexadecimal),
	}},
}

// buildIDEntry is an entry of the BUILD_ID feature: a HEADER_BUILD_ID record whose
// type perf leaves zero.
var buildIDEntry = append(textSpec{
	num("type", 4, hiddenZeroDecimal),
	func(x *textCodec) {
		if x.decoding() {
			x.misc = Misc(x.c.u16())
			x.key("misc")
			x.out = appendMisc(x.out, RecordHeaderBuildID, x.misc)
			return
		}
		if s, ok := x.in.take("misc"); ok {
			var err error
			if x.misc, err = parseMisc(s); err != nil {
				x.fail("%w", err)
			}
		}
		x.put(uint64(x.misc), 2)
	},
	dec16("entry_size"),
}, buildIDSpec...)

func cstr(name string) textStep {
	return func(x *textCodec) { x.cstring(name) }
}

// Fields of protobuf messages are there or not: the text has those that are.

// protoTag reports whether the next field is number num. If encoding, it is written
// if the text has it.
func (x *textCodec) protoTag(name string, num protowire.Number, kind protowire.Type) bool {
	if !x.decoding() {
		if !x.in.has(name) {
			return false
		}
		x.buf = protowire.AppendTag(x.buf, num, kind)
		return true
	}
	tag := protowire.EncodeTag(num, kind)
	if x.c.remaining() == 0 || uint64(x.c.peek(0)) != tag { // all numbers fit in a byte
		return false
	}
	x.c.skip(1)
	return true
}

func (c *cursor) varint() uint64 {
	if c.remaining() == 0 {
		c.short(1)
		return 0
	}
	v, n := protowire.ConsumeVarint(c.data[c.off:])
	if n < 0 {
		c.fail("%v", protowire.ParseError(n))
		return 0
	}
	c.off += n
	return v
}

func protoUint(name string, num protowire.Number, n *notation) textStep {
	return func(x *textCodec) {
		if !x.protoTag(name, num, protowire.VarintType) {
			return
		}
		if x.decoding() {
			x.print(name, x.c.varint(), 8, n)
		} else {
			x.buf = protowire.AppendVarint(x.buf, x.number(name, 8, n, 0))
		}
	}
}

func protoString(name string, num protowire.Number) textStep {
	verbatim := func(n int) int { return n }
	return func(x *textCodec) {
		if !x.protoTag(name, num, protowire.BytesType) {
			return
		}
		if x.decoding() {
			x.str(name, x.c.bytes(x.c.varint()), verbatim)
			return
		}
		quoted, _ := x.in.take(name)
		x.buf = protowire.AppendString(x.buf, x.unquote(name, quoted))
	}
}

// protoDexFileOffsets is the packed list of message DexFile.
func (x *textCodec) protoDexFileOffsets() {
	const name = "dex_file_offsets"
	if !x.protoTag(name, fileFieldInner, protowire.BytesType) {
		return
	}
	if !x.decoding() {
		at := len(x.buf)
		x.list(name, 0, func(s string) {
			v, err := hexadecimal.parse(s, 8)
			if err != nil {
				x.fail("%s: %w", name, err)
			}
			x.buf = protowire.AppendVarint(x.buf, v)
		})
		x.lengthPrefix(at)
		return
	}
	outer := x.c
	inner := cursor{data: outer.bytes(outer.varint()), section: outer.section}
	x.key(name)
	x.out = append(x.out, '[')
	for first := true; inner.remaining() > 0; first = false {
		if !first {
			x.out = append(x.out, ',')
		}
		x.out = hexadecimal.append(x.out, inner.varint(), 8)
	}
	x.out = append(x.out, ']')
	if outer.err == nil {
		outer.err = inner.err
	}
}

// lengthPrefix puts the length of what was encoded since at before it.
func (x *textCodec) lengthPrefix(at int) {
	body := append([]byte(nil), x.buf[at:]...)
	x.buf = protowire.AppendBytes(x.buf[:at], body)
}

// protoMessage carries a whole field of FileFeature.
func (x *textCodec) protoMessage(num protowire.Number, spec textSpec) {
	if !x.decoding() {
		x.buf = protowire.AppendTag(x.buf, num, protowire.BytesType)
		at := len(x.buf)
		x.run(spec)
		x.lengthPrefix(at)
		return
	}
	x.c.skip(1) // the tag, which the caller has seen
	outer := x.c
	inner := cursor{data: outer.bytes(outer.varint()), base: outer.base + int64(outer.off), section: outer.section}
	x.c = &inner
	x.run(spec)
	if inner.err == nil && inner.remaining() > 0 {
		inner.fail("unknown field")
	}
	if outer.err == nil {
		outer.err = inner.err
	}
	x.c = outer
}

// nextFile2Entry returns the keyword for the next field of the message FileFeature.
func nextFile2Entry(tag byte) (keyword string, ok bool) {
	for _, keyword := range []string{"symbol2", "dex_file2", "elf_file2", "kernel_module2"} {
		if uint64(tag) == protowire.EncodeTag(textEntries[keyword].message, protowire.BytesType) {
			return keyword, true
		}
	}
	return "", false
}
