package llvm

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/asm"
)

// dependences are the registers that lines read before they write them, and those that they
// write, without flags and those that only the stand-in mentions.
func dependences(arch asm.Arch, lines []string, ignored map[asm.Register]bool) (reads, writes []asm.Register) {
	read, written := make(map[asm.Register]bool), make(map[asm.Register]bool)
	for _, line := range lines {
		op, _ := asm.OperationOf(arch, line)
		for _, r := range slices.Concat(op.Reads, op.Address) {
			if !written[r] && r < asm.CF && !ignored[r] {
				read[r] = true
			}
		}
		for _, r := range op.Writes {
			if r < asm.CF && !ignored[r] {
				written[r] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(read)), slices.Sorted(maps.Keys(written))
}

// TestRepairsKeepRegisters: what is simulated waits for the same registers, and others for it, as
// is so for the code that it stands for. Idioms wait for nothing.
func TestRepairsKeepRegisters(t *testing.T) {
	arches := map[arch]asm.Arch{archX86: asm.X8664, archARM64: asm.AArch64}
	for _, row := range repairs() {
		a, r := arches[row.arch], row.repair
		scratch := make(map[asm.Register]bool)
		all := make(map[asm.Register]bool)
		for _, line := range r.Code {
			op, _ := asm.OperationOf(a, line)
			for _, x := range slices.Concat(op.Reads, op.Writes, op.Address) {
				all[x] = true
			}
		}
		for _, line := range r.StandIn {
			op, _ := asm.OperationOf(a, line)
			for _, x := range slices.Concat(op.Reads, op.Writes, op.Address) {
				scratch[x] = !all[x]
			}
		}
		reads, writes := dependences(a, r.Code, scratch)
		gotReads, gotWrites := dependences(a, r.StandIn, scratch)
		if diff := cmp.Diff(writes, gotWrites); diff != "" {
			t.Errorf("%s: %s: writes %s", r.Class, strings.Join(r.StandIn, "; "), diff)
		}
		if diff := cmp.Diff(reads, gotReads); diff != "" && !strings.Contains(r.Class, "idiom") {
			t.Errorf("%s: %s: reads %s", r.Class, strings.Join(r.StandIn, "; "), diff)
		}
	}
}
