package html

import (
	"errors"
	"math"
	"reflect"
	"strings"
)

// Packed integers are a text in JSON, which browsers read much faster than an array, and of which less is
// left when it is compressed:
//
//  1. The sign becomes the lowest bit, so that small numbers stay small.
//  2. Numbers below packedLast are one letter. Of others the remainder by packedMore is a letter, and the
//     quotient follows in the same way.
//  3. First come the first letters of all numbers, then, behind a space, the second letters of those that have one,
//     and so on: letters of one kind are compressed together.
//
// In pages of older versions they are arrays.
type packed []int64

// packedLetters are those that JSON takes as they are.
const (
	packedLetters = "0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"
	packedLast    = 14
	packedMore    = 64
)

// packed writes a column.
func (c *columns) packed(name string, n int, at func(i int) int64) {
	var letters [][]byte
	add := func(place int, k uint64) {
		if place == len(letters) {
			letters = append(letters, nil)
		}
		letters[place] = append(letters[place], packedLetters[k])
	}
	for i := range n {
		v := at(i)
		u, place := uint64(v<<1^v>>63), 0
		for ; u >= packedLast; u = (u - packedLast) / packedMore {
			add(place, packedLast+(u-packedLast)%packedMore)
			place++
		}
		add(place, u)
	}
	c.key(name)
	c.buf = append(c.buf, '"')
	for place, list := range letters {
		if place > 0 {
			c.buf = append(c.buf, ' ')
		}
		c.buf = append(c.buf, list...)
	}
	c.buf = append(c.buf, '"')
}

// packedType is that of columns which may be packed.
var packedType = reflect.TypeFor[packed]()

// integersOf are the numbers of a packed column.
func integersOf(text string) (packed, error) {
	if text == "" {
		return nil, nil
	}
	var sums []uint64
	var open []int // numbers that go on
	unit := uint64(1)
	for place, letters := range strings.Split(text, " ") {
		if place == 0 {
			sums, open = make([]uint64, len(letters)), make([]int, len(letters))
			for i := range open {
				open[i] = i
			}
		}
		if len(letters) != len(open) || len(open) == 0 || unit > math.MaxUint32 {
			return nil, errors.New("is no column of integers")
		}
		var more []int
		for j, i := range open {
			k := strings.IndexByte(packedLetters, letters[j])
			if k < 0 {
				return nil, errors.New("has a letter that is no digit")
			}
			if sums[i] += uint64(k) * unit; k >= packedLast {
				more = append(more, i)
			}
		}
		open = more
		unit *= packedMore
	}
	if len(open) > 0 {
		return nil, errors.New("ends within an integer")
	}
	list := make(packed, len(sums))
	for i, u := range sums {
		if u > math.MaxUint32 {
			return nil, errors.New("has too large an integer")
		}
		list[i] = int64(u>>1) ^ -int64(u&1)
	}
	return list, nil
}

// packed takes a column that is text.
func (w *rewriter) packed(s *shape, text string) error {
	list, err := integersOf(text)
	sum := int64(0)
	for i, v := range list {
		s.elem.integer(v)
		sum += v
		s.sums(sum, int64(i))
	}
	s.found, s.n = true, s.n+len(list)
	w.out = append(append(append(w.out, '"'), text...), '"')
	return err
}
