package unwind

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A debugger steps through a program that QEMU runs, by GDB's remote protocol.
type debugger struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

// startDebugger runs a program and stops it before its first instruction.
func startDebugger(t *testing.T, qemu, program string) *debugger {
	t.Helper()
	path, err := exec.LookPath(qemu)
	if err != nil {
		t.Skipf("%s is not installed", qemu)
	}
	socket := filepath.Join(t.TempDir(), "gdb")
	cmd := exec.Command(path, "-g", socket, program)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 600 {
		if conn, err := net.Dial("unix", socket); err == nil {
			t.Cleanup(func() { conn.Close() })
			return &debugger{t, conn, bufio.NewReader(conn)}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not listen", qemu)
	return nil
}

// ask sends a packet and returns the answer.
func (d *debugger) ask(packet string) string {
	d.t.Helper()
	sum := byte(0)
	for _, b := range []byte(packet) {
		sum += b
	}
	if _, err := fmt.Fprintf(d.conn, "$%s#%02x", packet, sum); err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.r.ReadString('$'); err != nil {
		d.t.Fatal(err)
	}
	answer, err := d.r.ReadString('#')
	if err != nil {
		d.t.Fatal(err)
	}
	d.r.Discard(2)
	d.conn.Write([]byte("+"))
	return strings.TrimSuffix(answer, "#")
}

// gdbRegisters are the DWARF numbers of the registers in the order of GDB.
var gdbRegisters = map[*Arch][]uint8{
	amd64: {0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, programCounter},
	i386:  {0, 1, 2, 3, 4, 5, 6, 7, programCounter},
	arm64: append(slices.Clone(arm64.perf), programCounter),
	arm32: append(slices.Clone(arm32.perf), programCounter),
}

func (d *debugger) registers(a *Arch) *Registers {
	data, err := hex.DecodeString(strings.ReplaceAll(d.ask("g"), "x", "0"))
	if err != nil {
		d.t.Fatal(err)
	}
	r := &Registers{Arch: a}
	c := cursor{data: data}
	for _, n := range gdbRegisters[a] {
		if v := c.uint(a.word); n == programCounter {
			r.PC = v
		} else {
			r.put(n, v)
		}
	}
	if c.bad {
		d.t.Fatalf("%d bytes of registers", len(data))
	}
	return r
}

func (d *debugger) memory(addr uint64, n uint64) []byte {
	const most = 1024
	var data []byte
	for n > 0 {
		piece, err := hex.DecodeString(d.ask(fmt.Sprintf("m%x,%x", addr, min(n, most))))
		if err != nil || len(piece) == 0 {
			d.t.Fatalf("memory at %#x: %v", addr, err)
		}
		data = append(data, piece...)
		addr += uint64(len(piece))
		n -= uint64(len(piece))
	}
	return data
}

// step runs one instruction. It calls signalled if a signal comes before it, and reports whether
// the program goes on.
func (d *debugger) step(signalled func()) bool {
	d.t.Helper()
	for stop := d.ask("s"); ; stop = d.ask("vCont;S" + stop[1:3]) {
		switch {
		case strings.HasPrefix(stop, "W"):
			return false
		case !strings.HasPrefix(stop, "T"):
			d.t.Fatalf("the program stopped with %q", stop)
		case stop[1:3] == "05":
			return true
		}
		signalled()
	}
}

// TestEveryInstruction unwinds a program before each of its instructions and compares with the
// calls and returns that it was seen to make.
func TestEveryInstruction(t *testing.T) {
	tests := []struct {
		name, compiler, qemu string
		args                 []string
		right                func(at place) bool // where the stack must be right
		least                int                 // right stacks of 1,000, over all
	}{
		{"x86-64", "gcc", "qemu-x86_64", []string{"-m64", "-O2", "-fomit-frame-pointer"}, everywhere, 1000},
		{"x86-64 clang", "clang", "qemu-x86_64", []string{"-m64", "-O1", "-fomit-frame-pointer", "-fasynchronous-unwind-tables"}, everywhere, 1000},
		{"x86-64 unoptimized", "gcc", "qemu-x86_64", []string{"-m64", "-O0"}, everywhere, 1000},
		{"x86-64 debug_frame", "gcc", "qemu-x86_64", []string{"-m64", "-O2", "-g", "-gz", "-fno-asynchronous-unwind-tables"}, everywhere, 1000},
		{"x86-64 without tables", "gcc", "qemu-x86_64", []string{"-m64", "-O1", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables"}, never, 990},
		{"x86", "gcc", "qemu-i386", []string{"-m32", "-O2", "-fomit-frame-pointer"}, everywhere, 1000},
		{"AArch64", "aarch64-linux-gnu-gcc", "qemu-aarch64", []string{"-O2", "-fomit-frame-pointer"}, everywhere, 1000},
		{"AArch64 signed", "aarch64-linux-gnu-gcc", "qemu-aarch64", []string{"-O2", "-fomit-frame-pointer", "-march=armv8.3-a", "-mbranch-protection=pac-ret+leaf"}, everywhere, 1000},
		{"AArch64 without tables", "aarch64-linux-gnu-gcc", "qemu-aarch64", []string{"-O1", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables"}, never, 990},
		{"Arm", "arm-linux-gnueabihf-gcc", "qemu-arm", []string{"-marm", "-O2", "-g", "-fomit-frame-pointer"}, everywhere, 1000},
		{"Thumb", "arm-linux-gnueabihf-gcc", "qemu-arm", []string{"-mthumb", "-O2", "-g", "-fomit-frame-pointer"}, everywhere, 1000},
		{"Arm exidx", "arm-linux-gnueabihf-gcc", "qemu-arm", []string{"-marm", "-O2", "-fomit-frame-pointer", "-funwind-tables"}, atCalls, 950},
		{"Thumb exidx", "arm-linux-gnueabihf-gcc", "qemu-arm", []string{"-mthumb", "-O2", "-fomit-frame-pointer", "-funwind-tables"}, atCalls, 950},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			source, err := filepath.Abs("testdata/src/stack.c")
			if err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(t.TempDir(), "stack")
			args := append([]string{"-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-no-pie", "-o", program, source}, test.args...)
			run(t, "", test.compiler, args...)
			stepThrough(t, test.qemu, program, test.right, test.least)
		})
	}
}

// A place is where a program is stepped through.
type place struct {
	entered bool // the first instruction of a function
}

func everywhere(place) bool { return true }

func never(place) bool { return false }

func atCalls(p place) bool { return p.entered }

// A call is a function on the stack that a program is known to have.
type call struct {
	function string
	ra       uint64
}

func stepThrough(t *testing.T, qemu, program string, right func(place) bool, least int) {
	f := open(t, program)
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	name := func(addr uint64) string {
		s, _ := symbols.Lookup(addr)
		return s.Name
	}
	starts := make(map[uint64]string)
	var restorer uint64
	for s := range symbols.All() {
		if s.Name == "restorer" {
			restorer = s.Addr
		}
		starts[s.Addr] = s.Name
	}
	m := module(t, Source{File: f, Function: name})
	find := func(pc uint64) (*Module, uint64, bool) {
		return m, 0, within(m.code, pc)
	}
	a := archOf(f.Arch())
	d := startDebugger(t, qemu, program)
	d.ask("?")

	var u Unwinder
	calls := []call{{"_start", 0}}
	var top, last uint64
	steps, good, wrong := 0, 0, 0
	for ; ; steps++ {
		regs := d.registers(a)
		pc, sp := regs.PC, regs.Value[a.sp]
		if top == 0 {
			top = sp + 16
		}
		now := name(pc)
		if top := calls[len(calls)-1]; top.function == "restorer" && now != top.function {
			// The signal is done, and the instruction that it came before too.
			if calls = calls[:len(calls)-1]; now != calls[len(calls)-1].function {
				calls = calls[:len(calls)-1]
			}
		}
		entered := false
		switch begins := starts[pc]; {
		case len(calls) > 1 && pc == calls[len(calls)-1].ra:
			calls = calls[:len(calls)-1]
		case begins != "" && steps > 0 && begins != calls[len(calls)-1].function || begins == "recursive" && name(last) == begins:
			entered = true
			ra := uint64(0)
			if a.link != none {
				ra = regs.Value[a.link] &^ 1
			} else {
				ra = binary.LittleEndian.Uint64(append(d.memory(sp, a.word), 0, 0, 0, 0))
			}
			if ra == calls[len(calls)-1].ra && begins != "recursive" {
				calls = calls[:len(calls)-1] // a jump instead of the last call
			}
			calls = append(calls, call{begins, ra})
		}
		if now != calls[len(calls)-1].function {
			t.Fatalf("step %d at %#x (%s): the calls are %v", steps, pc, now, calls)
		}
		frames, end := u.Unwind(nil, regs, Stack{SP: sp, Bytes: d.memory(sp, top-sp)}, find)
		var got, want []string
		for _, frame := range frames {
			got = append(got, name(frame.PC))
		}
		for _, c := range slices.Backward(calls) {
			want = append(want, c.function)
		}
		if slices.Equal(got, want) && end == Whole {
			good++
		} else if at := (place{entered: entered}); right(at) {
			wrong++
			if wrong < 10 {
				t.Errorf("at %#x: got %s (%v), want %s", pc, strings.Join(got, ";"), end, strings.Join(want, ";"))
			}
		} else if os.Getenv("UNWIND_SHOW") != "" {
			t.Logf("at %#x: got %s (%v), want %s", pc, strings.Join(got, ";"), end, strings.Join(want, ";"))
		}
		last = pc
		if !d.step(func() {
			// With the signal comes a call of the handler, whose first instruction is
			// part of the next step.
			calls = append(calls, call{"restorer", d.registers(a).PC}, call{"handler", restorer})
		}) {
			break
		}
	}
	t.Logf("%d steps, %d right", steps+1, good)
	if good*1000 < least*(steps+1) {
		t.Errorf("%d of %d stacks are right, want %d of 1,000", good, steps+1, least)
	}
	if steps < 800 {
		t.Errorf("only %d steps", steps)
	}
}
