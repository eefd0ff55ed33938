package core

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/probe"
)

// FromProbes makes the core of a CPU of what its probes measured. What was refused is
// what LLVM's model has, or what such cores have, and [Core.Missing] says so. base is the
// stored core of the same CPU, of which parameters are taken that no probe tells, nil if
// there is none. It fails if too little is known: of in-order cores, and without the
// latency of loads, the cycles of a miss and the number of ALUs.
func FromProbes(arch asm.Arch, cpu string, m llvm.Model, v probe.Values, base *Core) (*Core, error) {
	if m.ReorderBuffer == 0 && base == nil {
		return nil, fmt.Errorf("%s issues in order", cpu)
	}
	b := &builder{arch: arch, model: m, values: v, Core: &Core{Name: cpu, Source: "measured by calibrate", Instructions: make(map[string]Measured), Units: map[string]int{"divide": 1, "none": 8}}}
	if base != nil {
		copied := *base
		b.Core, b.base = &copied, true
		b.Instructions = make(map[string]Measured)
		maps.Copy(b.Instructions, base.Instructions)
	}
	for _, name := range []string{"load.latency", "add.throughput"} {
		if _, ok := v[name]; !ok {
			return nil, fmt.Errorf("the probe %s was refused: too little is known of the core", name)
		}
	}
	b.widths()
	b.registers()
	b.memory()
	b.frontEnd()
	b.renaming()
	if err := b.forms(); err != nil {
		return nil, err
	}
	if err := b.queues(); err != nil {
		return nil, err
	}
	slices.Sort(b.Missing)
	return b.Core, b.prepare()
}

// A builder makes a core of probes.
type builder struct {
	*Core
	arch   asm.Arch
	model  llvm.Model
	values probe.Values
	base   bool // there is a stored core
}

// cycles is what a probe measured, the least of several.
func (b *builder) cycles(probes ...string) (least float64, ok bool) {
	for _, name := range probes {
		if e, known := b.values[name]; known && e.Centre > 0 && (!ok || e.Centre < least) {
			least, ok = e.Centre, true
		}
	}
	return least, ok
}

// missing says that a parameter was not measured.
func (b *builder) missing(format string, args ...any) {
	if !b.base {
		b.Missing = append(b.Missing, fmt.Sprintf(format, args...))
	}
}

// perCycle is how many of what a probe measured are done in a cycle, other if it was
// refused.
func (b *builder) perCycle(what string, to *int, other int, probes ...string) {
	if c, ok := b.cycles(probes...); ok {
		*to = max(1, int(math.Round(1/c)))
	} else if !b.base {
		*to = max(1, other)
		b.missing("%s: %d a cycle is assumed", what, *to)
	}
}

// widths finds the widths and the pipes.
func (b *builder) widths() {
	b.perCycle("width", &b.Dispatch, b.model.Width, "nop.throughput", "mix.throughput", "move64.throughput")
	b.window()
	if b.base {
		return
	}
	var alus, shifts, selects, sets, multiplies, branches, vectors, floats int
	b.perCycle("ALUs", &alus, 0, "add.throughput", "lea.two.throughput")
	b.perCycle("shifts", &shifts, 2, "shift.throughput")
	b.perCycle("conditional moves", &selects, 2, "select.throughput")
	b.perCycle("setcc", &sets, selects, "set.throughput")
	b.perCycle("multiplications", &multiplies, 1, "multiply.throughput")
	b.perCycle("branches", &branches, 2, "branch.nottaken.throughput", "branch.zero.nottaken.throughput")
	b.perCycle("vectors", &vectors, 2, "vector.add.throughput", "vector.and.throughput")
	b.perCycle("floating-point additions", &floats, 2, "float.add.throughput")
	pipes := make([]string, min(alus, 12))
	add := func(class string, n, from int) {
		for i := range min(n, len(pipes)) {
			at := (from + i) % len(pipes)
			pipes[at] = strings.TrimSpace(pipes[at] + " " + class)
		}
	}
	add("alu", alus, 0)
	add("lea", alus, 0)
	add("shift", shifts, 0)
	add("select", selects, 0)
	add("set", sets, 0)
	add("branch", branches, 0)
	add("multiply", multiplies, -multiplies+len(pipes))
	if b.sharesPipes() {
		add("vector", vectors, len(pipes)-vectors+1)
		add("float", floats, len(pipes)-vectors+1)
	} else {
		b.Units["vector"], b.Units["float"] = vectors, min(vectors, floats)
	}
	b.Pipes = pipes
	if strings.HasPrefix(b.model.Name, "Znver") {
		b.Choices = 3
		b.missing("choices of a pipe: as on Zen 5")
	}
	b.missing("pipes: those of the classes with few are taken for the same, but for multiplications")
}

