package objfile

import "bytes"

// Versions of Go's table of functions whose layout is known
// (internal/abi/symtab.go of Go: Go118PCLnTabMagic, Go120PCLnTabMagic).
const (
	go118Table = 0xfffffff0
	go120Table = 0xfffffff1
)

// readGo adds the functions that Go's runtime knows, from .gopclntab. Programs that are linked
// with -s have no other symbols. It adds nothing if the table is of another version, is broken,
// or does not say where the code is that it is of.
func (l *symbolList) readGo(f *File) {
	const name = ".gopclntab"
	s := f.section(name)
	if s == nil {
		if s = f.section(".data.rel.ro" + name); s == nil {
			return
		}
	}
	data, err := f.data(s, name)
	if err != nil {
		return
	}
	c := &sectionReader{data: data, section: name, big: f.big}
	magic := c.u32()
	c.skip(3) // zeros, size of an instruction
	wide := c.u8() == 8
	count := c.word(wide)
	c.word(wide) // number of files
	text := c.word(wide)
	names := c.word(wide)
	end := c.word(wide) // of the names: the table of units
	c.word(wide)
	c.word(wide)
	functions := c.word(wide)
	const entry = 8 // bytes: offset of the code, and of the function's data
	if c.err != nil || magic != go118Table && magic != go120Table || names > end || end > uint64(len(data)) ||
		functions > uint64(len(data)) || count > (uint64(len(data))-functions)/entry {
		return
	}
	strs := data[names:end]
	base, ok := l.names.add(strs)
	if !ok {
		return
	}
	known := text != 0
	if !known {
		// Since Go 1.26 it is not said where the code starts. It is at the start of .text, unless
		// code in C was linked before.
		t := f.section(".text")
		if t == nil {
			return
		}
		text = t.addr
	}
	first := len(l.symbols)
	table := c.at(functions)
	for range count {
		addr, info := text+uint64(table.u32()), table.u32()
		d := c.at(functions)
		d.skip(uint64(info) + 4) // the address again
		id := d.u32()
		if table.err != nil || d.err != nil || uint64(id) >= uint64(len(strs)) {
			l.symbols = l.symbols[:first]
			return
		}
		known = known || addr == f.entry && bytes.HasPrefix(strs[id:], []byte("_rt0_"))
		// Without a size: it reaches to the next.
		l.symbols = append(l.symbols, candidate{addr: addr, id: base + id})
	}
	if !known {
		l.symbols = l.symbols[:first]
	}
}
