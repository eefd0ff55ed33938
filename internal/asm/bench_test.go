package asm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func BenchmarkParseAsm(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(listings, "heap-sift", "branchy.x86-64.s"))
	if err != nil {
		b.Fatal(err)
	}
	var long strings.Builder
	for i := range 500 { // labels are unique in a file
		long.WriteString(strings.NewReplacer(".L", fmt.Sprintf(".L%d_", i), "sift", fmt.Sprintf("sift%d", i), "replace", fmt.Sprintf("replace%d", i)).Replace(string(text)))
	}
	b.SetBytes(int64(long.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(long.String(), X8664); err != nil {
			b.Fatal(err)
		}
	}
}
