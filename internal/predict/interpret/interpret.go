package interpret

import (
	"math/bits"
	"math/rand/v2"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
)

// A value is what a register or a place in memory holds while a trace is interpreted.
// What is not known is a random number: expressions that are equal for all inputs are
// equal then, and hardly any others (Gulwani, Necula, "Discovering Affine Equalities
// Using Random Interpretation", POPL 2003).
type value struct {
	bits uint64
	from origin
}

// An origin says what a value depends on.
type origin uint8

const (
	fromLoad  origin = 1 << iota // what the code loads
	fromDraw                     // outcomes of comparisons of what it loads
	fromGuess                    // outcomes whose probability is not known
)

// A flagState is the comparison that condition flags are of: of a with b.
type flagState struct {
	a, b value
	// bytes is the width of the operands, constant set if b is in the code.
	bytes    int
	constant bool
	// carry says what the carry is, if not that a is below b.
	carry carryKind
	draw  float64
	drawn bool
	// below and overflow are the flags if carried and overflown are set, as x86 has them: of
	// A64, below is that the carry is not set. They are used where a and b are not data.
	below, overflow    bool
	carried, overflown bool
	fixed              bool // below and overflow are the same for all data
	// ordered is set if the parity, or of A64 the overflow, says that floating-point
	// numbers are not ordered: they are.
	ordered bool
	unknown bool // all of it
}

type carryKind uint8

const (
	carryBelow   carryKind = iota
	carryNonzero           // a is 0, and b is not: neg, bt
	carryUnknown
)

// A storedValue is what is in memory at an address.
type storedValue struct {
	value
	bytes int
}

// An Interpreter runs the instructions of a trace with random values. Where branches go
// the trace says; outcomes of other comparisons of what was loaded are drawn.
type Interpreter struct {
	registers [asm.Registers]value
	flags     flagState
	memory    map[uint64]storedValue
	widest    int                  // of memory, bytes
	writers   map[uint64]int32     // step of the last store, by byte
	before    map[flow.Site]uint64 // address of the last load of an instruction
	effects   map[*flow.Graph][]effect
	random    *rand.Rand
	chance    func(Comparison) (p float64, known bool)

	at      flow.Site
	step    int32
	access  Access // of memory by this step
	Doubted bool   // data themselves decide where is stored, or what is not known
}

// An effect is what an instruction does.
type effect func(*Interpreter)

// New returns an interpreter whose random values depend on the seed alone. chance says how
// often a comparison of loaded data holds, as far as that is known; it may be nil.
func New(seed uint64, chance func(Comparison) (float64, bool)) *Interpreter {
	x := &Interpreter{
		memory: make(map[uint64]storedValue), writers: make(map[uint64]int32), before: make(map[flow.Site]uint64),
		effects: make(map[*flow.Graph][]effect), random: rand.New(rand.NewPCG(seed, 0x616c696173)), chance: chance,
	}
	for i := range x.registers {
		x.registers[i].bits = x.random.Uint64() &^ 63
	}
	return x
}

// do runs one instruction.
func (x *Interpreter) do(s flow.Site, step int32) {
	list := x.effects[s.Graph]
	if list == nil {
		list = make([]effect, len(s.Graph.Insts))
		x.effects[s.Graph] = list
	}
	if list[s.At] == nil {
		list[s.At] = effectOf(s.Graph.Arch, s.Inst())
	}
	x.at, x.step, x.access = s, step, Access{Store: -1}
	list[s.At](x)
}

// run runs step i of a trace. A call that the trace follows passes its arguments on.
func (x *Interpreter) run(t *flow.Trace, i int) {
	s := t.Steps[i].Site
	if s.Inst().Kind == disasm.Call && i+1 < len(t.Steps) && t.Steps[i+1].Graph != s.Graph && t.Steps[i+1].At == 0 {
		x.access = Access{Store: -1}
		return
	}
	x.do(s, int32(i))
}

// effectOf says what an instruction does.
func effectOf(arch asm.Arch, in *asm.Inst) effect {
	if arch == asm.X8664 {
		return effectX86(in.Text)
	}
	return effectA64(in.Text)
}

func (x *Interpreter) fresh(from origin) value { return value{x.random.Uint64(), from} }

func (x *Interpreter) read(r asm.Register) value {
	if int(r) >= len(x.registers) {
		return value{}
	}
	return x.registers[r]
}

