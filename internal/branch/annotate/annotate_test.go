package annotate

import "testing"

func TestNameDistance(t *testing.T) {
	for _, test := range []struct {
		want        string
		near, other string
	}{
		{"mesage_compare", "message_compare", "strcmp"},
		{"Compare", "ns::Less::compare(int, int)", "compute"},
		{"sift", "heap_sift_down", "lift"},
	} {
		if near, other := nameDistance(test.want, test.near), nameDistance(test.want, test.other); near >= other {
			t.Errorf("%s is %d from %s and %d from %s", test.want, near, test.near, other, test.other)
		}
	}
}
