package unwind

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A stackOfAddresses is a dump in which each word has its own address.
func stackOfAddresses(sp uint64, size int) Stack {
	s := Stack{SP: sp, Bytes: make([]byte, size)}
	for i := 0; i < size; i += 4 {
		binary.LittleEndian.PutUint32(s.Bytes[i:], uint32(sp)+uint32(i))
	}
	return s
}

// armUnwinder returns an Unwinder before a step, whose registers point into its stack.
func armUnwinder() *Unwinder {
	u := &Unwinder{arch: arm32, stack: stackOfAddresses(0x10000, 1<<16)}
	u.regs.Arch = arm32
	for n := range uint8(15) {
		u.regs.put(n, 0x14000+uint64(n)*0x100)
	}
	u.regs.put(arm32.sp, 0x10100)
	u.next = u.regs
	return u
}

// known returns the registers that are known.
func known(r *Registers, numbers ...uint8) map[uint8]uint64 {
	values := make(map[uint8]uint64)
	for _, n := range numbers {
		if v, ok := r.get(n); ok {
			values[n] = v
		}
	}
	return values
}

// TestExceptionTablesOfReadelf follows the instructions that readelf prints for every entry of the
// exception tables of libraries, and compares the registers.
func TestExceptionTablesOfReadelf(t *testing.T) {
	for name, least := range map[string]int{"libc.so.6": 500, "libstdc++.so.6": 800, "libgcc_s.so.1": 20} {
		t.Run(name, func(t *testing.T) {
			path := library(t, "arm-linux-gnueabihf-gcc", name)
			f := open(t, path)
			m := module(t, Source{File: f})
			table, ok := m.exceptions(f).(*exidxTable)
			if !ok {
				t.Fatal("no exception table")
			}
			entries := strings.Split(run(t, "", "readelf", "-u", path), "\n\n")
			index, compared, generic := 0, 0, 0
			for _, entry := range entries {
				lines := strings.Split(strings.TrimSpace(entry), "\n")
				if !strings.HasPrefix(lines[0], "0x") {
					continue
				}
				at, rest, _ := strings.Cut(lines[0], ":")
				at, _, _ = strings.Cut(at, " ")
				start, err := strconv.ParseUint(at, 0, 32)
				if err != nil {
					t.Fatal(entry)
				}
				if got := table.start(index); got != start&^1 {
					t.Fatalf("entry %d is for %#x, want %#x", index, got, start)
				}
				index++
				got := table.find(start&^1, false)
				switch {
				case strings.Contains(rest, "cantunwind"):
					if got.kind != ruleRoot {
						t.Errorf("%#x: %+v, want a root", start, got)
					}
					continue
				case strings.Contains(entry, "Personality routine"):
					generic++
					if got.kind != ruleEHABI {
						t.Errorf("%#x: no instructions", start)
					}
					continue
				}
				if got.kind != ruleEHABI {
					t.Errorf("%#x: no instructions, want\n%s", start, entry)
					continue
				}
				compared++
				u := armUnwinder()
				_, more := u.byEHABI(got, true)
				want, ok := followReadelf(t, lines[1:])
				if ok != more {
					t.Errorf("%#x: %v, want %v\n%s", start, more, ok, entry)
				}
				all := []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
				if diff := cmp.Diff(known(want, all...), known(&u.next, all...)); ok && diff != "" || want.PC != u.next.PC {
					t.Errorf("%#x: -want +got:\n%s\npc %#x, want %#x\n%s", start, diff, u.next.PC, want.PC, entry)
				}
			}
			t.Logf("%d entries, %d compared, %d of other personalities", index, compared, generic)
			if want := len(table.data) / exidxEntry; index != want || compared < least {
				t.Errorf("%d entries of %d, %d compared, want %d", index, want, compared, least)
			}
		})
	}
}

