package budget

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"profdiff/internal/verdict"
	"profdiff/internal/yaml"
)

// LoosenedID names the result that says what a change does to its own budget.
const LoosenedID = "the budget file itself"

// Loosened compares the file, which limits a change, with the file as the change would have it. The
// result warns of all that would allow more: nothing of it held when the change was checked. It is
// nil if the other file allows no more.
//
//  1. Both files become lists of values by their places; budgets go by their ids.
//  2. Of limits and levels it is known which direction allows more. A limit that is gone allows most.
//  3. Of all else it is not: what is counted, or how, is another. Any difference is told.
//  4. What a reader of the file is told, as owners and reasons, allows nothing.
func (f *File) Loosened(proposed *File) *Result {
	own, other := f.values(), proposed.values()
	places := slices.Sorted(maps.Keys(own))
	for place := range other {
		if _, both := own[place]; !both {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	r := &Result{ID: LoosenedID, Verdict: verdict.Warn, File: proposed.name}
	ids, kept := f.ids(), proposed.ids()
	for _, id := range ids {
		if !slices.Contains(kept, id) {
			r.Reasons = append(r.Reasons, id+": the budget is removed")
		}
	}
	for _, place := range places {
		from, had := own[place]
		to, has := other[place]
		if id := cmp.Or(from.budget, to.budget); id != "" && !(slices.Contains(ids, id) && slices.Contains(kept, id)) {
			continue // a budget that is gone, as was said, or a new one, which allows nothing
		}
		if from.text == to.text || !cmp.Or(from.rule, to.rule).loosens(from, to, had, has) {
			continue
		}
		r.Reasons = append(r.Reasons, fmt.Sprintf("%s: %s → %s", place, cmp.Or(from.text, "none"), cmp.Or(to.text, "none")))
		if r.Position == (yaml.Position{}) {
			r.Position = proposed.at[to.path]
		}
	}
	if len(r.Reasons) == 0 {
		return nil
	}
	if n := len(r.Reasons) - maxLoosened; n > 0 {
		r.Reasons = append(r.Reasons[:maxLoosened], fmt.Sprintf("%d more differences", n))
	}
	return r
}

// maxLoosened is how many differences of two files are told.
const maxLoosened = 20

// A value is one word of a file.
type value struct {
	text   string
	number float64 // if the rule compares numbers, in unit
	unit   Unit
	path   string // in File.at
	budget string // that it is of, "" if of all
	rule   looseRule
}

// A looseRule says which of two values allows more.
type looseRule uint8

// The rules.
const (
	anyLoosens   looseRule = iota + 1 // it is not known
	moreLoosens                       // more, and none at all
	lessLoosens                       // less, and none at all
	falseLoosens                      // no, where it was yes
	milder                            // pass, where it was warn, where it was fail
)

func (rule looseRule) loosens(from, to value, had, has bool) bool {
	switch rule {
	case moreLoosens, lessLoosens:
		if !had || !has || from.unit != to.unit {
			return had
		}
		return (to.number > from.number) == (rule == moreLoosens)
	case falseLoosens:
		return had && !has
	case milder:
		order := []string{"fail", "warn", "pass"}
		return slices.Index(order, to.text) > slices.Index(order, from.text)
	}
	return true
}

// looseRules are the rules by the end of a place.
var looseRules = map[string]looseRule{
	"limit.warn": moreLoosens, "limit.fail": moreLoosens, "max.warn": moreLoosens, "max.fail": moreLoosens,
	"cycles_per_iteration.warn": moreLoosens, "cycles_per_iteration.fail": moreLoosens,
	"min.warn": lessLoosens, "min.fail": lessLoosens, "alpha": lessLoosens,
	"min_effect": moreLoosens, "require.runs": moreLoosens, "require.samples": moreLoosens,
	"strict": falseLoosens, "on_inconclusive": milder, "on_missing": milder,
}

// notLimiting are the ends of places that limit nothing.
var notLimiting = []string{"version", "owner", "issue", "reason", "by", "id"}

// values are the values of the file by their places, as people name these: budgets and waivers
// by the id of the budget.
func (f *File) values() map[string]value {
	list := make(map[string]value)
	addValues(list, "defaults", value{path: "defaults"}, reflect.ValueOf(f.Defaults))
	if f.Discover != nil {
		addValues(list, "discover", value{path: "discover"}, reflect.ValueOf(*f.Discover))
	}
	if f.Fleet != nil {
		// That a file is about a fleet says most of it: what it has else may be left to its defaults.
		list["fleet"] = value{text: "releases of a fleet", path: "fleet", rule: anyLoosens}
		addValues(list, "fleet", value{path: "fleet"}, reflect.ValueOf(*f.Fleet))
	}
	for i := range f.Budgets {
		b := &f.Budgets[i]
		addValues(list, b.ID, value{path: fmt.Sprintf("budgets[%d]", i), budget: b.ID}, reflect.ValueOf(*b))
		for _, name := range []string{"warn", "fail"} {
			place := b.ID + ": limit." + name
			if v, ok := list[place]; ok && b.Samples != "" {
				// Whether values may rise or fall is what their direction says.
				v.rule = map[Better]looseRule{"lower": moreLoosens, "higher": lessLoosens, "": anyLoosens}[b.Better]
				list[place] = v
			}
		}
	}
	for i := range f.Waivers {
		w := &f.Waivers[i]
		list[w.Budget+": waiver"] = value{
			text: fmt.Sprintf("up to %s until %s", w.Ceiling, w.Until), path: fmt.Sprintf("waivers[%d]", i), budget: w.Budget, rule: anyLoosens,
		}
	}
	return list
}

// addValues adds what a value of a file has, as fields of the form that at gives.
func addValues(list map[string]value, place string, at value, v reflect.Value) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	pointer := reflect.New(v.Type())
	pointer.Elem().Set(v)
	_, word := pointer.Interface().(scalar)
	if v.Kind() == reflect.Struct && !word {
		sep := "."
		if at.budget == place {
			sep = ": "
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name == "" || name == "-" || slices.Contains(notLimiting, name) {
				continue
			}
			field := at
			field.path = yaml.Join(at.path, name)
			addValues(list, place+sep+name, field, v.Field(i))
		}
		return
	}
	if v.IsZero() {
		return
	}
	at.text, at.rule = fmt.Sprint(v.Interface()), anyLoosens
	if v.Kind() == reflect.Slice {
		at.text = strings.Trim(at.text, "[]")
	}
	for end, rule := range looseRules {
		if strings.HasSuffix(place, "."+end) || strings.HasSuffix(place, " "+end) {
			at.rule = rule
		}
	}
	switch x := v.Interface().(type) {
	case Amount:
		at.number, at.unit = x.Value, x.Unit
	default:
		switch {
		case v.CanFloat():
			at.number = v.Float()
		case v.CanInt():
			at.number = float64(v.Int())
		}
	}
	list[place] = at
}
