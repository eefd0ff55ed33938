package metric

import (
	"strings"
	"unicode"
)

// A Unit is what values are in. Units that are not one of these are as the file has them.
type Unit string

// The units that all formats are scaled to.
const (
	Nanoseconds    Unit = "nanoseconds"
	Bytes          Unit = "bytes"
	Bits           Unit = "bits"
	BytesPerSecond Unit = "bytes/second"
	BitsPerSecond  Unit = "bits/second"
	PerSecond      Unit = "count/second"
	Count          Unit = "count"
	Percent        Unit = "percent" // 5 is 5%
	Ratio          Unit = "ratio"
	Joules         Unit = "joules"
	Watts          Unit = "watts"
	Celsius        Unit = "celsius"
)

// dimension is a unit, and how much of it one of what is written is.
type dimension struct {
	unit  Unit
	scale float64
}

// units are spellings of units in lower case, but for those where case tells bits from bytes.
var units = map[string]dimension{
	"ns": {Nanoseconds, 1}, "nsec": {Nanoseconds, 1}, "nanos": {Nanoseconds, 1}, "nanosecond": {Nanoseconds, 1}, "nanoseconds": {Nanoseconds, 1},
	"us": {Nanoseconds, 1e3}, "µs": {Nanoseconds, 1e3}, "μs": {Nanoseconds, 1e3}, "usec": {Nanoseconds, 1e3}, "micros": {Nanoseconds, 1e3},
	"microsecond": {Nanoseconds, 1e3}, "microseconds": {Nanoseconds, 1e3},
	"ms": {Nanoseconds, 1e6}, "msec": {Nanoseconds, 1e6}, "millis": {Nanoseconds, 1e6}, "millisecond": {Nanoseconds, 1e6}, "milliseconds": {Nanoseconds, 1e6},
	"s": {Nanoseconds, 1e9}, "sec": {Nanoseconds, 1e9}, "secs": {Nanoseconds, 1e9}, "second": {Nanoseconds, 1e9}, "seconds": {Nanoseconds, 1e9},
	"min": {Nanoseconds, 60e9}, "minute": {Nanoseconds, 60e9}, "minutes": {Nanoseconds, 60e9}, "hours": {Nanoseconds, 3600e9},

	"byte": {Bytes, 1}, "bytes": {Bytes, 1}, "kilobytes": {Bytes, 1e3}, "megabytes": {Bytes, 1e6}, "gigabytes": {Bytes, 1e9},
	"kb": {Bytes, 1e3}, "mb": {Bytes, 1e6}, "gb": {Bytes, 1e9}, "tb": {Bytes, 1e12},
	"kib": {Bytes, 1 << 10}, "mib": {Bytes, 1 << 20}, "gib": {Bytes, 1 << 30}, "tib": {Bytes, 1 << 40},

	"bit": {Bits, 1}, "bits": {Bits, 1}, "kbit": {Bits, 1e3}, "mbit": {Bits, 1e6}, "gbit": {Bits, 1e9},

	"%": {Percent, 1}, "percent": {Percent, 1}, "percentage": {Percent, 1}, "pct": {Percent, 1},
	"ratio": {Ratio, 1}, "fraction": {Ratio, 1},
	"count": {Count, 1}, "counts": {Count, 1}, "iterations": {Count, 1}, "ops": {Count, 1}, "op": {Count, 1}, "allocs": {Count, 1}, "calls": {Count, 1},
	"requests": {Count, 1}, "reqs": {Count, 1}, "req": {Count, 1}, "frames": {Count, 1}, "items": {Count, 1}, "events": {Count, 1}, "samples": {Count, 1},
	"joules": {Joules, 1}, "j": {Joules, 1}, "mj": {Joules, 1e-3}, "uj": {Joules, 1e-6}, "uws": {Joules, 1e-6},
	"watts": {Watts, 1}, "mw": {Watts, 1e-3}, "uw": {Watts, 1e-6},
	"celsius": {Celsius, 1}, "°c": {Celsius, 1},
	"fps": {PerSecond, 1}, "qps": {PerSecond, 1}, "rps": {PerSecond, 1}, "iops": {PerSecond, 1}, "hz": {PerSecond, 1}, "khz": {PerSecond, 1e3}, "mhz": {PerSecond, 1e6}, "ghz": {PerSecond, 1e9},
	"bps": {BitsPerSecond, 1}, "kbps": {BitsPerSecond, 1e3}, "mbps": {BitsPerSecond, 1e6}, "gbps": {BitsPerSecond, 1e9},
}

// exactUnits are spellings in which case counts, or which are too short to be told without it.
var exactUnits = map[string]dimension{
	"B": {Bytes, 1}, "K": {Count, 1e3}, "M": {Count, 1e6}, "G": {Count, 1e9}, "J": {Joules, 1}, "W": {Watts, 1}, "C": {Celsius, 1},
	"KBps": {BytesPerSecond, 1e3}, "kBps": {BytesPerSecond, 1e3}, "MBps": {BytesPerSecond, 1e6}, "GBps": {BytesPerSecond, 1e9},
	"KiBps": {BytesPerSecond, 1 << 10}, "MiBps": {BytesPerSecond, 1 << 20}, "GiBps": {BytesPerSecond, 1 << 30}, "Bps": {BytesPerSecond, 1},
	"kb": {Bits, 1e3}, "Kb": {Bits, 1e3}, "Mb": {Bits, 1e6}, "Gb": {Bits, 1e9},
}

