package interpret

import "profdiff/internal/predict/asm"

// selectA64 is the effect of conditional selections.
func selectA64(name string, operands []string, target targetA64) effect {
	n := len(operands)
	c, ok := asm.ConditionA64(operands[n-1])
	if !ok {
		return nil
	}
	a, b := sourceA64{zero: true}, sourceA64{zero: true}
	other := name
	switch name {
	case "cset", "csetm":
		other = map[string]string{"cset": "csinc", "csetm": "csinv"}[name]
		c.Relation = c.Relation.Opposite()
	case "cinc", "cinv", "cneg":
		if n != 3 {
			return nil
		}
		if a, ok = sourceA64Of(operands[:2], 1); !ok {
			return nil
		}
		b = a
		other = map[string]string{"cinc": "csinc", "cinv": "csinv", "cneg": "csneg"}[name]
		c.Relation = c.Relation.Opposite()
	default:
		if n != 4 {
			return nil
		}
		var ok2 bool
		a, ok = sourceA64Of(operands[:2], 1)
		b, ok2 = sourceA64Of(operands[:3], 2)
		if !ok || !ok2 {
			return nil
		}
	}
	return func(x *Interpreter) {
		u, v := a.get(x), b.get(x)
		met := x.holds(c)
		switch other {
		case "csinc":
			v.bits++
		case "csinv":
			v.bits = ^v.bits
		case "csneg":
			v.bits = -v.bits
		}
		if met.bits == 0 {
			u = v
		}
		u.from |= met.from
		target.set(x, u)
	}
}
