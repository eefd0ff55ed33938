// Sums the orders of a book that a price would fill, for many prices. The unit is an order that is looked at.
package main

type order struct {
	id, account uint64
	price       int64
	quantity    int64
	placed      int64
	side        uint8
}

var limits []int64

const orders = 4096

// book makes orders, in the order in which they were placed.
func book() []*order {
	var list []*order
	for i := range orders {
		list = append(list, &order{
			id: randomNext(), account: randomNext(), price: int64(9000 + randomBelow(1000) + randomBelow(1000)),
			quantity: int64(1 + randomBelow(500)), placed: int64(i), side: uint8(randomBelow(2)),
		})
	}
	// They come and go: neighbours in the book are none in memory.
	for i := range list {
		j := i + randomBelow(len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func prepare([]byte) int {
	setUp(book())
	for range 48 {
		limits = append(limits, int64(9200+randomBelow(1600)))
	}
	return orders * len(limits)
}

func reset() {}

func pass() uint64 {
	var sum uint64
	for _, limit := range limits {
		sum = sum*31 + uint64(filled(limit, 1))
	}
	return sum
}
