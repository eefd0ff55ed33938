package symbolizer_test

import (
	"fmt"

	"profdiff/internal/symbolizer"
)

func ExampleDemangle() {
	fmt.Println(symbolizer.Demangle("_ZNSt6vectorIiSaIiEE9push_backEOi"))
	fmt.Println(symbolizer.Demangle("_RNvCs1234_7mycrate3foo"))
	// Output:
	// std::vector<int, std::allocator<int> >::push_back(int&&)
	// mycrate::foo
}
