package perffiletest

import (
	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/perffile"
)

// A entry is a keyword of lines that a feature consists of.
type entry struct {
	feature perffile.Feature
	spec    spec
	// A message is a field of FileFeature with this number. 0 is none.
	message protowire.Number
}

// entries are the features that have a line for each of their parts.
var entries = map[string]entry{
	"build_id": {feature: perffile.FeatureBuildID, spec: buildIDEntry},
	"meta":     {feature: perffile.FeatureMetaInfo, spec: spec{cstring("key"), cstring("value")}},
	// struct file_struct, see decodeFile1.
	"file": {feature: perffile.FeatureFile, spec: spec{
		u32("size"), cstring("path"), num("type", 4, dsoTypeNames), u64("min_vaddr"), u32("symbol_count"),
	}},
	"symbol": {feature: perffile.FeatureFile, spec: spec{u64("vaddr"), u32("len"), cstring("name")}},
	"dex_file": {feature: perffile.FeatureFile, spec: spec{
		func(x *encoder) { x.count("dex_file_offset_count", 4, "dex_file_offsets") }, u64s("dex_file_offsets"),
	}},
	"elf_file":      {feature: perffile.FeatureFile, spec: spec{u64("file_offset_of_min_vaddr")}},
	"kernel_module": {feature: perffile.FeatureFile, spec: spec{u64("memory_offset_of_min_vaddr")}},
	// A size and a message FileFeature, in a protobuf message.
	"file2": {feature: perffile.FeatureFile2, spec: spec{
		u32("size"), protoString("path", fileFieldPath),
		protoUint("type", fileFieldType, dsoTypeNames), protoUint("min_vaddr", fileFieldMinVaddr, plain),
	}},
	"symbol2": {feature: perffile.FeatureFile2, message: fileFieldSymbol, spec: spec{
		protoUint("vaddr", symbolFieldVaddr, plain), protoUint("len", symbolFieldLen, plain),
		protoString("name", symbolFieldName),
	}},
	"dex_file2": {feature: perffile.FeatureFile2, message: fileFieldDexFile, spec: spec{
		(*encoder).protoDexFileOffsets,
	}},
	"elf_file2": {feature: perffile.FeatureFile2, message: fileFieldELFFile, spec: spec{
		protoUint("file_offset_of_min_vaddr", fieldInner, plain),
	}},
	"kernel_module2": {feature: perffile.FeatureFile2, message: fileFieldKernelModule, spec: spec{
		protoUint("memory_offset_of_min_vaddr", fieldInner, plain),
	}},
}

// Numbers of the fields of FileFeature and the messages in it, must match
// record_file.proto of simpleperf.
const (
	fileFieldPath         = 1
	fileFieldType         = 2
	fileFieldMinVaddr     = 3
	fileFieldSymbol       = 4
	fileFieldDexFile      = 5
	fileFieldELFFile      = 6
	fileFieldKernelModule = 7

	symbolFieldVaddr = 1
	symbolFieldLen   = 2
	symbolFieldName  = 3

	// The only field of DexFile, ElfFile and KernelModule.
	fieldInner = 1
)

// buildIDEntry is an entry of the BUILD_ID feature: a HEADER_BUILD_ID record whose
// type perf leaves zero.
var buildIDEntry = append(spec{
	u32("type"),
	func(x *encoder) {
		x.takeMisc()
		x.put(uint64(x.misc), 2)
	},
	u16("entry_size"),
}, buildIDSpec...)

// Fields of protobuf messages are there or not: the text has those that are.

func protoUint(name string, num protowire.Number, n *notation) step {
	return func(x *encoder) {
		if x.in.has(name) {
			x.buf = protowire.AppendTag(x.buf, num, protowire.VarintType)
			x.buf = protowire.AppendVarint(x.buf, x.number(name, 8, n, 0))
		}
	}
}

func protoString(name string, num protowire.Number) step {
	return func(x *encoder) {
		if x.in.has(name) {
			x.buf = protowire.AppendTag(x.buf, num, protowire.BytesType)
			x.buf = protowire.AppendString(x.buf, x.takeString(name))
		}
	}
}

// protoDexFileOffsets is the packed list of message DexFile.
func (x *encoder) protoDexFileOffsets() {
	const name = "dex_file_offsets"
	if !x.in.has(name) {
		return
	}
	x.buf = protowire.AppendTag(x.buf, fieldInner, protowire.BytesType)
	at := len(x.buf)
	x.list(name, func(s string) {
		v, err := plain.parse(s, 8)
		if err != nil {
			x.fail("%s: %w", name, err)
		}
		x.buf = protowire.AppendVarint(x.buf, v)
	})
	x.lengthPrefix(at)
}

// lengthPrefix puts the length of what was encoded since at before it.
func (x *encoder) lengthPrefix(at int) {
	body := append([]byte(nil), x.buf[at:]...)
	x.buf = protowire.AppendBytes(x.buf[:at], body)
}

// protoMessage is a whole field of FileFeature.
func (x *encoder) protoMessage(num protowire.Number, s spec) {
	x.buf = protowire.AppendTag(x.buf, num, protowire.BytesType)
	at := len(x.buf)
	x.run(s)
	x.lengthPrefix(at)
}
