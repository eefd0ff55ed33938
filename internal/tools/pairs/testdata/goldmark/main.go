// Goldmark converts a Markdown file to HTML, many times.
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	size := 0
	for range 120 {
		var out bytes.Buffer
		if err := md.Convert(text, &out); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		size = out.Len()
	}
	fmt.Println(size)
}
