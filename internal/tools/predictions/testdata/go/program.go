// The program around a change, as ../program.c is in C.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"time"
)

// state of Sebastiano Vigna's SplitMix64.
var state uint64 = 1

func randomNext() uint64 {
	state += 0x9e3779b97f4a7c15
	z := state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func randomBelow(limit int) int {
	return int(randomNext() >> 32 * uint64(limit) >> 32)
}

// main does what the arguments say: seconds S, passes N, steps or units, and a file for programs that read one.
// prepare returns the units of work of a pass; reset makes the input new.
func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: seconds S|passes N|steps|units [FILE]")
		os.Exit(2)
	}
	mode, arguments, number := os.Args[1], os.Args[2:], 0.0
	if mode == "seconds" || mode == "passes" {
		number, _ = strconv.ParseFloat(arguments[0], 64)
		arguments = arguments[1:]
	}
	var text []byte
	if len(arguments) > 0 {
		var err error
		if text, err = os.ReadFile(arguments[0]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	units := prepare(text)
	var sum uint64
	switch mode {
	case "units":
		fmt.Println(units)
	case "steps":
		for in := bufio.NewReaderSize(os.Stdin, 16); ; {
			if _, err := in.ReadByte(); err != nil {
				return
			}
			reset()
			pass() // what the other program had in the caches comes back
			reset()
			start := time.Now()
			sum = pass()
			fmt.Printf("%d %016x\n", time.Since(start).Nanoseconds(), sum)
		}
	case "passes":
		for range int(number) {
			reset()
			sum = pass()
		}
		fmt.Printf("%016x\n", sum)
	case "seconds":
		n := 0
		for start := time.Now(); time.Since(start).Seconds() < number; n++ {
			reset()
			pass()
		}
		fmt.Println(n)
	}
}
