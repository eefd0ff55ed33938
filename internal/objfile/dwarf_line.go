package objfile

import (
	"cmp"
	"debug/dwarf"
	"path"
	"slices"
)

// A lineProgram is the line number information of a unit, run (DWARF 5, 6.2).
type lineProgram struct {
	rows      []lineRow
	sequences spans // ids are indexes of bounds
	bounds    []bounds
	version   uint16
	dirs      []value
	files     []lineFile
	paths     map[uint32]string
}

// bounds are the rows [first, last) of a sequence.
type bounds struct{ first, last int }

// A lineRow says which line the code from addr to the next row is from.
type lineRow struct {
	addr   uint64
	file   uint32
	line   uint32 // 0: no line
	column uint32
	// discriminator tells blocks of one line apart.
	discriminator uint32
}

type lineFile struct {
	name value
	dir  uint64
	md5  []byte // of the text, nil if it is not there
}

// Opcodes of the line number program (DWARF 5, 7.22).
const (
	lnsCopy             = 1
	lnsAdvancePC        = 2
	lnsAdvanceLine      = 3
	lnsSetFile          = 4
	lnsSetColumn        = 5
	lnsNegateStmt       = 6
	lnsSetBasicBlock    = 7
	lnsConstAddPC       = 8
	lnsFixedAdvancePC   = 9
	lnsSetPrologueEnd   = 10
	lnsSetEpilogueBegin = 11
	lnsSetISA           = 12

	lneEndSequence      = 1
	lneSetAddress       = 2
	lneDefineFile       = 3
	lneSetDiscriminator = 4

	lnctPath           = 1
	lnctDirectoryIndex = 2
	lnctMD5            = 5
)

// lines runs the line number program of u. It returns nil if u has none.
func (t *LineTable) lines(u *unit) (*lineProgram, error) {
	if u.line != nil || u.lineErr != nil {
		return u.line, u.lineErr
	}
	r, err := t.loadRoot(u)
	if err != nil || !r.hasLines || t.line == nil {
		return nil, err
	}
	u.line, u.lineErr = t.readLines(u, r)
	return u.line, u.lineErr
}

func (t *LineTable) readLines(u *unit, r *unitRoot) (*lineProgram, error) {
	head, err := t.line.reader(r.stmtList, min(12, t.line.length()-min(r.stmtList, t.line.length())))
	if err != nil {
		return nil, err
	}
	e := u.encoding
	length := uint64(head.u32())
	if e.wide = length == 0xffffffff; e.wide {
		length = head.u64()
	}
	if head.err != nil {
		return nil, head.err
	}
	c, err := t.line.reader(r.stmtList+uint64(head.off), length)
	if err != nil {
		return nil, err
	}
	if t.lineBudget -= int64(length); t.lineBudget < 0 {
		return nil, formatError(t.line.name, int64(r.stmtList), "line number programs overlap")
	}
	e.version = c.u16()
	if c.err == nil && (e.version < 2 || e.version > 5) {
		return nil, formatError(t.line.name, int64(r.stmtList), "version %d", e.version)
	}
	p := &lineProgram{version: e.version, paths: make(map[uint32]string)}
	if e.version >= 5 {
		e.addrSize = c.u8()
		if c.u8() != 0 {
			c.fail("segments are not supported")
		}
	}
	headerLength := c.word(e.wide)
	m := lineMachine{p: p, e: e, discarded: func(a uint64) bool { return t.discarded(e.addrSize, a) }}
	header := c.sub(headerLength)
	m.minInst = uint64(header.u8())
	m.maxOps = 1
	if e.version >= 4 {
		m.maxOps = uint64(header.u8())
	}
	header.skip(1) // default_is_stmt
	m.lineBase = int64(int8(header.u8()))
	m.lineRange = uint64(header.u8())
	opcodeBase := header.u8()
	if header.err == nil && (m.lineRange == 0 || m.maxOps == 0 || opcodeBase == 0) {
		header.fail("line range %d, %d operations per instruction, opcode base %d", m.lineRange, m.maxOps, opcodeBase)
	}
	m.operands = header.bytes(uint64(max(opcodeBase, 1) - 1))
	p.readFiles(&header, e, r)
	if header.err != nil {
		return nil, header.err
	}
	m.run(c)
	if c.err != nil {
		return nil, c.err
	}
	p.sequences.index()
	return p, nil
}

