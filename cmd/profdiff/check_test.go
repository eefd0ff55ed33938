package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// noise is by how much runs of perfRuns differ.
var noise = [...]float64{1, 1.03, 0.98, 1.01, 0.97, 1.02, 0.99, 1.015, 0.985, 1.005}

// perfRuns DIR RUNS KEY=VALUE… writes runs as perf script prints them. Keys are
//
//	first, step  the second at which the first run starts, and how many seconds later the
//	             next does: 0 and 2
//	event        cpu-clock
//	lost         number of samples that each run lost
//	constant     yes for runs without noise
//	header       NAME:VALUE, a line of the header, as os release:6.1
//	scale        by which all counts are multiplied
//
// and any other is a stack of functions, outermost first and separated by semicolons, with
// its number of samples.
func perfRuns(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	runs, err := strconv.Atoi(args[1])
	ts.Check(err)
	type stack struct {
		frames []string
		count  float64
	}
	var stacks []stack
	first, step, lost, scale := 0.0, 2.0, 0.0, 1.0
	event, header, constant := "cpu-clock", "", false
	for _, arg := range args[2:] {
		i := strings.LastIndexByte(arg, '=') // names have some, too
		if strings.HasPrefix(arg, "header=") {
			i = len("header")
		}
		if i < 0 {
			ts.Fatalf("perfruns: %q is no KEY=VALUE", arg)
		}
		key, value := arg[:i], arg[i+1:]
		number := func() float64 {
			v, err := strconv.ParseFloat(value, 64)
			ts.Check(err)
			return v
		}
		switch key {
		case "first":
			first = number()
		case "step":
			step = number()
		case "lost":
			lost = number()
		case "scale":
			scale = number()
		case "event":
			event = value
		case "constant":
			constant = true
		case "header":
			name, v, _ := strings.Cut(value, ":")
			header += fmt.Sprintf("# %s : %s\n", name, v)
		default:
			stacks = append(stacks, stack{strings.Split(key, ";"), number()})
		}
	}
	for run := range runs {
		var b strings.Builder
		b.WriteString(header)
		at := 1000 + first + step*float64(run)
		n := 0
		for i, s := range stacks {
			count := s.count * scale
			if !constant {
				count *= noise[(run+3*i)%len(noise)]
			}
			for range int(count + 0.5) {
				n++
				fmt.Fprintf(&b, "app 7/7 [000] %.6f: 1000000 %s: \n", at+float64(n)/1e4, event)
				for j := len(s.frames) - 1; j >= 0; j-- {
					fmt.Fprintf(&b, "\t%x %s (/usr/bin/app)\n", 0x1000*(i+1)+j, s.frames[j])
				}
				b.WriteString("\n")
			}
		}
		if lost > 0 {
			fmt.Fprintf(&b, "app 7/7 [000] %.6f: PERF_RECORD_LOST lost %d\n", at+1, int(lost))
		}
		ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.txt", run+1)), []byte(b.String()), 0o666))
	}
}
