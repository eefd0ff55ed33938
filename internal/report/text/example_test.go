package text_test

import (
	"fmt"
	"os"

	"profdiff/internal/report/text"
)

// Numbers and units have one form in all outputs.
func Example() {
	fmt.Println(text.Weight(1234567, "nanoseconds"), text.Weight(98765432, "cycles"))
	fmt.Println(text.Ratio(0.5), text.Change(0.5), text.P(0.00001234))
	fmt.Println(text.Count(1234567), text.Plural(1, "run", "runs"), text.Plural(3, "run", "runs"))
	// Output:
	// 1.235 ms 98.77 M
	// 0.500 -50.0% <0.0001
	// 1,234,567 run runs
}

// A column whose cells are all "-" is left out.
func ExampleWriteColumns() {
	type row struct {
		name   string
		cycles float64
		file   string
	}
	columns := []text.Column[row]{
		text.Right("cycles", func(r row) string { return text.Digits(r.cycles) }),
		text.Left("function", func(r row) string { return r.name }),
		text.Left("file", func(r row) string { return text.Dash(r.file) }),
	}
	err := text.WriteColumns(os.Stdout, columns, []row{{name: "parse", cycles: 4000}, {name: "hash", cycles: 250.5}})
	if err != nil {
		panic(err)
	}
	// Output:
	// cycles  function
	//   4000  parse
	//  250.5  hash
}
