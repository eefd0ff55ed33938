package predict

import "testing"

// TestChances checks which branch tells how often a comparison holds.
func TestChances(t *testing.T) {
	below := func(n int64) comparison {
		return comparison{relation: lessThan, unsigned: true, constant: true, with: n, oriented: true, data: true}.normal()
	}
	register := comparison{relation: atLeast, oriented: true, data: true}
	zero := comparison{relation: equal, constant: true, oriented: true, data: true}
	for _, test := range []struct {
		name     string
		branches []chance
		ask      comparison
		want     float64
		known    bool
	}{
		{"none", nil, register, 0.5, false},
		{"the only one", []chance{{register, 0.2}}, register, 0.2, true},
		{"its opposite", []chance{{register, 0.25}}, comparison{relation: lessThan, oriented: true}, 0.75, true},
		{"up to 63 and below 64", []chance{{below(64), 0.2}, {below(32), 0.4}}, comparison{relation: atMost, unsigned: true, constant: true, with: 63, oriented: true}.normal(), 0.2, true},
		{"two that differ", []chance{{register, 0.2}, {below(32), 0.4}}, below(8), 0.5, false},
		{"two as often", []chance{{register, 0.2}, {below(32), 0.8}}, below(8), 0.8, true},
		{"order for equality", []chance{{register, 0.2}}, zero, 0.5, false},
		{"equality beside order", []chance{{register, 0.2}, {zero, 0.3}}, zero, 0.3, true},
		{"below one for zero", []chance{{zero, 0.3}}, below(1), 0.3, true},
		{"not known which of the two is data", []chance{{register, 0.2}}, comparison{relation: atLeast}, 0.2, false},
		{"overflow", []chance{{register, 0.2}}, comparison{}, 0.5, false},
	} {
		p, known := chancesOf(test.branches)(test.ask)
		if diff := p - test.want; known != test.known || diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s: %g, known %v", test.name, p, known)
		}
	}
}
