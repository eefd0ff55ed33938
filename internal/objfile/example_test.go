package objfile_test

import (
	"fmt"
	"strings"

	"profdiff/internal/objfile"
)

func ExampleSymbolTable_Lookup() {
	t, err := objfile.ParsePerfMap(strings.NewReader("7f0000001000 40 Interpreter\n7f0000001040 c0 JIT tier1 sum(int[])\n"))
	if err != nil {
		panic(err)
	}
	s, ok := t.Lookup(0x7f0000001050)
	fmt.Printf("%s at %#x, %d bytes, %t\n", s.Name, s.Addr, s.Len, ok)
	// Output: JIT tier1 sum(int[]) at 0x7f0000001040, 192 bytes, true
}
