package asm

import (
	"strconv"
	"strings"
)

// An Alignment is what a listing wants of an address: a multiple of bytes unless that
// takes more padding than most.
type Alignment struct{ Bytes, Most uint64 }

// alignmentOf reads .p2align and the like.
func alignmentOf(directive, arguments string) (a Alignment, ok bool) {
	fields := strings.Split(arguments, ",")
	n, err := strconv.ParseUint(strings.TrimSpace(fields[0]), 0, 16)
	if err != nil {
		return a, false
	}
	a.Bytes = n
	if directive == ".p2align" {
		if n > 12 {
			return a, false
		}
		a.Bytes = 1 << n
	}
	a.Most = a.Bytes
	if len(fields) == 3 {
		if most, err := strconv.ParseUint(strings.TrimSpace(fields[2]), 0, 16); err == nil {
			a.Most = most
		}
	}
	return a, a.Bytes > 0 && a.Bytes&(a.Bytes-1) == 0
}
