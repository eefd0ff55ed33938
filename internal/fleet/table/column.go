package table

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Physical types.
const (
	typeInt32     = 1
	typeInt64     = 2
	typeByteArray = 6
	typeFixed     = 7
)

// A column is a field of a row.
type column struct {
	name     string
	field    int
	physical int64
	optional bool // a pointer
	list     bool // of numbers
	encoding int64
}

// columnsOf are the columns of a row type: fields with a tag parquet:"NAME,OPTION…", where optional is what the type says as a
// pointer, list what it says as a slice, dict and delta how values are written.
func columnsOf[T Row]() (columns []column) {
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("parquet"), ",")
		c := column{name: tag[0], field: i}
		of := f.Type
		switch {
		case of.Kind() == reflect.Pointer:
			c.optional, of = true, of.Elem()
		case of.Kind() == reflect.Slice:
			c.list, of = true, of.Elem()
		}
		switch of.Kind() {
		case reflect.Int32:
			c.physical = typeInt32
		case reflect.Int64:
			c.physical = typeInt64
		case reflect.String:
			c.physical = typeByteArray
		case reflect.Array:
			c.physical = typeFixed
		default:
			panic(fmt.Sprintf("column %s has no type of Parquet", c.name))
		}
		switch {
		case slices.Contains(tag, "dict"):
			c.encoding = encodingDictionary
		case slices.Contains(tag, "delta"):
			c.encoding = encodingDelta
		}
		columns = append(columns, c)
	}
	return columns
}

// path is where the values of the column are in the schema.
func (c *column) path() []string {
	if c.list {
		return []string{c.name, "list", "element"}
	}
	return []string{c.name}
}

// values are those of a column of some rows.
type values struct {
	numbers []int64 // also those of int32
	texts   []string
	fixed   [][fixedSize]byte
	// present says which rows have a value, of optional columns, and lengths how many, of lists.
	present []bool
	lengths []int
}

const fixedSize = 16

// cut cuts off the values of the first rows.
func (v *values) cut(rows int) (first, rest values) {
	n := rows
	switch {
	case v.lengths != nil:
		n = 0
		for _, length := range v.lengths[:rows] {
			n += length
		}
		first.lengths, rest.lengths = v.lengths[:rows], v.lengths[rows:]
	case v.present != nil:
		n = 0
		for _, present := range v.present[:rows] {
			if present {
				n++
			}
		}
		first.present, rest.present = v.present[:rows], v.present[rows:]
	}
	switch {
	case v.texts != nil:
		first.texts, rest.texts = v.texts[:n], v.texts[n:]
	case v.fixed != nil:
		first.fixed, rest.fixed = v.fixed[:n], v.fixed[n:]
	default:
		first.numbers, rest.numbers = v.numbers[:n], v.numbers[n:]
	}
	return first, rest
}

// take takes the values of rows, numbers of lists to where there is room.
func take[T Row](rows []T, c *column, room []int64) (v values) {
	all := reflect.ValueOf(rows)
	switch {
	case c.list:
		v.lengths = make([]int, 0, len(rows))
		n := 0
		for i := range rows {
			n += listLength(rows, i, c)
		}
		v.numbers = slices.Grow(room[:0], n)
	case c.physical == typeByteArray:
		v.texts = make([]string, 0, len(rows))
	case c.physical == typeFixed:
		v.fixed = make([][fixedSize]byte, 0, len(rows))
	default:
		v.numbers = make([]int64, 0, len(rows))
	}
	for i := range len(rows) {
		f := all.Index(i).Field(c.field)
		switch {
		case c.optional:
			v.present = append(v.present, !f.IsNil())
			if f.IsNil() {
				continue
			}
			f = f.Elem()
		case c.list:
			list := f.Interface().([]int64)
			v.lengths = append(v.lengths, len(list))
			v.numbers = append(v.numbers, list...)
			continue
		}
		switch c.physical {
		case typeByteArray:
			v.texts = append(v.texts, f.String())
		case typeFixed:
			v.fixed = append(v.fixed, f.Interface().([fixedSize]byte))
		default:
			v.numbers = append(v.numbers, f.Int())
		}
	}
	return v
}

// A filler hands values of a column out to rows, in order.
type filler struct {
	values
	row, value int
}

// fill sets a field of rows to the next values.
func fill[T Row](rows []T, c *column, from *filler) {
	all := reflect.ValueOf(rows)
	for i := range rows {
		f := all.Index(i).Field(c.field)
		row := from.row
		from.row++
		switch {
		case c.list:
			n := from.lengths[row]
			f.Set(reflect.ValueOf(slices.Clone(from.numbers[from.value : from.value+n])))
			from.value += n
			continue
		case from.present != nil && !from.present[row]:
			continue
		case c.optional:
			f.Set(reflect.New(f.Type().Elem()))
			f = f.Elem()
		}
		switch c.physical {
		case typeByteArray:
			f.SetString(from.texts[from.value])
		case typeFixed:
			reflect.Copy(f, reflect.ValueOf(from.fixed[from.value][:]))
		default:
			f.SetInt(from.numbers[from.value])
		}
		from.value++
	}
}

// listLength is the length of the list of a row.
func listLength[T Row](rows []T, row int, c *column) int {
	return reflect.ValueOf(rows).Index(row).Field(c.field).Len()
}
