package callgrind

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"profdiff/internal/input"
)

// A parser reads a file line by line. It keeps the first error.
type parser struct {
	lines  *input.Lines
	number int // of the current line, from 1
	names  nameTable
	visit  Visitor
	file   File
	err    error

	part *Part // nil before the first line of a header
	// hasBody is set if the part has lines that are not of its header: the next line of
	// a header then begins another part.
	hasBody bool
	// summaryLine and totalsLine are where the sums of the part are.
	summaryLine, totalsLine int
	// only is set if there are lines that only Callgrind's format has, hasCommand if
	// there is a line that Cachegrind's always has.
	only, hasCommand bool
	unreported       int // warnings

	// Where the next costs are. function is nil until it is named.
	object, filename           name
	function                   *Function
	functionName, functionFile name
	at                         [numPositions]uint64

	// Where the next call or jump goes. Where they are not named, it goes to the object
	// and file of the caller, and a jump stays in its function.
	callee                   *Function
	calleeObject, calleeFile *name
	jumpFile, jumpFunction   *name

	// pending is what the next costs are about.
	pending pending
	call    Call
	jump    Jump
	cost    Cost
}

// A pending line is the first of two that belong together.
type pending uint8

const (
	nothing pending = iota
	callCost
	jumpSource
)

func newParser(r io.Reader, v Visitor) *parser {
	return &parser{lines: input.NewLines(r), names: newNameTable(), visit: v}
}

// fail sets the error, at the current line.
func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("line %d: "+format, append([]any{p.number}, args...)...)
	}
}

// next reads a line and reports whether there may be more.
func (p *parser) next() bool {
	line, ok := p.lines.Next()
	if !ok {
		if p.err == nil {
			p.err = p.lines.Err()
		}
		return false
	}
	p.number = p.lines.Number()
	if p.lines.Cut() && p.lacksSum() && !bytes.HasPrefix(line, []byte("totals:")) && !bytes.HasPrefix(line, []byte("summary:")) {
		return false // a number may lack its last digits
	}
	c := lineScanner{line: line}
	p.line(&c)
	if c.err != nil {
		p.fail("%w", c.err)
	}
	return p.err == nil
}

// finish checks what can be told at the end only.
func (p *parser) finish() {
	p.file.Lines = p.number
	if p.err != nil {
		return
	}
	if !p.hasEvents() {
		p.fail("ends without a line events:")
		return
	}
	p.file.Format, p.file.Truncated = p.format(), p.lacksSum()
	if p.pending == callCost && !p.file.Truncated {
		p.fail("ends where the costs of calls are expected")
		return
	}
	p.flushJump()
	p.checkSums()
	if p.unreported > 0 {
		p.file.Warnings = append(p.file.Warnings, fmt.Sprintf("%d more sums differ", p.unreported))
	}
}

// line reads one line.
func (p *parser) line(c *lineScanner) {
	if !c.space() {
		return
	}
	switch b := c.peek(); {
	case '0' <= b && b <= '9', b == '+', b == '-', b == '*':
		p.costLine(c)
		return
	case b == '#':
		if string(c.rest()) == "# callgrind format" { // the first line since Valgrind 3.13
			p.newFile(c)
		}
		return
	}
	key, delimiter := c.key()
	switch {
	case delimiter == ':':
		p.headerLine(key, c)
	case delimiter != '=' || !p.bodyLine(key, c):
		c.fail("%q is no line of the format", clip(c.line))
	}
}

func (p *parser) hasEvents() bool { return p.part != nil && p.part.Events != nil }

