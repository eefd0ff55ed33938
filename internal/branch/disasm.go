package branch

import (
	"profdiff/internal/disasm"
	"profdiff/internal/objfile"
)

// openCode returns the code of a file.
func openCode(f *objfile.File) (code, error) {
	c, err := disasm.New(f)
	if err != nil {
		return nil, err
	}
	return decoded{c}, nil
}

type decoded struct{ *disasm.Code }

func (d decoded) decode(vaddr uint64) (instruction, bool) {
	i, err := d.Decode(vaddr)
	if err != nil || i.Len <= 0 {
		return instruction{}, false
	}
	out := instruction{len: i.Len, target: i.Target}
	switch i.Kind {
	case disasm.Conditional:
		out.kind, out.direct = Conditional, i.Target != 0
	case disasm.Jump:
		out.kind, out.direct, out.ends = Direct, i.Target != 0, true
	case disasm.IndirectJump:
		out.kind, out.ends = Indirect, true
	case disasm.Call:
		out.kind, out.direct = Call, i.Target != 0
	case disasm.IndirectCall:
		out.kind = Indirect
	case disasm.Return:
		out.kind, out.ends = Return, true
	case disasm.Trap:
		out.ends = true
	}
	return out, true
}
