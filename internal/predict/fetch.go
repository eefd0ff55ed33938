package predict

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/disasm"
)

// A Fetch is how the front end of a core delivers operations: from lines of operations
// within aligned regions of code.
type Fetch struct {
	Region uint64 // bytes, a power of two
	Line   int    // operations
	// Lines are delivered at once; for more of the region that a loop starts in there is a
	// pause of a cycle after each such number. The next region, without a branch to it and
	// after more than a line, takes a cycle at least, and of a region that no loop starts
	// in Later operations are delivered in a cycle if there was no pause before.
	Lines, Later int
	// Call is the cycles of a call or a return.
	Call float64
}

// cycles is what so many operations of a region in a row take.
func (f *Fetch) cycles(operations int) float64 {
	lines := (operations + f.Line - 1) / f.Line
	if lines <= f.Lines {
		return float64(lines) / float64(f.Lines)
	}
	groups := (lines + f.Lines - 1) / f.Lines
	return float64(2*groups - 1)
}

// later is what so many operations take of a region that no loop starts in.
func (f *Fetch) later(operations int) float64 {
	if lines := (operations + f.Line - 1) / f.Line; lines <= f.Lines {
		return float64(lines) / float64(f.Lines)
	}
	return float64((operations + f.Later - 1) / f.Later)
}

// A fetching is the state of the front end. A group is what is fetched from one backward
// branch to the next.
type fetching struct {
	*Fetch
	takenPerCycle float64
	parts         bool    // the branches of a group need not take whole cycles
	start         float64 // of the group
	cycles        float64 // of it, for lines
	branches      float64 // cycles of it, for branches
	region        uint64
	operations    int  // of the region
	fell          bool // into the region, without a branch, after more than a line
	inside        bool // the region is not the first of its group
	paused        bool // within the group
}

// fetch adds an operation whose last byte is at an address.
func (f *fetching) fetch(at uint64) {
	if region := at / f.Region; region != f.region || f.operations == 0 {
		fell := f.operations > f.Line
		inside := f.operations > 0 || f.inside
		f.flush()
		f.region, f.fell, f.inside = region, fell, inside
	}
	f.operations++
}

// flush ends a row of operations.
func (f *fetching) flush() {
	if f.operations > 0 {
		cycles := f.Fetch.cycles(f.operations)
		if f.inside && !(f.paused && f.operations > f.Later) {
			cycles = f.later(f.operations)
		} else if f.operations > f.Lines*f.Line {
			f.paused = true
		}
		if f.fell {
			cycles = max(1, cycles)
		}
		f.cycles += cycles
		f.operations = 0
	}
}

// taken ends a block and returns when what follows is delivered.
func (f *fetching) taken(kind disasm.Kind, backward bool) float64 {
	f.flush()
	switch kind {
	case disasm.Call, disasm.IndirectCall, disasm.Return:
		f.branches += f.Call
	default:
		f.branches += 1 / f.takenPerCycle
	}
	branches := f.branches
	if !f.parts {
		branches = math.Ceil(branches)
	}
	front := f.start + max(f.cycles, branches)
	if backward {
		f.restart(front)
	}
	return front
}

// restart begins a group.
func (f *fetching) restart(at float64) {
	f.start, f.cycles, f.branches, f.operations, f.inside, f.paused = at, 0, 0, 0, false, false
}

// An alignment is what a listing wants of an address: a multiple of bytes unless that
// takes more padding than most.
type alignment struct{ bytes, most uint64 }

// alignmentOf reads .p2align and the like.
func alignmentOf(directive, arguments string) (a alignment, ok bool) {
	fields := strings.Split(arguments, ",")
	n, err := strconv.ParseUint(strings.TrimSpace(fields[0]), 0, 16)
	if err != nil {
		return a, false
	}
	a.bytes = n
	if directive == ".p2align" {
		if n > 12 {
			return a, false
		}
		a.bytes = 1 << n
	}
	a.most = a.bytes
	if len(fields) == 3 {
		if most, err := strconv.ParseUint(strings.TrimSpace(fields[2]), 0, 16); err == nil {
			a.most = most
		}
	}
	return a, a.bytes > 0 && a.bytes&(a.bytes-1) == 0
}

// usualAlignment is that of functions by compilers for x86-64.
const usualAlignment = 16

// placesOf are the addresses of the first and the last bytes of the instructions of a
// graph, modulo large powers of two.
// Those of listings are found by the lengths that the assembler will choose; for a
// function that may be at more places than one the variant says which.
func placesOf(g *Graph, variant int) (places, ends []uint64) {
	places = make([]uint64, len(g.Insts))
	lengths := make([]uint64, len(g.Insts))
	for i := range g.Insts {
		lengths[i] = 4
		switch in := &g.Insts[i]; {
		case in.Len > 0:
			lengths[i] = uint64(in.Len)
		case g.Arch == X8664:
			lengths[i] = uint64(lengthX86(in.Text, in.Kind))
		}
	}
	for again := true; again; { // until no branch has to become longer
		place(g, variant, lengths, places)
		again = false
		for i := range g.Insts {
			in := &g.Insts[i]
			if lengths[i] != 2 || in.to < 0 || in.Addr != 0 || in.Kind != disasm.Conditional && in.Kind != disasm.Jump {
				continue
			}
			if d := int64(places[in.to]) - int64(places[i]) - 2; d < -128 || d > 127 {
				lengths[i] = 5
				if in.Kind == disasm.Conditional {
					lengths[i] = 6
				}
				again = true
			}
		}
	}
	ends = make([]uint64, len(places))
	for i := range ends {
		ends[i] = places[i] + lengths[i] - 1
	}
	return places, ends
}

