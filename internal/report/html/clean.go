package html

import (
	"reflect"

	"profdiff/internal/listing"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/text"
	"profdiff/internal/source"
)

// cleanAll cleans all strings that are reachable from a pointer. Strings in the document of
// a comparison are left out, as other outputs have them too: they are cleaned where they are
// encoded. Going by type, it cannot miss a field that is added later.
func cleanAll(p any, clean func(string) string) {
	c := cleaner{clean: clean, known: make(map[reflect.Type][]int)}
	c.value(reflect.ValueOf(p))
}

// A cleaner knows by type of a structure the fields that may hold strings.
type cleaner struct {
	clean func(string) string
	known map[reflect.Type][]int
}

func (c *cleaner) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s != "" {
			if clean := cleanOf(v.Type(), c.clean)(s); clean != s {
				v.SetString(clean)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c.value(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if !hasText(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			c.value(v.Index(i))
		}
	case reflect.Struct:
		for _, i := range c.fields(v.Type()) {
			c.value(v.Field(i))
		}
	}
}

// cleanOf is what cleans text of a type: tabs are part of source text, which is shown as it is.
func cleanOf(t reflect.Type, clean func(string) string) func(string) string {
	if t == reflect.TypeFor[source.Text]() {
		return text.CleanLine
	}
	return clean
}

func (c *cleaner) fields(t reflect.Type) []int {
	fields, ok := c.known[t]
	if !ok {
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && hasText(f.Type) {
				fields = append(fields, i)
			}
		}
		c.known[t] = fields
	}
	return fields
}

// hasText reports whether values of a type may hold strings.
func hasText(t reflect.Type) bool {
	if t == reflect.TypeFor[diff.Event]() || t == reflect.TypeFor[listing.Listing]() {
		return false
	}
	switch t.Kind() {
	case reflect.String, reflect.Struct:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return hasText(t.Elem())
	}
	return false
}
