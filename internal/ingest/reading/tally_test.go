package reading

import (
	"math"
	"testing"
)

func TestAddSaturating(t *testing.T) {
	if got := AddSaturating(math.MaxInt64, 5); got != math.MaxInt64 {
		t.Errorf("got %d", got)
	}
}
