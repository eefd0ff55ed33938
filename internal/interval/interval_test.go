package interval

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnion(t *testing.T) {
	for _, test := range []struct {
		name       string
		list, want []Interval
		length     int64
	}{
		{"none", nil, nil, 0},
		{"one", []Interval{{3, 8}}, []Interval{{3, 8}}, 5},
		{"overlapping", []Interval{{5, 9}, {1, 6}}, []Interval{{1, 9}}, 8},
		{"touching", []Interval{{1, 4}, {4, 6}}, []Interval{{1, 6}}, 5},
		{"apart", []Interval{{5, 6}, {1, 4}}, []Interval{{1, 4}, {5, 6}}, 4},
		{"one in another", []Interval{{1, 9}, {2, 3}, {8, 10}}, []Interval{{1, 10}}, 9},
		{"of no length", []Interval{{2, 2}, {1, 3}, {5, 5}}, []Interval{{1, 3}, {5, 5}}, 2},
		{"before zero", []Interval{{-4, 1}, {-9, -5}}, []Interval{{-9, -5}, {-4, 1}}, 9},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Union(test.list)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if n := Length(got); n != test.length {
				t.Errorf("length %d, want %d", n, test.length)
			}
		})
	}
}
