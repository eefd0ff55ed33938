package text

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type csvCost struct {
	Delta float64  `json:"delta"`
	Ratio Number   `json:"ratio"`
	CI    Interval `json:"ci"`
	Seen  bool     `json:"seen"`
	Kept  string   `json:"-"`
}

type csvLine struct {
	Name  string  `json:"name"`
	Shift *int    `json:"shift"`
	Self  csvCost `json:"self"`
}

func TestWriteCSV(t *testing.T) {
	three := 3
	rows := []csvLine{
		{"plain", &three, csvCost{-1.5, 0.5, Interval{0.25, 1e21}, true, "x"}},
		{`operator""_km, "x"`, nil, csvCost{0, Missing, Interval{0, math.Inf(1)}, false, ""}},
		{"=HYPERLINK(\"http://example.com\")", nil, csvCost{}},
		{"+1", nil, csvCost{}},
		{"-[NSObject init]", nil, csvCost{}},
		{"@cpu", nil, csvCost{}},
		{"＝1", nil, csvCost{}},
		{"\t=1\r\n", nil, csvCost{}},
		{"'quoted", nil, csvCost{}},
		{"", nil, csvCost{}},
		{"<T&>", nil, csvCost{}},
	}
	const want = `name,shift,self.delta,self.ratio,self.ci.low,self.ci.high,self.seen
plain,3,-1.5,0.5,0.25,1e+21,true
"operator""""_km, ""x""",,0,,0,,false
"'=HYPERLINK(""http://example.com"")",,0,0,0,0,false
'+1,,0,0,0,0,false
'-[NSObject init],,0,0,0,0,false
'@cpu,,0,0,0,0,false
'＝1,,0,0,0,0,false
⟨U+0009⟩=1⟨U+000D⟩⟨U+000A⟩,,0,0,0,0,false
'quoted,,0,0,0,0,false
,,0,0,0,0,false
<T&>,,0,0,0,0,false
`
	var out bytes.Buffer
	if err := WriteCSV(&out, rows); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("CSV (-want +got):\n%s", d)
	}
	// A header without rows.
	out.Reset()
	if err := WriteCSV(&out, rows[:0]); err != nil {
		t.Fatal(err)
	}
	if header, _, _ := strings.Cut(want, "\n"); out.String() != header+"\n" {
		t.Errorf("without rows %q", out.String())
	}
	if err := WriteCSV(&out, []struct{ List []int }{{[]int{1, 2, 3}}}); err == nil {
		t.Error("a list is written")
	}
}

func FuzzCSV(f *testing.F) {
	for _, name := range []string{"main", "=1", "a,b", "\"\n", "\xff-"} {
		f.Add(name, 1.5)
	}
	f.Fuzz(func(t *testing.T, name string, v float64) {
		if !Number(v).Known() {
			return
		}
		var out bytes.Buffer
		if err := WriteCSV(&out, []csvLine{{Name: name, Self: csvCost{Delta: v}}}); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(records) != 2 || len(records[0]) != 7 {
			t.Fatalf("read back %q: %v", records, err)
		}
		cell := records[1][0]
		if text, ok := strings.CutPrefix(cell, "'"); ok && text != "" && strings.ContainsAny(text[:1], "=+-@") {
			cell = text
		} else if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
			t.Errorf("%q is a formula", cell)
		}
		if want := strings.ToValidUTF8(name, "\ufffd"); strings.HasPrefix(name, "'") || len([]rune(want)) != len([]rune(name)) {
			return
		} else if cell != Printable(want) {
			t.Errorf("%q is written as %q", name, cell)
		}
	})
}

// TestWriteCSVOmitted has fields that only some rows have: each value stands below its name.
func TestWriteCSVOmitted(t *testing.T) {
	type row struct {
		Name  string    `json:"name"`
		Last  *Interval `json:"last,omitempty"`
		N     int       `json:"n,omitempty"`
		Delta float64   `json:"delta"`
		Why   string    `json:"why,omitempty"`
	}
	for name, x := range map[string]struct {
		rows []row
		want string
	}{
		"none has them":     {[]row{{Name: "a", Delta: 1}}, "name,delta\na,1\n"},
		"some have them":    {[]row{{Name: "a", Delta: 1}, {Name: "b", N: 2, Delta: 3, Why: "x"}, {Name: "c", Last: &Interval{4, 5}, Delta: 6}}, "name,last.low,last.high,n,delta,why\na,,,,1,\nb,,,2,3,x\nc,4,5,,6,\n"},
		"there are no rows": {nil, "name,delta\n"},
	} {
		var out bytes.Buffer
		if err := WriteCSV(&out, x.rows); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(x.want, out.String()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