// sharesPipes reports whether vectors use the pipes of general registers, which cores of
// Intel do that issue out of order, and of AMD and Arm do not.
func (b *builder) sharesPipes() bool {
	switch b.model.Name {
	case "SandyBridge", "Haswell", "Broadwell", "SkylakeClient", "SkylakeServer", "IceLake", "AlderlakeP", "SapphireRapids", "LunarlakeP":
		return true
	}
	return false
}

// window finds how many operations are in flight.
func (b *builder) window() {
	least, most, ok := b.overlap("window", 64, 832, 64)
	switch {
	case ok && most > least && least > 0:
		if b.model.ReorderBuffer > least && b.model.ReorderBuffer <= most {
			b.Window = b.model.ReorderBuffer
		} else if b.Window <= least || b.Window > most {
			b.Window = (least + most) / 2
		}
	case !b.base:
		b.Window = b.model.ReorderBuffer
		b.missing("window: %d, of LLVM's model", b.Window)
	}
}

// registers finds how many of the operations in flight may write a register.
func (b *builder) registers() {
	least, most, ok := b.overlap("registers", 96, 352, 32)
	switch {
	case ok && most > least && least > 0:
		if b.Registers <= least || b.Registers > most {
			b.Registers = (least + most) / 2
		}
	case ok && most == 0:
		b.Registers = 0 // the window is full before
	case !ok:
		b.missing("registers: as many as the window needs")
	}
}

// overlap finds between which numbers of operations in between chains of square roots cease to
// overlap, as not all of them fit into what the probes fill: the roots, and what is between them.
func (b *builder) overlap(probes string, from, to, step int) (least, most int, ok bool) {
	const roots = 12
	chain, ok := b.cycles("float.sqrt.latency")
	for n := from; ok && n <= to; n += step {
		c, known := b.cycles(fmt.Sprintf("%s.%d", probes, n))
		switch {
		case !known:
			return 0, 0, false
		case c < 0.95*roots*chain:
			least = n + roots
		case most == 0:
			most = n + roots + 1
		}
	}
	return least, most, ok
}

// memory finds what loads and stores take.
func (b *builder) memory() {
	b.perCycle("loads", &b.Loads, 2, "load.throughput")
	b.perCycle("loads of vectors", &b.VectorLoads, b.Loads, "load.vector.throughput")
	b.perCycle("stores", &b.Stores, 1, "store.four.throughput", "store.eight.throughput")
	b.storeALU()
	load, _ := b.cycles("load.latency")
	b.Load = latency(load)
	if !b.base {
		b.LoadVector, b.StoreQueue = b.Load+1, max(16, b.Window/8)
		b.missing("latency of loads of vectors: a cycle more than of others")
		b.missing("stores that wait: %d, an eighth of the window", b.StoreQueue)
	}
	if c, ok := b.cycles("forward.index.latency"); ok {
		// Where loads are renamed whatever their operands are, an address that waits for the store
		// tells what it takes without.
		if waits, known := b.cycles("forward.address.latency"); known && c < 2 {
			c = max(c, waits-b.Load)
		}
		b.Forwarding.Cycles = latency(c)
	} else if !b.base {
		b.Forwarding.Cycles = b.Load
		b.missing("forwarding: as long as a load")
	}
	if c, ok := b.cycles("forward.wide.latency"); ok {
		b.Forwarding.Blocked = latency(c)
	} else if !b.base {
		b.Forwarding.Blocked = b.Forwarding.Cycles + 10
		b.missing("loads that need more than a store: ten cycles more than forwarding")
	}
	if c, ok := b.cycles("add.memory.latency"); ok {
		add, _ := b.cycles("add.latency")
		b.Forwarding.Modify = latency(max(0, c-max(1, add)))
	} else if !b.base {
		b.Forwarding.Modify = b.Forwarding.Cycles
		b.missing("operations on memory again and again: as forwarding")
	}
	if c, ok := b.cycles("forward.same.index.latency"); ok {
		b.Forwarding.Indexed = c > 3
	} else if !b.base {
		b.missing("forwarding to the same operand with an index: as without")
	}
	c, ok := b.cycles("forward.same.latency")
	switch {
	case ok && c < 2:
		b.Forward = 0
		if !b.base {
			b.Forwarding.Renamed, b.Forwarding.Trust, b.Forwarding.Replay = 4, Trust{Most: 63, Step: 12, From: 56}, 35
			b.missing("how loads come to be expected to get what was stored: as on Zen 5")
		}
	case ok:
		b.Forward, b.Forwarding.Renamed = latency(c), 0
	case !b.base:
		b.Forward = b.Forwarding.Cycles
		b.missing("forwarding to the same operand: as to others")
	}
}

