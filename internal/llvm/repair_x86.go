package llvm

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// loadOpClass is the class of instructions that load an operand and compute.
const loadOpClass = "load-op"

// A ruleX86 rewrites instructions of a class that have no operand in memory.
type ruleX86 struct {
	class string
	// apply returns nil if the instruction is not of the class.
	apply func(w *rewriterX86, in *instX86) []string
	// beside is set if not all of its lines wait for each other: where each line of a region
	// stands alone, the latencies of them do not add up to that of the instruction.
	beside bool
}

// rulesX86 are tried in this order; the first that applies counts.
var rulesX86 = []ruleX86{
	{class: "zero-idiom", apply: (*rewriterX86).zeroIdiom},
	{class: "zero-idiom-vector", apply: (*rewriterX86).zeroIdiomVector},
	{class: "ones-idiom", apply: (*rewriterX86).onesIdiom},
	{class: "logic", apply: (*rewriterX86).logic},
	{class: "move", apply: (*rewriterX86).move},
	{class: "shift", apply: (*rewriterX86).shift},
	{class: "bmi", apply: (*rewriterX86).bmi},
	{class: "byte-write", apply: (*rewriterX86).byteWrite},
	{class: "lea", apply: (*rewriterX86).lea},
	{class: "lea-scaled", apply: (*rewriterX86).leaScaled},
	{class: "set", apply: (*rewriterX86).set},
	{class: "extend-same", apply: (*rewriterX86).extendSame},
	{class: "select-two-flags", apply: (*rewriterX86).selectTwo, beside: true},
	{class: "division", apply: (*rewriterX86).division, beside: true},
}

// An instX86 is an instruction in AT&T syntax.
type instX86 struct {
	name     string
	operands []string
	memory   int // the operand in memory, -1 if there is none
}

func parseX86(text string) (in instX86) {
	word, rest := cutWord(text)
	in = instX86{name: strings.ToLower(word), operands: splitOperands(rest), memory: -1}
	for i, o := range in.operands {
		if !strings.HasPrefix(o, "$") && (!strings.HasPrefix(o, "%") || strings.Contains(o, ":")) {
			in.memory = i
		}
	}
	return in
}

// is says whether the name is one of some, with a suffix of size or without.
func (in *instX86) is(names ...string) bool {
	return slices.Contains(names, in.name) || len(in.name) > 2 && strings.IndexByte("bwlq", in.name[len(in.name)-1]) >= 0 &&
		slices.Contains(names, in.name[:len(in.name)-1])
}

// base is the name without the suffix of size that the operands do not need.
func (in *instX86) base(names ...string) string {
	if slices.Contains(names, in.name) {
		return in.name
	}
	return in.name[:len(in.name)-1]
}

func (in *instX86) last() string {
	if len(in.operands) == 0 {
		return ""
	}
	return in.operands[len(in.operands)-1]
}

// registerX86 is a general register ("g", number, bytes) or one of vectors ("v"); a kind of
// 0 is none.
type registerX86 struct {
	kind   byte
	number int
	bytes  int
}

var legacyX86 = []string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}

func registerOfX86(operand string) (r registerX86) {
	name, ok := strings.CutPrefix(operand, "%")
	if !ok || len(name) < 2 {
		return r
	}
	for i, width := range []string{"xmm", "ymm", "zmm"} {
		if digits, ok := strings.CutPrefix(name, width); ok {
			if n, err := strconv.Atoi(digits); err == nil {
				return registerX86{'v', n, 16 << i}
			}
		}
	}
	if name[0] == 'r' && name[1] >= '0' && name[1] <= '9' {
		bytes, digits := 8, name[1:]
		switch last := digits[len(digits)-1]; last {
		case 'd':
			bytes = 4
		case 'w':
			bytes = 2
		case 'b':
			bytes = 1
		}
		if bytes < 8 {
			digits = digits[:len(digits)-1]
		}
		if n, err := strconv.Atoi(digits); err == nil {
			return registerX86{'g', n, bytes}
		}
		return r
	}
	bytes, rest := 2, name
	switch name[0] {
	case 'r':
		bytes, rest = 8, name[1:]
	case 'e':
		bytes, rest = 4, name[1:]
	}
	for i, legacy := range legacyX86 {
		switch {
		case rest == legacy:
			return registerX86{'g', i, bytes}
		case name == legacy+"l" || i < 4 && (name == legacy[:1]+"l" || name == legacy[:1]+"h"):
			return registerX86{'g', i, 1}
		}
	}
	return r
}

