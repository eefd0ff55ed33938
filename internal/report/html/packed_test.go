package html

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPacked reads columns back, and refuses text that is none.
func TestPacked(t *testing.T) {
	for _, list := range []packed{nil, {0}, {1, -1, 6, 7, -7, -8, 0}, {909, 910, 911, 58_253, math.MaxInt32, math.MinInt32, 3}} {
		c := &columns{}
		c.packed("list", len(list), func(i int) int64 { return list[i] })
		text := strings.TrimSuffix(strings.TrimPrefix(string(c.buf), `{"list":"`), `"`)
		got, err := integersOf(text)
		if err != nil {
			t.Errorf("%v as %q: %v", list, text, err)
		}
		if d := cmp.Diff(list, got); d != "" {
			t.Errorf("as %q (-want +got):\n%s", text, d)
		}
	}
	for _, bad := range []string{"~", "0 0", "~~ 0", "0\"", "~ ~ ~ ~ ~ ~ ~ 0", "~ ~ ~ ~ ~ ~ ", " ", "é"} {
		if got, err := integersOf(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

// UnmarshalJSON reads a column back.
func (p *packed) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &text)
	if err == nil {
		*p, err = integersOf(text)
	}
	return err
}
