package main

// What the question needs of an order, side by side.
var (
	prices, quantities []int64
	sides              []uint8
)

func setUp(list []*order) {
	for _, o := range list {
		prices, quantities, sides = append(prices, o.price), append(quantities, o.quantity), append(sides, o.side)
	}
}

//go:noinline
func filled(limit int64, side uint8) int64 {
	var sum int64
	quantities, sides := quantities[:len(prices)], sides[:len(prices)]
	for i, price := range prices {
		if sides[i] == side && price <= limit {
			sum += quantities[i]
		}
	}
	return sum
}
