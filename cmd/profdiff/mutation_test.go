//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"profdiff/internal/cputime"
)

// mutate damages data in place, or returns a shorter or longer copy.
func mutate(rng *rand.Rand, data []byte) []byte {
	n := len(data)
	// Headers and tables are where damage hurts most.
	at := func() int {
		if rng.IntN(2) == 0 {
			return rng.IntN(min(n, 1024))
		}
		return rng.IntN(n)
	}
	for range 1 + rng.IntN(4) {
		switch rng.IntN(7) {
		case 0:
			return data[:rng.IntN(n)]
		case 1:
			data[at()] ^= 1 << rng.IntN(8)
		case 2:
			data[at()] = byte(rng.Uint32())
		case 3: // a number that lies
			values := []uint64{0, 1, 7, 8, uint64(n), uint64(n) + 1, 1 << 31, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1}
			if i := at() &^ 7; i+8 <= n {
				binary.LittleEndian.PutUint64(data[i:], values[rng.IntN(len(values))])
			}
		case 4:
			i := at()
			clear(data[i:min(n, i+rng.IntN(256))])
		case 5: // a piece repeated
			i, j := at(), at()
			copy(data[i:], data[j:min(n, j+rng.IntN(4096))])
		case 6: // a piece missing
			i := at()
			return append(data[:i:i], data[min(n, i+1+rng.IntN(64)):]...)
		}
	}
	return data
}

// survive runs a command on inputs of so many bytes in a folder, from which it writes at most the file out. It checks that the
// command ends with success, with a wrong command line (of flags that do not go with the format) or
// with exit code 3 and one line; within 30 s of CPU time; with memory in proportion to the input; and
// that a command that fails leaves no file behind, but for the store of a fleet. It returns the exit code.
func survive(t *testing.T, what, dir string, args []string, size int) int {
	t.Helper()
	return surviveWith(t, what, dir, args, size, strings.NewReader(""))
}

// surviveWith is survive with a standard input.
func surviveWith(t *testing.T, what, dir string, args []string, size int, stdin io.Reader) int {
	t.Helper()
	const timeLimit = 30 * time.Second
	before := names(t, dir)
	var stdout, stderr bytes.Buffer
	var memory, memoryAfter runtime.MemStats
	runtime.ReadMemStats(&memory)
	start := cputime.Now()
	code := exitPanic
	func() {
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: panic: %v\n%s", what, p, debug.Stack())
			}
		}()
		code = execute(context.Background(), args, stdin, &stdout, &stderr)
	}()
	took := cputime.Now() - start
	runtime.ReadMemStats(&memoryAfter)
	after := names(t, dir)
	if args[0] == "fleet" { // of what was not read, a store says so
		after = slices.DeleteFunc(after, func(name string) bool { return name == "out" })
	}
	switch code {
	case exitInput:
		lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
		// What was read before it failed has its account, and warnings.
		lines = slices.DeleteFunc(lines, func(line string) bool {
			return strings.HasPrefix(line, "profdiff: warning: ") || accountLine.MatchString(line)
		})
		if len(lines) > 2 || len(lines) == 0 || !strings.HasPrefix(lines[0], "profdiff: ") || len(lines) == 2 && !strings.HasPrefix(lines[1], "profdiff: hint: ") {
			t.Errorf("%s: error is %q", what, stderr.String())
		}
	case exitOK:
		after = slices.DeleteFunc(after, func(name string) bool { return name == "out" })
	case exitUsage:
	default:
		t.Errorf("%s: exit code %d: %s", what, code, stderr.String())
	}
	if !slices.Equal(before, after) {
		t.Errorf("%s: left %q of %q", what, after, before)
	}
	if i := strings.IndexFunc(stderr.String(), func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }); i >= 0 {
		t.Errorf("%s: byte %d of what it said is a control character: %q", what, i, stderr.String())
	}
	if took > timeLimit {
		t.Errorf("%s: took %v", what, took)
	}
	// All that was ever allocated, a generous bound for what was in use.
	if used, limit := memoryAfter.TotalAlloc-memory.TotalAlloc, uint64(256<<20+200*size); used > limit {
		t.Errorf("%s: allocated %d bytes for %d", what, used, size)
	}
	return code
}

// exitPanic is no exit code of a command: it stands for a panic.
const exitPanic = -1

var accountLine = regexp.MustCompile(`^profdiff: .*: samples: [0-9]+ in = `)

// TestMutations damages recordings in a thousand ways. Every command must end with
// success or with exit code 3 and one line, within 30 s of CPU time, without a file left behind,
// and with memory in proportion to the input.
func TestMutations(t *testing.T) {
	mutations := 1200
	switch {
	case *longMode:
		mutations = 10_000
	case testing.Short():
		mutations = 150
	}
	files := recordings(t)
	rng := rand.New(rand.NewPCG(15, 16))
	dir := t.TempDir()
	codes := make(map[int]int)
	for i := range mutations {
		file := files[i%len(files)]
		original, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data := mutate(rng, original)
		in := filepath.Join(dir, "in")
		if err := os.WriteFile(in, data, 0o666); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "out")
		args := [][]string{
			{"convert", in, "-o", out},
			{"convert", in, "-o", out, "--allow-truncated", "--label", "pid,tid,cpu,mode"},
			{"show", in, "-o", out, "--format", "json"},
			{"dump", in, "-o", out},
			{"diff", in, file, "-o", out},
		}[rng.IntN(5)]
		what := fmt.Sprintf("mutation %d of %s: profdiff %s", i, filepath.Base(file), args[0])
		codes[survive(t, what, dir, args, len(data))]++
		os.Remove(out)
	}
	// Without errors, or with nothing else, the mutations would prove little.
	if codes[exitOK] < mutations/20 || codes[exitInput] < mutations/20 {
		t.Errorf("exit codes %v", codes)
	}
	t.Logf("exit codes %v", codes)
}
