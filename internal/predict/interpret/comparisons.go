package interpret

import (
	"math"

	"profdiff/internal/asm"
)

// A Comparison is a relation of a value that data decide to another.
type Comparison struct {
	Relation asm.Relation
	unsigned bool
	// constant is set if the other value is in the code: with.
	constant bool
	with     int64
	// oriented is set if it is known which of the two values data decide.
	oriented bool
	data     bool // it is about what was loaded
}

// normal brings comparisons that ask the same to one form.
func (k Comparison) normal() Comparison {
	if !k.constant {
		return k
	}
	switch {
	case k.unsigned && k.with == 1 && (k.Relation == asm.LessThan || k.Relation == asm.AtLeast): // below 1
		k.with, k.unsigned = 0, false
		k.Relation = map[asm.Relation]asm.Relation{asm.LessThan: asm.Equal, asm.AtLeast: asm.Unequal}[k.Relation]
	case k.unsigned && k.with == 0 && (k.Relation == asm.GreaterThan || k.Relation == asm.AtMost): // above 0
		k.unsigned = false
		k.Relation = map[asm.Relation]asm.Relation{asm.AtMost: asm.Equal, asm.GreaterThan: asm.Unequal}[k.Relation]
	case k.Relation == asm.AtMost || k.Relation == asm.GreaterThan: // up to 63 is below 64
		k.with++
		k.Relation = map[asm.Relation]asm.Relation{asm.AtMost: asm.LessThan, asm.GreaterThan: asm.AtLeast}[k.Relation]
	}
	return k
}

// A Chance is how often a comparison holds.
type Chance struct {
	Comparison
	P float64
}

// ChancesOf says how likely comparisons are by the branches of other code that does the
// same: by the one that asks the same, or the only one there is. known is false where
// that does not tell.
func ChancesOf(branches []Chance) func(Comparison) (p float64, known bool) {
	return func(k Comparison) (float64, bool) {
		if k.Relation == asm.UnknownRelation {
			return 0.5, false
		}
		list := branches
		if k.constant {
			var same []Chance
			for _, b := range branches {
				if b.constant && b.with == k.with && b.Relation.Orders() == k.Relation.Orders() {
					same = append(same, b)
				}
			}
			if len(same) > 0 {
				list = same
			}
		}
		p, n := 0.0, 0
		for _, b := range list {
			if b.Relation.Orders() != k.Relation.Orders() || b.Relation == asm.UnknownRelation {
				continue
			}
			of := b.P
			if b.Relation.Negative() != k.Relation.Negative() {
				of = 1 - of
			}
			if n > 0 && math.Abs(of-p) > 0.01 {
				return 0.5, false
			}
			if n == 0 {
				p = of
			}
			n++
		}
		if n == 0 {
			return 0.5, false
		}
		return p, k.oriented
	}
}
