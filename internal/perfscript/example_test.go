package perfscript_test

import (
	"fmt"

	"profdiff/internal/perfscript"
)

// The name of a thread may hold anything, spaces and numbers too.
func ExampleParseHeader() {
	h, ok := perfscript.ParseHeader([]byte("my app 2 4711/4712 [003] 12.000500: 250000 cycles:u: "))
	fmt.Println(ok)
	fmt.Printf("%q: process %d, thread %d, CPU %d\n", h.Comm, h.PID, h.TID, h.CPU)
	fmt.Printf("%d ns, %d of %s\n", h.Time, h.Period, h.Event)
	// Output:
	// true
	// "my app 2": process 4711, thread 4712, CPU 3
	// 12000500000 ns, 250000 of cycles:u
}

func ExampleParseFrame() {
	f, ok := perfscript.ParseFrame([]byte("\t    55d0c1e0 std::map<int, long>::at(int const&)+0x1f (/usr/bin/my app)"))
	fmt.Println(ok)
	fmt.Printf("%#x %s in %s\n", f.Addr, f.Symbol, f.DSO)
	// Output:
	// true
	// 0x55d0c1e0 std::map<int, long>::at(int const&) in /usr/bin/my app
}

func ExampleParseBranch() {
	b, n, err := perfscript.ParseBranch([]byte("0x401136/0x401150/M/-/-/17/COND 0x401120/0x401130/P/-/-/1"))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%#x to %#x, mispredicted: %v, after %d cycles, %s, %d bytes\n", b.From, b.To, b.Mispredicted, b.Cycles, b.Type, n)
	// Output:
	// 0x401136 to 0x401150, mispredicted: true, after 17 cycles, COND, 31 bytes
}