func (x *Interpreter) write(r asm.Register, v value) {
	if int(r) < len(x.registers) {
		x.registers[r] = v
	}
}

// load reads memory.
func (x *Interpreter) load(address value, bytes int) value {
	x.note(address.bits, bytes)
	if m, ok := x.memory[address.bits]; ok && m.bytes >= bytes {
		v := m.value
		if last, ok := x.before[x.at]; ok && last == address.bits && v.from == fromLoad {
			v.from = 0 // the same each time
		}
		x.before[x.at] = address.bits
		return value{truncate(v.bits, bytes), v.from}
	}
	x.before[x.at] = address.bits
	v := x.fresh(fromLoad)
	v.bits = truncate(v.bits, bytes)
	x.remember(address.bits, storedValue{v, bytes})
	return v
}

// store writes memory.
func (x *Interpreter) store(address value, bytes int, v value) {
	x.access.Stores = true
	for d := uint64(1); d < uint64(x.widest); d++ { // what is only partly there now
		if m, ok := x.memory[address.bits-d]; ok && uint64(m.bytes) > d {
			delete(x.memory, address.bits-d)
		}
	}
	for d := uint64(1); d < uint64(min(bytes, 64)); d++ {
		delete(x.memory, address.bits+d)
	}
	x.remember(address.bits, storedValue{value{truncate(v.bits, bytes), v.from}, bytes})
	for i := range uint64(min(bytes, 64)) {
		x.writers[address.bits+i] = x.step
	}
	if address.from&(fromLoad|fromGuess) != 0 {
		x.Doubted = true
	}
}

func (x *Interpreter) remember(address uint64, m storedValue) {
	x.memory[address] = m
	x.widest = max(x.widest, min(m.bytes, 64))
}

// compare sets the flags as a - b does.
func (x *Interpreter) compare(a, b value, bytes int, constant bool, carry carryKind) {
	x.flags = flagState{a: value{truncate(a.bits, bytes), a.from}, b: value{truncate(b.bits, bytes), b.from}, bytes: bytes, constant: constant, carry: carry}
}

// give says what the carry and the overflow are of flags that were set just now.
func (x *Interpreter) give(below, overflow bool) {
	x.flags.carried, x.flags.overflown, x.flags.below, x.flags.overflow = true, true, below, overflow
}

// giveFixed is give for operations that always set them so.
func (x *Interpreter) giveFixed(below bool) {
	x.give(below, false)
	x.flags.fixed = true
}

// comparisonOf is what a condition asks of the flags.
func (f *flagState) comparisonOf(c asm.Condition) Comparison {
	k := Comparison{Relation: c.Relation, unsigned: c.Unsigned, constant: f.constant}
	if f.constant {
		k.with = signed(f.b.bits, f.bytes)
	}
	switch {
	case f.unknown || c.Flag == asm.OverflowFlag || c.Flag == asm.ParityFlag:
		k.Relation = asm.UnknownRelation
	case c.Flag == asm.CarryFlag && f.carry == carryNonzero:
		k = Comparison{Relation: asm.Unequal, constant: true, oriented: true}
		if c.Relation == asm.AtLeast {
			k.Relation = asm.Equal
		}
	case c.Flag == asm.CarryFlag && f.carry == carryUnknown:
		k.Relation = asm.UnknownRelation
	case f.carry == carryNonzero:
		k.Relation = k.Relation.Swapped()
		k.constant, k.with, k.oriented = true, 0, true
	case f.a.from == 0 && f.b.from != 0:
		k.Relation = k.Relation.Swapped()
		k.constant = false
		k.oriented = true
	}
	k.oriented = k.oriented || (f.a.from == 0) != (f.b.from == 0)
	k.data = f.a.from|f.b.from != 0
	return k.normal()
}

