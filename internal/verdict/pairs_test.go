package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sequence are the moments of runs that were recorded one after the other: A is base, B is
// head, and a dot is a run that is missing.
func sequence(runs string) (base, head []Moment) {
	for i, side := range runs {
		m := Moment{Clock: uint64(1000 * (i + 1)), Host: "a"}
		switch side {
		case 'A':
			base = append(base, m)
		case 'B':
			head = append(head, m)
		}
	}
	return base, head
}

func TestPairsOf(t *testing.T) {
	alternate := []Pair{{0, 0, false}, {1, 1, true}, {2, 2, false}, {3, 3, true}}
	for _, test := range []struct {
		name, runs string
		want       Pairing
		text       string
	}{
		{"ABBA", "ABBAABBA", Pairing{Pairs: alternate}, "4 pairs, in ABBA, or drawn so by chance"},
		{"long ABBA", "ABBAABBAABBAABBA", Pairing{Pairs: append(alternate[:4:4], Pair{4, 4, false}, Pair{5, 5, true}, Pair{6, 6, false}, Pair{7, 7, true})}, "8 pairs, ABBA (fixed order)"},
		{"drawn", "ABABBABA", Pairing{Pairs: []Pair{{0, 0, false}, {1, 1, false}, {2, 2, true}, {3, 3, true}}}, "4 pairs, order drawn"},
		{"a base run is missing", "ABB.ABBAAB", Pairing{Pairs: []Pair{{0, 0, false}, {1, 2, false}, {2, 3, true}, {3, 4, false}}, Left: 1, Gaps: []int{1}}, "4 pairs, in ABBA, or drawn so by chance; 1 run is in no pair and in no test"},
		{"two runs are missing", "ABBA.BBA.BBA", Pairing{Pairs: []Pair{{0, 0, false}, {1, 1, true}, {2, 3, true}, {3, 5, true}}, Left: 2, Gaps: []int{2, 3}}, "4 pairs, in ABBA, or drawn so by chance; 2 runs are in no pair and in no test"},
		{"drawn, and runs are missing", "ABABB.BAABABB.BAAB", Pairing{Pairs: []Pair{{0, 0, false}, {1, 1, false}, {2, 3, true}, {3, 4, false}, {4, 5, false}, {5, 7, true}, {6, 8, false}}, Left: 2, Gaps: []int{2, 5}}, "7 pairs, order drawn; 2 runs are in no pair and in no test"},
		{"two runs of different sides are missing", "ABBAAB.A.BBA", Pairing{Pairs: []Pair{{0, 0, false}, {1, 1, true}, {2, 2, false}, {3, 3, false}, {4, 4, true}}}, "5 pairs, order drawn"},
		{"three pairs", "ABBAAB", Pairing{Why: "3 pairs are too few"}, "interleaved, compared as two groups: 3 pairs are too few"},
		{"base first", "ABABABAB", Pairing{Why: "base is first in all pairs"}, "interleaved, compared as two groups: base is first in all pairs"},
		{"head first", "BABABABA", Pairing{Why: "head is first in all pairs"}, "interleaved, compared as two groups: head is first in all pairs"},
		{"groups in turns", "AAAABBBBAAAABBBBAAAABBBBAAAABBBB", Pairing{Why: "18 runs have no run of the other side beside them"}, "interleaved, compared as two groups: 18 runs have no run of the other side beside them"},
		{"blocked", "AAAABBBB", Pairing{}, "blocked"},
	} {
		base, head := sequence(test.runs)
		p := PairsOf(base, head, false)
		if diff := cmp.Diff(test.want, p); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if got := p.Turns(OrderOf(base, head)).Text; got != test.text {
			t.Errorf("%s: %q, want %q", test.name, got, test.text)
		}
	}
	base, head := sequence("ABBAABBA")
	if got, want := PairsOf(base, head, true), (Pairing{Why: "on request"}); !cmp.Equal(got, want) {
		t.Errorf("unpaired: %+v", got)
	}
	for i := range base {
		base[i].Clock = 0
	}
	if p := PairsOf(base, head, false); len(p.Pairs) > 0 || p.Why != "" || p.Sequence() != "" {
		t.Errorf("without times: %+v", p)
	}
}
