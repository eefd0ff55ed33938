package interpret

import (
	"math"
	"strings"
)

// A Relation is how a value stands to another.
type Relation uint8

const (
	unknownRelation Relation = iota
	lessThan
	atMost
	greaterThan
	atLeast
	equal
	unequal
)

// opposite holds whenever r does not.
func (r Relation) opposite() Relation {
	return [...]Relation{unknownRelation, atLeast, greaterThan, atMost, lessThan, unequal, equal}[r]
}

// swapped is the relation of the second value to the first.
func (r Relation) swapped() Relation {
	return [...]Relation{unknownRelation, greaterThan, atLeast, lessThan, atMost, equal, unequal}[r]
}

// Negative is set of one relation of each pair of opposites.
func (r Relation) Negative() bool {
	return r == greaterThan || r == atLeast || r == unequal
}

// orders reports whether a relation is one of order.
func (r Relation) orders() bool { return r >= lessThan && r <= atLeast }

// A condition is what a conditional instruction asks of the flags.
type condition struct {
	relation Relation
	unsigned bool
	flag     askedFlag // only this one is asked for
}

// An askedFlag is one that conditions ask for.
type askedFlag uint8

const (
	severalFlags askedFlag = iota
	carryFlag              // relation: below
	signFlag               // relation: less than, if nothing overflows
	overflowFlag           // equal asks that it is not set
	parityFlag             // equal asks that it is not set
)

var conditionsOfX86 = map[string]condition{
	"b": {lessThan, true, carryFlag}, "c": {lessThan, true, carryFlag}, "nae": {lessThan, true, carryFlag},
	"ae": {atLeast, true, carryFlag}, "nb": {atLeast, true, carryFlag}, "nc": {atLeast, true, carryFlag},
	"be": {atMost, true, severalFlags}, "na": {atMost, true, severalFlags}, "a": {greaterThan, true, severalFlags}, "nbe": {greaterThan, true, severalFlags},
	"l": {lessThan, false, severalFlags}, "nge": {lessThan, false, severalFlags}, "ge": {atLeast, false, severalFlags}, "nl": {atLeast, false, severalFlags},
	"le": {atMost, false, severalFlags}, "ng": {atMost, false, severalFlags}, "g": {greaterThan, false, severalFlags}, "nle": {greaterThan, false, severalFlags},
	"e": {equal, false, severalFlags}, "z": {equal, false, severalFlags}, "ne": {unequal, false, severalFlags}, "nz": {unequal, false, severalFlags},
	"s": {lessThan, false, signFlag}, "ns": {atLeast, false, signFlag},
	"o": {unequal, false, overflowFlag}, "no": {equal, false, overflowFlag},
	"p": {unequal, false, parityFlag}, "pe": {unequal, false, parityFlag}, "np": {equal, false, parityFlag}, "po": {equal, false, parityFlag},
}

var conditionsOfA64 = map[string]condition{
	"lo": {lessThan, true, carryFlag}, "cc": {lessThan, true, carryFlag}, "hs": {atLeast, true, carryFlag}, "cs": {atLeast, true, carryFlag},
	"ls": {atMost, true, severalFlags}, "hi": {greaterThan, true, severalFlags},
	"lt": {lessThan, false, severalFlags}, "ge": {atLeast, false, severalFlags}, "le": {atMost, false, severalFlags}, "gt": {greaterThan, false, severalFlags},
	"eq": {equal, false, severalFlags}, "ne": {unequal, false, severalFlags}, "mi": {lessThan, false, signFlag}, "pl": {atLeast, false, signFlag},
	"vs": {unequal, false, overflowFlag}, "vc": {equal, false, overflowFlag},
}

// conditionNamed is the condition that a mnemonic has after a prefix.
func conditionNamed(of map[string]condition, name, prefix string) (condition, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return condition{}, false
	}
	c, ok := of[rest]
	return c, ok
}

// A Comparison is a relation of a value that data decide to another.
type Comparison struct {
	Relation Relation
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
	case k.unsigned && k.with == 1 && (k.Relation == lessThan || k.Relation == atLeast): // below 1
		k.with, k.unsigned = 0, false
		k.Relation = map[Relation]Relation{lessThan: equal, atLeast: unequal}[k.Relation]
	case k.unsigned && k.with == 0 && (k.Relation == greaterThan || k.Relation == atMost): // above 0
		k.unsigned = false
		k.Relation = map[Relation]Relation{atMost: equal, greaterThan: unequal}[k.Relation]
	case k.Relation == atMost || k.Relation == greaterThan: // up to 63 is below 64
		k.with++
		k.Relation = map[Relation]Relation{atMost: lessThan, greaterThan: atLeast}[k.Relation]
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
		if k.Relation == unknownRelation {
			return 0.5, false
		}
		list := branches
		if k.constant {
			var same []Chance
			for _, b := range branches {
				if b.constant && b.with == k.with && b.Relation.orders() == k.Relation.orders() {
					same = append(same, b)
				}
			}
			if len(same) > 0 {
				list = same
			}
		}
		p, n := 0.0, 0
		for _, b := range list {
			if b.Relation.orders() != k.Relation.orders() || b.Relation == unknownRelation {
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
