package predict

import (
	"math"
	"strings"
)

// A relation is how a value stands to another.
type relation uint8

const (
	unknownRelation relation = iota
	lessThan
	atMost
	greaterThan
	atLeast
	equal
	unequal
)

// opposite holds whenever r does not.
func (r relation) opposite() relation {
	return [...]relation{unknownRelation, atLeast, greaterThan, atMost, lessThan, unequal, equal}[r]
}

// swapped is the relation of the second value to the first.
func (r relation) swapped() relation {
	return [...]relation{unknownRelation, greaterThan, atLeast, lessThan, atMost, equal, unequal}[r]
}

// negative is set of one relation of each pair of opposites.
func (r relation) negative() bool {
	return r == greaterThan || r == atLeast || r == unequal
}

// orders reports whether a relation is one of order.
func (r relation) orders() bool { return r >= lessThan && r <= atLeast }

// A condition is what a conditional instruction asks of the flags.
type condition struct {
	relation relation
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

// A comparison is a relation of a value that data decide to another.
type comparison struct {
	relation relation
	unsigned bool
	// constant is set if the other value is in the code: with.
	constant bool
	with     int64
	// oriented is set if it is known which of the two values data decide.
	oriented bool
	data     bool // it is about what was loaded
}

// normal brings comparisons that ask the same to one form.
func (k comparison) normal() comparison {
	if !k.constant {
		return k
	}
	switch {
	case k.unsigned && k.with == 1 && (k.relation == lessThan || k.relation == atLeast): // below 1
		k.with, k.unsigned = 0, false
		k.relation = map[relation]relation{lessThan: equal, atLeast: unequal}[k.relation]
	case k.unsigned && k.with == 0 && (k.relation == greaterThan || k.relation == atMost): // above 0
		k.unsigned = false
		k.relation = map[relation]relation{atMost: equal, greaterThan: unequal}[k.relation]
	case k.relation == atMost || k.relation == greaterThan: // up to 63 is below 64
		k.with++
		k.relation = map[relation]relation{atMost: lessThan, greaterThan: atLeast}[k.relation]
	}
	return k
}

// A chance is how often a comparison holds.
type chance struct {
	comparison
	p float64
}

// chancesOf says how likely comparisons are by the branches of other code that does the
// same: by the one that asks the same, or the only one there is. known is false where
// that does not tell.
func chancesOf(branches []chance) func(comparison) (p float64, known bool) {
	return func(k comparison) (float64, bool) {
		if k.relation == unknownRelation {
			return 0.5, false
		}
		list := branches
		if k.constant {
			var same []chance
			for _, b := range branches {
				if b.constant && b.with == k.with && b.relation.orders() == k.relation.orders() {
					same = append(same, b)
				}
			}
			if len(same) > 0 {
				list = same
			}
		}
		p, n := 0.0, 0
		for _, b := range list {
			if b.relation.orders() != k.relation.orders() || b.relation == unknownRelation {
				continue
			}
			of := b.p
			if b.relation.negative() != k.relation.negative() {
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
