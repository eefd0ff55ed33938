package compare

import (
	"fmt"
	"slices"
	"testing"
)

func TestExplained(t *testing.T) {
	const decode, encode = "a!main;a!Decode", "a!main;a!Encode"
	rest := map[string]int{"a!main": 300, "a!main;a!read": 700}
	// The functions below both are others, and many.
	before := with(rest, map[string]int{
		decode: 50, decode + ";a!scan": 400, decode + ";a!scan;a!step": 300, decode + ";a!object": 300, decode + ";a!object;a!unquote": 250,
		encode: 30, encode + ";a!reflect": 200, encode + ";a!reflect;a!quote": 170,
	})
	after := func(d, e int) map[string]int {
		return with(rest, map[string]int{
			decode: 50, decode + ";a!token": 2 * d, decode + ";a!token;a!simple": d, decode + ";a!assign": 2 * d, decode + ";a!assign;a!copy": d,
			encode: 30, encode + ";a!walk": e, encode + ";a!walk;a!append": e,
		})
	}
	chain := func(n int) map[string]int { // one leaf below many callers
		return map[string]int{"a!main;a!f;a!g;a!hot": n, "a!main;a!f;a!g": 100, "a!main;a!f": 100}
	}
	spread := func(n int) map[string]int { // all that one function calls
		m := map[string]int{"a!main;a!query": 60}
		for i := range 6 {
			m[fmt.Sprintf("a!main;a!query;a!step%c", 'A'+i)] = n
		}
		return m
	}
	program := func(letter byte, n int) map[string]int { // beside what loads it
		m := map[string]int{"a!_dl_start;a!relocate": 400}
		for i := range byte(6) {
			m[fmt.Sprintf("a!__libc_start_call_main;a!main;a!part%c", letter+i)] = n
		}
		return m
	}
	for _, test := range []struct {
		name       string
		base, head map[string]int
		want       []string
	}{
		{"one slower, one faster, of other functions", before, after(130, 300), []string{"Decode improved", "Encode regressed"}},
		{"both slower", before, after(300, 300), []string{"Decode regressed", "Encode regressed"}},
		{"all that one function calls is slower", with(rest, spread(150)), with(rest, spread(180)), []string{"query regressed"}},
		{"all that the program does itself", program('A', 200), program('H', 100), nil},
		{"nothing changed", before, before, nil},
		{"one function changed, which its own row says", with(rest, chain(500)), with(rest, chain(900)), nil},
		{"everything changed, which the total says", map[string]int{"a!main;a!x": 500, "a!main;a!y": 500, "a!main;a!z": 500, "a!main;a!w": 500, "a!main;a!v": 500}, map[string]int{"a!main;a!x": 600, "a!main;a!y": 600, "a!main;a!z": 600, "a!main;a!w": 600, "a!main;a!v": 600}, nil},
	} {
		c := mustCompare(t, noisy(t, 61, 8, test.base), noisy(t, 62, 8, test.head), Options{Normalize: None})
		var got []string
		e := &c.Events[0]
		for _, i := range e.Explained {
			f := &e.Functions[i]
			got = append(got, f.Name+" "+string(f.Total.Verdict))
			if f.Total.Declared {
				t.Errorf("%s: %s was tested as if it was declared", test.name, f.Name)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
