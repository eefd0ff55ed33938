package predict

import (
	"strings"

	"profdiff/internal/asm"
)

// stride is by how many bytes the addresses of an iteration go on, 0 if that is not the
// same for all or not known.
func (s *Side) stride() int {
	if s.Loop < 0 {
		return 0
	}
	g := s.Code.Root
	steps := make(map[asm.Register]int)
	writes := make(map[asm.Register]int)
	scales := make(map[asm.Register]int)
	for _, b := range g.Loops[s.Loop].Blocks {
		for i := g.Blocks[b].First; i < g.Blocks[b].End; i++ {
			op, _ := asm.OperationOf(g.Arch, g.Insts[i].Text)
			for _, w := range op.Writes {
				writes[w]++
			}
			if r, step := asm.InductionStep(g.Arch, g.Insts[i].Text); step != 0 && g.LoopOf[b] == s.Loop {
				steps[r] += step
			}
			if op.Memory != "" && (op.Load || op.Store) {
				for k, r := range op.Address {
					scale := 1
					if k > 0 || len(op.Address) == 1 && strings.Contains(op.Memory, "(,") {
						scale = asm.Scale(g.Arch, op.Memory)
					}
					scales[r] = max(scales[r], scale)
				}
			}
		}
	}
	found := 0
	for r, step := range steps {
		scale, used := scales[r]
		if !used || writes[r] != 1 || step <= 0 {
			continue
		}
		if found != 0 && found != step*scale {
			return 0
		}
		found = step * scale
	}
	return found
}
