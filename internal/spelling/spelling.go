// Package spelling finds what a misspelt word was to be, among the words that there are.
package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// longest is how much of a word is compared, in characters: names of functions may be long, and the
// table of edits grows with both.
const longest = 100

// Closest is the word of a list that a misspelt one stands for, "" if none does: two edits away, or one
// if it is short.
func Closest(word string, list []string) string {
	best, least := "", 3
	if len(word) < 4 {
		least = 2
	}
	if len(word) > 40 {
		return ""
	}
	for _, w := range list {
		if d := Distance(word, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// Nearest are the n names most like one, best first, whatever their case: first those that have
// it in them, or that it has in it, then by the number of edits. Of those that are alike, a later one by
// the alphabet is first: znver3 before znver2.
func Nearest(name string, names []string, n int) []string {
	type entry struct {
		name string
		d    int
	}
	var list []entry
	for _, s := range names {
		if s != "" {
			list = append(list, entry{s, likeness(strings.ToLower(name), strings.ToLower(s))})
		}
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.d, b.d), strings.Compare(b.name, a.name))
	})
	list = slices.Compact(list)
	var found []string
	for _, e := range list[:min(n, len(list))] {
		found = append(found, e.name)
	}
	return found
}

// likeness is small for names that are alike.
func likeness(a, b string) int {
	if a != "" && strings.Contains(b, a) || len(b) > 2 && strings.Contains(a, b) {
		return max(len(a), len(b)) - min(len(a), len(b)) - 1e6
	}
	return Distance(a, b)
}

// Distance is the number of edits between two words (Levenshtein, 1966), with an exchange
// of neighbours as one (Damerau, 1964). Of long words the first 100 characters are compared.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	x, y = x[:min(len(x), longest)], y[:min(len(y), longest)]
	rows := [3][]int{make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(y)]
}
