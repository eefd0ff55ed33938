package main

import "sort"

func order(list []int64) {
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
}