// readFiles reads the tables of directories and files. Numbers of both count from
// 0 in what results: in DWARF 2 to 4 directory 0 is where the compiler ran, and
// there is no file 0.
func (p *lineProgram) readFiles(c *sectionReader, e encoding, r *unitRoot) {
	if e.version >= 5 {
		for _, f := range readEntries(c, e) {
			p.dirs = append(p.dirs, f.name)
		}
		p.files = readEntries(c, e)
		return
	}
	p.dirs = append(p.dirs, r.compDir)
	for c.err == nil {
		dir := c.cstring()
		if len(dir) == 0 {
			break
		}
		p.dirs = append(p.dirs, value{form: formString, b: dir})
	}
	p.files = append(p.files, lineFile{})
	for c.err == nil {
		name := c.cstring()
		if len(name) == 0 {
			break
		}
		p.files = append(p.files, readFile(c, name))
	}
}

// readFile reads what follows the name in a file entry of DWARF 2 to 4.
func readFile(c *sectionReader, name []byte) lineFile {
	f := lineFile{name: value{form: formString, b: name}, dir: c.uleb()}
	c.skipLEB() // time
	c.skipLEB() // size
	return f
}

// readEntries reads a table of directories or files of DWARF 5.
func readEntries(c *sectionReader, e encoding) []lineFile {
	var specs []attrSpec // attr is DW_LNCT_…
	for range c.u8() {
		specs = append(specs, attrSpec{attr: dwarf.Attr(c.uleb()), form: form(c.uleb())})
	}
	n := c.uleb()
	if n > 0 && len(specs) == 0 {
		c.fail("%d entries without contents", n)
	}
	var list []lineFile
	for i := uint64(0); i < n && c.err == nil; i++ {
		before := c.off
		var f lineFile
		for _, spec := range specs {
			v := e.read(c, spec)
			switch spec.attr {
			case lnctPath:
				f.name = v
			case lnctDirectoryIndex:
				f.dir = v.u
			case lnctMD5:
				f.md5 = v.b
			}
		}
		if c.off == before {
			c.fail("%d entries of no bytes", n)
		}
		list = append(list, f)
	}
	return list
}

// A lineMachine is the state machine of DWARF 5, 6.2.2.
type lineMachine struct {
	p         *lineProgram
	e         encoding
	discarded func(addr uint64) bool
	minInst   uint64
	maxOps    uint64
	lineBase  int64
	lineRange uint64
	operands  []byte // number of operands of each standard opcode

	row     lineRow
	opIndex uint64
	first   int // row that the sequence starts with
}

func (m *lineMachine) reset() {
	m.row = lineRow{file: 1, line: 1}
	m.opIndex = 0
	m.first = len(m.p.rows)
}

func (m *lineMachine) run(c *sectionReader) {
	m.reset()
	opcodeBase := uint64(len(m.operands)) + 1
	for c.err == nil && c.remaining() > 0 {
		op := uint64(c.u8())
		switch {
		case op >= opcodeBase:
			op -= opcodeBase
			m.advance(op / m.lineRange)
			m.addLine(m.lineBase + int64(op%m.lineRange))
			m.emit()
		case op == 0:
			m.extended(c)
		default:
			m.standard(c, op)
		}
	}
}

func (m *lineMachine) standard(c *sectionReader, op uint64) {
	switch op {
	case lnsCopy:
		m.emit()
	case lnsAdvancePC:
		m.advance(c.uleb())
	case lnsAdvanceLine:
		m.addLine(c.sleb())
	case lnsSetFile:
		m.row.file = uint32(min(c.uleb(), 1<<31))
	case lnsSetColumn:
		m.row.column = uint32(min(c.uleb(), 1<<31-1))
	case lnsNegateStmt, lnsSetBasicBlock, lnsSetPrologueEnd, lnsSetEpilogueBegin:
	case lnsConstAddPC:
		m.advance((255 - uint64(len(m.operands)+1)) / m.lineRange)
	case lnsFixedAdvancePC:
		m.row.addr += uint64(c.u16())
		m.opIndex = 0
	case lnsSetISA:
		c.skipLEB()
	default:
		for range m.operands[op-1] {
			c.skipLEB()
		}
	}
}

