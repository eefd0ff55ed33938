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
	"dex_file": {feature: FeatureFile, spec: textSpec{func(x *textPrinter) {
		x.numbers("dex_file_offsets", uint64(x.c.u32()), 8, hexadecimal)
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
		(*textPrinter).protoDexFileOffsets,
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
	func(x *textPrinter) {
		x.misc = Misc(x.c.u16())
		x.key("misc")
		x.out = appendMisc(x.out, RecordHeaderBuildID, x.misc)
	},
	dec16("entry_size"),
}, buildIDSpec...)

// Fields of protobuf messages are there or not: the text has those that are.

// protoTag reports whether the next field is number num, and goes to its value.
func (x *textPrinter) protoTag(num protowire.Number, kind protowire.Type) bool {
	tag := protowire.EncodeTag(num, kind)
	if x.c.remaining() == 0 || uint64(x.c.peek(0)) != tag { // all numbers fit in a byte
		return false
	}
	x.c.skip(1)
	return true
}

func (x *textPrinter) varint() uint64 {
	c := x.c
	if c.remaining() == 0 {
		c.short(1)
		return 0
	}
	v, n := protowire.ConsumeVarint(c.data[c.off:])
	if n < 0 {
		c.fail("%v", protowire.ParseError(n))
		return 0
	}
	x.lossy = x.lossy || n != protowire.SizeVarint(v)
	c.off += n
	return v
}

func protoUint(name string, num protowire.Number, n *notation) textStep {
	return func(x *textPrinter) {
		if x.protoTag(num, protowire.VarintType) {
			x.print(name, x.varint(), 8, n)
		}
	}
}

func protoString(name string, num protowire.Number) textStep {
	return func(x *textPrinter) {
		if x.protoTag(num, protowire.BytesType) {
			x.str(name, x.c.bytes(x.varint()), verbatim)
		}
	}
}

// protoDexFileOffsets is the packed list of message DexFile.
func (x *textPrinter) protoDexFileOffsets() {
	if !x.protoTag(fileFieldInner, protowire.BytesType) {
		return
	}
	x.within(func() {
		x.key("dex_file_offsets")
		x.out = append(x.out, '[')
		for first := true; x.c.remaining() > 0; first = false {
			if !first {
				x.out = append(x.out, ',')
			}
			x.out = hexadecimal.append(x.out, x.varint(), 8)
		}
		x.out = append(x.out, ']')
	})
}

// protoMessage is a whole field of FileFeature.
func protoMessage(spec textSpec) textStep {
	return func(x *textPrinter) {
		x.c.skip(1) // the tag, which the caller has seen
		x.within(func() {
			x.run(spec)
			if x.c.err == nil && x.c.remaining() > 0 {
				x.c.fail("unknown field")
			}
		})
	}
}

// within prints what is in the next bytes, which follow their number.
func (x *textPrinter) within(f func()) {
	outer := x.c
	n := x.varint()
	x.c = &fieldReader{data: outer.bytes(n), base: outer.base + int64(outer.off), section: outer.section}
	f()
	if outer.err == nil {
		outer.err = x.c.err
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
