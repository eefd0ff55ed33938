package main

import "slices"

func order(list []int64) { slices.Sort(list) }
