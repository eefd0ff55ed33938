package disasm

import (
	"slices"
	"testing"
)

// benchCode returns the code of the go command and its size in bytes.
func benchCode(b *testing.B) (c *Code, start, end uint64) {
	c = open(b, goCommand(b))
	text, ok := c.file.Section(".text")
	if !ok {
		b.Skip("the go command has no .text")
	}
	return c, text.Vaddr, text.Vaddr + text.Size
}

func BenchmarkRange(b *testing.B) {
	c, start, end := benchCode(b)
	b.ReportAllocs()
	b.SetBytes(int64(end - start))
	for b.Loop() {
		n := 0
		for range c.Range(start, end) {
			n++
		}
		if n < 1000 {
			b.Fatalf("%d instructions", n)
		}
	}
}

func BenchmarkFunctions(b *testing.B) {
	c, _, _ := benchCode(b)
	var starts []uint64
	bytes := uint64(0)
	for _, s := range c.bounds().list {
		if f, err := c.FunctionAt(s.start); err == nil {
			starts = append(starts, s.start)
			bytes += f.End - f.Start
		}
	}
	starts = slices.Compact(starts)
	b.ReportAllocs()
	b.SetBytes(int64(bytes))
	for b.Loop() {
		for _, start := range starts {
			if _, err := c.FunctionAt(start); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	c, start, _ := benchCode(b)
	b.ReportAllocs()
	at := start
	for b.Loop() {
		i, err := c.Decode(at)
		if err != nil {
			b.Fatal(err)
		}
		if at = i.Next(); at > start+1<<20 {
			at = start
		}
	}
}