// storeALU finds whether stores take turns of the ALUs: two of them and six additions then take as
// long as eight additions. A core whose width ends it sooner does not tell.
func (b *builder) storeALU() {
	c, ok1 := b.cycles("store.add.throughput")
	add, ok2 := b.cycles("add.throughput")
	if ok1 && ok2 {
		b.StoreALU = c > max(7*add, 1.1*8/float64(b.Dispatch))
	} else {
		b.missing("stores and ALUs: stores take no turns of them")
	}
}

// frontEnd finds what branches cost.
func (b *builder) frontEnd() {
	if c, ok := b.values["taken.four"]; ok {
		b.TakenPerCycle = 1
		if c.Hi < 0.75 {
			b.TakenPerCycle = 2
		}
	} else if !b.base {
		b.TakenPerCycle = max(1, float64(b.model.TakenPerCycle))
		b.missing("taken branches: %g a cycle, of LLVM's model", b.TakenPerCycle)
	}
	if !b.base {
		b.TakenNested = min(b.TakenPerCycle, 1.33)
		b.Fetch, b.FlagWait = Fetch{}, 1
	}
	b.lines()
	if c, ok := b.cycles("loop.trips"); ok {
		// Ten branches are taken, and the inner one goes another way twice.
		b.Fetch.Turn = min(max(0, (c-10/b.TakenPerCycle)/2), 4)
	} else if !b.base {
		b.Fetch.Turn = 1
		b.missing("a branch that goes another way than it did: a cycle")
	}
	if c, ok := b.cycles("call.return"); ok {
		b.Fetch.Call = c / 2
	} else if !b.base {
		b.Fetch.Call = 1.5
		b.missing("calls: 1.5 cycles, and returns")
	}
	// A miss costs the time until the branch is executed, which is dispatched, waits for
	// loads and for a comparison, and the refill.
	const before = 2
	var refills []float64
	for name, loads := range map[string]float64{probe.MissLoad: 1, probe.MissTwoLoads: 2} {
		if c, ok := b.cycles(name); ok {
			refills = append(refills, c-before-loads*b.Load)
		}
	}
	if c, ok := b.cycles(probe.MissRegister); ok && len(refills) == 0 {
		refills = append(refills, c-before)
	}
	switch {
	case len(refills) > 0:
		sum := 0.0
		for _, r := range refills {
			sum += r
		}
		b.Refill = max(1, sum/float64(len(refills)))
	case !b.base:
		b.Refill = float64(b.model.MispredictPenalty) + before
		b.missing("refill: %g cycles, %d of LLVM's model and %d", b.Refill, b.model.MispredictPenalty, before)
	}
	add, ok1 := b.cycles("add.latency")
	compare, ok2 := b.cycles("cmp.select")
	if b.arch == asm.X8664 && ok1 && ok2 {
		b.OverflowApart = compare > 2*add+0.5
	} else if b.arch == asm.X8664 && !b.base {
		b.missing("groups of flags: overflow with zero and sign")
	}
}

