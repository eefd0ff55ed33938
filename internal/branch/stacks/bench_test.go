package stacks

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"profdiff/internal/branch"
)

// BenchmarkScript reads text of stacks with 16 entries.
func BenchmarkScript(b *testing.B) {
	var text strings.Builder
	text.WriteString("app 1/1 0.0: PERF_RECORD_MMAP2 1/1: [0x400000(0x100000) @ 0 fe:01 5 6]: r-xp /app\n")
	for i := range 2000 {
		text.WriteString("app 1/1 1.0: 1000 br:taken: ")
		for j := range 16 {
			fmt.Fprintf(&text, " 0x%x/0x400000/%c/-/-/%d/COND/-", 0x400000+(i*7+j*13)%999*16, "PPPM"[(i+j)%4], j)
		}
		text.WriteByte('\n')
	}
	data := []byte(text.String())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadScript("text", bytes.NewReader(data), int64(len(data)), &branch.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStacks counts stacks of a program whose code is known.
func BenchmarkStacks(b *testing.B) {
	c := withProgram(loop)
	event := c.event(branch.Event{Name: "br:taken", Counts: branch.CountsTaken}, true)
	s := &stack{event: event, pid: 1, weight: 1000}
	for i := range 16 {
		e := entry{from: 0x1010, to: 0x1000, predicted: true, cycles: 5}
		if i%3 == 0 {
			e = entry{from: 0x1004, to: 0x1010, mispredicted: true, cycles: 25}
		}
		s.entries = append(s.entries, e)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.add(s)
	}
}