// holds says whether a condition is met: by the values if they are not data, else drawn.
func (x *Interpreter) holds(c asm.Condition) value {
	f := &x.flags
	from := f.a.from | f.b.from
	if f.ordered && (c.Flag == asm.ParityFlag || c.Flag == asm.OverflowFlag) {
		return value{bits: truth(c.Relation == asm.Equal)}
	}
	if (from == 0 || f.fixed && (c.Flag == asm.CarryFlag || c.Flag == asm.OverflowFlag)) && !f.unknown {
		if met, known := f.holds(c); known {
			return value{bits: truth(met)}
		}
	}
	k := f.comparisonOf(c)
	p, known := 0.5, false
	if from == 0 {
		k.Relation = asm.UnknownRelation
	} else if x.chance != nil {
		p, known = x.chance(k)
	}
	if !f.drawn {
		f.draw, f.drawn = x.random.Float64(), true
	}
	// Opposite conditions of one comparison have opposite outcomes.
	negative := k.Relation.Negative()
	if k.Relation == asm.UnknownRelation {
		negative = c.Relation.Negative()
	}
	met := f.draw < p
	if negative {
		met = f.draw >= 1-p
	}
	v := value{truth(met), fromDraw}
	if !known {
		v.from |= fromGuess
	}
	return v
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// holds is whether the condition is met by the values themselves, if they tell.
func (f *flagState) holds(c asm.Condition) (met, known bool) {
	a, b := f.a.bits, f.b.bits
	difference := truncate(a-b, f.bytes)
	negative := signed(difference, f.bytes) < 0
	below, overflow := a < b, negative != (signed(a, f.bytes) < signed(b, f.bytes))
	carried, overflown := f.carry != carryUnknown, f.carry != carryUnknown
	if f.carried {
		below, carried = f.below, true
	}
	if f.overflown {
		overflow, overflown = f.overflow, true
	}
	less, known := below, carried
	switch {
	case c.Flag == asm.SignFlag:
		less, known = negative, true
	case c.Flag == asm.OverflowFlag:
		return overflow == (c.Relation == asm.Unequal), overflown
	case c.Flag == asm.ParityFlag:
		return bits.OnesCount8(uint8(difference))%2 == 0 == (c.Relation == asm.Unequal), true
	case !c.Unsigned:
		less, known = negative != overflow, overflown
	}
	switch c.Relation {
	case asm.LessThan:
		return less, known
	case asm.AtMost:
		return less || a == b, known
	case asm.GreaterThan:
		return !less && a != b, known
	case asm.AtLeast:
		return !less, known
	case asm.Equal:
		return a == b, true
	case asm.Unequal:
		return a != b, true
	}
	return false, false
}

func truncate(v uint64, bytes int) uint64 {
	if bytes <= 0 || bytes >= 8 {
		return v
	}
	return v & (1<<(8*bytes) - 1)
}

func signed(v uint64, bytes int) int64 {
	if bytes <= 0 || bytes >= 8 {
		return int64(v)
	}
	shift := 64 - 8*bytes
	return int64(v<<shift) >> shift
}

// masked is v & mask. One bit of what was loaded is an outcome.
func (x *Interpreter) masked(v, mask value) value {
	out := value{v.bits & mask.bits, v.from | mask.from}
	for _, m := range [2]value{mask, v} {
		if m.from == 0 && bits.OnesCount64(m.bits) == 1 && out.from&fromLoad != 0 {
			return x.outcome(Comparison{Relation: asm.Unequal, constant: true, with: int64(m.bits), oriented: true}, m.bits)
		}
	}
	return out
}

// outcome draws whether a comparison holds, and is a number if it does.
func (x *Interpreter) outcome(k Comparison, bits uint64) value {
	p, known := 0.5, false
	if x.chance != nil {
		p, known = x.chance(k)
	}
	v := value{from: fromDraw}
	if !known {
		v.from |= fromGuess
	}
	if x.random.Float64() < p {
		v.bits = bits
	}
	return v
}

// shiftRight is v >> n. The sign of what was loaded is an outcome.
func (x *Interpreter) shiftRight(v value, n uint64, bytes int, arithmetic bool) value {
	n &= 63
	if bytes <= 4 {
		n &= 31
	}
	if v.from&fromLoad != 0 && n == uint64(8*bytes-1) {
		set := uint64(1)
		if arithmetic {
			set = truncate(^uint64(0), bytes)
		}
		return x.outcome(Comparison{Relation: asm.LessThan, constant: true, oriented: true}, set)
	}
	if arithmetic {
		return value{truncate(uint64(signed(v.bits, bytes)>>n), bytes), v.from}
	}
	return value{truncate(v.bits, bytes) >> n, v.from}
}

// address is where an operand in memory is.
func (x *Interpreter) address(m *asm.Memory) value {
	v := value{bits: m.Displacement}
	if m.Base != asm.NoRegister {
		b := x.read(m.Base)
		v.bits, v.from = v.bits+b.bits, b.from
	}
	if m.Index != asm.NoRegister {
		i := x.read(m.Index)
		v.bits, v.from = v.bits+i.bits*m.Scale, v.from|i.from
	}
	return v
}

// otherwise is what is done for an instruction of which only the operands are known: all
// it writes gets new values.
func (x *Interpreter) otherwise(op *asm.Operation, memory *asm.Memory, bytes int) {
	from := origin(0)
	for _, r := range op.Reads {
		if r < asm.CF {
			from |= x.read(r).from
		} else {
			from |= (x.flags.a.from | x.flags.b.from)
		}
	}
	var at value
	if memory != nil {
		at = x.address(memory)
		if op.Load {
			from |= x.load(at, bytes).from
		}
	}
	flags := false
	for _, r := range op.Writes {
		if r < asm.CF {
			x.write(r, x.fresh(from))
		} else {
			flags = true
		}
	}
	if flags {
		x.compare(x.fresh(from), value{}, 8, true, carryUnknown)
	}
	if memory != nil && op.Store {
		x.store(at, bytes, x.fresh(from))
	}
}

// enter runs the instructions on the shortest way from the start of a function to a
// loop, so that what is equal there is known to be.
func (x *Interpreter) enter(g *flow.Graph, header int) {
	before := make(map[int]int)
	todo := []int{0}
	seen := map[int]bool{0: true}
	for len(todo) > 0 && !seen[header] {
		b := todo[0]
		todo = todo[1:]
		g.Blocks[b].Succs(func(s int) {
			if !seen[s] {
				seen[s] = true
				before[s] = b
				todo = append(todo, s)
			}
		})
	}
	if !seen[header] || header == 0 {
		return
	}
	var way []int
	for b := before[header]; ; b = before[b] {
		way = append(way, b)
		if b == 0 {
			break
		}
	}
	for i := len(way) - 1; i >= 0; i-- {
		for at := g.Blocks[way[i]].First; at < g.Blocks[way[i]].End; at++ {
			x.do(flow.Site{Graph: g, At: at}, -1)
		}
	}
}

// Start prepares for a walk through a loop, -1 for all of the code.
func (x *Interpreter) Start(g *flow.Graph, loop int) {
	if loop >= 0 {
		x.enter(g, g.Loops[loop].Header)
	}
}

// A Asked is a branch and what it asks.
type Asked struct {
	flow.Site
	Comparison
}

// Comparisons says what the wanted branches of a trace compare, in the order in which they
// are first run.
func (x *Interpreter) Comparisons(t *flow.Trace, wanted func(flow.Site) bool) (list []Asked) {
	known := make(map[flow.Site]bool)
	for i := range t.Steps {
		s := t.Steps[i].Site
		in := s.Inst()
		if in.Kind == disasm.Conditional && !known[s] && wanted(s) {
			if k, ok := x.branchComparison(s.Graph.Arch, in); ok && k.data {
				known[s] = true
				list = append(list, Asked{s, k})
			}
		}
		x.run(t, i)
	}
	return list
}

// branchComparison is what a conditional branch asks now.
func (x *Interpreter) branchComparison(arch asm.Arch, in *asm.Inst) (Comparison, bool) {
	name, rest := asm.Mnemonic(arch, in.Text)
	of := func(k Comparison) (Comparison, bool) {
		operands := asm.SplitOperands(rest)
		k.data = len(operands) > 0 && x.read(asm.RegisterA64(operands[0])).from != 0
		return k, true
	}
	if arch == asm.X8664 {
		c, ok := asm.ConditionX86(name, "j")
		return x.flags.comparisonOf(c), ok
	}
	operands := asm.SplitOperands(rest)
	switch name {
	case "cbz":
		return of(Comparison{Relation: asm.Equal, constant: true, oriented: true})
	case "cbnz":
		return of(Comparison{Relation: asm.Unequal, constant: true, oriented: true})
	case "tbz", "tbnz":
		if len(operands) < 2 {
			return Comparison{}, false
		}
		bit, ok := immediateA64(operands[1])
		if !ok {
			return Comparison{}, false
		}
		k := Comparison{Relation: asm.Equal, constant: true, with: 1 << (bit & 63), oriented: true}
		if bit == 63 || bit == 31 && strings.HasPrefix(operands[0], "w") {
			k.Relation, k.with = asm.AtLeast, 0
		}
		if name == "tbnz" {
			k.Relation = k.Relation.Opposite()
		}
		return of(k)
	}
	c, ok := asm.BranchCondition(name)
	return x.flags.comparisonOf(c), ok
}
