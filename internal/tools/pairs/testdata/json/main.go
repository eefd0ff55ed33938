// Json decodes and encodes a generated document: the same work by either implementation of encoding/json.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type order struct {
	ID    int64             `json:"id"`
	Name  string            `json:"name"`
	Tags  []string          `json:"tags"`
	Price float64           `json:"price"`
	Lines []line            `json:"lines"`
	Notes map[string]string `json:"notes"`
}

type line struct {
	Item  string  `json:"item"`
	Count int     `json:"count"`
	Each  float64 `json:"each"`
	Gift  bool    `json:"gift,omitempty"`
}

func main() {
	var list []order
	for i := range 1000 {
		o := order{ID: int64(i * 7919), Name: fmt.Sprintf("order \"%d\"", i), Tags: []string{"new", "paid", fmt.Sprint(i % 17)}, Price: float64(i) * 1.25, Notes: map[string]string{"by": "post", "at": fmt.Sprint(i)}}
		for k := range i % 6 {
			o.Lines = append(o.Lines, line{fmt.Sprintf("item %d", k), k + 1, float64(k) / 3, k%2 == 0})
		}
		list = append(list, o)
	}
	sum := 0
	for range 30 {
		data, err := json.Marshal(list)
		if err == nil {
			var back []order
			err = json.Unmarshal(data, &back)
			sum += len(data) + len(back)
		}
		if err == nil {
			var any []any
			err = json.Unmarshal(data, &any)
			sum += len(any)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Println(sum)
}