// costLine reads positions and costs.
func (p *parser) costLine(c *lineScanner) {
	if !p.hasEvents() {
		c.fail("costs before the line events:")
		return
	}
	if p.function == nil {
		c.fail("costs before a line fn=")
		return
	}
	p.hasBody = true
	costs := p.cost.Costs
	if p.pending == callCost {
		costs = p.call.Costs
	}
	n, ok := p.decimals(c.line[c.off:], costs)
	if !ok {
		p.positions(c, &p.at)
		n = p.costs(c, costs)
	}
	if c.err != nil {
		return
	}
	switch p.pending {
	case callCost:
		p.pending = nothing
		p.call.Part, p.call.Caller = p.part, p.place(p.function, p.names.list[p.filename], &p.at)
		if p.visit.Call != nil {
			c.err = p.visit.Call(&p.call)
		}
		return
	case jumpSource:
		p.flushJump()
		if n == 0 {
			return
		}
		// The manual does not tell of the line with the source: these are costs.
	}
	for i, v := range costs[:n] {
		sum := &p.part.Sum[i]
		if v > 0 && *sum > math.MaxInt64-v || v < 0 && *sum < math.MinInt64-v {
			c.fail("costs of %s sum to more than 2^63", plain(p.part.Events[i]))
			return
		}
		*sum += v
	}
	if p.visit.Cost != nil {
		x := &p.cost
		x.Part, x.Function, x.File = p.part, p.function, p.names.list[p.filename]
		x.Line, x.Address, x.Block = int64(p.at[LinePosition]), p.at[InstrPosition], p.at[BlockPosition]
		c.err = p.visit.Cost(&p.cost)
	}
}

// decimals reads a line of costs whose numbers are decimal and of up to 18 digits, which are nearly all lines.
// Of others it returns false: they are left to positions and costs.
func (p *parser) decimals(line []byte, to []int64) (n int, ok bool) {
	at, i := p.at, 0
	for _, kind := range p.part.Positions {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		if i == len(line) {
			return 0, false
		}
		sign := line[i]
		if sign == '*' {
			if i++; i < len(line) && line[i] != ' ' && line[i] != '\t' {
				return 0, false
			}
			continue
		}
		if sign == '+' || sign == '-' {
			i++
		}
		v, end, ok := decimal(line, i)
		if !ok {
			return 0, false
		}
		i = end
		base := at[kind]
		switch sign {
		case '+':
			if v += base; v < base {
				return 0, false
			}
		case '-':
			if v > base {
				return 0, false
			}
			v = base - v
		}
		at[kind] = v
	}
	for {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		if i == len(line) {
			break
		}
		if n == len(to) {
			return 0, false
		}
		v, end, ok := decimal(line, i)
		if !ok {
			return 0, false
		}
		to[n] = int64(v)
		n, i = n+1, end
	}
	if at[LinePosition] > math.MaxInt64 {
		return 0, false
	}
	clear(to[n:])
	p.at = at
	return n, true
}

// decimal reads a number of up to 18 digits that ends with its word.
func decimal(line []byte, start int) (v uint64, end int, ok bool) {
	end = start
	for end < len(line) {
		d := line[end] - '0'
		if d > 9 {
			break
		}
		v = 10*v + uint64(d)
		end++
	}
	n := end - start
	return v, end, n > 0 && n <= 18 && (end == len(line) || line[end] == ' ' || line[end] == '\t')
}

// positions reads the positions in front of costs; relative ones are relative to those
// of the costs before.
func (p *parser) positions(c *lineScanner, at *[numPositions]uint64) {
	for _, kind := range p.part.Positions {
		at[kind] = c.position(p.at[kind])
	}
	if at[LinePosition] > math.MaxInt64 {
		c.fail("line number %d exceeds 2^63", at[LinePosition])
	}
}

// costs reads up to one number for each event, n of them; those that are missing are zero.
func (p *parser) costs(c *lineScanner, to []int64) (n int) {
	for n < len(to) && c.space() {
		to[n] = c.count()
		n++
	}
	clear(to[n:])
	if c.space() {
		c.fail("has more costs than the %d events", len(to))
	}
	return n
}

func (p *parser) place(f *Function, file string, at *[numPositions]uint64) Place {
	return Place{Function: f, File: file, Line: int64(at[LinePosition]), Address: at[InstrPosition], Block: at[BlockPosition]}
}

