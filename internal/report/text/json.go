package text

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
)

// WriteJSON writes a document as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Finite returns nil for what JSON has no number for.
func Finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// Significant rounds to eight digits: more of a p-value are not computed alike on all
// machines.
func Significant(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 8, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// FinitePair is an interval in JSON: a bound that is not a number is null.
func FinitePair(lo, hi float64) []*float64 { return []*float64{Finite(lo), Finite(hi)} }
