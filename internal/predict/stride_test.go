package predict

import (
	"testing"

	"profdiff/internal/predict/flow"
)

func TestStrides(t *testing.T) {
	for _, test := range []struct {
		text string
		want int
	}{
		{".L1: addl (%rdi), %eax\naddq $4, %rdi\ncmpq %rsi, %rdi\njne .L1\nret\n", 4},
		{".L1: addl (%rdi,%rcx,4), %eax\naddq $1, %rcx\ncmpq %rsi, %rcx\njne .L1\nret\n", 4},
		{".L1: addl (%rdi), %eax\naddl 4(%rdi), %eax\naddq $16, %rdi\ncmpq %rsi, %rdi\njne .L1\nret\n", 16},
		{".L1: ldr w1, [x0], #4\nadd w2, w2, w1\ncmp x0, x3\nb.ne .L1\nret\n", 4},
		{".L1: ldr w1, [x5, x3, lsl #2]\nadd x3, x3, #1\ncmp x3, x4\nb.ne .L1\nret\n", 4},
		{".L1: movq (%rdi), %rdi\ntestq %rdi, %rdi\njne .L1\nret\n", 0},
	} {
		g := graphOfText(t, test.text)
		s := &Side{Code: &flow.Code{Root: g}, Loop: 0}
		if got := s.stride(); got != test.want {
			t.Errorf("%q goes on by %d, want %d", test.text, got, test.want)
		}
	}
}
