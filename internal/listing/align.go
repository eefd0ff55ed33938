package listing

import "profdiff/internal/align"

// Align calls row for the instructions of both sides in order, with nil where a side
// does not have it.
func Align(base, head []Instruction, row func(b, h *Instruction)) {
	at, of := 0, 0
	for _, p := range align.Sequences(keys(base), keys(head)) {
		for ; at < p[0]; at++ {
			row(&base[at], nil)
		}
		for ; of < p[1]; of++ {
			row(nil, &head[of])
		}
		row(&base[at], &head[of])
		at, of = at+1, of+1
	}
	for ; at < len(base); at++ {
		row(&base[at], nil)
	}
	for ; of < len(head); of++ {
		row(nil, &head[of])
	}
}

func keys(list []Instruction) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].Key
	}
	return out
}