// sized is the name of a general register with so many bytes.
func (r registerX86) sized(bytes int) string {
	n := r.number
	if n >= 8 {
		return "%r" + strconv.Itoa(n) + map[int]string{8: "", 4: "d", 2: "w", 1: "b"}[bytes]
	}
	switch bytes {
	case 8:
		return "%r" + legacyX86[n]
	case 4:
		return "%e" + legacyX86[n]
	case 2:
		return "%" + legacyX86[n]
	}
	if n < 4 {
		return "%" + legacyX86[n][:1] + "l"
	}
	return "%" + legacyX86[n] + "l"
}

func (r registerX86) vector(bytes int) string {
	return "%" + map[int]string{16: "xmm", 32: "ymm", 64: "zmm"}[bytes] + strconv.Itoa(r.number)
}

func suffixX86(bytes int) string { return map[int]string{8: "q", 4: "l", 2: "w", 1: "b"}[bytes] }

// A rewriterX86 rewrites the lines of one region.
type rewriterX86 struct {
	on     map[string]bool
	whole  bool // instructions with loads stay whole
	parsed map[string]instX86
	// general and wide are registers that the region does not mention, with a kind of 0 if
	// it mentions all.
	general, wide registerX86
	// late are the registers that were last written by something that does not begin with
	// a load.
	late map[registerX86]bool
	// flags says of each line whether one behind it needs the flags from before it, which at
	// is the line of.
	flags []bool
	at    int
}

var mentionX86 = regexp.MustCompile(`%[a-z]+[0-9]*[a-z]?`)

func newRewriterX86(on map[string]bool, r *Region) *rewriterX86 {
	w := &rewriterX86{on: on, whole: r.Separate, parsed: make(map[string]instX86), late: make(map[registerX86]bool)}
	used := make(map[registerX86]bool)
	for _, line := range r.Lines {
		if _, ok := w.parsed[line]; ok {
			continue
		}
		w.parsed[line] = parseX86(line)
		for _, name := range mentionX86.FindAllString(line, -1) {
			used[registerOfX86(name).whole()] = true
		}
	}
	for n := 15; n >= 0; n-- {
		if r := (registerX86{kind: 'g', number: n}); w.general.kind == 0 && !used[r] && n != 4 {
			w.general = r
		}
		if r := (registerX86{kind: 'v', number: n}); w.wide.kind == 0 && !used[r] {
			w.wide = r
		}
	}
	w.flags = make([]bool, len(r.Lines))
	needed := false
	for range 2 { // the second time from the end of the loop to its start
		for i := len(r.Lines) - 1; i >= 0; i-- {
			w.flags[i] = needed
			in := w.parsed[r.Lines[i]]
			if in.readsFlags() {
				needed = true
			} else if in.writesFlags() {
				needed = false
			}
		}
	}
	// What is written late at the end of a loop is late at its start, too.
	for _, line := range r.Lines {
		w.line(line)
	}
	w.at = 0
	return w
}

func (in *instX86) readsFlags() bool {
	return hasAnyPrefix(in.name, "cmov", "set", "adc", "sbb", "rcl", "rcr", "pushf", "lahf", "cmc") || hasAnyPrefix(in.name, "j", "loop") && !strings.HasPrefix(in.name, "jmp")
}

func (in *instX86) writesFlags() bool {
	return hasAnyPrefix(in.name, "add", "sub", "and", "or", "xor", "cmp", "test", "inc", "dec", "neg", "imul", "mul", "div", "idiv", "shl", "shr", "sal", "sar", "rol", "ror", "bt", "bs", "popcnt", "lzcnt", "tzcnt", "comis", "ucomis", "vcomis", "vucomis", "bl", "bextr", "bzhi")
}

