package main

var pointers []*order

func setUp(list []*order) { pointers = list }

//go:noinline
func filled(limit int64, side uint8) int64 {
	var sum int64
	for _, o := range pointers {
		if o.side == side && o.price <= limit {
			sum += o.quantity
		}
	}
	return sum
}
