package html

import (
	"html/template"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	owntemplate "profdiff/internal/template"
)

// TestTemplate compares pages of screens with any content with what html/template makes of them.
func TestTemplate(t *testing.T) {
	page, err := owntemplate.Parse(pageText, escaper.Replace)
	if err != nil {
		t.Fatal(err)
	}
	oracle := template.Must(template.New("page").Parse(pageText))
	for seed := range uint64(300) {
		var s screen
		fill(reflect.ValueOf(&s).Elem(), "", rand.New(rand.NewPCG(seed, 0)))
		for _, name := range []string{"head", "body"} {
			var want strings.Builder
			if err := oracle.ExecuteTemplate(&want, name, &s); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.String(), page.Execute(name, &s)); diff != "" {
				t.Fatalf("%s of the screen of seed %d, -html/template +got:\n%s", name, seed, diff)
			}
		}
	}
}

// fill sets a value to one that a page may have, or leaves it as it is.
func fill(v reflect.Value, name string, rng *rand.Rand) {
	if v.Kind() != reflect.Struct && rng.IntN(3) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), v.Type().Field(i).Name, rng)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name, rng)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rng.IntN(4), 4))
		for i := range v.Len() {
			fill(v.Index(i), name, rng)
		}
	case reflect.String:
		texts := []string{"improved", "regressed", "gone", "a+b", `<"&'`, "\x00", "→ 0 %"}
		if name == "Link" {
			texts = []string{"#function=a%3Cint%3E&dso=b", "#view=flame&event=1"}
		}
		v.SetString(texts[rng.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(rng.NormFloat64() * 1e21)
	case reflect.Int, reflect.Int64, reflect.Uint8:
		v.Set(reflect.ValueOf(rng.IntN(4)).Convert(v.Type()))
	}
}
