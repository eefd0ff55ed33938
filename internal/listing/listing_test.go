package listing

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// code makes instructions whose keys are words.
func code(words string) (list []Instruction) {
	for i, w := range strings.Fields(words) {
		list = append(list, Instruction{Offset: int64(4 * i), Text: w, Key: w, Samples: 1})
	}
	return list
}

func rows(l *Listing) string {
	var out []string
	for i := range l.Rows {
		switch r := &l.Rows[i]; {
		case r.BaseOffset < 0:
			out = append(out, "+"+r.HeadText)
		case r.HeadOffset < 0:
			out = append(out, "-"+r.BaseText)
		default:
			out = append(out, r.HeadText)
		}
	}
	return strings.Join(out, " ")
}

func TestListing(t *testing.T) {
	for _, test := range []struct{ base, head, want string }{
		{"push mov cmp jl ret", "push mov cmp jl ret", "push mov cmp jl ret"},
		{"push mov cmp jl add ret", "push mov xor cmp setl ret", "push mov +xor cmp -jl -add +setl ret"},
		{"a b c", "", "-a -b -c"},
		{"", "a b", "+a +b"},
		{"a x b", "a b", "a -x b"},
		{"nop nop a nop", "nop a nop nop", "nop -nop a +nop nop"},
	} {
		l := New("f", "d", "cycles", code(test.base), code(test.head))
		if got := rows(&l); got != test.want {
			t.Errorf("%q and %q: %q, want %q", test.base, test.head, got, test.want)
		}
		if want := int64(len(strings.Fields(test.base))); l.BaseSamples != want {
			t.Errorf("%q: %d samples, want %d", test.base, l.BaseSamples, want)
		}
	}
}

func TestShortListing(t *testing.T) {
	base := make([]Instruction, 9000)
	for i := range base {
		base[i] = Instruction{Offset: int64(i), Text: "nop", Key: "nop"}
	}
	base[100].Samples, base[7000].Samples = 5, 7
	l := New("f", "d", "cycles", base, base)
	sum := int64(0)
	for i := range l.Rows {
		sum += l.Rows[i].BaseSamples
	}
	if sum != 12 || len(l.Rows) > maxListing || l.LeftOut == 0 {
		t.Errorf("%d rows with %d samples, %d left out", len(l.Rows), sum, l.LeftOut)
	}
	if d := cmp.Diff(int64(12), l.BaseSamples); d != "" {
		t.Error(d)
	}
}

// TestKey compares with an expression, also for texts that are put together at
// random.
func TestKey(t *testing.T) {
	moving := regexp.MustCompile(`-?0x[0-9a-f]+\(%rip\)|\b0x[0-9a-f]{5,}\b`)
	texts := []string{
		"mov 0x1234(%rip),%rax", "mov -0x8(%rip),%rax", "mov (%rip),%rax", "call 0x401000", "jmp 401000", "add $0x1234,%eax",
		"lea 0x12(%rsi,%r8,8),%r9", "movabs $0xdeadbeef,%rax", "mov 0x0x12345,%eax", "mov $0xfffff_x,%eax", "bl 0x1000c", "",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{"0x", "0", "x", "-", "12345", "abcdef", "g", "(%rip)", "(%r", " ", ",", "_", "F", "é"}
	for range 20_000 {
		var text strings.Builder
		for range rng.IntN(10) {
			text.WriteString(parts[rng.IntN(len(parts))])
		}
		texts = append(texts, text.String())
	}
	for _, text := range texts {
		if got, want := Key(text), moving.ReplaceAllString(text, "@"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
