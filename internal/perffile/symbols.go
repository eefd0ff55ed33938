package perffile

import (
	"fmt"
	"io"
	"iter"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// DSOType is what simpleperf takes a file for, must match enum DsoType in
// simpleperf/dso.h.
type DSOType uint32

const (
	DSOKernel       DSOType = 0
	DSOKernelModule DSOType = 1
	DSOELF          DSOType = 2
	DSODex          DSOType = 3
	DSOSymbolMap    DSOType = 4
	DSOUnknown      DSOType = 5
)

// SymbolFile is a file whose symbols simpleperf put into the recording: those that
// samples hit, or all. Must match message FileFeature in
// simpleperf/record_file.proto.
type SymbolFile struct {
	Path string
	Type DSOType
	// MinVaddr is the lowest virtual address that is executable, and
	// OffsetOfMinVaddr where it is in the file (ELF) or in memory (kernel
	// module); HasOffset is false where the recording does not say.
	MinVaddr         uint64
	OffsetOfMinVaddr uint64
	HasOffset        bool
	Symbols          []Symbol
	DexFileOffsets   []uint64 // DEX only
}

// A Symbol is a name for Len bytes from Addr, a virtual address in the file.
type Symbol struct {
	Addr uint64
	Len  uint32
	Name string
}

// SymbolFiles yields the files of the FILE or FILE2 feature, one at a time. An
// error is the last element.
func (f *File) SymbolFiles() iter.Seq2[*SymbolFile, error] {
	return func(yield func(*SymbolFile, error) bool) {
		feature, decode := FeatureFile, decodeFile1
		if f.features[FeatureFile].size < 0 {
			feature, decode = FeatureFile2, decodeFile2
		}
		s := f.features[feature]
		if s.size <= 0 {
			return
		}
		name := "feature " + feature.String()
		st := newStream(io.NewSectionReader(f.src, s.off, s.size), s.off, s.off+s.size)
		for st.fill(1) {
			at := st.off
			if !st.fill(4) {
				yield(nil, &FormatError{Section: name, Offset: at, Msg: "size of an entry is cut off"})
				return
			}
			sc := fieldReader{data: st.take(4), big: f.BigEndian}
			size := sc.u32()
			if size > math.MaxInt32 || uint64(size) > st.left() || !st.fill(int(size)) {
				yield(nil, &FormatError{Section: name, Offset: at, Msg: fmt.Sprintf("entry of %d bytes exceeds the section", size)})
				return
			}
			c := fieldReader{data: st.take(int(size)), base: at + 4, section: name, big: f.BigEndian}
			file := decode(&c)
			if c.err != nil {
				yield(nil, c.err)
				return
			}
			if !yield(&file, nil) {
				return
			}
		}
		if st.err != nil {
			yield(nil, fmt.Errorf("%s: %w", name, st.err))
		}
	}
}

// decodeFile1 decodes struct file_struct in simpleperf/record_file_format.h.
func decodeFile1(c *fieldReader) SymbolFile {
	f := SymbolFile{Path: string(c.cstring()), Type: DSOType(c.u32()), MinVaddr: c.u64()}
	for n := c.u32(); n > 0 && c.err == nil; n-- {
		f.Symbols = append(f.Symbols, Symbol{Addr: c.u64(), Len: c.u32(), Name: string(c.cstring())})
	}
	if f.Type == DSODex && c.err == nil {
		f.DexFileOffsets = c.u64s(nil, uint64(c.u32()))
	}
	if (f.Type == DSOELF || f.Type == DSOKernelModule) && c.err == nil && c.remaining() >= 8 {
		f.OffsetOfMinVaddr = c.u64()
		f.HasOffset = f.OffsetOfMinVaddr != 1<<64-1
	}
	return f
}

// Field numbers of message FileFeature in simpleperf/record_file.proto.
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
	fileFieldInner = 1
)

// decodeFile2 decodes message FileFeature.
func decodeFile2(c *fieldReader) SymbolFile {
	var f SymbolFile
	c.message(func(field protowire.Number, v uint64, b []byte) {
		switch field {
		case fileFieldPath:
			f.Path = string(b)
		case fileFieldType:
			f.Type = DSOType(v)
		case fileFieldMinVaddr:
			f.MinVaddr = v
		case fileFieldSymbol:
			var s Symbol
			c.inner(b, func(field protowire.Number, v uint64, b []byte) {
				switch field {
				case symbolFieldVaddr:
					s.Addr = v
				case symbolFieldLen:
					s.Len = uint32(v)
				case symbolFieldName:
					s.Name = string(b)
				}
			})
			f.Symbols = append(f.Symbols, s)
		case fileFieldDexFile:
			c.inner(b, func(field protowire.Number, v uint64, b []byte) {
				if field != fileFieldInner {
					return
				}
				if b == nil { // not packed
					f.DexFileOffsets = append(f.DexFileOffsets, v)
					return
				}
				for len(b) > 0 && c.err == nil {
					v, n := protowire.ConsumeVarint(b)
					if n < 0 {
						c.fail("list of DEX file offsets: %v", protowire.ParseError(n))
						return
					}
					f.DexFileOffsets = append(f.DexFileOffsets, v)
					b = b[n:]
				}
			})
		case fileFieldELFFile, fileFieldKernelModule:
			f.HasOffset = true
			c.inner(b, func(field protowire.Number, v uint64, b []byte) {
				if field == fileFieldInner {
					f.OffsetOfMinVaddr = v
				}
			})
		}
	})
	if f.OffsetOfMinVaddr == 1<<64-1 {
		f.OffsetOfMinVaddr, f.HasOffset = 0, false
	}
	return f
}

// message calls field for every field of the protobuf message that c holds: v for
// integers, b for everything that has a length.
func (c *fieldReader) message(field func(n protowire.Number, v uint64, b []byte)) {
	c.inner(c.rest(), field)
}

func (c *fieldReader) inner(msg []byte, field func(n protowire.Number, v uint64, b []byte)) {
	for len(msg) > 0 && c.err == nil {
		num, kind, n := protowire.ConsumeTag(msg)
		if n < 0 {
			c.fail("protobuf tag: %v", protowire.ParseError(n))
			return
		}
		msg = msg[n:]
		var v uint64
		var b []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(msg)
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(msg)
			if b == nil {
				b = []byte{}
			}
		default:
			n = protowire.ConsumeFieldValue(num, kind, msg)
		}
		if n < 0 {
			c.fail("protobuf field %d: %v", num, protowire.ParseError(n))
			return
		}
		msg = msg[n:]
		if kind == protowire.VarintType || kind == protowire.BytesType {
			field(num, v, b)
		}
	}
}