func hasAnyPrefix(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// whole is the register, whatever part of it is named.
func (r registerX86) whole() registerX86 {
	r.bytes = 0
	return r
}

func (w *rewriterX86) line(text string) (lines, classes []string) {
	defer func() { w.at++ }()
	if w.at >= len(w.flags) {
		w.at = 0
	}
	in, ok := w.parsed[text]
	if !ok {
		in = parseX86(text)
	}
	if prefixWord(in.name) || strings.Contains(text, "{") {
		return nil, nil
	}
	op := in
	if w.on[loadOpClass] && !w.whole {
		if load, rest := w.split(&in); load != "" {
			lines, classes = []string{load}, []string{loadOpClass}
			op = rest
		}
	}
	defer w.note(&op)
	for _, rule := range rulesX86 {
		if !w.on[rule.class] || rule.beside && w.whole {
			continue
		}
		if done := rule.apply(w, &op); done != nil {
			return append(lines, done...), append(classes, rule.class)
		}
	}
	if lines != nil {
		lines = append(lines, op.name+" "+strings.Join(op.operands, ", "))
	}
	return lines, classes
}

// note remembers what the instruction writes.
func (w *rewriterX86) note(in *instX86) {
	late := in.memory < 0 || in.memory == len(in.operands)-1
	mark := func(operand string) {
		if r := registerOfX86(operand); r.kind != 0 {
			w.late[r.whole()] = late
		}
	}
	switch {
	case in.is("cmp", "test", "bt", "push") || strings.Contains(in.name, "comis") || strings.HasPrefix(in.name, "j"):
		return
	case in.is("mul", "div", "idiv", "cmpxchg") || in.is("imul") && len(in.operands) == 1 || oneOf(in.name, "cltd", "cqto", "cdq", "cqo", "cltq", "cwtl", "cwtd", "cdqe", "cpuid", "rdtsc", "xgetbv"):
		late = true
		mark("%rax")
		mark("%rdx")
	case in.is("xchg", "xadd") && len(in.operands) == 2:
		late = true
		mark(in.operands[0])
	}
	mark(in.last())
}

var (
	// scalarX86 and packedX86 compute with vectors of which the first operand may be in
	// memory.
	scalarX86 = regexp.MustCompile(`^v?(?:(?:add|sub|mul|div|min|max|ucomi|comi)s[sd]|fn?m(?:add|sub)\d+s[sd])$`)
	packedX86 = regexp.MustCompile(`^v?(?:(?:add|sub|mul|div|min|max|andn?|x?or|unpck[lh])p[sd]|` +
		`fn?m(?:add|sub)\d+p[sd]|p(?:add|sub|andn?|x?or|min|max|cmpeq|cmpgt|mul|unpck|sad|avg|madd|ack|sign|hadd|shufb)\w*)$`)
	integerX86 = []string{"add", "sub", "and", "or", "xor", "adc", "sbb", "cmp", "test", "imul"}
)

// split makes a load and an instruction on registers of one that loads and computes. llvm-mca
// issues such an instruction only when what its registers come from was issued, though the load
// need not wait for them. It is left alone where that makes no difference: where its registers
// come from loads.
func (w *rewriterX86) split(in *instX86) (load string, rest instX86) {
	if in.memory < 0 || len(in.operands) < 2 {
		return "", rest
	}
	m := in.memory
	vector, wide := registerOfX86(in.last()), false
	flags := strings.HasPrefix(in.name, "cmov") || in.is("adc", "sbb")
	switch {
	case flags && m == 0, len(in.operands) == 2 && m == 0 && in.is(integerX86...):
	case len(in.operands) == 2 && m == 1 && in.is("cmp", "test") && strings.HasPrefix(in.operands[0], "%"):
	case in.is("andn") && m == 0, in.is("shlx", "shrx", "sarx", "bzhi", "bextr") && m == 1:
	case vector.kind == 'v' && m == 0 && (scalarX86.MatchString(in.name) || packedX86.MatchString(in.name)):
		wide = true
	default:
		return "", rest
	}
	wait := flags
	bytes := 0
	for i, o := range in.operands {
		r := registerOfX86(o)
		if i == m || r.kind == 0 {
			continue
		}
		bytes = r.bytes
		destination := i == len(in.operands)-1
		if destination && len(in.operands) == 3 && !strings.Contains(in.name, "fm") && !strings.Contains(in.name, "fnm") {
			continue // it is written only
		}
		wait = wait || w.late[r.whole()]
	}
	if !wait || bytes == 0 || wide && w.wide.kind == 0 || !wide && w.general.kind == 0 {
		return "", rest
	}
	scratch := ""
	switch {
	case wide:
		scratch = w.wide.vector(vector.bytes)
		load = "movups "
		if scalarX86.MatchString(in.name) {
			scratch = w.wide.vector(16)
			load = "movs" + in.name[len(in.name)-1:] + " "
		}
		if in.name[0] == 'v' {
			load = "v" + load
		}
		load += in.operands[m] + ", " + scratch
	case bytes < 4:
		scratch = w.general.sized(bytes)
		load = "movz" + suffixX86(bytes) + "l " + in.operands[m] + ", " + w.general.sized(4)
	default:
		scratch = w.general.sized(bytes)
		load = "mov" + suffixX86(bytes) + " " + in.operands[m] + ", " + scratch
	}
	rest = instX86{name: in.name, operands: slices.Clone(in.operands), memory: -1}
	rest.operands[m] = scratch
	return load, rest
}

// zeroIdiom is for models that let x ^ x and x - x wait for x.
func (w *rewriterX86) zeroIdiom(in *instX86) []string {
	r := registerOfX86(in.last())
	if len(in.operands) != 2 || in.operands[0] != in.operands[1] || r.kind != 'g' || r.bytes < 4 || !in.is("xor", "sub") {
		return nil
	}
	return []string{"movl $0, " + r.sized(4)}
}

var (
	zeroingX86 = regexp.MustCompile(`^v?(?:pxor[dq]?|xorp[sd]|psub[bwdq]|pcmpgt[bwdq])$`)
	onesX86    = regexp.MustCompile(`^v?pcmpeq[bwdq]$`)
)

// sameVectors says whether all that an instruction reads is one register of vectors.
func (in *instX86) sameVectors() (to registerX86, ok bool) {
	to = registerOfX86(in.last())
	return to, to.kind == 'v' && (len(in.operands) == 2 || len(in.operands) == 3) && in.operands[0] == in.operands[1]
}

// zeroIdiomVector is zeroIdiom for vectors: a copy of a register that nothing writes.
func (w *rewriterX86) zeroIdiomVector(in *instX86) []string {
	to, ok := in.sameVectors()
	if !ok || !zeroingX86.MatchString(in.name) || w.wide.kind == 0 {
		return nil
	}
	name := "movaps "
	if in.name[0] == 'v' {
		name = "vmovaps "
	}
	return []string{name + w.wide.vector(to.bytes) + ", " + to.vector(to.bytes)}
}

// onesIdiom is for models that let x == x wait for x: it is compared with what nothing writes.
func (w *rewriterX86) onesIdiom(in *instX86) []string {
	to, ok := in.sameVectors()
	if !ok || !onesX86.MatchString(in.name) || w.wide.kind == 0 {
		return nil
	}
	same := w.wide.vector(to.bytes)
	return []string{"v" + strings.TrimPrefix(in.name, "v") + " " + same + ", " + same + ", " + to.vector(to.bytes)}
}

// logic is for models in which the result of logic takes two cycles, not only its flags: a sum
// takes one. test has flags only.
func (w *rewriterX86) logic(in *instX86) []string {
	if len(in.operands) != 2 || !in.is("and", "or", "xor") {
		return nil
	}
	return []string{"add" + in.name[len(in.base("and", "or", "xor")):] + " " + strings.Join(in.operands, ", ")}
}

// move is for models in which renaming copies 32 bits, but not 64.
func (w *rewriterX86) move(in *instX86) []string {
	if len(in.operands) != 2 || in.name != "mov" && in.name != "movq" {
		return nil
	}
	from, to := registerOfX86(in.operands[0]), registerOfX86(in.operands[1])
	if from.kind != 'g' || to.kind != 'g' || from.bytes != 8 || to.bytes != 8 {
		return nil
	}
	return []string{"movl " + from.sized(4) + ", " + to.sized(4)}
}

// shift is for models in which a shift by %cl takes two cycles. Setting a bit of 32 keeps the
// units that shift as busy.
func (w *rewriterX86) shift(in *instX86) []string {
	r := registerOfX86(in.last())
	if len(in.operands) != 2 || in.operands[0] != "%cl" || r.kind != 'g' || !in.is("shl", "sal", "shr", "sar", "rol", "ror") {
		return nil
	}
	return []string{"btsl %ecx, " + r.sized(4)}
}

// bmi is for models in which the extensions BMI1 and BMI2 have too long latencies.
func (w *rewriterX86) bmi(in *instX86) []string {
	if in.memory >= 0 {
		return nil
	}
	to := registerOfX86(in.last())
	if to.kind != 'g' {
		return nil
	}
	var a, b string
	twice := false
	switch n := len(in.operands); {
	case n == 3 && in.is("shlx", "shrx", "sarx", "bzhi", "bextr", "andn"):
		a, b = in.operands[0], in.operands[1]
		twice = in.is("bextr")
	case n == 2 && in.is("blsr", "blsi", "blsmsk"):
		a, b = in.operands[0], in.operands[0]
	default:
		return nil
	}
	lines := sumX86("add", a, b, to)
	if twice {
		lines = append(lines, lines[len(lines)-1])
	}
	return lines
}

// sumX86 is an operation of two operands on registers a and b, or a number a, with the result in
// another register: a copy that renaming does, and the operation.
func sumX86(name, a, b string, to registerX86) (lines []string) {
	switch {
	case registerOfX86(b).whole() == to.whole():
	case registerOfX86(a).whole() == to.whole() && registerOfX86(a).kind == 'g':
		a = b
	default:
		lines = append(lines, "movl "+registerOfX86(b).sized(4)+", "+to.sized(4))
	}
	if r := registerOfX86(a); r.kind == 'g' {
		a = r.sized(to.bytes)
	}
	return append(lines, name+suffixX86(to.bytes)+" "+a+", "+to.sized(to.bytes))
}

// addressX86 is an address without a segment and a symbol.
var addressX86 = regexp.MustCompile(`^(-?(?:0x)?[0-9a-f]*)\(\s*(%[a-z0-9]+)?\s*(?:,\s*(%[a-z0-9]+)\s*(?:,\s*([1248])\s*)?)?\)$`)

// address is the address that an instruction computes; ok is false if what is simulated for it
// would write flags that are needed.
func (w *rewriterX86) address(in *instX86) (base, index string, scaled bool, to registerX86, ok bool) {
	to = registerOfX86(in.last())
	if !in.is("lea") || len(in.operands) != 2 || to.kind != 'g' || to.bytes < 4 || w.flags[w.at] {
		return base, index, scaled, to, false
	}
	m := addressX86.FindStringSubmatch(in.operands[0])
	if m == nil || m[2] == "" || registerOfX86(m[2]).kind != 'g' || m[3] != "" && registerOfX86(m[3]).kind != 'g' {
		return base, index, scaled, to, false
	}
	return m[2], m[3], m[4] != "" && m[4] != "1", to, true
}

// lea is for models in which only one unit adds for lea.
func (w *rewriterX86) lea(in *instX86) []string {
	base, index, scaled, to, ok := w.address(in)
	if !ok || scaled {
		return nil
	}
	if index == "" {
		index = "$8"
	}
	return sumX86("add", index, base, to)
}

// leaScaled is for models in which lea with a scaled index takes one cycle: logic takes two.
func (w *rewriterX86) leaScaled(in *instX86) []string {
	base, index, scaled, to, ok := w.address(in)
	if !ok || !scaled {
		return nil
	}
	return sumX86("and", index, base, to)
}

// set is for models in which setcc has one unit and takes two cycles. It changes a byte of its
// register.
func (w *rewriterX86) set(in *instX86) []string {
	r := registerOfX86(in.last())
	condition, ok := strings.CutPrefix(in.name, "set")
	if !ok || len(in.operands) != 1 || r.kind != 'g' {
		return nil
	}
	line := "cmov" + condition + " " + r.sized(4) + ", " + r.sized(4)
	if oneOf(condition, "a", "be", "na", "nbe") && w.general.kind != 0 && !w.whole {
		return []string{"cmove " + r.sized(4) + ", " + w.general.sized(4), line}
	}
	return []string{line}
}

// extendSame is for models in which renaming extends a register into itself. It extends only into
// others: an extension of the sign takes a cycle.
func (w *rewriterX86) extendSame(in *instX86) []string {
	if len(in.operands) != 2 || in.memory >= 0 {
		return nil
	}
	from, to := registerOfX86(in.operands[0]), registerOfX86(in.operands[1])
	if from.kind != 'g' || from.whole() != to.whole() {
		return nil
	}
	switch {
	case in.name == "movzbl":
		return []string{"movsbl " + from.sized(1) + ", " + to.sized(4)}
	case in.name == "movzwl":
		return []string{"movswl " + from.sized(2) + ", " + to.sized(4)}
	case in.is("mov") && from.bytes == 4 && to.bytes == 4:
		return []string{"movslq " + from.sized(4) + ", " + to.sized(8)}
	}
	return nil
}

// selectTwo is for models in which a conditional move that needs both the carry and the zero flag
// is one operation.
func (w *rewriterX86) selectTwo(in *instX86) []string {
	condition, ok := strings.CutPrefix(in.name, "cmov")
	if !ok || len(in.operands) != 2 || in.memory >= 0 || w.general.kind == 0 {
		return nil
	}
	r := registerOfX86(in.last())
	if !oneOf(condition, "a", "be", "na", "nbe", "al", "aq", "bel", "beq") || r.kind != 'g' {
		return nil
	}
	return []string{"cmove " + in.operands[0] + ", " + w.general.sized(r.bytes), in.name + " " + strings.Join(in.operands, ", ")}
}

// division is for models in which a division takes too long, or the next one can begin too soon.
// Products take as long, and more of them, whose results nobody needs, keep their unit busy.
func (w *rewriterX86) division(in *instX86) []string {
	r := registerOfX86(in.last())
	if len(in.operands) != 1 || r.kind != 'g' || r.bytes < 4 || !in.is("div", "idiv") || w.general.kind == 0 {
		return nil
	}
	chain, busy := 3, 3 // 11 and 6 cycles
	if r.bytes == 8 {
		chain, busy = 4, 6 // 14 and 10
	}
	s := suffixX86(r.bytes)
	a, d, scratch := (registerX86{kind: 'g'}).sized(r.bytes), (registerX86{kind: 'g', number: 2}).sized(r.bytes), w.general.sized(r.bytes)
	var lines []string
	for range busy {
		lines = append(lines, "imul"+s+" $3, "+in.operands[0]+", "+scratch)
	}
	lines = append(lines, "imul"+s+" "+d+", "+a)
	for range chain - 1 {
		lines = append(lines, "imul"+s+" "+a+", "+a)
	}
	return append(lines, "and"+s+" "+in.operands[0]+", "+a, "movl %eax, %edx")
}

// byteWrite is for models that forget that who writes a byte reads the rest of the register.
func (w *rewriterX86) byteWrite(in *instX86) []string {
	r := registerOfX86(in.last())
	if len(in.operands) != 2 || r.kind != 'g' || r.bytes != 1 || in.name != "mov" && in.name != "movb" || in.memory >= 0 {
		return nil
	}
	return []string{"addb " + strings.Join(in.operands, ", ")}
}
