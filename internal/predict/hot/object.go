package hot

import (
	"fmt"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
)

// Listing is the code of an object file that was not linked. Calls have the names that
// relocations give, whose code may be elsewhere.
func Listing(functions []llvm.Function, arch asm.Arch) *asm.Listing {
	l := &asm.Listing{Arch: arch, Labels: make(map[string]int)}
	for i := range functions {
		f := &functions[i]
		first := len(l.Insts)
		index := make(map[uint64]int, len(f.Instructions))
		for k := range f.Instructions {
			in := &f.Instructions[k]
			if in.Data {
				continue
			}
			line := asm.Inst{Text: in.Text, Addr: in.Addr, To: -1}
			line.Kind, _ = asm.KindOf(arch, in.Text)
			if k+1 < len(f.Instructions) {
				line.Len = int(f.Instructions[k+1].Addr - in.Addr)
			}
			if symbol, ok := f.Calls[k]; ok {
				line.Target = symbol
			} else if in.Target != 0 {
				line.Target = fmt.Sprintf("%#x", in.Target)
			}
			index[in.Addr] = len(l.Insts)
			l.Insts = append(l.Insts, line)
		}
		for k := first; k < len(l.Insts); k++ {
			var addr uint64
			if _, err := fmt.Sscanf(l.Insts[k].Target, "0x%x", &addr); err != nil {
				continue
			}
			if to, ok := index[addr]; ok {
				l.Insts[k].To = to
			}
		}
		if len(l.Insts) > first {
			l.Functions = append(l.Functions, asm.Function{Name: f.Name, First: first, End: len(l.Insts)})
		}
	}
	return l
}
