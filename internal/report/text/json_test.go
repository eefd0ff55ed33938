package text

import (
	"encoding/json"
	"math"
	"testing"
)

// TestNumber checks that what JSON has no number for is null, and is read again as missing.
func TestNumber(t *testing.T) {
	for _, test := range []struct {
		in   any
		want string
	}{
		{Number(0.5), "0.5"},
		{Number(-1e30), "-1e+30"},
		{Missing, "null"},
		{Number(math.Inf(1)), "null"},
		{Interval{0.9, 1.25}, "[0.9,1.25]"},
		{Interval{0, math.Inf(1)}, "[0,null]"},
		{Interval{math.NaN(), math.NaN()}, "[null,null]"},
	} {
		got, err := json.Marshal(test.in)
		if err != nil || string(got) != test.want {
			t.Errorf("%v is %s, want %s (%v)", test.in, got, test.want, err)
		}
	}
	var n Number
	if err := json.Unmarshal([]byte("null"), &n); err != nil || n.Known() {
		t.Errorf("null is %v (%v)", n, err)
	}
	var i Interval
	if err := json.Unmarshal([]byte("[0.5,null]"), &i); err != nil || i.Lo != 0.5 || !math.IsNaN(i.Hi) {
		t.Errorf("the interval is %v (%v)", i, err)
	}
	if err := json.Unmarshal([]byte(`"x"`), &n); err == nil {
		t.Error("a text was read as a number")
	}
}

func TestInterval(t *testing.T) {
	for i, want := range map[Interval]string{
		{0, math.Inf(1)}:   "[unknown]",
		{0.5, math.Inf(1)}: "[0.500, ∞]",
		{0, 0.98}:          "[0, 0.980]",
		{1, 2000}:          "[1.000, >1000]",
	} {
		if got := i.String(); got != want {
			t.Errorf("%v: %s, want %s", [2]float64{i.Lo, i.Hi}, got, want)
		}
	}
}
