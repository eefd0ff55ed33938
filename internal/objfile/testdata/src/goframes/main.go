// Command goframes prints what the Go runtime knows of the addresses in its own
// text that it reads from standard input: an address, then function, file and line
// of the innermost frame.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		addr, err := strconv.ParseUint(strings.TrimPrefix(in.Text(), "0x"), 16, 64)
		if err != nil {
			panic(err)
		}
		fmt.Println(in.Text())
		// A return address stands for the instruction before it.
		f, _ := runtime.CallersFrames([]uintptr{uintptr(addr) + 1}).Next()
		fmt.Printf("%s\t%s\t%d\n", f.Function, f.File, f.Line)
	}
}
