package align_test

import (
	"fmt"

	"profdiff/internal/align"
)

func ExampleFunctions() {
	base := []align.Function{{Name: "parse(char const*)"}, {Name: "main"}}
	head := []align.Function{{Name: "main"}, {Name: "parse(char const*) [clone .constprop.0]"}}
	matches, err := align.Functions(base, head, align.Options{})
	if err != nil {
		panic(err)
	}
	for _, m := range matches {
		fmt.Println(m.Kind, base[m.Base].Name, "=", head[m.Head].Name)
	}
	// Output:
	// normalized parse(char const*) = parse(char const*) [clone .constprop.0]
	// exact main = main
}
