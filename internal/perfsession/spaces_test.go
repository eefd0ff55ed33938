package perfsession

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpaces(t *testing.T) {
	s := NewSpaces()
	user := func(pid int32, start, end, off uint64, path string) {
		s.Map(Mapping{Start: start, End: end, PgOff: off, PID: pid, DSO: s.DSO(path, "", false)})
	}
	user(1, 0x1000, 0x3000, 0, "/app")
	user(1, 0x5000, 0x5000, 0, "/nothing")
	user(1, 0x8000, 0x10, 0, "/end")
	s.Map(Mapping{Start: 0xffffffff81000000, End: 0xffffffff82000000, PgOff: 0xffffffff81000000, PID: -1, DSO: s.DSO("[kernel.kallsyms]_text", "", true)})
	s.Fork(1, 2)
	s.Fork(1, 1)
	s.Fork(7, 8)
	user(1, 0x2000, 0x3000, 0x40, "/later")
	user(2, 0x2000, 0x2800, 0, "")
	for _, test := range []struct {
		pid  int32
		addr uint64
		want string // path and offset
	}{
		{1, 0x1800, "/app 800"},
		{1, 0x2800, "/later 840"},
		{1, 0x3000, ""},
		{1, 0x5000, ""},
		{1, 1<<63 - 1, "/end 7fffffffffff7fff"},
		{2, 0x1800, "/app 800"},
		{2, 0x2400, "//anon 400"},
		{2, 0x2800, "/app 1800"},
		{8, 0x1800, ""},
		{9, 0x1800, ""},
		{9, 0xffffffff81000010, "[kernel.kallsyms] ffffffff81000010"},
		{1, 0xffffffff82000000, ""},
	} {
		got := ""
		if m := s.Find(test.pid, test.addr); m != nil {
			got = fmt.Sprintf("%s %x", m.DSO.Path, test.addr-m.Start+m.PgOff)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("process %d, %#x: %s", test.pid, test.addr, diff)
		}
	}
	// A process of the same number has nothing of the one before.
	s.Fork(7, 2)
	if m := s.Find(2, 0x1800); m != nil {
		t.Errorf("a process that started anew has %s", m.DSO.Path)
	}
	if k := s.Kernel(); k.Text != 0xffffffff81000000 || k.ID >= len(s.DSOs) || s.Kernel() != k {
		t.Errorf("kernel %+v", k)
	}
	if k := new(NewSpaces()).Kernel(); !k.Kernel || k.Path != KernelPath {
		t.Errorf("made up kernel %+v", k)
	}
}
