package objfile

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync"
)

// locals are the functions of a symbol table that are local to a compilation unit, as
// static ones of C are: several may have one name. The symbol of type STT_FILE before
// them names their source file (gABI, "Symbol Table").
type locals struct {
	list  []localSymbol
	names stringTables

	once   sync.Once
	byName []localName // by hash
}

type localSymbol struct {
	addr, size uint64
	name, file uint32 // ids of names; noFile is no file
}

// noFile stands for the file of symbols of which none is known.
const noFile uint32 = math.MaxUint32

// maxNamesakes bounds the functions of one name that are looked at.
const maxNamesakes = 1 << 10

type localName struct {
	hash uint64
	at   uint32 // index in list
}

// isSource reports whether the name of an STT_FILE symbol is that of a source file: those
// that are made in link-time optimization are named after objects that the linker made.
func isSource(name []byte) bool {
	return len(name) > 0 && name[0] != '<' && !bytes.HasSuffix(name, []byte(".o"))
}

var hashSeed = maphash.MakeSeed()

// Origin tells a function that is local to a compilation unit apart from others of its name:
// the name of its source file, or if that does not tell it apart its address, as "0x1234".
// It is "" for functions that are global, and for local ones that need no telling apart and
// of which no file is known.
//
// Functions of one name and one size are copies of one function, which a header has for
// every file that includes it; they have the origin of the first.
func (t *SymbolTable) Origin(s Symbol) string {
	l := &t.locals
	if len(l.list) == 0 {
		return ""
	}
	l.once.Do(l.index)
	same := l.named([]byte(s.Name))
	at := slices.IndexFunc(same, func(x *localSymbol) bool { return x.addr == s.Addr })
	if at < 0 {
		return ""
	}
	own := same[at]
	for _, x := range same {
		if x.size == own.size {
			own = x
			break
		}
	}
	apart := true // by the file
	alone := true
	for _, x := range same {
		if x.size != own.size {
			alone = false
			apart = apart && l.file(x) != l.file(own)
		}
	}
	switch {
	case !alone && (own.file == noFile || !apart):
		return fmt.Sprintf("%#x", own.addr)
	case own.file == noFile:
		return ""
	}
	return l.file(own)
}

func (l *locals) file(s *localSymbol) string {
	if s.file == noFile {
		return ""
	}
	return string(l.names.name(s.file))
}

func (l *locals) index() {
	l.byName = make([]localName, len(l.list))
	for i := range l.list {
		l.byName[i] = localName{maphash.Bytes(hashSeed, l.names.name(l.list[i].name)), uint32(i)}
	}
	slices.SortFunc(l.byName, func(a, b localName) int { return cmp.Compare(a.hash, b.hash) })
}

// named lists the functions of a name by address.
func (l *locals) named(name []byte) (same []*localSymbol) {
	hash := maphash.Bytes(hashSeed, name)
	i, _ := slices.BinarySearchFunc(l.byName, hash, func(n localName, hash uint64) int { return cmp.Compare(n.hash, hash) })
	for ; i < len(l.byName) && l.byName[i].hash == hash && len(same) < maxNamesakes; i++ {
		if s := &l.list[l.byName[i].at]; bytes.Equal(l.names.name(s.name), name) {
			same = append(same, s)
		}
	}
	slices.SortFunc(same, func(a, b *localSymbol) int { return cmp.Compare(a.addr, b.addr) })
	return same
}
