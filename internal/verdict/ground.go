package verdict

import "fmt"

// A Ground is what all findings of an event rest on.
type Ground struct {
	// Blocked is set if the order of recording forbids verdicts.
	Blocked bool
	// By names what costs were divided by. Factor is the divisor of head over the divisor
	// of base.
	By     string
	Factor float64
	// Estimated is set if the divisor comes from the functions that are judged, Shares if
	// it is their sum. Window says why what was recorded are windows of time, "" if they are
	// not.
	Estimated, Shares bool
	Window            string
	// Mirrored says which shares changed, if these are so many that they may do nothing but mirror
	// the others; else "".
	Mirrored string
}

// maxFactor is how much an estimated divisor may differ between the sides.
const maxFactor = 1.2

// FarApart reports whether the work of two sides differs so much, as a factor, that what a
// run costs once is shared by many more or fewer operations.
func FarApart(factor float64) bool { return factor > maxFactor || factor < 1/maxFactor }

// Refuses says why the ground bears no verdict, "" if it does. It asks how many of
// the functions moved.
func (g *Ground) Refuses(functions []*Finding) string {
	moved, tested := Moved(functions)
	switch {
	case g.Blocked:
		return "blocked order of recording"
	case g.Estimated && FarApart(g.Factor):
		return fmt.Sprintf("the %s differs by a factor of %.3f between the sides: either the amount of work did, or most functions changed", g.By, g.Factor)
	case g.Estimated && 2*moved > tested:
		return fmt.Sprintf("%d of %d functions changed relative to the %s, which is therefore no firm ground", moved, tested, g.By)
	case g.Shares && g.Mirrored != "":
		return fmt.Sprintf("shares do not tell whether %s changed or all others did", g.Mirrored)
	case g.Shares && 2*moved > tested:
		return fmt.Sprintf("%d of %d shares changed: the gain of one function is a loss of all others", moved, tested)
	}
	return ""
}

// Moved counts the findings that are called changed, and those tested.
func Moved(list []*Finding) (moved, tested int) {
	for _, f := range list {
		if f.Tested {
			tested++
			if f.Verdict.Changed() {
				moved++
			}
		}
	}
	return moved, tested
}

// RefusesTotal says why the ground bears no verdict on all costs together, "" if it does:
// what they are divided by changes with them.
func (g *Ground) RefusesTotal() string {
	switch {
	case g.Window != "":
		return fmt.Sprintf("windows of time (%s) cost as much as they are long", g.Window)
	case g.Shares:
		return "shares add up to 100%, whatever changed"
	case g.Estimated:
		return fmt.Sprintf("the %s moves with a change that all of them share", g.By)
	}
	return ""
}