// place lays out instructions of some lengths.
func place(g *Graph, variant int, lengths, places []uint64) {
	at := uint64(0)
	for i := range g.Insts {
		in := &g.Insts[i]
		if in.Addr != 0 {
			places[i] = in.Addr
			continue
		}
		for _, a := range in.aligned {
			if pad := -at & (a.bytes - 1); pad <= a.most {
				at += pad
			}
		}
		if i == 0 && !slices.ContainsFunc(in.aligned, func(a alignment) bool { return a.bytes >= 64 }) {
			at = usualAlignment * uint64(variant)
		}
		places[i] = at
		at += lengths[i]
	}
}

// lengthX86 is the length of an instruction in bytes as an assembler chooses it, for
// those that are frequent in loops. The targets of branches are taken for near.
func lengthX86(text string, kind disasm.Kind) int {
	name, rest := mnemonic(X8664, text)
	switch kind {
	case disasm.Conditional, disasm.Jump:
		return 2
	case disasm.Call:
		return 5
	case disasm.Return:
		return 1
	}
	texts := splitOperands(rest)
	var immediate int64
	hasImmediate, wide, extended, short, modrm := false, false, false, false, false
	length, width := 1, 0
	var memory *operandX86
	vector := false
	for i, s := range texts {
		if v, ok := strings.CutPrefix(s, "$"); ok {
			hasImmediate = true
			n, err := strconv.ParseInt(v, 0, 64)
			if err != nil {
				n = math.MaxInt32
			}
			immediate = n
			continue
		}
		o := operandX86Of(s)
		modrm = true
		if o.memory {
			memory = &o
			for _, r := range o.address {
				extended = extended || r >= 8 && r < 16
			}
			index := strings.Count(s[max(0, strings.LastIndexByte(s, '(')):], ",") > 0
			base := regNone
			if len(o.address) > 0 {
				base = o.address[0]
			}
			if index || base == regRSP || base == 12 {
				length++
			}
			if strings.HasPrefix(s[max(0, strings.LastIndexByte(s, '(')):], "(,") {
				base = regNone // there is an index only
			}
			open := strings.LastIndexByte(s, '(')
			displacement, err := strconv.ParseInt(s[:max(0, open)], 0, 64)
			switch {
			case open > 0 && err == nil && displacement >= -128 && displacement < 128 && base != regNone:
				length++
			case open == 0 && base != regNone:
				if base == 5 || base == 13 {
					length++
				}
			default:
				length += 4
			}
			continue
		}
		if o.register >= 32 && o.register < 64 {
			vector = true
			extended = extended || o.register >= 40
			continue
		}
		extended = extended || o.register >= 8 && o.register < 16
		short = short || o.width == 1 && slices.Contains([]string{"%sil", "%dil", "%bpl", "%spl"}, s)
		wide = wide || o.width == 8
		if i == len(texts)-1 || width == 0 {
			width = o.width
		}
	}
	base := baseX86(name)
	if base != name && width == 0 {
		width = map[byte]int{'b': 1, 'w': 2, 'l': 4, 'q': 8}[name[len(name)-1]]
		wide = wide || width == 8
	}
	if _, ok := conditionX86(name, "cmov"); ok {
		length++
	} else if _, ok := conditionX86(name, "set"); ok {
		length++
	}
	switch {
	case base == "push" || base == "pop":
		modrm, wide = memory != nil, false
	case len(texts) == 0:
		wide = strings.HasSuffix(name, "tq") || strings.HasSuffix(name, "qe") || name == "cqto" || name == "cqo"
	case base == "bt" || base == "bts" || base == "btr" || base == "btc" || base == "imul" && len(texts) == 2 && !hasImmediate ||
		strings.HasPrefix(name, "movz") || strings.HasPrefix(name, "movs") && !strings.HasPrefix(name, "movsl") && !vector:
		length++
	case base == "popcnt" || base == "tzcnt" || base == "lzcnt":
		length += 2
	case strings.HasPrefix(name, "v"):
		length += 2
	case vector:
		length++
		if !strings.HasSuffix(name, "ps") && !strings.HasSuffix(name, "comiss") || strings.HasPrefix(name, "cvt") {
			length++
		}
	}
	if modrm {
		length++
	}
	if wide || extended || short {
		length++
	}
	if width == 2 && !vector && !strings.HasPrefix(name, "movz") {
		length++
	}
	if hasImmediate {
		small := immediate >= -128 && immediate < 128
		switch {
		case name == "movabs" || name == "movabsq":
			length += 7 // without a byte for the operands
		case base == "mov":
			length += min(4, max(1, width))
			if memory == nil && width <= 4 {
				length--
			}
		case base == "test":
			length += min(4, max(1, width))
			if memory == nil && texts[len(texts)-1] == "%eax" {
				length--
			}
		case slices.Contains([]string{"shl", "sal", "shr", "sar", "rol", "ror"}, base):
			if immediate != 1 {
				length++
			}
		case small || width == 1:
			length++
			if width == 1 && texts[len(texts)-1] == "%al" {
				length--
			}
		default:
			length += min(4, max(2, width))
			if memory == nil && base != "imul" && (texts[len(texts)-1] == "%eax" || texts[len(texts)-1] == "%rax") {
				length--
			}
		}
	}
	return length
}
