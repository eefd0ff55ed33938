package objfile

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

const noteGNUBuildID = 3 // NT_GNU_BUILD_ID

// BuildID returns the GNU build ID in lower-case hexadecimal, "" if there is none.
// It is looked for in the note sections first, then in the PT_NOTE segments, which
// are all that a file without section table has. That of a supplementary file is what
// .debug_sup has.
func (f *File) BuildID() string {
	budget := uint64(f.size) // that headers may claim the same bytes again and again
	for i := range f.sections {
		if s := &f.sections[i]; s.typ == elf.SHT_NOTE && s.size <= budget {
			budget -= s.size
			if id := f.buildIDInNotes(s.off, s.size, s.align); id != "" {
				return id
			}
		}
	}
	for _, p := range f.progs {
		if p.typ == elf.PT_NOTE && p.filesz <= budget {
			budget -= p.filesz
			if id := f.buildIDInNotes(p.off, p.filesz, p.align); id != "" {
				return id
			}
		}
	}
	if supplementary, _, id, ok := f.debugSup(); ok && supplementary {
		return id
	}
	return ""
}

// debugSup reads .debug_sup (DWARF 5, 7.3.6): whether the file is a supplementary one, or else
// the name of that, and the ID that both have.
func (f *File) debugSup() (supplementary bool, name, id string, ok bool) {
	s := f.section(".debug_sup")
	if s == nil {
		return false, "", "", false
	}
	data, err := f.data(s, ".debug_sup")
	if err != nil {
		return false, "", "", false
	}
	c := &sectionReader{data: data, section: ".debug_sup", big: f.big}
	version := c.u16()
	supplementary = c.u8() != 0
	name = string(c.cstring())
	id = hex.EncodeToString(c.bytes(c.uleb()))
	return supplementary, name, id, c.err == nil && version == 5
}

// buildIDInNotes reads a list of notes. A list that is broken, or outside of the
// file, has none.
func (f *File) buildIDInNotes(off, size, align uint64) string {
	data, err := readAt(f.r, f.size, "notes", off, size)
	if err != nil {
		return ""
	}
	// Notes are padded to 4 bytes, to 8 in the sections that ask for it, whatever
	// the gABI says of 64-bit files.
	pad := 4
	if align == 8 {
		pad = 8
	}
	return buildID(&sectionReader{data: data, section: "notes", big: f.big}, pad)
}

// BuildIDOfNotes returns the build ID in a list of notes of this machine's byte order, as
// /sys/kernel/notes is one, "" if there is none.
func BuildIDOfNotes(notes []byte) string {
	big := binary.NativeEndian.Uint16([]byte{0, 1}) == 1
	return buildID(&sectionReader{data: notes, section: "notes", big: big}, 4)
}

func buildID(c *sectionReader, pad int) string {
	for c.err == nil && c.remaining() > 0 {
		nameSize, descSize, typ := c.u32(), c.u32(), c.u32()
		name := c.bytes(uint64(nameSize))
		c.align(pad)
		desc := c.bytes(uint64(descSize))
		c.align(pad)
		if c.err == nil && typ == noteGNUBuildID && strings.TrimRight(string(name), "\x00") == "GNU" && len(desc) > 0 {
			return hex.EncodeToString(desc)
		}
	}
	return ""
}

// DebugLink returns the name of the separate debug file and the CRC-32 (IEEE) of
// its contents, as .gnu_debuglink has them; ok is false if there is no such
// section. The debug file has the same addresses, so its [LineTable] and
// [SymbolTable] serve for this file. GDB's manual, "Debugging Information in
// Separate Files", says where to search for it.
func (f *File) DebugLink() (name string, crc uint32, ok bool) {
	s := f.section(".gnu_debuglink")
	if s == nil {
		return "", 0, false
	}
	data, err := f.data(s, ".gnu_debuglink")
	if err != nil {
		return "", 0, false
	}
	c := &sectionReader{data: data, section: ".gnu_debuglink", big: f.big}
	link := c.cstring()
	c.align(4)
	crc = c.u32()
	if c.err != nil || len(link) == 0 {
		return "", 0, false
	}
	return string(link), crc, true
}

// AltDebugLink returns the name and build ID of the supplementary debug file that
// .gnu_debugaltlink or .debug_sup names; ok is false if there is no such section. dwz puts there
// what the debug files of a package have in common. See
// [LineTable.SetSupplementary].
func (f *File) AltDebugLink() (name, buildID string, ok bool) {
	s := f.section(".gnu_debugaltlink")
	if s == nil {
		supplementary, name, id, ok := f.debugSup()
		return name, id, ok && !supplementary && name != ""
	}
	data, err := f.data(s, ".gnu_debugaltlink")
	if err != nil {
		return "", "", false
	}
	c := &sectionReader{data: data, section: ".gnu_debugaltlink", big: f.big}
	link := c.cstring()
	id := c.bytes(uint64(c.remaining()))
	if c.err != nil || len(link) == 0 {
		return "", "", false
	}
	return string(link), hex.EncodeToString(id), true
}
