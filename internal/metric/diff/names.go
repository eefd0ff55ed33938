package diff

import (
	"fmt"
	"slices"

	"profdiff/internal/metric"
)

// names tells whether the sides call one command or benchmark differently, as where each has a
// single one: ./old and ./new. Of several, which is which would be a guess. text says what was done,
// or what the user can do; it is "" if names are equal.
func names(base, head []*metric.Metric) (text string, renamed bool) {
	b, h := lacking(base, head), lacking(head, base)
	switch {
	case b == nil || h == nil || b.Kind != h.Kind:
		return "", false
	case ofOne(base) && ofOne(head):
		return fmt.Sprintf("base has one %s, %s, and head one, %s: these are compared", b.Kind, b.Subject, h.Subject), true
	}
	return fmt.Sprintf("base alone has the %s %s, and head alone %s: --metric REGEXP that leaves one %s a side compares these", b.Kind, b.Subject, h.Subject, b.Kind), false
}

// lacking is the first metric of a command or benchmark that the other side lacks, nil if there is
// none.
func lacking(list, other []*metric.Metric) *metric.Metric {
	for _, m := range list {
		if m.Kind != "" && !slices.ContainsFunc(other, func(o *metric.Metric) bool { return o.Subject == m.Subject }) {
			return m
		}
	}
	return nil
}

func ofOne(list []*metric.Metric) bool {
	return !slices.ContainsFunc(list, func(m *metric.Metric) bool { return m.Subject != list[0].Subject })
}
