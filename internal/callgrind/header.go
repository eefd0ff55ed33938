package callgrind

import (
	"bytes"
	"fmt"
	"strings"
)

// maxEvents is the most events of a part, maxParts the most parts of a file, and
// maxWarnings the most warnings.
const (
	maxEvents   = 1000
	maxParts    = 1 << 16
	maxWarnings = 20
)

// minShare is the share of the summary that lines are expected to have. Valgrind 3.19
// places some of what it simulates, such as accesses of caches, nowhere.
const minShare = 0.99

// headerLine reads a line "key: value". Keys that the manual does not have are ignored.
func (p *parser) headerLine(key []byte, c *lineScanner) {
	switch string(key) {
	case "summary", "totals":
		p.sumLine(string(key), c)
		return
	case "version", "creator", "pid", "cmd", "thread", "part", "desc", "positions", "event", "events":
	default:
		return
	}
	if !p.endPending(c) {
		return
	}
	if string(key) == "version" {
		p.newFile(c)
	} else if p.part == nil || p.hasBody {
		p.newPart()
	}
	if p.part == nil { // too many
		return
	}
	switch string(key) {
	case "cmd":
		p.hasCommand = true
	case "event", "events", "desc":
	default:
		p.only = true
	}
	switch part := p.part; string(key) {
	case "version":
		c.space()
		if v := c.uint(); v > 1 {
			c.fail("version %d of the format is not read", v)
		}
	case "creator":
		part.Creator = text(c.rest())
	case "cmd":
		part.Command = text(c.rest())
	case "pid":
		part.PID = c.count()
	case "thread":
		part.Thread = c.count()
	case "part":
		part.Number = c.count()
	case "desc":
		kind, value, _ := bytes.Cut(c.rest(), []byte(":"))
		part.Desc = append(part.Desc, Desc{text(kind), text(value)})
	case "positions":
		p.positionKinds(c)
	case "event":
		p.definition(c)
	case "events":
		p.events(c)
	}
}

func text(b []byte) string { return string(bytes.TrimSpace(b)) }

// newFile begins a part that inherits nothing.
func (p *parser) newFile(c *lineScanner) {
	if !p.endPending(c) {
		return
	}
	p.only = true
	if p.part == nil || p.hasBody {
		p.newPart()
	}
	if p.part == nil {
		return
	}
	p.part.Creator, p.part.Command, p.part.PID = "", "", 0
	p.names.forget()
}

// newPart begins a part. The part is nil if there are too many.
func (p *parser) newPart() {
	part := &Part{Positions: []Position{LinePosition}}
	if before := p.part; before != nil {
		p.checkSums()
		part.Creator, part.Command, part.PID = before.Creator, before.Command, before.PID
	}
	p.part, p.hasBody, p.summaryLine, p.totalsLine = nil, false, 0, 0
	if len(p.file.Parts) == maxParts {
		p.fail("there are more than %d parts", maxParts)
		return
	}
	p.part = part
	p.file.Parts = append(p.file.Parts, part)
	p.object, p.filename, p.function, p.callee = 0, 0, nil, nil
	p.calleeObject, p.calleeFile, p.jumpFile, p.jumpFunction = nil, nil, nil, nil
	p.at = [numPositions]uint64{}
}

func (p *parser) positionKinds(c *lineScanner) {
	var seen [numPositions]bool
	p.part.Positions = nil
	for {
		var kind Position
		switch word := c.word(); string(word) {
		case "":
			return
		case "instr", "addr":
			kind = InstrPosition
		case "bb":
			kind = BlockPosition
		case "line":
			kind = LinePosition
		default:
			c.fail("%q is no kind of position", clip(word))
			return
		}
		if seen[kind] {
			c.fail("a kind of position is there twice")
			return
		}
		seen[kind] = true
		p.part.Positions = append(p.part.Positions, kind)
	}
}

// definition reads "name = formula : long name", of which the last two are optional.
func (p *parser) definition(c *lineScanner) {
	if len(p.part.Definitions) == maxEvents {
		c.fail("there are definitions of more than %d events", maxEvents)
		return
	}
	short, long, _ := bytes.Cut(c.rest(), []byte(":"))
	short, formula, _ := bytes.Cut(short, []byte("="))
	p.part.Definitions = append(p.part.Definitions, EventDefinition{text(short), text(formula), text(long)})
}

func (p *parser) events(c *lineScanner) {
	if p.part.Events != nil {
		c.fail("a second line events:")
		return
	}
	seen := make(map[string]bool)
	var events []string
	for word := c.word(); word != nil; word = c.word() {
		event := string(word)
		if seen[event] {
			c.fail("event %s is there twice", plain(clip(word)))
			return
		}
		if len(events) == maxEvents {
			c.fail("there are more than %d events", maxEvents)
			return
		}
		seen[event] = true
		events = append(events, event)
	}
	if len(events) == 0 {
		c.fail("events: names none")
		return
	}
	n := len(events)
	sums := make([]int64, 3*n)
	p.part.Events = events
	p.part.Sum, p.cost.Costs, p.call.Costs = sums[:n:n], sums[n:2*n:2*n], sums[2*n:]
}

// sumLine reads the costs behind summary: or totals:.
func (p *parser) sumLine(key string, c *lineScanner) {
	if !p.hasEvents() {
		c.fail("%s: before the line events:", plain(string(key)))
		return
	}
	if !p.endPending(c) {
		return
	}
	sum := make([]int64, len(p.part.Events))
	p.costs(c, sum)
	if key == "summary" {
		p.part.Summary, p.summaryLine = sum, p.number
		return
	}
	p.part.Totals, p.totalsLine = sum, p.number
	p.hasBody, p.only = true, true
}

// checkSums compares the sums of the part with what it states.
func (p *parser) checkSums() {
	part := p.part
	for i, event := range part.Events {
		sum := part.Sum[i]
		if part.Totals != nil && part.Totals[i] != sum {
			p.warn("line %d: totals of %s are %d, but the lines above sum to %d", p.totalsLine, event, part.Totals[i], sum)
			continue
		}
		if part.Summary == nil {
			continue
		}
		whole := part.Summary[i]
		switch {
		case sum > whole, part.Totals == nil && sum != whole:
			p.warn("line %d: the summary of %s is %d, but lines sum to %d", p.summaryLine, event, whole, sum)
		case sum != whole && float64(sum) < minShare*float64(whole):
			p.warn("line %d: lines have only %d of %d %s in the summary", p.summaryLine, sum, whole, event)
		}
	}
}

func (p *parser) warn(format string, args ...any) {
	if len(p.file.Warnings) == maxWarnings {
		p.unreported++
		return
	}
	p.file.Warnings = append(p.file.Warnings, fmt.Sprintf(format, args...))
}

// format tells whose format the lines so far are of.
func (p *parser) format() Format {
	if p.hasCommand && !p.only {
		return Cachegrind
	}
	return Callgrind
}

// lacksSum reports whether the part lacks the line that its tool writes last: other
// programs write none.
func (p *parser) lacksSum() bool {
	switch {
	case p.part == nil || p.err != nil:
		return false
	case p.format() == Cachegrind:
		return p.part.Summary == nil
	}
	return strings.HasPrefix(p.part.Creator, "callgrind-") && p.part.Totals == nil
}
