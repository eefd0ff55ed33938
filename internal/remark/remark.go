// Package remark says what was remarked of many runs in few lines.
//
//  1. A remark is of one run. Remarks that differ only in numbers or in names of files are
//     one line: twenty runs of one program have the same to say twenty times.
//  2. The line says of how many runs it is, and of which side if it is of one alone: what
//     meets one side only can look like a change.
//  3. Numbers that differ become a range, names a short list.
package remark

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Remark is something to say of a run.
type Remark struct {
	Side string // "base" or "head", "" if there is one side
	Run  string
	Text string
}

// Lines are the lines for remarks of so many runs of each side, in the order in which each
// was first made.
func Lines(list []Remark, runs map[string]int) (lines []string) {
	all, sides := 0, 0
	for _, n := range runs {
		all += n
		if n > 0 {
			sides++
		}
	}
	at := make(map[string]int) // by pattern
	var groups [][]Remark
	for _, r := range list {
		p := pattern(r.Text)
		i, ok := at[p]
		if !ok {
			i = len(groups)
			at[p] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	for _, g := range groups {
		of, on := make(map[Remark]bool), make(map[string]bool)
		texts := make([]string, len(g))
		for i, r := range g {
			of[Remark{Side: r.Side, Run: r.Run}], on[r.Side], texts[i] = true, true, r.Text
		}
		who := g[0].Run
		if len(of) > 1 {
			who = fmt.Sprintf("%d of %d runs", len(of), all)
			if len(of) == all && all == 2 {
				who = "both runs"
			} else if len(of) == all {
				who = fmt.Sprintf("all %d runs", all)
			} else if len(on) == 1 && sides > 1 {
				who += ", all of " + g[0].Side
			}
		}
		lines = append(lines, who+": "+merged(texts))
	}
	return lines
}

// Repeats reports whether the last remark says what one before it said.
func Repeats(list []Remark) bool {
	n := len(list) - 1
	last := pattern(list[n].Text)
	return slices.ContainsFunc(list[:n], func(r Remark) bool { return pattern(r.Text) == last })
}

// Repeated is Lines for what was said more than once.
func Repeated(list []Remark, runs map[string]int) []string {
	times := make(map[string]int)
	for _, r := range list {
		times[pattern(r.Text)]++
	}
	return Lines(slices.DeleteFunc(slices.Clone(list), func(r Remark) bool { return times[pattern(r.Text)] == 1 }), runs)
}

// number is a number with what may stand around it in a sentence.
var number = regexp.MustCompile(`^[("]*([-+±]?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?%?)[)",:;.]*$`)

// name is a word that people do not write: a path, a file, a build ID.
var name = regexp.MustCompile(`/|[a-z0-9_\]]\.[A-Za-z]|[a-z][0-9]|[0-9][a-z]`)

// pattern is a text without its numbers and names.
func pattern(text string) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		switch {
		case number.MatchString(w):
			words[i] = "0"
		case name.MatchString(w):
			words[i] = "/"
		}
	}
	return strings.Join(words, " ")
}

// merged is one text for texts of one pattern.
func merged(texts []string) string {
	words := make([][]string, len(texts))
	for i, t := range texts {
		words[i] = strings.Split(t, " ")
	}
	out := slices.Clone(words[0])
	for i, w := range out {
		var others []string // distinct, w the first
		for _, list := range words {
			if !slices.Contains(others, list[i]) {
				others = append(others, list[i])
			}
		}
		switch {
		case len(others) == 1:
		case number.MatchString(w):
			out[i] = span(others)
		default:
			out[i] = listed(others)
		}
	}
	return strings.Join(out, " ")
}

// span is the range of numbers, with what stands around the first.
func span(words []string) string {
	core := func(w string) string { return number.FindStringSubmatch(w)[1] }
	value := func(w string) float64 {
		v, _ := strconv.ParseFloat(strings.NewReplacer(",", "", "%", "", "±", "").Replace(core(w)), 64)
		return v
	}
	least, most := words[0], words[0]
	for _, w := range words[1:] {
		if value(w) < value(least) {
			least = w
		}
		if value(w) > value(most) {
			most = w
		}
	}
	from := core(least)
	if strings.HasSuffix(core(most), "%") {
		from = strings.TrimSuffix(from, "%")
	}
	return strings.Replace(words[0], core(words[0]), from+"–"+core(most), 1)
}

// maxListed is how many names are listed.
const maxListed = 3

// listed lists names. What follows the last in its sentence follows the list.
func listed(words []string) string {
	last := words[0]
	end := last[len(strings.TrimRight(last, ",:;")):]
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = strings.TrimRight(w, ",:;")
	}
	if n := len(list) - maxListed; n > 0 {
		return fmt.Sprintf("%s and %d more%s", strings.Join(list[:maxListed], ", "), n, end)
	}
	return strings.Join(list, ", ") + end
}