// ParseUnit returns the unit that values in a written one are scaled to, and the factor. What
// comes for each operation is in the unit of its amount: ns/op are nanoseconds. A unit that
// is not known stays as it is written.
func ParseUnit(written string) (Unit, float64) {
	if d, ok := parseUnit(written); ok {
		return d.unit, d.scale
	}
	return Unit(written), 1
}

func parseUnit(written string) (dimension, bool) {
	text := strings.TrimSpace(written)
	amount, per, isRate := cutLast(text, "/")
	if !isRate {
		if d, ok := exactUnits[text]; ok && d.unit != Bits { // a lone Mb is megabytes, as people write it
			return d, true
		}
		d, ok := units[strings.ToLower(text)]
		return d, ok
	}
	var of dimension
	if d, ok := exactUnits[amount]; ok {
		of = d
	} else if d, ok := units[strings.ToLower(amount)]; ok {
		of = d
	} else {
		of = dimension{Count, 1}
		if strings.ContainsAny(amount, "/ ") {
			return dimension{}, false
		}
	}
	switch over := units[strings.ToLower(per)]; {
	case over.unit == Nanoseconds:
		seconds := over.scale / 1e9
		switch of.unit {
		case Bytes:
			return dimension{BytesPerSecond, of.scale / seconds}, true
		case Bits:
			return dimension{BitsPerSecond, of.scale / seconds}, true
		case Count:
			return dimension{PerSecond, of.scale / seconds}, true
		}
	case isOperation(per):
		if _, known := units[strings.ToLower(amount)]; known || amount == "B" {
			return of, true
		}
	}
	return dimension{}, false
}

// isOperation reports whether a word says what an amount is for each of.
func isOperation(per string) bool {
	switch strings.ToLower(per) {
	case "op", "ops", "iter", "iteration", "call", "req", "request", "run", "frame", "element", "elem", "item", "invocation":
		return true
	}
	return false
}

func cutLast(text, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(text, sep); i > 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// UnitOf is the unit that a name says: frame_ms, rx.MBps, startupMs, msBetweenPresents,
// "time [ms]", "latency (us)", "bytes_per_second". It is "" if the name says none.
func UnitOf(name string) (unit Unit, written string, scale float64) {
	trimmed := strings.TrimSpace(name)
	if end := strings.LastIndexAny(trimmed, "])"); end > 0 && end == len(trimmed)-1 {
		if start := strings.LastIndexAny(trimmed, "[("); start >= 0 {
			text := trimmed[start+1 : end]
			if d, ok := parseUnit(text); ok {
				return d.unit, text, d.scale
			}
		}
	}
	for _, rate := range []string{"_per_second", "_per_sec", "_per_s", "PerSecond", " per second", "/s", "/sec", "/second"} {
		before, ok := strings.CutSuffix(trimmed, rate)
		if !ok {
			continue
		}
		amount := lastWord(before)
		if d, ok := parseUnit(amount + "/s"); ok {
			return d.unit, amount + "/s", d.scale
		}
	}
	if before, ok := strings.CutSuffix(trimmed, "_s"); ok {
		if d, ok := parseUnit(lastWord(before) + "/s"); ok && d.unit != PerSecond {
			return d.unit, lastWord(before) + "/s", d.scale // mbit_s, but not frames_s
		}
	}
	if d, ok := parseUnit(trimmed); ok && strings.Contains(trimmed, "/") {
		return d.unit, trimmed, d.scale
	}
	if len(trimmed) > 3 && strings.EqualFold(trimmed[:2], "ms") && unicode.IsUpper(rune(trimmed[2])) && unicode.IsLower(rune(trimmed[1])) {
		return Nanoseconds, trimmed[:2], 1e6 // msBetweenPresents, as PresentMon writes
	}
	last := lastWord(trimmed)
	// The word for a count may be the name of what is counted.
	if d, ok := parseUnit(last); ok && (len(last) > 1 || last != trimmed) && d.unit != Count {
		return d.unit, last, d.scale
	}
	return "", "", 1
}

// lastWord is the last word of a name: after the last separator, or from the last capital
// that begins a word. Capitals that stand together are one word.
func lastWord(name string) string {
	if i := strings.LastIndexAny(name, "_-. :"); i >= 0 {
		if rest := name[i+1:]; rest != "" {
			name = rest
		}
	}
	if _, ok := parseUnit(name); ok {
		return name
	}
	w := words(name)
	if len(w) == 0 {
		return ""
	}
	last := w[len(w)-1]
	// rxMBps is rx and MBps: the longest end that is a unit and begins after a lower letter.
	for i := 1; i < len(name); i++ {
		if isBoundary(rune(name[i-1]), rune(name[i])) {
			if _, ok := parseUnit(name[i:]); ok {
				return name[i:]
			}
		}
	}
	return last
}

func isBoundary(before, at rune) bool { return !unicode.IsUpper(before) && unicode.IsUpper(at) }

// words are the words of a name in lower case: of_a_name, ofAName, of-a/name.
func words(name string) []string {
	var list []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			list = append(list, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	var last rune
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			flush()
		case unicode.IsUpper(r) && (isBoundary(last, r) || i+1 < len(runes) && unicode.IsUpper(last) && unicode.IsLower(runes[i+1])):
			flush()
			word = append(word, r)
		default:
			word = append(word, r)
		}
		last = r
	}
	flush()
	return list
}
