package text

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width is the number of columns that a terminal shows a text in: two for a wide character, none
// for an accent that stands on the character before it (Unicode Standard Annexes 11 and 29).
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

// Cut keeps the start and the end of a text, with … between them, so that it is at most room
// columns wide.
func Cut(s string, room int) string {
	switch {
	case Width(s) <= room:
		return s
	case room <= 1:
		return "…"[:3*max(0, room)]
	}
	start := room / 2
	return s[:fitting(s, start)] + "…" + s[skipping(s, Width(s)-(room-1-start)):]
}

// CutEnd keeps the start of a text, with … behind it, so that it is at most room columns wide.
func CutEnd(s string, room int) string {
	if Width(s) <= room || room <= 0 {
		return s[:fitting(s, room)]
	}
	return strings.TrimRight(s[:fitting(s, room-1)], " ") + "…"
}

// fitting is the number of bytes at the start of a text that are at most so many columns wide.
func fitting(s string, columns int) int {
	n, state := 0, -1
	for n < len(s) {
		cluster, _, w, next := uniseg.FirstGraphemeClusterInString(s[n:], state)
		if columns -= w; columns < 0 {
			break
		}
		n, state = n+len(cluster), next
	}
	return n
}

// skipping is the number of bytes at the start of a text that are at least so many columns wide.
func skipping(s string, columns int) int {
	n, state := 0, -1
	for n < len(s) && columns > 0 {
		cluster, _, w, next := uniseg.FirstGraphemeClusterInString(s[n:], state)
		n, state = n+len(cluster), next
		columns -= w
	}
	return n
}
