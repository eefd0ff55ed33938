package interpret

import (
	"testing"

	"profdiff/internal/asm"
)

// TestChances checks which branch tells how often a comparison holds.
func TestChances(t *testing.T) {
	below := func(n int64) Comparison {
		return Comparison{Relation: asm.LessThan, unsigned: true, constant: true, with: n, oriented: true, data: true}.normal()
	}
	register := Comparison{Relation: asm.AtLeast, oriented: true, data: true}
	zero := Comparison{Relation: asm.Equal, constant: true, oriented: true, data: true}
	for _, test := range []struct {
		name     string
		branches []Chance
		ask      Comparison
		want     float64
		known    bool
	}{
		{"none", nil, register, 0.5, false},
		{"the only one", []Chance{{register, 0.2}}, register, 0.2, true},
		{"its opposite", []Chance{{register, 0.25}}, Comparison{Relation: asm.LessThan, oriented: true}, 0.75, true},
		{"up to 63 and below 64", []Chance{{below(64), 0.2}, {below(32), 0.4}}, Comparison{Relation: asm.AtMost, unsigned: true, constant: true, with: 63, oriented: true}.normal(), 0.2, true},
		{"two that differ", []Chance{{register, 0.2}, {below(32), 0.4}}, below(8), 0.5, false},
		{"two as often", []Chance{{register, 0.2}, {below(32), 0.8}}, below(8), 0.8, true},
		{"order for equality", []Chance{{register, 0.2}}, zero, 0.5, false},
		{"equality beside order", []Chance{{register, 0.2}, {zero, 0.3}}, zero, 0.3, true},
		{"below one for zero", []Chance{{zero, 0.3}}, below(1), 0.3, true},
		{"not known which of the two is data", []Chance{{register, 0.2}}, Comparison{Relation: asm.AtLeast}, 0.2, false},
		{"overflow", []Chance{{register, 0.2}}, Comparison{}, 0.5, false},
	} {
		p, known := ChancesOf(test.branches)(test.ask)
		if diff := p - test.want; known != test.known || diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s: %g, known %v", test.name, p, known)
		}
	}
}
