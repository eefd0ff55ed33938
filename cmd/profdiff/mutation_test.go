//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

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

// TestMutations damages recordings in a thousand ways. Every command must end with
// success or with exit code 3 and one line, within 5 s of CPU time, without a file left behind,
// and with memory in proportion to the input.
func TestMutations(t *testing.T) {
	const timeLimit = 5 * time.Second
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
		var stdout, stderr bytes.Buffer
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cputime.Now()
		code := execute(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
		took := cputime.Now() - start
		runtime.ReadMemStats(&after)
		codes[code]++
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, hidden...)
		switch {
		case code == exitInput:
			lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
			if len(lines) > 2 || !strings.HasPrefix(lines[0], "profdiff: ") || len(lines) == 2 && !strings.HasPrefix(lines[1], "profdiff: hint: ") {
				t.Errorf("%s: error is %q", what, stderr.String())
			}
			if len(left) != 1 {
				t.Errorf("%s: failed and left %q", what, left)
			}
		case code != exitOK:
			t.Errorf("%s: exit code %d: %s", what, code, stderr.String())
		}
		if took > timeLimit {
			t.Errorf("%s: took %v", what, took)
		}
		// All that was ever allocated, a generous bound for what was in use.
		if used, limit := after.TotalAlloc-before.TotalAlloc, uint64(256<<20+200*len(data)); used > limit {
			t.Errorf("%s: allocated %d bytes for %d", what, used, len(data))
		}
		os.Remove(out)
	}
	// Without errors, or with nothing else, the mutations would prove little.
	if codes[exitOK] < mutations/20 || codes[exitInput] < mutations/20 {
		t.Errorf("exit codes %v", codes)
	}
	t.Logf("exit codes %v", codes)
}