// lines finds what the front end delivers between taken branches: loops of more
// operations than a line take two cycles where the width would let them take less. If
// they take three, whether they have a few more operations or many, it pauses after two lines.
func (b *builder) lines() {
	const two = 1.9
	for _, l := range []struct {
		probe      string
		operations int
	}{{"loop.eight", 8}, {"loop.nine", 9}, {"loop.eleven", 11}} {
		c, ok := b.cycles(l.probe)
		if !ok {
			b.missing("lines of operations: not limited")
			return
		}
		if c >= two && float64(l.operations)/float64(b.Dispatch) < two-0.1 {
			b.Fetch.Line, b.Fetch.Region = l.operations-1, 1<<32
			if across, ok := b.cycles("loop.across"); ok && across > 1.2 {
				b.Fetch.Region = 64
			}
			return
		}
	}
	few, ok1 := b.cycles("loop.thirteen")
	many, ok2 := b.cycles("loop.twenty")
	switch {
	case !ok1 || !ok2:
		b.missing("lines of operations: no pause behind two of them")
	case few >= 2.7 && many < few+0.3:
		b.Fetch.Region, b.Fetch.Line, b.Fetch.Lines, b.Fetch.Later = 64, 6, 2, 16
		b.missing("what the front end delivers of code that no loop starts in: as on Zen 5")
	}
}

// queues finds how many operations wait: chains of one operation overlap as far as there
// is room. The model of the core is asked with more and more of it.
func (b *builder) queues() error {
	if err := b.prepare(); err != nil {
		return err
	}
	code := map[asm.Arch][2]string{
		asm.X8664:   {"xorl %eax,%eax\n" + strings.Repeat("addq %rdx,%rax\n", 150), "movq %rdi,%rax\n" + strings.Repeat("movq (%rax),%rax\n", 60)},
		asm.AArch64: {"mov x3,#0\n" + strings.Repeat("add x3,x3,x4\n", 150), "mov x3,x0\n" + strings.Repeat("ldr x3,[x3]\n", 60)},
	}[b.arch]
	for i, name := range []string{"queue.add", "queue.load"} {
		found, err := b.queue(i, name, code[i])
		if err != nil {
			return err
		}
		if !found && !b.base {
			b.Schedulers[i] = max(16, b.Window/5)
			b.missing("schedulers: %d operations wait, a fifth of the window", b.Schedulers[i])
		}
	}
	// Where comparisons and conditional moves wait, fewer do than additions: loops have both.
	if b.arch == asm.X8664 {
		additions := b.Schedulers[0]
		found, err := b.queue(0, "queue.select", "xorl %eax,%eax\n"+strings.Repeat("cmpq %rdx,%rax\ncmovgq %rdx,%rax\n", 75))
		if err != nil {
			return err
		}
		if !found {
			b.missing("schedulers: as many comparisons wait as additions")
		}
		b.Schedulers[0] = min(b.Schedulers[0], additions)
	}
	if b.Schedulers[2] == 0 {
		b.Schedulers[2] = b.Schedulers[0]
		b.missing("scheduler of vectors: as that of general registers")
	}
	return nil
}

// queue finds how many operations of a kind wait, by what a probe measured of some code.
func (b *builder) queue(kind int, probe, code string) (found bool, err error) {
	want, ok := b.cycles(probe)
	if !ok {
		return false, nil
	}
	const least, most = 8, 512
	steps, timings, err := b.sequence(code)
	if err != nil {
		return false, err
	}
	b.Schedulers[kind] = least + sort.Search(most-least, func(n int) bool {
		b.Schedulers[kind] = least + n
		return steadyCycles(b.run(steps, timings, runOptions{Costs: Costs{Straight: true}}))*float64(len(steps))/sequences <= want
	})
	return true, nil
}

// sequences is how often a sequence is run to find how many operations wait.
const sequences = 24

// sequence is some code again and again.
func (b *builder) sequence(text string) (steps []flow.Step, timings []*timing, err error) {
	l, err := asm.Parse(text, b.arch)
	if err != nil {
		return nil, nil, err
	}
	g := flow.Of(l, l.Functions[0])
	for range sequences {
		for i := range g.Insts {
			steps = append(steps, flow.Step{Site: flow.Site{Graph: g, At: i}})
		}
	}
	of := b.TimingsOf(b.arch, flow.Sites(&flow.Trace{Steps: steps}), &llvm.Simulation{})
	for i := range steps {
		timings = append(timings, of[steps[i].Site])
	}
	return steps, timings, nil
}

