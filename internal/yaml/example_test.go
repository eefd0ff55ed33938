package yaml_test

import (
	"fmt"

	"profdiff/internal/yaml"
)

// Each value knows its place, for messages.
func ExampleParse() {
	n, err := yaml.Parse([]byte("version: 1\nbudgets:\n  - id: parse\n    limit: +10%\n"))
	if err != nil {
		panic(err)
	}
	budget := n.Entries[1].Value.List[0]
	for _, e := range budget.Entries {
		fmt.Printf("%v: %s %s\n", e.Value.Position, e.Key, e.Value.Text)
	}

	_, err = yaml.Parse([]byte("limit: &all +10%\n"))
	fmt.Println(yaml.Name("budget.yaml", err))
	// Output:
	// 3:9: id parse
	// 4:12: limit +10%
	// budget.yaml:1:8: limit: anchors and aliases are not read: write it out
}
