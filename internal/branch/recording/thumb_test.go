package recording

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/code"
	"profdiff/internal/branch/skid"
	"profdiff/internal/disasm"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perffile/perffiletest"
)

// TestSampledThumb names the branch on data behind imprecise samples of Thumb code.
func TestSampledThumb(t *testing.T) {
	for name, program := range branchtest.ArmPrograms(t) {
		data := readTestFile(t, program)
		files := code.New(objectstest.Dir(filepath.Dir(program)))
		defer files.Close()
		found, why := files.At("/"+filepath.Base(program), "", 0)
		if found == nil {
			t.Fatal(why)
		}
		arm, object := found.Code, found.Object
		symbols, err := object.File().Symbols()
		if err != nil {
			t.Fatal(err)
		}
		f, err := arm.FunctionAt(branchtest.AddressOf(symbols, "pick"))
		if err != nil {
			t.Fatal(err)
		}
		w := skid.NewWalker(arm)
		// The last instruction of the loop: behind the branch on data and before the end.
		var at *disasm.Inst
		for i := range f.Insts {
			if in := &f.Insts[i]; f.LoopOf(f.Block(in.Addr)) >= 0 && in.Kind == disasm.Other {
				at = in
			}
		}
		want, err := w.Walk(at.Addr)
		if err != nil || len(want) == 0 {
			t.Fatalf("%s: %v: %v", name, want, err)
		}
		var offset uint64
		for _, s := range object.File().Segments() {
			if s.Executable {
				offset = s.Vaddr - s.Offset
			}
		}
		attrs := strings.Replace(missAttr, "type=hardware config=5", "type=raw config=0x10", 1)
		text := "header\n" + attrs + branchAttr + fmt.Sprintf("MMAP2 misc=USER pid=10 tid=10 start=%#x len=0x100000 pgoff=0 prot=READ|EXEC filename=\"/app\" sample_id={pid=10,tid=10,time=1,id=1,cpu=0}\n", offset) +
			smSamples(20, 1, 10, at.Addr, "") + smSamples(40, 2, 100, want[0].Address, "") + "feature ARCH arch=\"armv7l\"\n"
		recording := perffiletest.Fixture(t, text)
		table, err := readBytes("app.data", recording, withApp(data))
		if err != nil {
			t.Fatal(err)
		}
		branchtest.CheckTable(t, table)
		if len(table.Branches) == 0 || table.Branches[0].Function != "pick" {
			t.Fatalf("%s: %+v", name, table.Sampled.Attribution)
		}
		got := map[uint64]bool{table.Branches[0].Address: true}
		for _, c := range table.Branches[0].Sampled.Candidates {
			got[c.Address] = true
		}
		if !got[want[0].Address] {
			t.Errorf("%s: %#x is not among %v", name, want[0].Address, got)
		}
	}
}
