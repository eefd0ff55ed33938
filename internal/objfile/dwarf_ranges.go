package objfile

import (
	"cmp"
	"math"
)

// Range list entries (DWARF 5, 7.25).
const (
	rleEndOfList    = 0x00
	rleBaseAddressx = 0x01
	rleStartxEndx   = 0x02
	rleStartxLength = 0x03
	rleOffsetPair   = 0x04
	rleBaseAddress  = 0x05
	rleStartEnd     = 0x06
	rleStartLength  = 0x07
)

// addSpans appends the address ranges of an entry of u to list. Ranges that are
// empty or were discarded by the linker are left out.
func (t *LineTable) addSpans(list spans, u *unit, r *unitRoot, pc *pcAttrs, id uint32) (spans, error) {
	if pc.ranges.form != 0 {
		more := list
		err := t.eachRange(u, r, pc.ranges, func(lo, hi uint64) { more = t.addSpan(more, u, lo, hi, id) })
		return more, err
	}
	if pc.low.form == 0 || pc.high.form == 0 {
		return list, nil
	}
	lo, err := t.address(u, r, pc.low)
	if err != nil {
		return list, err
	}
	hi := lo + pc.high.u
	if pc.high.isAddress() {
		if hi, err = t.address(u, r, pc.high); err != nil {
			return list, err
		}
	}
	return t.addSpan(list, u, lo, hi, id), t.spendRange()
}

func (t *LineTable) addSpan(list spans, u *unit, lo, hi uint64, id uint32) spans {
	if lo < hi && !t.discarded(u.addrSize, lo) {
		list = append(list, span{lo: lo, hi: hi, id: id})
	}
	return list
}

// spendRange counts ranges that were read, for entries may name the same long
// list without end.
func (t *LineTable) spendRange() error {
	if t.rangeBudget--; t.rangeBudget < 0 {
		return formatError(t.info.name, 0, "range lists are used too often")
	}
	return nil
}

// discarded reports whether code at addr is code that the linker threw away but
// that debug information still mentions: GNU linkers put it at 0, LLD at the
// highest or second highest address.
func (t *LineTable) discarded(addrSize uint8, addr uint64) bool {
	return addr == 0 && !t.codeAtZero || addr >= maxAddress(addrSize)-1
}

func maxAddress(size uint8) uint64 { return math.MaxUint64 >> (64 - 8*uint(size)) }

// eachRange calls add for the ranges of a list.
func (t *LineTable) eachRange(u *unit, r *unitRoot, v value, add func(lo, hi uint64)) error {
	if u.version < 5 {
		return t.eachOldRange(u, r, v.u, add)
	}
	data, err := t.rnglists.load()
	if err != nil {
		return err
	}
	c := &sectionReader{data: data, section: ".debug_rnglists", big: t.info.big}
	off := v.u + u.at.rnglists
	if v.form == formRnglistx {
		if v.u > math.MaxUint32 {
			return formatError(c.section, int64(min(r.rnglists, math.MaxInt64)), "index %d", v.u)
		}
		c.seek(r.rnglists + v.u*uint64(u.offsetSize()))
		off = r.rnglists + c.word(u.wide)
	}
	c.seek(off)
	base, dead := r.lowPC, false
	for c.err == nil {
		var lo, hi uint64
		err := t.spendRange()
		var lookup error // from .debug_addr
		switch kind := c.u8(); kind {
		case rleEndOfList:
			return c.failure()
		case rleBaseAddressx:
			base, lookup = t.addressAt(u, r, c.uleb())
			dead = t.discarded(u.addrSize, base)
		case rleBaseAddress:
			base = c.uint(u.addrSize)
			dead = t.discarded(u.addrSize, base)
		case rleStartxEndx:
			if lo, lookup = t.addressAt(u, r, c.uleb()); lookup == nil {
				hi, lookup = t.addressAt(u, r, c.uleb())
			}
		case rleStartxLength:
			lo, lookup = t.addressAt(u, r, c.uleb())
			hi = lo + c.uleb()
		case rleOffsetPair:
			lo, hi = c.uleb(), c.uleb()
			if dead {
				continue
			}
			lo, hi = base+lo, base+hi
		case rleStartEnd:
			lo, hi = c.uint(u.addrSize), c.uint(u.addrSize)
		case rleStartLength:
			lo = c.uint(u.addrSize)
			hi = lo + c.uleb()
		default:
			c.fail("unknown range list entry %#x", kind)
		}
		if err := cmp.Or(err, lookup, c.failure()); err != nil {
			return err
		}
		add(lo, hi)
	}
	return c.failure()
}

// eachOldRange reads .debug_ranges of DWARF 3 and 4.
func (t *LineTable) eachOldRange(u *unit, r *unitRoot, off uint64, add func(lo, hi uint64)) error {
	data, err := t.ranges.load()
	if err != nil {
		return err
	}
	c := &sectionReader{data: data, section: ".debug_ranges", big: t.info.big}
	if u.skeleton != nil {
		off += u.skeleton.ranges
	}
	c.seek(off)
	base := r.lowPC
	for c.err == nil {
		lo, hi := c.uint(u.addrSize), c.uint(u.addrSize)
		if err := cmp.Or(t.spendRange(), c.failure()); err != nil {
			return err
		}
		switch {
		case lo == 0 && hi == 0:
			return nil
		case lo == maxAddress(u.addrSize):
			base = hi
		case base == 0 || !t.discarded(u.addrSize, base):
			add(base+lo, base+hi)
		}
	}
	return c.failure()
}