// renaming finds what renaming does.
func (b *builder) renaming() {
	for _, r := range []struct {
		renaming Renaming
		probe    string
		below    float64 // cycles, if renaming does it
		usual    bool
	}{
		{Move64, "move64.latency", 0.7, true},
		{Move32, "move32.latency", 0.7, true},
		{MoveVector, "move.vector.latency", 0.7, true},
		{ZeroExtend, "move.zero.extend.latency", 0.7, false},
		{Zero, "xor.zero", 5, b.arch == asm.X8664},
		{AddConstant, "add.immediate.latency", 0.7, false},
	} {
		is := r.usual
		if c, ok := b.cycles(r.probe); ok {
			is = c < r.below
		} else if b.base {
			continue
		} else {
			b.missing("%s by renaming: %t is assumed", r.renaming, is)
		}
		b.Renamed = slices.DeleteFunc(slices.Clone(b.Renamed), func(k Renaming) bool { return k == r.renaming })
		if is {
			b.Renamed = append(b.Renamed, r.renaming)
		}
	}
}

// A form is how the forms of instructions are measured.
type form struct {
	names            []string
	latency, without string
	throughput       string
	class            asm.Class
}

//go:embed forms.tsv
var formTable string

// formsOf are the forms of an architecture. They are in a file of this package: an error
// in it is a bug that the tests find.
var formsOf = sync.OnceValues(func() (map[asm.Arch][]form, error) {
	all := make(map[asm.Arch][]form)
	heading := true
	for line := range strings.Lines(formTable) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if heading {
			heading = false
			continue
		}
		if len(f) != 5 {
			return nil, fmt.Errorf("forms.tsv: %q has %d fields", line, len(f))
		}
		class := slices.Index(classNames[:], f[4])
		if class < 0 {
			return nil, fmt.Errorf("forms.tsv: there is no class %q", f[4])
		}
		row := form{class: asm.Class(class), throughput: strings.Trim(f[3], "-")}
		row.latency, row.without, _ = strings.Cut(strings.Trim(f[2], "-"), "-")
		if row.names = strings.Split(f[1], ","); len(row.names) == 1 && !hasForm(f[1]) {
			row.names = strings.Fields(f[1])
		}
		all[asm.Arch(f[0])] = append(all[asm.Arch(f[0])], row)
	}
	return all, nil
})

// hasForm reports whether a name is that of a form of a mnemonic, of two words.
func hasForm(name string) bool {
	_, what, ok := strings.Cut(name, " ")
	return ok && slices.Contains([]string{"two", "three", "scaled", "cl", "shifted", "extended", "register"}, what)
}

// forms finds what instructions take.
func (b *builder) forms() error {
	all, err := formsOf()
	if err != nil {
		return err
	}
	for _, f := range all[b.arch] {
		var m Measured
		if c, ok := b.cycles(f.latency); ok {
			if less, ok := b.cycles(f.without); ok {
				c -= less
			}
			m.Latency = max(1, latency(c))
		}
		if c, ok := b.cycles(f.throughput); ok {
			if err := b.prepare(); err != nil {
				return err
			}
			units := b.unitsOf(f.class)
			m.Slots = max(1, math.Round(c*float64(units)))
			if f.class == asm.ClassSelect || f.class == asm.ClassSet || f.class == asm.ClassShift {
				m.Uops = int(m.Slots)
			}
		}
		if m == (Measured{}) {
			b.missing("%s: of LLVM's model", strings.Join(f.names, ", "))
			continue
		}
		for _, name := range f.names {
			b.Instructions[name] = m
		}
	}
	return nil
}

// unitsOf is how many operations of a class start in a cycle.
func (c *Core) unitsOf(class asm.Class) int {
	n := 0
	for i := range c.Pipes {
		n += int(c.pipes[class] >> i & 1)
	}
	return max(1, n, c.units[class])
}

// latency rounds what was measured to what cores take, half cycles where two ways
// alternate.
func latency(cycles float64) float64 { return math.Round(2*cycles) / 2 }
