package disasm

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"profdiff/internal/cputime"
)

// TestHostile looks at code that is made to take long.
func TestHostile(t *testing.T) {
	size := 1 << 20
	if testing.Short() {
		size = 1 << 17
	}
	nested := func() []byte { // each jump back encloses all loops before it
		n := size / 7
		text := bytes.Repeat([]byte{0x90}, n)
		for i := n - 1; i >= 0; i-- {
			text = append(text, 0x0f, 0x85)
			text = binary.LittleEndian.AppendUint32(text, uint32(i-len(text)-4))
		}
		return append(text, 0xc3)
	}
	random := func() []byte { // jumps from everywhere to everywhere
		r := rand.New(rand.NewPCG(5, 6))
		var text []byte
		for len(text) < size {
			text = append(text, 0x0f, 0x85)
			text = binary.LittleEndian.AppendUint32(text, uint32(r.IntN(size/6)*6-len(text)-4))
		}
		return text
	}
	ladder := func() []byte { // every block goes to the next two and the one before
		var text []byte
		for len(text) < size {
			text = append(text, 0x75, 0x02, 0x75, 0xfb)
		}
		return text
	}
	// Every jump goes through the same table of 256 entries.
	tables := func() []byte {
		var text []byte
		for len(text) < size/4 {
			text = append(text, 0x0f, 0xb6, 0xc0, 0xff, 0x24, 0xc5, 0x00, 0x20, 0x00, 0x01)
		}
		return text
	}
	var entries []byte
	for i := range uint64(256) {
		entries = binary.LittleEndian.AppendUint64(entries, textAddr+i*10)
	}
	for name, text := range map[string][]byte{
		"nested loops": nested(), "random jumps": random(), "ladder": ladder(), "tables": tables(),
		"zeros": make([]byte, size), "ones": bytes.Repeat([]byte{0xff}, size),
		"overlapping": bytes.Repeat([]byte{0x66, 0x75, 0xfd, 0x48}, size/4),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := cputime.Now()
			f := function(t, elf.EM_X86_64, text, part{".rodata", 0x1002000, entries})
			took := cputime.Now() - start
			runtime.ReadMemStats(&after)
			used := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d blocks, %d loops, %v, %d MiB: %q", len(f.Blocks), len(f.Loops), took, used>>20, f.Incomplete)
			if took > 20*time.Second || used > 1<<30 {
				t.Errorf("took %v and %d MiB", took, used>>20)
			}
		})
	}
}