// bodyLine reads a line "key=value" and returns false if there is no such key.
func (p *parser) bodyLine(key []byte, c *lineScanner) bool {
	if !p.hasEvents() {
		c.fail("%s= before the line events:", plain(clip(key)))
		return true
	}
	p.hasBody = true
	if !p.endPending(c) {
		return true
	}
	switch string(key) {
	case "fl", "fi", "fe":
		p.filename = p.names.read(c, fileNames)
		return true
	case "fn":
		p.functionName, p.functionFile = p.names.read(c, functionNames), p.filename
		p.function = p.names.function(p.object, p.functionFile, p.functionName)
		p.callee = nil
		return true
	}
	p.only = true
	switch string(key) {
	case "ob":
		p.object = p.names.read(c, objectNames)
		if p.function != nil {
			p.function = p.names.function(p.object, p.functionFile, p.functionName)
		}
	case "cob":
		p.calleeObject = p.optional(c, objectNames)
	case "cfl", "cfi":
		p.calleeFile = p.optional(c, fileNames)
	case "cfn":
		// Valgrind names functions even if the calls cost nothing and are left out.
		p.callee = p.names.function(or(p.calleeObject, p.object), or(p.calleeFile, p.filename), p.names.read(c, functionNames))
		p.calleeObject, p.calleeFile = nil, nil
	case "calls":
		p.calls(c)
	case "jfi":
		p.jumpFile = p.optional(c, fileNames)
	case "jfn":
		p.jumpFunction = p.optional(c, functionNames)
	case "jump", "jcnd":
		p.jumps(c, string(key) == "jcnd")
	case "frfn": // the caller, with --mangle-names=no
		p.names.read(c, functionNames)
	case "rec", "bb", "ln": // with --mangle-names=no and --dump-bbs=yes
	default:
		return false
	}
	return true
}

// endPending ends what was waiting for its line of costs.
func (p *parser) endPending(c *lineScanner) bool {
	p.flushJump()
	if p.pending == callCost {
		c.fail("%q where the costs of calls are expected", clip(c.line))
		return false
	}
	return true
}

func (p *parser) optional(c *lineScanner, in namespace) *name {
	n := p.names.read(c, in)
	return &n
}

func or(n *name, otherwise name) name {
	if n != nil {
		return *n
	}
	return otherwise
}

// calls reads "count target". Their costs are in the next line.
func (p *parser) calls(c *lineScanner) {
	if p.callee == nil {
		c.fail("calls= without cfn=")
		return
	}
	if p.call.Count = c.count(); p.call.Count < 0 {
		c.fail("%d calls", p.call.Count)
	}
	at := p.at
	p.positions(c, &at)
	p.call.Callee = p.place(p.callee, p.callee.File, &at)
	p.callee, p.pending = nil, callCost
}

// jumps reads "count target", or of a conditional jump "taken/executed target" or
// "executed taken target". The source is in the next line.
func (p *parser) jumps(c *lineScanner, conditional bool) {
	if p.function == nil {
		c.fail("a jump before a line fn=")
		return
	}
	j := Jump{Part: p.part, Conditional: conditional}
	j.Taken, j.Executed = c.ratio()
	if conditional && j.Executed < 0 {
		j.Executed = j.Taken
		j.Taken = c.count()
	} else if j.Executed < 0 {
		j.Executed = j.Taken
	}
	if j.Taken < 0 {
		c.fail("%d jumps", j.Taken)
	}
	at := p.at
	p.positions(c, &at)
	f := p.function
	if p.jumpFunction != nil {
		f = p.names.function(p.object, or(p.jumpFile, p.filename), *p.jumpFunction)
	}
	j.To = p.place(f, p.names.list[or(p.jumpFile, p.filename)], &at)
	p.jumpFile, p.jumpFunction = nil, nil
	p.jump, p.pending = j, jumpSource
}

// flushJump gives the visitor the jump whose source is known now.
func (p *parser) flushJump() {
	if p.pending != jumpSource {
		return
	}
	p.pending = nothing
	p.jump.From = p.place(p.function, p.names.list[p.filename], &p.at)
	if p.visit.Jump == nil {
		return
	}
	if err := p.visit.Jump(&p.jump); err != nil {
		p.fail("%w", err)
	}
}
