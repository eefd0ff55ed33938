package objfile

import "fmt"

// A form says how the value of an attribute is encoded (DWARF 5, 7.5.6).
type form uint16

const (
	formAddr          form = 0x01
	formBlock2        form = 0x03
	formBlock4        form = 0x04
	formData2         form = 0x05
	formData4         form = 0x06
	formData8         form = 0x07
	formString        form = 0x08
	formBlock         form = 0x09
	formBlock1        form = 0x0a
	formData1         form = 0x0b
	formFlag          form = 0x0c
	formSdata         form = 0x0d
	formStrp          form = 0x0e
	formUdata         form = 0x0f
	formRefAddr       form = 0x10
	formRef1          form = 0x11
	formRef2          form = 0x12
	formRef4          form = 0x13
	formRef8          form = 0x14
	formRefUdata      form = 0x15
	formIndirect      form = 0x16
	formSecOffset     form = 0x17
	formExprloc       form = 0x18
	formFlagPresent   form = 0x19
	formStrx          form = 0x1a
	formAddrx         form = 0x1b
	formRefSup4       form = 0x1c
	formStrpSup       form = 0x1d
	formData16        form = 0x1e
	formLineStrp      form = 0x1f
	formRefSig8       form = 0x20
	formImplicitConst form = 0x21
	formLoclistx      form = 0x22
	formRnglistx      form = 0x23
	formRefSup8       form = 0x24
	formStrx1         form = 0x25
	formStrx2         form = 0x26
	formStrx3         form = 0x27
	formStrx4         form = 0x28
	formAddrx1        form = 0x29
	formAddrx2        form = 0x2a
	formAddrx3        form = 0x2b
	formAddrx4        form = 0x2c
	formGNUAddrIndex  form = 0x1f01
	formGNUStrIndex   form = 0x1f02
	formGNURefAlt     form = 0x1f20
	formGNUStrpAlt    form = 0x1f21
)

// An encoding is what the size of a form depends on besides the form.
type encoding struct {
	version  uint16
	wide     bool // 64-bit DWARF: offsets have 8 bytes
	addrSize uint8
}

func (e encoding) offsetSize() int {
	if e.wide {
		return 8
	}
	return 4
}

// size returns the number of bytes of a form if it does not depend on the value.
func (e encoding) size(f form) (n int, fixed bool) {
	switch f {
	case formFlagPresent, formImplicitConst:
		return 0, true
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1, true
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2, true
	case formStrx3, formAddrx3:
		return 3, true
	case formData4, formRef4, formRefSup4, formStrx4, formAddrx4:
		return 4, true
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8, true
	case formData16:
		return 16, true
	case formAddr:
		return int(e.addrSize), true
	case formStrp, formSecOffset, formStrpSup, formLineStrp, formGNURefAlt, formGNUStrpAlt:
		return e.offsetSize(), true
	case formRefAddr:
		if e.version <= 2 {
			return int(e.addrSize), true
		}
		return e.offsetSize(), true
	}
	return 0, false
}

// A value is the value of an attribute. Which of u and b holds it, and what it
// means, follows from form.
type value struct {
	form form
	u    uint64
	b    []byte // of blocks and inline strings
}

// maxIndirect bounds how often a form may say that the form follows.
const maxIndirect = 4

// read reads a value.
func (e encoding) read(c *sectionReader, spec attrSpec) value {
	f := spec.form
	for range maxIndirect {
		if f != formIndirect {
			break
		}
		f = form(c.uleb())
	}
	v := value{form: f}
	switch f {
	case formImplicitConst:
		v.u = uint64(spec.implicit)
	case formFlagPresent:
		v.u = 1
	case formString:
		v.b = c.cstring()
	case formBlock1:
		v.b = c.bytes(uint64(c.u8()))
	case formBlock2:
		v.b = c.bytes(uint64(c.u16()))
	case formBlock4:
		v.b = c.bytes(uint64(c.u32()))
	case formBlock, formExprloc:
		v.b = c.bytes(c.uleb())
	case formSdata:
		v.u = uint64(c.sleb())
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		v.u = c.uleb()
	case formStrx3, formAddrx3:
		v.u = uint64(c.u24())
	case formData16:
		v.b = c.bytes(16)
	default:
		n, ok := e.size(f)
		if !ok {
			c.fail("unknown form %#x", uint16(f))
			break
		}
		v.u = c.uint(uint8(n))
	}
	return v
}

// skip passes a value.
func (e encoding) skip(c *sectionReader, spec attrSpec) {
	switch spec.form {
	case formString:
		c.cstring()
	case formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		c.skipLEB()
	case formBlock1:
		c.skip(uint64(c.u8()))
	case formBlock, formExprloc:
		c.skip(c.uleb())
	default:
		if n, ok := e.size(spec.form); ok {
			c.skip(uint64(n))
		} else {
			e.read(c, spec)
		}
	}
}

func (v value) isAddress() bool {
	switch v.form {
	case formAddr, formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		return true
	}
	return false
}

// uint32 is the value as a line or file number, 0 if it is not one.
func (v value) uint32() uint32 {
	if v.u > 1<<31-1 {
		return 0
	}
	return uint32(v.u)
}

func (f form) String() string { return fmt.Sprintf("form %#x", uint16(f)) }
