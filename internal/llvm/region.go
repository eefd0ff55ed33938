package llvm

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Region is straight-line code.
type Region struct {
	Name string
	// Instructions in the syntax that llvm-mca accepts (AT&T for x86), one a line, without
	// labels, directives and comments. Labels they refer to need not be defined.
	Lines []string
	// Separate is set if the lines have nothing to do with each other: only what is said of
	// each of them counts.
	Separate bool
}

// assembly is what llvm-mca reads: regions between markers, with what is needed to find
// the region of a line again.
type assembly struct {
	text  bytes.Buffer
	lines int
	first []int // the line, from 1, of the first instruction of each region
	count []int // of lines of each region
}

// add appends a region. Its name in the text is its number: names of recordings may
// hold anything. The markers are '#' comments: up to LLVM 19, // is no marker on AArch64
// and all regions would silently be one.
func (a *assembly) add(lines []string) {
	name := strconv.Itoa(len(a.first))
	fmt.Fprintf(&a.text, "# LLVM-MCA-BEGIN %s\n", name)
	a.lines++
	a.first = append(a.first, a.lines+1)
	a.count = append(a.count, len(lines))
	for _, line := range lines {
		a.text.WriteString(line)
		a.text.WriteByte('\n')
		a.lines++
	}
	// A last line without its newline loses its last character.
	fmt.Fprintf(&a.text, "# LLVM-MCA-END %s\n", name)
	a.lines++
}

// locate finds the region and the line in it of a line of the text, from 1.
func (a *assembly) locate(line int) (region, index int, ok bool) {
	low, high := 0, len(a.first)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if a.first[mid] <= line {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return 0, 0, false
	}
	index = line - a.first[low-1]
	return low - 1, index, index < a.count[low-1]
}

// longestLine is more than an instruction needs, in bytes.
const longestLine = 256

// statement is how a line begins that is a label or an assignment.
var statement = regexp.MustCompile(`^[\w.$"]+\s*[:=]`)

// checkLine refuses what is not one instruction, before an assembler sees it: a
// directive could read files, a separator or a comment could hide the end of a region.
// The column is in bytes from 0.
func checkLine(line string) (column int, message string) {
	if len(line) > longestLine {
		return longestLine, fmt.Sprintf("over %d bytes", longestLine)
	}
	for i := range len(line) {
		if c := line[i]; c < ' ' && c != '\t' || c == 0x7f {
			return i, "control character"
		}
	}
	for _, bad := range []string{";", "/*", "//", "LLVM-MCA", "\\"} {
		if i := strings.Index(line, bad); i >= 0 {
			return i, fmt.Sprintf("%q is not part of an instruction", bad)
		}
	}
	trimmed := strings.TrimLeft(line, " \t")
	column = len(line) - len(trimmed)
	switch {
	case trimmed == "":
		return column, "no instruction"
	case trimmed[0] == '.':
		return column, "a directive is not an instruction"
	case statement.MatchString(trimmed):
		return column, "a label is not an instruction"
	case !isLetter(trimmed[0]) && trimmed[0] != '{':
		return column, "not an instruction"
	}
	return 0, ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// mnemonic is the first word of a line, in lower case.
func mnemonic(line string) string {
	word, _ := cutWord(line)
	return strings.ToLower(word)
}

// cutWord splits a line after its first word.
func cutWord(line string) (word, rest string) {
	line = strings.TrimLeft(line, " \t")
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return line[:i], strings.TrimLeft(line[i:], " \t")
	}
	return line, ""
}
