package disasm

const maxRegs = 32

type valueKind uint8

const (
	// number is base + id<<shift. The zero value means that control has not come
	// here yet; unknown numbers have an id.
	number valueKind = iota + 1
	// constant is base.
	constant
	// entry is base + extend(memory[table + id<<stride])<<shift.
	entry
)

// value is what a register holds.
type value struct {
	kind   valueKind
	shift  uint8
	stride uint8
	width  uint8 // bytes of an entry
	signed bool
	base   uint64
	table  uint64
	id     origin
	limit  uint64 // id is not greater, 0 if that is not known
}

// origin tells unknown numbers apart: it is made of the register and the address
// where it got the number, or of the block where different ones meet.
type origin struct {
	addr uint64
	reg  uint8
	how  originKind
}

type originKind uint8

const (
	defined originKind = iota
	met
	stale // the number that a register got where it gets a new one now
	inMemory
)

// bound says that the number is not greater.
type bound struct {
	id  origin
	max uint64
	// weak is set if that follows from the number of bits and not from a
	// comparison: the table may have fewer entries.
	weak bool
}

// compared is a comparison that the next conditional branch depends on.
type compared struct {
	ok  bool
	id  origin
	max uint64 // what id was compared with
}

// slot is a number in memory that was compared: it is mostly loaded afterwards.
type slot struct {
	ok          bool
	base, index int8
	scale       uint8
	disp        int64
	id          origin
}

// state is what is known at a place of the code.
type state struct {
	regs   [maxRegs]value
	bounds [8]bound
	count  uint8 // of bounds
	flags  compared
	slot   slot
	// reached is set if control comes here, as far as is known.
	reached bool
}

// set says that a register gets a value.
func (s *state) set(reg int8, v value) {
	s.regs[reg] = v
	if s.slot.ok && (s.slot.base == reg || s.slot.index == reg) {
		s.slot.ok = false
	}
}

// define says that a register gets an unknown number at addr.
func (s *state) define(reg int8, addr uint64) origin {
	id := origin{addr: addr, reg: uint8(reg)}
	s.forget(id)
	s.set(reg, value{kind: number, id: id})
	return id
}

// forget takes from all registers and bounds a number that came from a place
// which gives a new one now.
func (s *state) forget(id origin) {
	for r := range s.regs {
		if s.regs[r].id == id && s.regs[r].kind != constant {
			s.regs[r] = value{kind: number, id: origin{id.addr, uint8(r), stale}}
		}
	}
	n := uint8(0)
	for _, b := range s.bounds[:s.count] {
		if b.id != id && b.id.how != stale {
			s.bounds[n] = b
			n++
		}
	}
	s.count = n
	if s.slot.id == id {
		s.slot.ok = false
	}
	if s.flags.id == id {
		s.flags.ok = false
	}
}

// compare says that register reg was compared with n at addr.
func (s *state) compare(reg int8, n, addr uint64) {
	v := s.regs[reg]
	if v.kind == constant && v.base < maxTableEntries {
		// What is known of the graph so far may leave only one value.
		s.define(reg, addr)
		v = s.regs[reg]
	}
	s.compareValue(v, n)
}

func (s *state) compareValue(v value, n uint64) {
	s.flags = compared{}
	if v.kind == number && v.base == 0 && v.shift == 0 && n < maxTableEntries {
		s.flags = compared{true, v.id, n}
	}
}

// bind adds a bound.
func (s *state) bind(b bound) {
	for i := range s.bounds[:s.count] {
		old := &s.bounds[i]
		if old.id == b.id {
			if b.max < old.max {
				*old = b
			} else if b.max == old.max {
				old.weak = old.weak && b.weak
			}
			return
		}
	}
	if int(s.count) == len(s.bounds) {
		copy(s.bounds[:], s.bounds[1:])
		s.count--
	}
	s.bounds[s.count] = b
	s.count++
}

// narrowed says that a register gets a number of so many bits at addr.
func (s *state) narrowed(reg int8, addr uint64, bits int) {
	id := s.define(reg, addr)
	s.bind(bound{id, uint64(1)<<bits - 1, true})
}

