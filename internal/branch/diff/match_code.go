package diff

import (
	"regexp"
	"slices"
	"strings"

	"profdiff/internal/branch/code"
	"profdiff/internal/disasm"
)

// codeOf is a function with its rows.
type codeOf struct {
	code *disasm.Function
	rows []int
}

func (c *codeOf) has(r *sideRow) bool {
	return !r.ByLine && r.Address >= c.code.Start && r.Address < c.code.End
}

// functionCode finds the code of functions. Those with a row that is no branch there are
// left out.
func functionCode(code *code.Files, s *side, functions []int) (list []*codeOf) {
	for _, fn := range functions {
		var found []*codeOf
		for _, i := range s.ofFunction[fn] {
			r := &s.rows[i]
			if n := len(found); n > 0 && found[n-1].has(r) {
				found[n-1].rows = append(found[n-1].rows, i)
				continue
			}
			f := code.FunctionOf(r.Branch)
			if f == nil {
				found = nil
				break
			}
			found = append(found, &codeOf{code: f, rows: []int{i}})
		}
		list = append(list, found...)
	}
	return list
}

// What changes in the text of an instruction when code is built anew: addresses of
// other code and of data.
var codeAddress = regexp.MustCompile(`-?\b0x[0-9a-f]+\(%rip\)|\b0x[0-9a-f]{4,}\b|\b[0-9a-f]{5,16}\b`)

// codeRegister is a register, which the compiler may choose anew for any edit.
var codeRegister = regexp.MustCompile(`%[a-z][a-z0-9]*|\b[wxvbhsdq][0-9]{1,2}\b`)

// normalText is the text of an instruction without addresses and registers.
func normalText(f *disasm.Function, i int) string {
	in := &f.Insts[i]
	text := f.Text(i)
	if in.Kind != disasm.Other {
		mnemonic, operands, _ := strings.Cut(text, " ")
		if in.Target != 0 {
			// Registers of cbz and tbz stay.
			if at := strings.LastIndexByte(operands, ','); at >= 0 {
				return mnemonic + " " + strings.TrimSpace(operands[:at])
			}
			return mnemonic
		}
	}
	return codeRegister.ReplaceAllString(codeAddress.ReplaceAllString(text, "@"), "%")
}

// maxEdits bounds the instructions that may differ between two functions that are
// aligned.
const maxEdits = 1000

// alignCode finds which branches of two functions are the same: in a longest common
// subsequence of the instructions (Myers, 1986), with one of the two instructions
// before and one of the two after beside them. Code with more than maxEdits differences
// has no counterparts, nor do branches that many others look like.
func alignCode(a, b *disasm.Function) map[uint64]uint64 {
	to := alignInsts(a, b)
	same := make(map[uint64]uint64)
	near := func(i, step int) bool {
		for n := 1; n <= 2; n++ {
			j := i + step*n
			if j < 0 || j >= len(to) {
				return i+step < 0 || i+step >= len(to) // the function starts or ends here
			}
			if to[j] >= 0 && abs(to[j]-to[i]) <= 2 {
				return true
			}
		}
		return false
	}
	for i, j := range to {
		if j >= 0 && a.Insts[i].Kind != disasm.Other && near(i, -1) && near(i, 1) {
			same[a.Insts[i].Addr] = b.Insts[j].Addr
		}
	}
	return same
}

// alignInsts finds a longest common subsequence of the instructions of two functions:
// for each of a the index in b, -1 if it has none.
func alignInsts(a, b *disasm.Function) []int {
	number := make(map[string]int32)
	texts := func(f *disasm.Function) []int32 {
		list := make([]int32, len(f.Insts))
		for i := range f.Insts {
			text := normalText(f, i)
			n, ok := number[text]
			if !ok {
				n = int32(len(number))
				number[text] = n
			}
			list[i] = n
		}
		return list
	}
	return common(texts(a), texts(b))
}

func abs(n int) int { return max(n, -n) }

// common is a longest common subsequence: the index in y of each element of x, -1 if
// it has none.
func common(x, y []int32) []int {
	to := make([]int, len(x))
	for i := range to {
		to[i] = -1
	}
	start := 0
	for start < min(len(x), len(y)) && x[start] == y[start] {
		to[start] = start
		start++
	}
	endX, endY := len(x), len(y)
	for endX > start && endY > start && x[endX-1] == y[endY-1] {
		endX--
		endY--
		to[endX] = endY
	}
	myers(x[start:endX], y[start:endY], func(i, j int) { to[start+i] = start + j })
	return to
}

// myers calls match for the elements of a longest common subsequence, if the sequences
// differ in no more than maxEdits.
func myers(x, y []int32, match func(i, j int)) {
	n, m := len(x), len(y)
	if n == 0 || m == 0 {
		return
	}
	most := min(n+m, maxEdits)
	v := make([]int, 2*most+2)
	var trace [][]int
	for d := 0; d <= most; d++ {
		trace = append(trace, slices.Clone(v[most-d:most+d+2]))
		for k := -d; k <= d; k += 2 {
			i := 0
			if k == -d || k != d && v[most+k-1] < v[most+k+1] {
				i = v[most+k+1]
			} else {
				i = v[most+k-1] + 1
			}
			j := i - k
			for i < n && j < m && x[i] == y[j] {
				i++
				j++
			}
			v[most+k] = i
			if i >= n && j >= m {
				backtrack(trace, n, m, match)
				return
			}
		}
	}
}

// backtrack walks the edits back from the end. trace[d] holds the furthest x before
// step d on the diagonals -d to d+1.
func backtrack(trace [][]int, i, j int, match func(i, j int)) {
	for d := len(trace) - 1; d >= 0; d-- {
		at := func(k int) int { return trace[d][k+d] }
		k := i - j
		previous := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			previous = k + 1
		}
		fromI := at(previous)
		fromJ := fromI - previous
		// One edit, then what is the same.
		startI, startJ := fromI, fromJ
		switch {
		case d == 0:
			startI, startJ = 0, 0
		case previous < k:
			startI++
		default:
			startJ++
		}
		for i > startI && j > startJ {
			i--
			j--
			match(i, j)
		}
		i, j = fromI, fromJ
	}
}
