package recording

import (
	"os"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/branch/simulated"
	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/symbolizer"
)

const messageHeap = "../../../profiles/message-heap"

// simulatedHeap is what callgrind counted of message-heap.
func simulatedHeap(t *testing.T) *branch.Table {
	t.Helper()
	f, err := os.Open(messageHeap + "/callgrind/before.out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	table, err := simulated.Read("before.out", f, info.Size(), &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestAnnotate(t *testing.T) {
	table := simulatedHeap(t)
	symfs := objectstest.Dir(messageHeap + "/symbols")
	l, err := annotate.Function(table, "message_compare", symfs)
	if err != nil {
		t.Fatal(err)
	}
	if l.Function != "message_compare" || l.Start != 0x401980 || len(l.Insts) != 17 || len(l.Elsewhere) != 0 {
		t.Errorf("%s at %#x with %d instructions, %d rows elsewhere", l.Function, l.Start, len(l.Insts), len(l.Elsewhere))
	}
	var at []uint64
	for i := range l.Insts {
		in := &l.Insts[i]
		for _, b := range in.Branches {
			at = append(at, in.Addr)
			if b.Address != in.Addr || !strings.HasPrefix(in.Text, "j") || b.Kind != branch.Conditional {
				t.Errorf("%#x %s has the row of a %s branch at %#x", in.Addr, in.Text, b.Kind, b.Address)
			}
			if n := len(in.Frames); n != 1 || in.Frames[0].Line < 99 || in.Frames[0].Line > 118 {
				t.Errorf("%#x: frames %+v", in.Addr, in.Frames)
			}
			if i+1 < len(l.Insts) && !l.Insts[i+1].Block {
				t.Errorf("no block starts at %#x, behind a branch", l.Insts[i+1].Addr)
			}
		}
	}
	if want := []uint64{0x40198a, 0x401991, 0x40199b}; !slices.Equal(at, want) {
		t.Errorf("branches at %#x, want %#x", at, want)
	}
	for _, same := range []string{"message-heap:message_compare", "0x40199b", "message-heap:0x401980"} {
		again, err := annotate.Function(table, same, symfs)
		if err != nil || again.Start != l.Start {
			t.Errorf("%s: %+v, %v", same, again, err)
		}
	}
	inner, err := annotate.Function(table, "heap_sift_down", symfs)
	if err != nil {
		t.Fatal(err)
	}
	loops, inlined := 0, 0
	for i := range inner.Insts {
		loops = max(loops, inner.Insts[i].Loop)
		inlined = max(inlined, len(inner.Insts[i].Frames))
	}
	if loops != 1 || inlined != 2 {
		t.Errorf("heap_sift_down: loops of depth %d, %d frames, want 1 and 2", loops, inlined)
	}
}

func TestAnnotateErrors(t *testing.T) {
	symfs := objectstest.Dir(messageHeap + "/symbols")
	for name, test := range map[string]struct {
		change func(*branch.Table)
		want   string
		symfs  *objects.Store
		err    string
	}{
		"no function": {nil, "mesage_compare", symfs, "no function mesage_compare with branches, there are message_compare, "},
		"part":        {nil, "sift", symfs, "there are heap_sift_up, heap_sift_down, "},
		"other file":  {nil, "libc.so.6:message_compare", symfs, "no function libc.so.6:message_compare with branches"},
		"no binary":   {nil, "message_compare", nil, "message-heap is not found: name a directory that has it by --symfs"},
		"no address":  {nil, "0x10", symfs, "no function 0x10 with branches"},
		"lines": {
			func(t *branch.Table) { t.Branches[0].ByLine = true }, "message_compare", symfs,
			"names lines, not instructions: record with callgrind --dump-instr=yes",
		},
		"several": {
			func(t *branch.Table) {
				for i := range t.Branches {
					if t.Branches[i].Function == "heap_sift_up" {
						t.Branches[i].Function = "message_compare"
					}
				}
			}, "message_compare", symfs,
			"2 functions are called message_compare, name one by its address: message-heap:0x401980 message_compare, message-heap:0x",
		},
		"another build": {
			func(t *branch.Table) {
				for i := range t.Branches {
					if t.Branches[i].Address == 0x40198a {
						t.Branches[i].Address = 0x401987
					}
				}
			}, "message_compare", symfs,
			"the binary is of another build: 1 branches of message_compare are not at branches of its code",
		},
		"inlined": {
			func(t *branch.Table) {
				t.Branches[0].Inlined = []symbolizer.Frame{{Name: "less(int)"}, {Name: t.Branches[0].Function}}
			}, "less", symfs,
			"no function less, but it is inlined into message_compare",
		},
	} {
		t.Run(name, func(t *testing.T) {
			table := simulatedHeap(t)
			if test.change != nil {
				test.change(table)
			}
			l, err := annotate.Function(table, test.want, test.symfs)
			if err == nil || !strings.Contains(err.Error(), test.err) || l != nil {
				t.Errorf("got %v, %v, want an error with %q", l, err, test.err)
			}
		})
	}
	if _, err := annotate.Function(&branch.Table{}, "f", nil); err == nil || !strings.Contains(err.Error(), "no branch has the name of its function") {
		t.Errorf("empty table: %v", err)
	}
}
