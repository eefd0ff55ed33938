package spelling

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"kitten", "sitting", 3},
		{"form", "from", 1},
		{"größe", "grösse", 2},
		{strings.Repeat("a", 100) + "b", strings.Repeat("a", 100), 0},
	} {
		if got := Distance(test.a, test.b); got != test.want {
			t.Errorf("%q and %q are %d edits apart, want %d", test.a, test.b, got, test.want)
		}
		if a, b := Distance(test.a, test.b), Distance(test.b, test.a); a != b {
			t.Errorf("%q and %q: %d and, the other way, %d", test.a, test.b, a, b)
		}
	}
}

func TestClosest(t *testing.T) {
	words := []string{"diff", "show", "record", "html"}
	for word, want := range map[string]string{"dif": "diff", "dfif": "diff", "recrod": "record", "xyz": "", "sho": "show", strings.Repeat("d", 50): ""} {
		if got := Closest(word, words); got != want {
			t.Errorf("%q stands for %q, want %q", word, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, test := range []struct {
		name        string
		names, want []string
	}{
		{"header", []string{"leader", "Parse::header"}, []string{"Parse::header", "leader"}},
		{"mesage_compare", []string{"strcmp", "message_compare"}, []string{"message_compare", "strcmp"}},
		{"Compare", []string{"compute", "ns::Less::compare"}, []string{"ns::Less::compare", "compute"}},
		{"sift", []string{"lift", "", "heap_sift_down"}, []string{"heap_sift_down", "lift"}},
		{"znver4", []string{"znver2", "znver3", "znver3", "znver1"}, []string{"znver3", "znver2"}},
	} {
		if diff := cmp.Diff(test.want, Nearest(test.name, test.names, 2)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
