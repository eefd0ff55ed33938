package html

import (
	"path"
	"reflect"
	"regexp"
	"strings"

	"profdiff/internal/listing"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/text"
	"profdiff/internal/source"
)

// cleanAll cleans all strings that are reachable from a pointer. Strings in the document of
// a comparison are left out, as other outputs have them too: they are cleaned where they are
// encoded. Going by type, it cannot miss a field that is added later.
func cleanAll(p any) { make(cleaner).value(reflect.ValueOf(p)) }

// A cleaner knows by type of a structure the fields that may hold strings.
type cleaner map[reflect.Type][]int

func (c cleaner) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s != "" {
			if c := cleanOf(v.Type())(s); c != s {
				v.SetString(c)
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

// cleanOf is what cleans text of a type: tabs are part of source text.
func cleanOf(t reflect.Type) func(string) string {
	if t == reflect.TypeFor[source.Text]() {
		return text.CleanLine
	}
	return text.Clean
}

func (c cleaner) fields(t reflect.Type) []int {
	fields, ok := c[t]
	if !ok {
		for i := range t.NumField() {
			if hasText(t.Field(i).Type) {
				fields = append(fields, i)
			}
		}
		c[t] = fields
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

var absolutePath = regexp.MustCompile(`(^|[\s=:,'"])(/[^\s:,'"]*/)`)

// trimPaths takes the directories from absolute paths in a text: they tell of the
// machine of whoever recorded.
func trimPaths(s string) string { return absolutePath.ReplaceAllString(s, "$1…/") }

// trimName takes all but the last directory from the name of a file.
func trimName(name string) string {
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	dir, file := path.Split(name)
	if last := path.Base(dir); dir != "" && last != "/" && last != "." {
		return last + "/" + file
	}
	return file
}
