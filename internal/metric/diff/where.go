package diff

import (
	"fmt"
	"math"
	"strings"

	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// A moved quantile, with intervals that hold for all of a metric together.
type moved struct {
	q      float64
	change stats.Estimate
	// against is how much more it changed than the median.
	against stats.Estimate
}

// where says in a sentence where in the distribution a change sits, "" if nothing shows.
func where(x, y *stats.Distribution, margin float64) string {
	var have []float64
	for _, q := range quantiles {
		if min(x.Len(), y.Len()) >= stats.QuantileEvents(q, verdict.Level) {
			have = append(have, q)
		}
	}
	if len(have) < 2 {
		return ""
	}
	lead, scope := "", "" // of one run a side nothing tells how runs differ
	single := min(x.Runs(), y.Runs()) < 2
	if single {
		lead, scope = "lead: ", ", within these runs"
		if max(x.Runs(), y.Runs()) < 2 {
			scope = ", within these two runs"
		}
	}
	// As many statements as there are intervals: of each quantile, and of each against the median.
	tests := stats.New(1 - (1-verdict.Level)/float64(2*len(have)-1))
	var list []moved
	for _, q := range have {
		m := moved{q: q, change: tests.Quantile(x, y, q)}
		if q != have[0] {
			m.against = tests.Contrast(x, y, have[0], q)
		}
		list = append(list, m)
	}
	median, apart := list[0], -1
	for i, m := range list[1:] {
		if m.against.Refused == "" && !m.against.CI.Contains(1) && m.change.Refused == "" {
			if apart < 0 || far(m.against) > far(list[apart].against) {
				apart = i + 1
			}
		}
	}
	if apart >= 0 {
		m := list[apart]
		switch {
		case within(median.change, margin):
			return fmt.Sprintf("%sthe tail changed and the median did not%s: %s, %s", lead, scope, m.text(), median.text())
		case median.change.CI.Contains(1):
			return fmt.Sprintf("%sthe tail changed, and nothing shows that the median did%s: %s, %s", lead, scope, m.text(), median.text())
		case math.Abs(math.Log(m.change.Ratio)) > math.Abs(math.Log(median.change.Ratio)):
			return fmt.Sprintf("%sthe tail changed more than the median%s: %s, %s", lead, scope, m.text(), median.text())
		}
		return fmt.Sprintf("%sthe median changed more than the tail%s: %s, %s", lead, scope, median.text(), m.text())
	}
	if single {
		return "" // what drifts between runs moves all quantiles
	}
	shown, still := 0, 0
	var texts []string
	for _, m := range list {
		if m.change.Refused != "" {
			continue
		}
		if !m.change.CI.Contains(1) {
			shown++
		}
		if within(m.change, margin) {
			still++
		}
		if m.change.CI.Lo > 0 && !math.IsInf(m.change.CI.Hi, 1) {
			texts = append(texts, m.text())
		}
	}
	switch {
	case still == len(list):
		return fmt.Sprintf("no quantile up to %s changed by more than %.3g%%", name(have[len(have)-1]), 100*margin)
	case shown > 0:
		return "nothing shows that quantiles changed by different factors: " + strings.Join(texts, ", ")
	}
	return ""
}

func far(e stats.Estimate) float64 {
	return max(math.Log(e.CI.Lo), -math.Log(e.CI.Hi))
}

func within(e stats.Estimate, margin float64) bool {
	return e.Refused == "" && e.CI.Lo >= 1/(1+margin) && e.CI.Hi <= 1+margin
}

// text is a change with the interval that holds for all quantiles together.
func (m *moved) text() string {
	return fmt.Sprintf("%s %s [%s, %s]", name(m.q), change(m.change.Ratio), change(m.change.CI.Lo), change(m.change.CI.Hi))
}

func change(ratio float64) string {
	switch {
	case math.IsInf(ratio, 1):
		return "∞"
	case ratio >= 10:
		return fmt.Sprintf("×%.3g", ratio)
	}
	if s := fmt.Sprintf("%+.1f%%", 100*(ratio-1)); s != "-0.0%" && s != "+0.0%" {
		return s
	}
	return "0.0%"
}