func (m *lineMachine) extended(c *sectionReader) {
	op := c.sub(c.uleb())
	switch op.u8() {
	case lneEndSequence:
		m.endSequence()
	case lneSetAddress:
		m.row.addr = op.uint(uint8(min(op.remaining(), 255)))
		m.opIndex = 0
	case lneDefineFile:
		m.p.files = append(m.p.files, readFile(&op, op.cstring()))
	case lneSetDiscriminator:
		m.row.discriminator = uint32(min(op.uleb(), 1<<32-1))
	}
	if c.err == nil {
		c.err = op.err
	}
}

func (m *lineMachine) advance(n uint64) {
	if m.maxOps == 1 {
		m.row.addr += n * m.minInst
		return
	}
	n += m.opIndex
	m.row.addr += n / m.maxOps * m.minInst
	m.opIndex = n % m.maxOps
}

func (m *lineMachine) addLine(n int64) { m.row.line = uint32(int64(m.row.line) + n) }

// emit adds a row. Of rows with one address the last counts, and a row that
// differs in nothing else from its predecessor is not needed.
func (m *lineMachine) emit() {
	m.add()
	m.row.discriminator = 0 // holds for one row
}

func (m *lineMachine) add() {
	rows := m.p.rows
	if n := len(rows); n > m.first {
		last := &rows[n-1]
		if last.addr == m.row.addr {
			*last = m.row
			return
		}
		if last.file == m.row.file && last.line == m.row.line && last.column == m.row.column && last.discriminator == m.row.discriminator && last.addr < m.row.addr {
			return
		}
	}
	m.p.rows = append(rows, m.row)
}

func (m *lineMachine) endSequence() {
	p := m.p
	end := m.row.addr
	if rows := p.rows[m.first:]; len(rows) > 0 {
		byAddress := func(a, b lineRow) int { return cmp.Compare(a.addr, b.addr) }
		if !slices.IsSortedFunc(rows, byAddress) {
			slices.SortStableFunc(rows, byAddress)
		}
		if lo := rows[0].addr; lo < end && !m.discarded(lo) {
			p.sequences = append(p.sequences, span{lo: lo, hi: end, id: uint32(len(p.bounds))})
			p.bounds = append(p.bounds, bounds{m.first, len(p.rows)})
		} else {
			p.rows = p.rows[:m.first]
		}
	}
	m.reset()
}

// find returns the rows up to the one that covers addr, of the sequence it is in;
// none if it is in no sequence.
func (p *lineProgram) find(addr uint64) []lineRow {
	i := p.sequences.find(addr)
	if i < 0 {
		return nil
	}
	b := p.bounds[p.sequences[i].id]
	rows := p.rows[b.first:b.last]
	n, _ := slices.BinarySearchFunc(rows, addr, func(r lineRow, addr uint64) int {
		if r.addr <= addr {
			return -1
		}
		return 1
	})
	return rows[:n]
}

// path returns the name of a file, with its directory.
func (t *LineTable) path(u *unit, file uint32) string {
	p := u.line
	if p == nil || uint64(file) >= uint64(len(p.files)) {
		return ""
	}
	if name, ok := p.paths[file]; ok {
		return name
	}
	f := p.files[file]
	name := t.string(u, u.root, f.name)
	if name != "" && !path.IsAbs(name) {
		if f.dir < uint64(len(p.dirs)) {
			name = path.Join(t.string(u, u.root, p.dirs[f.dir]), name)
		}
		if !path.IsAbs(name) {
			name = path.Join(t.string(u, u.root, u.root.compDir), name)
		}
	}
	if name != "" {
		name = path.Clean(name)
	}
	p.paths[file] = name
	return name
}

// MD5 returns the digest of the text of a source file, as the compiler of the code at an
// address saw it. file is the path as [LineTable.Frames] has it. Line tables of DWARF 5 may
// have digests (6.2.4.1); ok is false if this one does not.
func (t *LineTable) MD5(vaddr uint64, file string) (sum [16]byte, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := t.index.find(vaddr); i >= 0; i = t.index.next(i, vaddr) {
		u := t.units[t.index[i].id]
		p, err := t.lines(u)
		if t.note(err); p == nil {
			continue
		}
		for n := range p.files {
			if md5 := p.files[n].md5; len(md5) == len(sum) && t.path(u, uint32(n)) == file {
				return [16]byte(md5), true
			}
		}
	}
	return sum, false
}