// followReadelf follows instructions as readelf words them.
func followReadelf(t *testing.T, lines []string) (*Registers, bool) {
	u := armUnwinder()
	vsp := u.regs.Value[arm32.sp]
	popped := false
	for _, line := range lines {
		if !strings.HasPrefix(line, "  0x") {
			continue
		}
		fields := strings.Fields(line)
		for len(fields) > 0 && strings.HasPrefix(fields[0], "0x") {
			fields = fields[1:]
		}
		text := strings.Join(fields, " ")
		var n, from uint64
		var sign string
		switch {
		case text == "finish":
		case scan(text, "vsp = vsp %s %d", &sign, &n):
			if sign == "-" {
				n = -n
			}
			vsp += n
		case scan(text, "vsp = r%d", &from):
			vsp = u.next.Value[from]
		case strings.HasPrefix(text, "pop {"):
			list := strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "pop {"), "}"), ", ")
			at := vsp
			for _, r := range list {
				switch {
				case scan(r, "r%d", &n):
					v, _ := u.read(at, 4)
					u.next.put(uint8(n), v)
					popped = popped || n == 15
					at += 4
				case scan(r, "D%d-D%d", &from, &n):
					at += 8 * (n - from + 1)
				case scan(r, "D%d", &n):
					at += 8
				default:
					t.Fatal(line)
				}
			}
			vsp = at
			if strings.Contains(text, "r13") {
				vsp = u.next.Value[arm32.sp]
			}
		case text == "Refuse to unwind":
			return &u.next, false
		default:
			t.Fatalf("readelf says %q", line)
		}
	}
	u.next.put(arm32.sp, vsp)
	u.next.PC = u.next.Value[14]
	if popped {
		u.next.PC = u.next.Value[15]
	}
	return &u.next, true
}

func scan(text, format string, values ...any) bool {
	n, err := fmt.Sscanf(text, format, values...)
	return err == nil && n == len(values)
}

// TestExceptionTablesAgree compares both tables of programs behind each of their calls.
func TestExceptionTablesAgree(t *testing.T) {
	for _, mode := range []string{"-marm", "-mthumb"} {
		for _, source := range []string{"cleanup.c", "stack.c"} {
			t.Run(source+mode, func(t *testing.T) {
				program := filepath.Join(t.TempDir(), "program")
				run(t, "", "arm-linux-gnueabihf-gcc", mode, "-O2", "-g", "-fexceptions", "-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector",
					"-fomit-frame-pointer", "-fno-pie", "-no-pie", "-o", program, filepath.Join("testdata", "src", source))
				f := open(t, program)
				m := module(t, Source{File: f})
				frames, exceptions := m.frames(f, ".debug_frame"), m.exceptions(f)
				compared := 0
				for _, code := range m.code {
					for ra := code.lo + 8; ra < code.hi; ra += 2 {
						if _, _, is := m.readCall(ra); !is {
							continue
						}
						want, got := frames.find(ra-2, false), exceptions.find(ra-2, false)
						if want == nil || want.kind != ruleCFI || got == nil || got.kind != ruleEHABI {
							continue // data, or _start
						}
						a, b := armUnwinder(), armUnwinder()
						endA, moreA := a.byCFI(want, false)
						endB, moreB := b.byEHABI(got, false)
						if moreA != moreB || endA != endB {
							t.Errorf("%#x: %v %v, want %v %v", ra, moreB, endB, moreA, endA)
							continue
						}
						saved := []uint8{4, 5, 6, 7, 8, 9, 10, 11, 13}
						if diff := cmp.Diff(known(&a.next, saved...), known(&b.next, saved...)); diff != "" || a.next.PC != b.next.PC {
							t.Errorf("%#x: pc %#x, want %#x; -want +got:\n%s", ra, b.next.PC, a.next.PC, diff)
						}
						compared++
					}
				}
				t.Logf("%d calls", compared)
				if compared < 15 {
					t.Errorf("%d calls", compared)
				}
			})
		}
	}
}