// maximum returns the bound of a number.
func (s *state) maximum(v value) (b bound, ok bool) {
	if v.kind == constant {
		return bound{max: v.base}, v.base < maxTableEntries
	}
	if v.limit != 0 {
		b, ok = bound{v.id, v.limit, true}, true
	}
	for _, other := range s.bounds[:s.count] {
		if other.id == v.id && (!ok || other.max <= b.max) {
			b, ok = other, true
		}
	}
	return b, ok
}

// meet merges what is known on another way to the same block, whose address is
// addr. It reports whether that changed s.
func (s *state) meet(o *state, addr uint64) bool {
	bounds, count, flags, slotted := s.bounds, s.count, s.flags, s.slot
	changed := false
	if s.regs == o.regs {
		s.meetBounds(o, addr, nil)
	} else {
		changed = s.meetRegs(o, addr)
	}
	if s.flags != o.flags {
		s.flags = compared{}
	}
	if s.slot != o.slot {
		s.slot = slot{}
	}
	return changed || s.count != count || s.bounds != bounds || s.flags != flags || s.slot != slotted
}

// meetRegs merges registers and bounds, and reports whether that changed a register.
func (s *state) meetRegs(o *state, addr uint64) (changed bool) {
	var merged [maxRegs]bound // of registers that get a number here
	var bounded [maxRegs]bool
	for r := range s.regs {
		v, w := &s.regs[r], &o.regs[r]
		if *v == *w {
			continue
		}
		here := value{kind: number, id: origin{addr, uint8(r), met}}
		same := *v == here
		if same && !s.isBounded(here.id) {
			continue
		}
		x, ok := s.maximum(*v)
		y, also := o.maximum(*w)
		merged[r] = bound{here.id, max(x.max, y.max), x.weak || y.weak}
		bounded[r] = ok && also && v.shift == 0 && w.shift == 0 && v.kind != entry && w.kind != entry &&
			(v.kind == constant || v.base == 0) && (w.kind == constant || w.base == 0)
		if !same {
			s.regs[r], changed = here, true
		}
	}
	s.meetBounds(o, addr, &merged)
	for r := range merged {
		if bounded[r] {
			s.bind(merged[r])
		}
	}
	return changed
}

// meetBounds keeps the bounds that hold on both ways, but none of merged registers.
func (s *state) meetBounds(o *state, addr uint64, merged *[maxRegs]bound) {
	n := uint8(0)
	for _, b := range s.bounds[:s.count] {
		if b.id.how == met && b.id.addr == addr && merged != nil && merged[b.id.reg].id == b.id {
			continue // comes later
		}
		for _, other := range o.bounds[:o.count] {
			if other.id == b.id {
				b.max = max(b.max, other.max)
				b.weak = b.weak || other.weak
				s.bounds[n] = b
				n++
				break
			}
		}
	}
	clear(s.bounds[n:])
	s.count = n
}

func (s *state) isBounded(id origin) bool {
	for _, b := range s.bounds[:s.count] {
		if b.id == id {
			return true
		}
	}
	return false
}

// add returns the sum of two values; ok is false if it has no form.
func add(v, w value) (value, bool) {
	if v.kind == constant {
		v, w = w, v
	}
	if v.kind == 0 || w.kind != constant {
		return value{}, false
	}
	v.base += w.base
	return v, true
}

// load returns what memory at the address v holds: width bytes, extended.
func load(v value, width uint8, signed bool) (value, bool) {
	if v.kind != number || v.base == 0 {
		return value{}, false
	}
	return value{kind: entry, table: v.base, id: v.id, limit: v.limit, stride: v.shift, width: width, signed: signed}, true
}

// shifted returns v<<n.
func shifted(v value, n uint8) (value, bool) {
	if v.kind == 0 || n > 4 || v.shift+n > 4 {
		return value{}, false
	}
	v.base <<= n
	if v.kind != constant {
		v.shift += n
	}
	return v, true
}
