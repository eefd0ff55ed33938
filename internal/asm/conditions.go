package asm

import "strings"

// A Relation is how a value stands to another.
type Relation uint8

// The relations of a value to another.
const (
	UnknownRelation Relation = iota
	LessThan
	AtMost
	GreaterThan
	AtLeast
	Equal
	Unequal
)

// Opposite holds whenever r does not.
func (r Relation) Opposite() Relation {
	return [...]Relation{UnknownRelation, AtLeast, GreaterThan, AtMost, LessThan, Unequal, Equal}[r]
}

// Swapped is the relation of the second value to the first.
func (r Relation) Swapped() Relation {
	return [...]Relation{UnknownRelation, GreaterThan, AtLeast, LessThan, AtMost, Equal, Unequal}[r]
}

// Negative is set of one relation of each pair of opposites.
func (r Relation) Negative() bool {
	return r == GreaterThan || r == AtLeast || r == Unequal
}

// Orders reports whether a relation is one of order.
func (r Relation) Orders() bool { return r >= LessThan && r <= AtLeast }

// A Condition is what a conditional instruction asks of the flags.
type Condition struct {
	Relation Relation
	Unsigned bool
	Flag     askedFlag // only this one is asked for
}

// An askedFlag is one that conditions ask for.
type askedFlag uint8

// The flags, with what the relation of a condition says of them.
const (
	severalFlags askedFlag = iota
	CarryFlag              // relation: below
	SignFlag               // relation: less than, if nothing overflows
	OverflowFlag           // equal asks that it is not set
	ParityFlag             // equal asks that it is not set
)

var conditionsX86 = map[string]Condition{
	"b": {LessThan, true, CarryFlag}, "c": {LessThan, true, CarryFlag}, "nae": {LessThan, true, CarryFlag},
	"ae": {AtLeast, true, CarryFlag}, "nb": {AtLeast, true, CarryFlag}, "nc": {AtLeast, true, CarryFlag},
	"be": {AtMost, true, severalFlags}, "na": {AtMost, true, severalFlags}, "a": {GreaterThan, true, severalFlags}, "nbe": {GreaterThan, true, severalFlags},
	"l": {LessThan, false, severalFlags}, "nge": {LessThan, false, severalFlags}, "ge": {AtLeast, false, severalFlags}, "nl": {AtLeast, false, severalFlags},
	"le": {AtMost, false, severalFlags}, "ng": {AtMost, false, severalFlags}, "g": {GreaterThan, false, severalFlags}, "nle": {GreaterThan, false, severalFlags},
	"e": {Equal, false, severalFlags}, "z": {Equal, false, severalFlags}, "ne": {Unequal, false, severalFlags}, "nz": {Unequal, false, severalFlags},
	"s": {LessThan, false, SignFlag}, "ns": {AtLeast, false, SignFlag},
	"o": {Unequal, false, OverflowFlag}, "no": {Equal, false, OverflowFlag},
	"p": {Unequal, false, ParityFlag}, "pe": {Unequal, false, ParityFlag}, "np": {Equal, false, ParityFlag}, "po": {Equal, false, ParityFlag},
}

var conditionsA64 = map[string]Condition{
	"lo": {LessThan, true, CarryFlag}, "cc": {LessThan, true, CarryFlag}, "hs": {AtLeast, true, CarryFlag}, "cs": {AtLeast, true, CarryFlag},
	"ls": {AtMost, true, severalFlags}, "hi": {GreaterThan, true, severalFlags},
	"lt": {LessThan, false, severalFlags}, "ge": {AtLeast, false, severalFlags}, "le": {AtMost, false, severalFlags}, "gt": {GreaterThan, false, severalFlags},
	"eq": {Equal, false, severalFlags}, "ne": {Unequal, false, severalFlags}, "mi": {LessThan, false, SignFlag}, "pl": {AtLeast, false, SignFlag},
	"vs": {Unequal, false, OverflowFlag}, "vc": {Equal, false, OverflowFlag},
}

// ConditionX86 is the condition of a conditional instruction: cmovl, setne, jae. prefix
// is the mnemonic without it.
func ConditionX86(name, prefix string) (Condition, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return Condition{}, false
	}
	c, ok := conditionsX86[rest]
	if n := len(rest) - 1; !ok && prefix == "cmov" && n > 0 && strings.IndexByte("wlq", rest[n]) >= 0 {
		c, ok = conditionsX86[rest[:n]]
	}
	return c, ok
}

// flags are the groups of flags of x86 that a condition asks for.
func (c Condition) flags() []Register {
	switch {
	case c.Flag == CarryFlag:
		return carry
	case c.Flag == OverflowFlag:
		return []Register{OF}
	case c.Flag != severalFlags || !c.Relation.Orders():
		return []Register{ZF}
	case c.Unsigned:
		return []Register{CF, ZF}
	}
	return []Register{OF, ZF}
}

// ConditionA64 is the condition with a name: eq.
func ConditionA64(name string) (Condition, bool) {
	c, ok := conditionsA64[strings.ToLower(name)]
	return c, ok
}

// BranchCondition is the condition of a branch of AArch64: b.eq, bc.eq, beq.
func BranchCondition(name string) (Condition, bool) {
	for _, prefix := range []string{"b.", "bc.", "b"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if c, ok := conditionsA64[rest]; ok {
				return c, true
			}
		}
	}
	return Condition{}, false
}
